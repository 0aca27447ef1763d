import { expect, it } from 'vitest'
import { areOfOnePool, type FilesystemLayout } from '#model/prediction.ts'

const filesystem = (capacityBytes: number, availableBytes: number) => ({
  ...{ capacityBytes, availableBytes },
  ...{ usedPercent: null, inodes: null, inodesFree: null },
})

it.each<[string, FilesystemLayout, [number, number], [number, number], boolean]>([
  ['datasets of ZFS', 'imagefs', [34_896, 2_684], [2_813, 2_684], true],
  ['one disk', 'shared', [34_896, 2_684], [34_896, 2_684], false],
  ['two disks of one size, both new', 'imagefs', [34_896, 34_000], [34_896, 34_000], false],
  ['two disks', 'imagefs', [34_896, 2_684], [2_813, 2_600], false],
  ['both full', 'imagefs', [34_896, 0], [2_813, 0], false],
])('%s', (_, layout, [size, left], [ofImages, other], expected) => {
  const disks = { nodefs: filesystem(size, left), imagefs: filesystem(ofImages, other) }
  expect(
    areOfOnePool({ ...disks, containerfs: disks.imagefs, layout, layoutCertainty: 'certain' }),
  ).toBe(expected)
})
