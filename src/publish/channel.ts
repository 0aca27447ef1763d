/** What a channel is: a place that the report's files go to. */
import type { RenderedFile } from '#model/report.ts'

export interface Channel {
  id: string
  /** Delivers every file and says where they lie. @throws Error with a message for people. */
  deliver(files: RenderedFile[]): Promise<string>
}
