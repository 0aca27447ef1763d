import { matchesGlob } from '#base/text/glob.ts'
import { matchesCluster } from '#model/input/cluster-name.ts'
import { isMap } from '#model/input/config-value.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { Baseline, Policy } from '#model/policy.ts'

type Matched = Pick<NodeIdentity, 'amiFamily' | 'instanceType'> & { cluster: string; group: string }

/** Merges all matching baselines. A later one replaces fields, and single keys of maps. Null: none matches. */
export function baselineOf(
  { cluster, group, amiFamily, instanceType }: Matched,
  { baseline }: Policy,
): Baseline['configuration'] | null {
  const actual = { cluster, group, amiFamily, instanceType: instanceType ?? '' }
  const keys = ['cluster', 'group', 'amiFamily', 'instanceType'] as const
  const matching = baseline.filter(({ match }) =>
    keys.every(
      key =>
        match[key] === undefined ||
        (key === 'cluster' ? matchesCluster : matchesGlob)(match[key], actual[key]),
    ),
  )
  if (matching.length === 0) return null
  const merged: Record<string, unknown> = {}
  for (const [field, value] of matching.flatMap(({ configuration }) =>
    Object.entries(configuration),
  )) {
    const before = merged[field]
    merged[field] = isMap(before) && isMap(value) ? { ...before, ...value } : value
  }
  return merged
}
