import { describe, expect, it } from 'vitest'
import { filesystemLayout as layoutOf } from '#replay/filesystem-layout.ts'
import { hostOf as parsedHost, summaryOf as parsedSummary } from '#test/at-the-door.ts'

type Runtime = Parameters<typeof layoutOf>[2]

const filesystemLayout = (summary: object | null, host: object | null, runtime: Runtime) =>
  layoutOf(summary && parsedSummary(summary), parsedHost(host), runtime)

const disk = { capacityBytes: 1000, availableBytes: 500, inodes: 100, inodesFree: 50 }
const summaryOf = (
  nodefs: object | null,
  imagefs: object | null,
  containerfs: object | null = null,
) => ({ node: { fs: nodefs, runtime: { imageFs: imagefs, containerFs: containerfs } } })
const hostOf = (devices: Record<string, string | undefined>) => ({
  filesystems: Object.entries(devices).map(([role, device]) => ({ role, device })),
})
const verdict = (summary: object | null, host: object | null = null) => {
  const { layout, layoutCertainty } = filesystemLayout(summary, host, 'containerd')
  return [layout, layoutCertainty]
}

describe('filesystemLayout', () => {
  it.each([
    { imagefs: disk, is: ['shared', 'likely'] },
    { imagefs: { ...disk, capacityBytes: 1001 }, is: ['imagefs', 'certain'] },
    { imagefs: { ...disk, availableBytes: 520 }, is: ['shared', 'likely'] },
    { imagefs: { ...disk, availableBytes: 521 }, is: ['imagefs', 'likely'] },
    { imagefs: { ...disk, inodes: 95 }, is: ['shared', 'likely'] },
    { imagefs: { ...disk, inodes: 94 }, is: ['imagefs', 'likely'] },
    { imagefs: { capacityBytes: 1000, availableBytes: 500 }, is: ['shared', 'likely'] },
    { imagefs: { capacityBytes: 1000 }, is: [null, null] },
    { imagefs: { ...disk, capacityBytes: 0 }, is: [null, null] },
    { imagefs: { availableBytes: 500 }, is: [null, null] },
    { imagefs: null, is: [null, null] },
  ])('from sizes alone: $imagefs is $is', ({ imagefs, is }) => {
    expect(verdict(summaryOf(disk, imagefs))).toEqual(is)
  })

  it.each([
    { devices: { nodefs: '259:1', imagefs: '259:1' }, is: ['shared', 'certain'] },
    { devices: { nodefs: '259:1', imagefs: '259:2' }, is: ['imagefs', 'certain'] },
    {
      devices: { nodefs: '259:1', imagefs: '259:2', containerfs: '259:2' },
      is: ['imagefs', 'certain'],
    },
    {
      devices: { nodefs: '259:1', imagefs: '259:2', containerfs: '259:1' },
      is: ['split', 'certain'],
    },
    { devices: { nodefs: '259:1', logs: '259:2' }, is: ['shared', 'likely'] },
  ])('devices are certain: $devices is $is', ({ devices, is }) => {
    expect(verdict(summaryOf(disk, disk), hostOf(devices))).toEqual(is)
  })

  it('takes the sizes that the node printed where there is no summary', () => {
    const host = { filesystems: [{ role: 'nodefs', device: 'a', ...disk }] }
    expect(filesystemLayout(null, host, 'containerd').nodefs).toEqual({ ...disk, usedPercent: 50 })
  })

  it('counts use as image GC does: what is available, floored', () => {
    const { nodefs } = filesystemLayout(
      summaryOf({ capacityBytes: 1000, availableBytes: 159 }, null),
      null,
      'containerd',
    )
    expect(nodefs?.usedPercent).toBe(85)
  })

  it('does not compare with a nodefs of no size', () => {
    expect(verdict(summaryOf({ ...disk, capacityBytes: 0 }, disk))).toEqual([null, null])
  })

  it('has less than nothing available where the counter has wrapped', () => {
    const { nodefs } = filesystemLayout(
      summaryOf({ capacityBytes: 1000, availableBytes: 2 ** 64 - 4096, inodes: 9 }, null),
      null,
      'containerd',
    )
    expect(nodefs).toEqual({
      capacityBytes: 1000,
      availableBytes: -4096,
      usedPercent: 509,
      inodes: 9,
      inodesFree: null,
    })
  })

  it('keeps what is not observed apart from 0', () => {
    expect(
      filesystemLayout(
        summaryOf({ capacityBytes: 0, availableBytes: 0 }, { inodes: 3 }),
        null,
        'containerd',
      ),
    ).toMatchObject({
      nodefs: { capacityBytes: 0, usedPercent: null },
      imagefs: {
        capacityBytes: null,
        availableBytes: null,
        usedPercent: null,
        inodes: 3,
        inodesFree: null,
      },
    })
  })

  it.each([
    { containerfs: disk, is: ['split', 'likely'] },
    { containerfs: { ...disk, capacityBytes: 1001 }, is: ['imagefs', 'likely'] },
    { containerfs: null, is: ['imagefs', 'likely'] },
  ])('of CRI-O, sizes make no second disk certain: $is', ({ containerfs, is }) => {
    const summary = summaryOf(disk, { ...disk, capacityBytes: 1001 }, containerfs)
    const { layout, layoutCertainty } = filesystemLayout(summary, null, 'cri-o')
    expect([layout, layoutCertainty]).toEqual(is)
  })

  it.each([
    { runtime: 'containerd', containerfs: 500 },
    { runtime: 'cri-o', containerfs: undefined },
  ] as const)(
    'without statistics of containerfs, $runtime: $containerfs',
    ({ runtime, containerfs }) => {
      expect(
        filesystemLayout(summaryOf(disk, disk), null, runtime).containerfs?.availableBytes,
      ).toBe(containerfs)
    },
  )
})
