import { describe, expect, it } from 'vitest'
import { mostUnpacking, unpackingOf } from '#facts/kubelet/unpacking.ts'
import { freedByOf, type ImageSpace } from '#replay/image-gc/unpacked-bytes.ts'

const MiB = 2 ** 20
const listed = [
  { image: 'idle', sizeBytes: 50 * MiB, hasContainer: false },
  { image: 'other', sizeBytes: 20 * MiB, hasContainer: false },
  { image: 'dead', sizeBytes: 40 * MiB, hasContainer: true },
  { image: 'running', sizeBytes: 200 * MiB, hasContainer: true },
]
const space: ImageSpace = {
  layerBytes: 700 * MiB,
  measuredBytes: 690 * MiB,
  layerInodes: 70,
  unusedBytes: 110 * MiB,
  unusedInodes: 10,
  unpacking: unpackingOf('containerd://2.1.4'),
  isPackedDiscarded: true,
}
const bytesOf = (images: string[], known: Partial<ImageSpace> = {}) => {
  const { least, most } = freedByOf(listed, { ...space, ...known })(images).bytes
  return [least / MiB, most / MiB]
}

describe('freedByOf', () => {
  it.each([
    { goes: ['idle', 'other'], bounds: [110, 110], why: 'all that nothing uses' },
    { goes: ['idle'], bounds: [110 - mostUnpacking * 20, 110], why: 'less what is left' },
    { goes: ['other'], bounds: [0, mostUnpacking * 20], why: 'what is left may share all' },
    {
      goes: ['idle', 'other', 'dead'],
      bounds: [110, 110 + mostUnpacking * 40],
      why: 'an image with a dead container frees its own layers, too',
    },
    { goes: listed.map(({ image }) => image), bounds: [690, 700], why: 'all images' },
  ])('$goes frees $bounds MiB: $why', ({ goes, bounds }) => {
    expect(bytesOf(goes)).toEqual(bounds)
  })

  it('names no lower bound without the list of snapshots', () => {
    const unmeasured = { measuredBytes: null, unusedBytes: null }
    expect(bytesOf(['idle', 'other', 'dead'], unmeasured)).toEqual([0, mostUnpacking * 110])
  })

  it('unpacks no sizes of CRI-O, which are unpacked', () => {
    const unpacking = unpackingOf('cri-o://1.32.5')
    const unpacked = { layerBytes: 320 * MiB, measuredBytes: 310 * MiB, unusedBytes: 70 * MiB }
    expect(bytesOf(['other'], { ...unpacked, unpacking })).toEqual([0, 1.5 * 20])
    expect(bytesOf(['other'], unpacked)).toEqual([0, 70])
  })

  it('counts packed layers that stay on the disk', () => {
    expect(bytesOf(['idle'], { isPackedDiscarded: false })[1]).toBe(110 + 50)
  })
})
