/** The same incidents on larger disks: nothing is wrong yet, and each node that comes near eviction says what holds its disk. */
import { describe, expect, it } from 'vitest'
import type { NodeGrowth } from '#model/history.ts'
import { english } from '#report/languages/language.ts'
import { causesAndOutlook } from '#report/parts/causes.ts'
import { isSlow } from '#test/slow.ts'
import { incidents } from './cases/index.ts'
import { judgedIncident } from './judged.ts'
import type { Disk, NodeWorld } from './world.ts'

const hourMs = 3_600_000
/** Of all subjects. */
const some = incidents.filter((_, index) => index % (isSlow ? 2 : 8) === 0)

/** A disk of which so much is used. Its inodes are plenty. */
const usedTo = (percent: number, { inodes: _, reservedGib: __, ...disk }: Disk): Disk => ({
  ...disk,
  gib: (100 * disk.usedGib) / percent,
})

const calm = (percent: number, { diskPressure: _, ...node }: NodeWorld): NodeWorld => ({
  ...node,
  disk: usedTo(percent, node.disk),
  ...(node.imageDisk && { imageDisk: usedTo(percent, node.imageDisk) }),
  devices: [],
  volumes: [],
  events: [],
  configuration: {
    ...{ imageGCHighThresholdPercent: 82, imageGCLowThresholdPercent: 70 },
    evictionHard: {
      ...{ 'memory.available': '100Mi', 'nodefs.available': '5%', 'nodefs.inodesFree': '5%' },
      ...{ 'imagefs.available': '5%', 'imagefs.inodesFree': '5%' },
    },
  },
})

async function nextRows(percent: number, growth?: NodeGrowth) {
  const rows = []
  for (const incident of some) {
    const world = {
      ...incident.world,
      nodes: incident.world.nodes.map(node => calm(percent, node)),
    }
    const { report } = await judgedIncident({ ...incident, world })
    const nodes = report.nodes.map(node => ({ ...node, ...(growth && { growth }) }))
    const { causes, outlook } = causesAndOutlook({ ...report, nodes }, english)
    for (const row of outlook.rows)
      rows.push({ name: incident.name, row, cause: causes[row.cause ?? -1]?.cause })
  }
  return rows
}

const seen = (bytesPerHour: number): NodeGrowth[keyof NodeGrowth] => ({
  ...{ isSeen: true, readings: 5, falls: 0, overMs: 96 * hourMs },
  bytesPerHour: { min: bytesPerHour, median: bytesPerHour, max: bytesPerHour },
})

describe('a node that is next to break', () => {
  it.each([
    { how: 'by headroom', percent: 81, growth: undefined },
    { how: 'by growth', percent: 60, growth: { nodefs: seen(2 ** 30), imagefs: seen(2 ** 30) } },
  ])('has a cause or a holder, and a step, $how', async ({ percent, growth }) => {
    const rows = await nextRows(percent, growth)
    expect(rows.length).toBeGreaterThan(some.length / 2)
    const without = rows.filter(({ row }) => row.cause === null && row.steps.length === 0)
    expect(without.map(({ name, row }) => [name, row.fill])).toEqual([])
    // Image GC is no answer where it frees nothing of what holds the disk.
    const wrong = rows.filter(
      ({ row: { node }, cause }) =>
        cause?.kind === 'setting' &&
        cause.fields[0]?.startsWith('imageGC') &&
        Object.values(node.details().held ?? {}).every(
          one => one.cause.kind !== 'holder' || one.cause.freedBy !== 'image-gc',
        ),
    )
    expect(wrong.map(({ name, row }) => [name, row.fill])).toEqual([])
  })
})
