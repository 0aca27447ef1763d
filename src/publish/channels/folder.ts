/** A folder on this machine: the files lie plainly in it. */
import { folderStore } from '#clients/folder-store.ts'
import type { Channel } from '#publish/channel.ts'
import { intoStore } from './into-store.ts'

/** Each file appears whole. One that lies there already, as the snapshot does, stays as it is. */
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
