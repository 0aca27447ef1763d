/** What lies in a cluster on a real morning: something that costs, something that is held, something that goes by itself, and a list that was refused. */
import type { GarbageOverview, GarbageRow } from '#model/garbage-overview.ts'
import { finding, GiB } from './report-builder.ts'

const at = '2026-11-21T07:00:00Z'
const hoursAgo = (hours: number) => Date.parse(at) - hours * 3_600_000

const row = (overrides: Partial<GarbageRow> & Pick<GarbageRow, 'kind' | 'fate'>): GarbageRow => ({
  count: 1,
  young: 0,
  youngHours: 24,
  oldestMs: hoursAgo(400),
  whose: [{ name: 'shop', count: 1 }],
  whoseLeftOut: 0,
  bytes: null,
  monthlyUsd: null,
  rules: [],
  ...overrides,
})

export const overviewOf = (overrides: Partial<GarbageOverview> = {}): GarbageOverview => ({
  cluster: 'prod-eu',
  at,
  minAgeHours: 24,
  rows: [
    row({
      kind: 'released-volumes',
      count: 14,
      young: 2,
      oldestMs: hoursAgo(24 * 83),
      whose: [
        { name: 'shop/search-data-0', count: 9 },
        { name: 'ci/cache', count: 1 },
      ],
      whoseLeftOut: 3,
      bytes: 1400 * GiB,
      monthlyUsd: 112,
      fate: { is: 'never' },
      rules: ['released-volume'],
    }),
    row({
      kind: 'failed-pods',
      count: 312,
      whose: [{ name: 'ci: Job nightly', count: 312 }],
      fate: { is: 'threshold', pods: 12_500, isAssumed: true, finished: 400, excess: 0 },
      rules: ['failed-pods'],
    }),
    row({
      kind: 'jobs-with-ttl',
      count: 3,
      oldestMs: hoursAgo(1),
      fate: { is: 'itself', firstMs: hoursAgo(-3), lastMs: hoursAgo(-30) },
    }),
  ],
  clean: ['leases', 'namespaces'],
  gaps: [
    {
      resource: 'secrets',
      reason: 'secrets: 403 Forbidden: cannot list',
      needs: ['owners', 'finalizers'],
    },
  ],
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
