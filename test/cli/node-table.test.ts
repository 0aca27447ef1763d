import { expect, it } from 'vitest'
import { nodeTable } from '#cli/node-table.ts'
import { english } from '#report/languages/language.ts'
import { outlookView } from '#report/parts/outlook.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  finding,
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
  expect(head).toEqual([
    ...['NODE', 'STATE', 'SIGNAL', 'USED', 'HEADROOM', 'CLUSTER', 'GROUP', 'READ'],
  ])
  expect(rows.map(row => row.slice(0, 5))).toEqual([
    ['late', 'Evicts', 'nodefs.available', '95%', '-5%'],
    ['two-disks', 'Calm', 'nodefs.available', '50%', '20%'],
    ['calm', 'Calm', 'imagefs.available', '40%', expect.stringMatching(/^\d+%$/)],
  ])
})

it('has the state and the headroom of the page, and no calm beside a grave finding', () => {
  const unwatched = auditedNode(
    'unwatched',
    dedicatedDisks(filesystem(20 * gib, 10 * gib), filesystem(200 * gib, 20 * gib), {
      evictionHard: { 'nodefs.available': '10%' },
    }),
  )
  const refused = auditedNode('refused', sharedDisk(40))
  const quiet = quietReport([unwatched, refused])
  const subject = { kind: 'Node' as const, namespace: null, name: 'refused' }
  const cluster = refused.cluster
  const nodes = { count: 1, sample: ['refused'] }
  const grave = finding('critical', { cluster, subject, nodes })
  const report = { ...quiet, document: { ...quiet.document, findings: [grave] } }
  const shown = outlookView(report, english).rows.map(({ name, state }) => [name, state])
  const rows = nodeTable(report, false, english).split('\n').slice(1, 3)
  expect(rows.map(row => row.split(/ {2,}/).slice(0, 5))).toEqual([
    ['unwatched', 'Near', 'imagefs.available', '90%', '10%'],
    ['refused', 'Critical', 'imagefs.available', '40%', expect.stringMatching(/^\d+%$/)],
  ])
  expect(shown).toEqual([['unwatched', expect.stringContaining('10\u00a0%')]])
})

it('counts a grave finding that names few of its nodes for its whole group', () => {
  const node = auditedNode('unnamed', sharedDisk(40))
  const { cluster, identity } = node
  const nodes = { count: 30, sample: ['other'] }
  const grave = finding('high', { cluster, subject: identity.group, nodes })
  const quiet = quietReport([node])
  const report = { ...quiet, document: { ...quiet.document, findings: [grave] } }
  expect(nodeTable(report, false, english).split('\n')[1]).toMatch(/^unnamed +High /)
})

it('has instance, kubelet, image GC and first victim where it is wide', () => {
  for (const row of rowsOf(true)) expect(row).toHaveLength(13)
})
