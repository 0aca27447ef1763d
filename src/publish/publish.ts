/** Delivers files to channels. A channel that fails does not stop the others. */
import { messageOf } from '#model/error-message.ts'
import type { Delivery } from '#model/report.ts'
import type { Channel, PublishedFile } from './channel.ts'

/** Returns deliveries in the order of the channels. @param page the file that a link opens */
export async function publish(
  files: PublishedFile[],
  channels: Channel[],
  page?: string,
): Promise<Delivery[]> {
  return Promise.all(
    channels.map(async channel => {
      try {
        return { channel: channel.id, ...(await channel.deliver(files, page)), error: null }
      } catch (error) {
        return { channel: channel.id, location: null, link: null, error: messageOf(error) }
      }
    }),
  )
}

/**
 * Merges two steps. A channel that failed in one of the steps has failed: the first error and the
 * first link are kept.
 */
export const mergeDeliveries = (earlier: Delivery[], later: Delivery[]): Delivery[] =>
  earlier.map((delivery, index) =>
    delivery.error === null && later[index] && later[index].error !== null
      ? later[index]
      : delivery,
  )
