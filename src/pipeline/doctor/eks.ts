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
import { callCheck, check } from './checks.ts'

/** Whether a `ReadError.what` belongs to the call that needs a right. */
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
    const found = discoveryCheck(record, needed)
    checks.push(found)
    // After a failed ListClusters or DescribeCluster, discovery made no later calls.
    if (found.state !== 'ok' && /:(ListClusters|DescribeCluster)$/.test(needed.right)) break
  }
  return checks
}

function discoveryCheck(record: ClusterRecord, needed: NeededRight): Check {
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
    const isUnlisted = (errors ?? []).some(({ what }) => what.startsWith('nodegroup'))
    if (!nodegroups || (nodegroups.length === 0 && isUnlisted))
      return check(right, 'unchecked', 'no nodegroup is known here', purpose)
    if (nodegroups.length === 0)
      return check(right, 'ok', 'not needed: there is no nodegroup to ask for')
  }
  const hasTemplate = nodegroups?.some(({ launchTemplate }) => launchTemplate)
  if (right === 'ec2:DescribeLaunchTemplateVersions' && !hasTemplate)
    return check(right, 'ok', 'not needed: no nodegroup names a launch template')
  const isDescribed = right === 'eks:DescribeCluster' && eks
  const detail = isDescribed ? `the cluster is ${eks.status}, version ${eks.version}` : 'answered'
  return check(right, 'ok', detail)
}

export async function accountChecks(
  record: ClusterRecord,
  place: AwsPlace,
  { policy, ...options }: { kubernetes: KubernetesClient; policy: Policy; signal: AbortSignal },
): Promise<Check[]> {
  const aws = clusterInAws(record, place)
  if (aws === null) return []
  const { signal } = options
  const nodesWithPods = new Set<string>()
  const context = { ...options, aws, timeoutsMs: policy.timeoutsMs, nodesWithPods }
  const checks: Check[] = []
  for (const { isOfAws, permissions, purpose, collect } of clusterCollectorsOf(policy)) {
    if (isOfAws !== true) continue
    const [right = ''] = permissions.aws ?? []
    const call = async () => {
      for await (const _ of collect(context)) break
    }
    checks.push(await callCheck({ right, purpose }, signal, call))
  }
  return checks
}
