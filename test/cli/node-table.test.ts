import { expect, it } from 'vitest'
import { nodeTable } from '#cli/node-table.ts'
import { english } from '#report/languages/language.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  quietReport,
  sharedDisk,
} from '#test/report-builder.ts'

const gib = 2 ** 30
const rowsOf = (isWide: boolean) =>
  nodeTable(
    quietReport([
      auditedNode('calm', sharedDisk(40)),
      // imagefs is fuller, and nodefs is nearer to its threshold.
      auditedNode(
        'two-disks',
        dedicatedDisks(filesystem(20 * gib, 10 * gib), filesystem(200 * gib, 80 * gib), {
          evictionHard: { 'nodefs.available': '30%', 'imagefs.available': '5%' },
        }),
      ),
      auditedNode('late', sharedDisk(95, { evictionHard: { 'nodefs.available': '10%' } })),
    ]),
    isWide,
    english,
  )
    .trim()
    .split('\n')
    .map(row => row.split(/ {2,}/))

it('has one row per node, the nearest to eviction first, with use and headroom of one disk', () => {
  const [head, ...rows] = rowsOf(false)
  expect(head).toEqual(['NODE', 'STATE', 'USED', 'HEADROOM', 'CLUSTER', 'GROUP', 'READ'])
  expect(rows.map(row => row.slice(0, 4))).toEqual([
    ['late', 'Evicts', '95%', '-5%'],
    ['two-disks', 'Calm', '50%', '20%'],
    ['calm', 'Calm', '40%', expect.stringMatching(/^\d+%$/)],
  ])
})

it('has instance, kubelet, image GC and first victim where it is wide', () => {
  for (const row of rowsOf(true)) expect(row).toHaveLength(12)
})
