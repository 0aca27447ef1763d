/** Files → places. One channel that fails does not cost the others. */
import type { RenderedFile } from '#model/report.ts'
import type { Channel } from './channel.ts'

export interface Delivery {
  channel: string
  /** Where the files lie; null when the channel failed. */
  location: string | null
  error: string | null
}

export async function publish(files: RenderedFile[], channels: Channel[]): Promise<Delivery[]> {
  return Promise.all(
    channels.map(async channel => {
      try {
        return { channel: channel.id, location: await channel.deliver(files), error: null }
      } catch (error) {
        return { channel: channel.id, location: null, error: error instanceof Error ? error.message : String(error) }
      }
    }),
  )
}
