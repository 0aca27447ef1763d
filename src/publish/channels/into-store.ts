/** Writes files into a store under a key prefix, for the folder and for S3. */

import { folderStore } from '#clients/store/folder-store.ts'
import type { Store } from '#clients/store/store.ts'
import { type Channel, type PublishedFile, runKey } from '#publish/publish.ts'

/** @throws Error with a message for people, at the first file that cannot be stored */
async function storeFiles(store: Store, keyOf: (name: string) => string, files: PublishedFile[]) {
  for (const file of files) {
    if ('path' in file) await store.writeFile(keyOf(file.name), file.path, file.contentType)
    else await store.write(keyOf(file.name), file.body, file.contentType)
  }
}

/* A folder on this machine, with the files directly in it. */

/** Files appear whole. A file that already exists, such as the snapshot, stays as it is. */
export function folder(path: string): Channel {
  const store = folderStore(path)
  return {
    id: 'folder',
    async deliver(files) {
      await storeFiles(store, name => name, files)
      return { location: path, link: null }
    },
  }
}

/* The channel that writes the reports of a run into a bucket, below `runs/<runId>/`. */

interface S3Options {
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

export const s3 = ({ store, runId, reportBaseUrl }: S3Options): Channel => ({
  id: 's3',
  async deliver(files, page = reportName) {
    await storeFiles(store, name => runKey(runId, name), files)
    return {
      location: `${store.location}/${runKey(runId, '')}`,
      link:
        reportBaseUrl === null
          ? null
          : `${reportBaseUrl.replace(/\/$/, '')}/${runKey(encodeURIComponent(runId), page)}`,
    }
  },
})
