/** A folder on this machine, with the files directly in it. */
import { folderStore } from '#clients/store/folder-store.ts'
import type { Channel } from '#publish/channel.ts'
import { intoStore } from './into-store.ts'

/** Files appear whole. A file that already exists, such as the snapshot, stays as it is. */
export function folder(path: string): Channel {
  const store = folderStore(path)
  return {
    id: 'folder',
    async deliver(files) {
      await intoStore(store, name => name, files)
      return { location: path, link: null }
    },
  }
}
