import { expect, it } from 'vitest'
import type { Happening } from '#model/history.ts'
import { english } from '#report/languages/language.ts'
import { fleetView, groupNodes } from '#report/parts/fleet.ts'
import { auditedNode, morningReport, sharedDisk } from '#test/report-builder.ts'

const change = (at: string, status: 'True' | 'False'): Happening => ({
  ...{ at, what: 'condition', subject: 'DiskPressure', message: '', status },
})
const eviction = (at: string): Happening => ({
  ...{ at, what: 'evicted', subject: 'shop/web-1', message: '', resource: 'ephemeral-storage' },
})

/** What the page says of the only group of these nodes. */
function aboutOf(...happened: Happening[][]) {
  const nodes = happened.map((all, index) => ({
    ...auditedNode(`node-${index}`, sharedDisk(40)),
    at: '2026-11-22T05:00:00Z',
    happened: all,
  }))
  const report = { ...morningReport(), nodes }
  const { groups } = fleetView(groupNodes(report, english), report, new Set(), english)
  return groups.map(({ about }) => about)
}

it('sums pressure and evictions of the nodes of a group', () => {
  const first = [
    change('2026-11-22T04:00:00Z', 'True'),
    change('2026-11-22T04:10:00Z', 'False'),
    change('2026-11-22T04:50:00Z', 'True'),
    eviction('2026-11-22T04:51:00Z'),
  ]
  const second = [eviction('2026-11-22T04:20:00Z'), change('2026-11-22T04:30:00Z', 'False')]
  expect(aboutOf(first, second, [])).toEqual([
    expect.stringMatching(/; under pressure 3 times, 20 min; 2 pods evicted on 2 nodes$/),
  ])
})

it('says nothing of pressure where none was seen', () => {
  expect(aboutOf([], [])).toEqual([expect.not.stringMatching(/pressure|evicted/)])
})
