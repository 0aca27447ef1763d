/** The channel that writes the reports of a run into a bucket, below `runs/<runId>/`. */
import type { Store } from '#clients/store/store.ts'
import type { Channel } from '#publish/channel.ts'
import { runKey } from '#publish/run.ts'
import { intoStore } from './into-store.ts'

export interface S3Options {
  /** An S3 store; lab and tests use a folder. */
  store: Store
  runId: string
  /**
   * A site that serves the store to readers, `https://reports.example.com`; null: none. Never a
   * presigned URL: it expires with the credentials that signed it, within hours for a function's
   * role.
   */
  reportBaseUrl: string | null
}

const reportName = 'report.html'

export function s3({ store, runId, reportBaseUrl }: S3Options): Channel {
  return {
    id: 's3',
    async deliver(files, page = reportName) {
      await intoStore(store, name => runKey(runId, name), files)
      return {
        location: `${store.location}/${runKey(runId, '')}`,
        link:
          reportBaseUrl === null
            ? null
            : `${reportBaseUrl.replace(/\/$/, '')}/${runKey(encodeURIComponent(runId), page)}`,
      }
    },
  }
}
