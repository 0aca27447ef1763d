/** What lies in a cluster on a real morning: something that costs, something that is deleted with its owner, and a list that was refused. */
import type { GarbageOverview, GarbageRow } from '#model/cluster-garbage.ts'
import { finding, GiB } from './report-builder.ts'

const at = '2026-11-21T07:00:00Z'
const hoursAgo = (hours: number) => Date.parse(at) - hours * 3_600_000

const row = (overrides: Partial<GarbageRow> & Pick<GarbageRow, 'rule' | 'fate'>): GarbageRow => ({
  count: 1,
  oldestMs: hoursAgo(400),
  namespaces: [{ name: 'shop', count: 1 }],
  namespacesLeftOut: 0,
  bytes: null,
  monthlyUsd: null,
  ...overrides,
})

export const overviewOf = (overrides: Partial<GarbageOverview> = {}): GarbageOverview => ({
  cluster: 'prod-eu',
  at,
  rows: [
    row({
      rule: 'released-volume',
      count: 14,
      oldestMs: hoursAgo(24 * 83),
      namespaces: [
        { name: 'shop', count: 9 },
        { name: 'ci', count: 1 },
      ],
      namespacesLeftOut: 3,
      bytes: 1400 * GiB,
      monthlyUsd: 112,
      fate: 'never',
    }),
    row({
      rule: 'failed-pods',
      count: 312,
      namespaces: [{ name: 'ci', count: 312 }],
      fate: 'with',
    }),
  ],
  clean: ['leases', 'nodes'],
  gaps: [{ reason: 'secrets: 403 Forbidden: cannot list', needs: ['owners', 'finalizers'] }],
  ...overrides,
})

/** The findings that the rows lead to. */
export const garbageFindings = [
  finding('medium', {
    ...{
      id: 'g1',
      rule: 'released-volume',
      family: 'cluster-gc',
      subject: { kind: 'Namespace', namespace: null, name: 'shop' },
    },
    ...{ nodes: { count: 0, sample: [] }, title: 'Volumes without a claim stay' },
  }),
  finding('low', {
    ...{
      id: 'g2',
      rule: 'released-volume',
      family: 'cluster-gc',
      subject: { kind: 'Namespace', namespace: null, name: 'ci' },
    },
    ...{ nodes: { count: 0, sample: [] }, title: 'Volumes without a claim stay' },
  }),
]
