import { describe, expect, it } from 'vitest'
import { baselineOf } from '#judge/drift/peers.ts'
import { waiverOf } from '#judge/run/waivers.ts'
import {
  everything,
  fullClusterName,
  matchesCluster,
  type ReadMode,
  type Subject,
  selectsCluster,
} from '#model/input/record.ts'
import { defaultPolicy, readModeOf } from '#model/policy.ts'

describe('the mode of a cluster', () => {
  it.each<[string, { match: { cluster?: string }; mode: ReadMode }[], ReadMode]>([
    ['prod', [], 'proxy'],
    ['prod', [{ match: {}, mode: 'ssm' }], 'ssm'],
    ['prod', [{ match: { cluster: 'dev' }, mode: 'ssm' }], 'proxy'],
    [
      'prod-eu',
      [
        { match: { cluster: 'prod-*' }, mode: 'both' },
        { match: {}, mode: 'ssm' },
      ],
      'both',
    ],
    // The unique name of two clusters that are called alike.
    ['111122223333/eu-west-1/prod', [{ match: { cluster: '*/prod' }, mode: 'ssm' }], 'ssm'],
  ])('%s by %j: %s', (cluster, modes, mode) => {
    expect(readModeOf({ modes }, cluster)).toBe(mode)
  })
})

/* One rule for all that chooses clusters by name: what was written for a fleet of one place holds in one of several. */

const full = fullClusterName('111122223333', 'eu-west-1', 'prod')

it.each([
  ['prod', 'prod', true],
  ['prod', full, true],
  ['pr*', full, true],
  [full, full, true],
  ['111122223333/*', full, true],
  ['*/eu-west-1/*', full, true],
  ['rod', full, false],
  ['eu-west-1/prod', full, false],
  ['444455556666/eu-west-1/prod', full, false],
  // Who says which account it is does not speak of the same name elsewhere.
  [full, 'prod', false],
  ['prod', fullClusterName(null, 'eu-west-1', 'prod'), true],
  // A kubeconfig's context, as aws eks update-kubeconfig writes it, and another's.
  ['prod', 'arn:aws:eks:eu-west-1:111122223333:cluster/prod', false],
  ['admin', 'default/api-example-com:6443/admin', false],
])('%s means %s: %s', (pattern, cluster, isMeant) => {
  expect(matchesCluster(pattern, cluster)).toBe(isMeant)
})

it.each(['prod', full])('modes, selections, baselines and waivers go by it: %s', pattern => {
  expect(readModeOf({ modes: [{ match: { cluster: pattern }, mode: 'ssm' }] }, full)).toBe('ssm')
  expect(selectsCluster({ ...everything, clusters: [pattern] }, full)).toBe(true)
  const baseline = [{ match: { cluster: pattern }, configuration: { maxPods: 30 } }]
  expect(
    baselineOf(
      { cluster: full, group: 'g', amiFamily: 'AL2023', instanceType: null },
      { ...defaultPolicy, baseline },
    ),
  ).toEqual({ maxPods: 30 })
  const waiver = { rule: 'peer-drift', until: '2026-12-31', reason: 'agreed' }
  const about = (kind: Subject['kind'], name: string) => ({
    rule: 'peer-drift',
    cluster: full,
    subject: { kind, namespace: null, name },
  })
  expect(
    waiverOf(about('Nodegroup', 'g'), [{ ...waiver, match: { cluster: pattern } }], '2026-11-21'),
  ).not.toBeNull()
  expect(
    waiverOf(
      about('Cluster', full),
      [{ ...waiver, match: { kind: 'Cluster', name: pattern } }],
      '2026-11-21',
    ),
  ).not.toBeNull()
  expect(
    waiverOf(about('Nodegroup', 'x/prod'), [{ ...waiver, match: { name: 'prod' } }], '2026-11-21'),
  ).toBeNull()
})
