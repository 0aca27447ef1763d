/** Writes files into a store under a key prefix, for the folder and for S3. */
import type { Store } from '#clients/store/store.ts'
import type { PublishedFile } from '#publish/channel.ts'

/** @throws Error with a message for people, at the first file that cannot be stored */
export async function intoStore(
  store: Store,
  keyOf: (name: string) => string,
  files: PublishedFile[],
): Promise<void> {
  for (const file of files) {
    if ('path' in file) await store.writeFile(keyOf(file.name), file.path, file.contentType)
    else await store.write(keyOf(file.name), file.body, file.contentType)
  }
}
