/** Checks the AWS calls of discovery by their results. */

import type { KubernetesClient } from '#clients/kubernetes.ts'
import { clusterCollectorsOf } from '#collect/collectors/index.ts'
import type { AwsPlace } from '#discover/discover.ts'
import type { Check } from '#model/checkup.ts'
import type { Policy } from '#model/policy.ts'
import type { ReadMode } from '#model/read-mode.ts'
import type { ClusterRecord } from '#model/record.ts'
import { awsRights, type NeededRight } from '#pipeline/access/permissions.ts'
import { clusterInAws } from '#pipeline/fleet.ts'
import { clusterInput } from '#snapshot/cluster-input.ts'
import { check, failedCall } from './checks.ts'

/** The `ReadError.what` of each failed call. */
const failureOf: Readonly<Record<string, (what: string) => boolean>> = {
  'eks:ListClusters': what => what === 'clusters',
  'eks:DescribeCluster': what => what === 'cluster',
  'eks:ListNodegroups': what => what === 'nodegroups',
  'eks:DescribeNodegroup': what => what.startsWith('nodegroup '),
  'ec2:DescribeLaunchTemplateVersions': what => what === 'launchTemplates',
}

export function eksChecks(record: ClusterRecord, mode: ReadMode): Check[] {
  const untaken = (record.errors ?? []).find(({ refusal }) => refusal === 'role')
  if (untaken !== undefined)
    return [check('sts:AssumeRole', 'missing', untaken.message, 'everything of this account')]
  const checks: Check[] = []
  for (const needed of awsRights(mode).filter(({ right }) => Object.hasOwn(failureOf, right))) {
    const found = callCheck(record, needed)
    checks.push(found)
    // Later calls were not made.
    if (found.state !== 'ok' && /:(ListClusters|DescribeCluster)$/.test(needed.right)) break
  }
  return checks
}

function callCheck(record: ClusterRecord, needed: NeededRight): Check {
  const { right, purpose } = needed
  const { eks, nodegroups, errors } = clusterInput(record)
  const failures = (errors ?? []).filter(({ what }) => failureOf[right]?.(what))
  const [first] = failures
  if (first) {
    const more = failures.length > 1 ? ` (and ${failures.length - 1} more of its kind)` : ''
    const state = first.refusal === undefined ? 'failed' : 'missing'
    return check(right, state, `${first.message}${more}`, purpose)
  }
  if (right === 'eks:DescribeNodegroup' || right === 'ec2:DescribeLaunchTemplateVersions') {
    if (
      !nodegroups ||
      (nodegroups.length === 0 && (errors ?? []).some(({ what }) => what.startsWith('nodegroup')))
    )
      return check(right, 'unchecked', 'no nodegroup is known here', purpose)
    if (nodegroups.length === 0)
      return check(right, 'ok', 'not needed: there is no nodegroup to ask for')
  }
  if (
    right === 'ec2:DescribeLaunchTemplateVersions' &&
    !nodegroups?.some(({ launchTemplate }) => launchTemplate)
  )
    return check(right, 'ok', 'not needed: no nodegroup names a launch template')
  return check(
    right,
    'ok',
    right === 'eks:DescribeCluster' && eks
      ? `the cluster is ${String(eks.status)}, version ${String(eks.version)}`
      : 'answered',
  )
}

interface EksQuery {
  kubernetes: KubernetesClient
  policy: Policy
  signal: AbortSignal
}

export async function accountChecks(
  record: ClusterRecord,
  place: AwsPlace,
  { kubernetes, policy, signal }: EksQuery,
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
  for (const { isOfAws, permissions, purpose, collect } of clusterCollectorsOf(policy)) {
    if (isOfAws !== true) continue
    const [right = ''] = permissions.aws ?? []
    try {
      for await (const _ of collect(context)) break
      checks.push(check(right, 'ok', 'answered'))
    } catch (error) {
      signal.throwIfAborted()
      checks.push(failedCall({ right, purpose }, error))
    }
  }
  return checks
}
