/** What is read of a cluster in its account beside EKS: the reading's own calls, one page each. */

import type { KubernetesClient } from '#clients/kubernetes.ts'
import { clusterCollectorsOf } from '#collect/collectors/index.ts'
import type { AwsPlace } from '#discover/discover.ts'
import type { Check } from '#model/checkup.ts'
import type { Policy } from '#model/policy.ts'
import type { ClusterRecord } from '#model/record.ts'
import { clusterInAws } from '#pipeline/fleet.ts'
import { check, failedCall } from './checks.ts'

interface Asking {
  kubernetes: KubernetesClient
  policy: Policy
  signal: AbortSignal
}

export async function accountChecks(
  record: ClusterRecord,
  place: AwsPlace,
  { kubernetes, policy, signal }: Asking,
): Promise<Check[]> {
  const aws = clusterInAws(record, place)
  if (aws === null) return []
  const context = {
    kubernetes,
    aws,
    signal,
    timeoutsMs: policy.timeoutsMs,
    nodesWithPods: new Set<string>(),
  }
  const checks: Check[] = []
  for (const { isOfAws, permissions, tells, collect } of clusterCollectorsOf(policy)) {
    if (isOfAws !== true) continue
    const [right = ''] = permissions.aws ?? []
    try {
      for await (const _ of collect(context)) break
      checks.push(check(right, 'ok', 'answered'))
    } catch (error) {
      signal.throwIfAborted()
      checks.push(failedCall({ right, tells }, error))
    }
  }
  return checks
}
