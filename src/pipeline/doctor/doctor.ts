/** Checks each cluster with harmless requests of its read mode, and reports what is missing with the text that fixes it. */

import { messageOf } from '#base/operator-error.ts'
import { credentialSource } from '#clients/aws/credentials.ts'
import { callerIdentity } from '#clients/aws/sts.ts'
import {
  KubeletApi,
  KubernetesClient,
  type KubernetesEndpoint,
} from '#clients/kubernetes/kubernetes.ts'
import { clusterCollectorsOf } from '#collect/collectors/cluster.ts'
import type { AwsPlace, ClusterTarget } from '#discover/discover.ts'
import type { Account } from '#facts/aws/iam.ts'
import type { Check, ClusterCheckup } from '#model/checkup.ts'
import {
  accountInArn,
  type ClusterRecord,
  partitionInArn,
  promisedSources,
  type ReadMode,
  type Selection,
} from '#model/input/record.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import {
  applyKubernetesRights,
  awsRights,
  hasOutput,
  kubernetesRights,
  type NeededRight,
} from '#pipeline/access/permissions.ts'
import { clusterInAws } from '#pipeline/audit/fleet.ts'
import { clusterInput } from '#snapshot/input.ts'
import { checkServer, kubeletChecks, rightChecks } from './api-server.ts'
import { callCheck, check, everything } from './checks.ts'
import { fixesOf } from './fixes.ts'
import { type NodeAtHand, nodesAtHand, sampleChecks } from './sample.ts'
import { applyChecks, ssmChecks } from './ssm.ts'

export interface DoctorOptions {
  policy: Policy
  selection: Selection
  signal: AbortSignal
  /** The checks include the rights to apply plans. */
  isRemediating?: boolean
}

/** Yields one cluster after the other. @throws the errors of the source of the clusters */
export async function* checkUp(
  targets: AsyncIterable<ClusterTarget> | Iterable<ClusterTarget>,
  options: DoctorOptions,
): AsyncGenerator<ClusterCheckup> {
  for await (const target of targets) {
    try {
      yield await checkCluster(target, options)
    } catch (error) {
      if (!options.signal.aborted) throw error
      const { cluster } = target.record
      const mode = readModeOf(options.policy, cluster)
      yield {
        cluster,
        mode,
        state: 'unreachable',
        checks: [check('endpoint', 'failed', messageOf(error), everything)],
        fixes: [],
      }
    }
  }
}

async function checkCluster(
  target: ClusterTarget,
  options: DoctorOptions,
): Promise<ClusterCheckup> {
  const { policy, signal } = options
  const { record, endpoint, place } = target
  const mode = readModeOf(policy, record.cluster)
  const isOfEks = record.eks !== undefined || (record.errors ?? []).length > 0
  const reader = isOfEks ? eksChecks(record, mode) : []
  const kubelet: Check[] = []
  let isReached = false
  if (endpoint) {
    const found = await checkInCluster(target, endpoint, mode, options)
    reader.push(...found.reader)
    kubelet.push(...found.kubelet)
    isReached = found.isReached
  }
  const checks = [...reader, ...kubelet]
  const hasMissing = checks.some(({ state }) => state === 'missing')
  const isWell = !hasMissing && checks.every(({ state }) => state !== 'failed')
  const caller = !place || !isOfEks ? null : await callerAt(place, signal)
  const taker =
    !place || !isMissing(checks, 'sts:AssumeRole')
      ? null
      : await callerAt(
          { ...place, credentials: credentialSource(null, null, place.region) },
          signal,
        )
  const { eks } = clusterInput(record)
  const fixes = fixesOf(
    {
      mode,
      policy,
      cluster: eks?.name ?? record.cluster,
      isByConfigMap: eks?.accessConfig?.authenticationMode === 'CONFIG_MAP',
      account: accountOf(eks?.arn ?? '', caller?.account ?? null),
      isRemediating: options.isRemediating === true,
      principals: { reader: caller?.principal ?? null, kubelet: policy.kubelet.roleArn },
      taker: taker?.principal ?? null,
      member: place,
    },
    { reader, kubelet },
  )
  const reached = isWell ? 'ok' : 'missing'
  const notReached = hasMissing ? 'missing' : 'unreachable'
  return { cluster: record.cluster, mode, state: isReached ? reached : notReached, checks, fixes }
}

const isMissing = (checks: readonly Check[], right: string) =>
  checks.some(({ what, state }) => what === right && state === 'missing')

/** The checks that need the API server, the nodes and SSM. */
async function checkInCluster(
  { record, kubelet, place }: ClusterTarget,
  endpoint: KubernetesEndpoint,
  mode: ReadMode,
  options: DoctorOptions,
) {
  const { policy, selection, signal } = options
  const kubernetes = new KubernetesClient(endpoint, { pace: policy.pace })
  const request = { kubernetes, signal, timeoutMs: policy.timeoutsMs.list }
  try {
    const way = await checkServer(request, endpoint.server, record)
    const reader = [...way.checks]
    if (!way.isKnown) return { reader, kubelet: [], isReached: way.isReached }
    const reading = kubernetesRights(mode, 'reader', policy)
    const applying = options.isRemediating ? applyKubernetesRights() : []
    const more = applying.filter(({ right }) => !reading.some(one => one.right === right))
    reader.push(...(await rightChecks(request, [...reading, ...more], 'this identity')))
    if (place) reader.push(...(await accountChecks(record, place, { kubernetes, policy, signal })))
    const shown =
      mode === 'kubelet' ? await kubeletChecks(request, endpoint, kubelet ?? null, policy) : []
    let nodes: NodeAtHand[] | null = null
    if (!isMissing(reader, 'list nodes')) {
      try {
        nodes = await nodesAtHand(kubernetes, selection, { ...request, areAll: hasOutput(mode) })
      } catch (error) {
        signal.throwIfAborted()
        reader.push(check('list nodes', 'failed', messageOf(error), everything))
      }
    }
    const context = {
      kubernetes,
      inspector: null,
      signal,
      timeoutsMs: policy.timeoutsMs,
      kubelet: kubelet ? new KubeletApi(kubelet, policy.pace) : null,
    }
    const lacked = [...reader.filter(({ what }) => what.startsWith('get nodes/')), ...shown]
      .filter(({ state }) => state === 'missing')
      .map(({ what }) => what)
    const notChecked = `not checked: ${lacked.join(', ')} is missing`
    if (lacked.length > 0)
      reader.push(check('a node', 'unchecked', notChecked, 'whether kubelets answer'))
    else if (nodes) reader.push(...(await sampleChecks(nodes, mode, context)))
    // Changing nodes by SSM needs all rights that reading by SSM needs.
    const ssmMode = options.isRemediating && !promisedSources[mode].includes('host') ? 'ssm' : mode
    reader.push(...(await ssmChecks(nodes, ssmMode, place, policy.inspectOutput, signal)))
    if (options.isRemediating) reader.push(...(await applyChecks(place, signal)))
    return { reader, kubelet: shown, isReached: true }
  } finally {
    kubernetes.close()
  }
}

async function callerAt({ region, credentials }: AwsPlace, signal: AbortSignal) {
  try {
    return await callerIdentity(region, credentials, signal)
  } catch {
    signal.throwIfAborted()
    // The checks of EKS report errors of the credentials.
    return null
  }
}

/** The account in the cluster's ARN; without an ARN, the caller's account. */
function accountOf(arn: string, account: string | null): Account {
  return {
    partition: partitionInArn(arn) ?? 'aws',
    account: accountInArn(arn) ?? account ?? 'ACCOUNT',
    clusters: null,
  }
}

/** What the call of each right reads: the first word of `ReadError.what`. */
const partsByRight: Readonly<Record<string, string>> = {
  'eks:ListClusters': 'clusters',
  'eks:DescribeCluster': 'cluster',
  'eks:ListNodegroups': 'nodegroups',
  'eks:DescribeNodegroup': 'nodegroup',
  'eks:ListInsights': 'insights',
  'eks:DescribeInsight': 'insight',
  'ec2:DescribeLaunchTemplateVersions': 'launchTemplates',
}

function eksChecks(record: ClusterRecord, mode: ReadMode) {
  const untaken = (record.errors ?? []).find(({ refusal }) => refusal === 'role')
  if (untaken)
    return [check('sts:AssumeRole', 'missing', untaken.message, 'everything of this account')]
  const checks: Check[] = []
  for (const needed of awsRights(mode).filter(({ right }) => Object.hasOwn(partsByRight, right))) {
    const found = discoveryCheck(record, needed)
    checks.push(found)
    // After a failed ListClusters or DescribeCluster, discovery made no later calls.
    if (found.state !== 'ok' && /:(ListClusters|DescribeCluster)$/.test(needed.right)) break
  }
  return checks
}

function discoveryCheck(record: ClusterRecord, needed: NeededRight) {
  const { right, purpose } = needed
  const { eks, nodegroups, insights, errors } = clusterInput(record)
  const failures = (errors ?? []).filter(({ what }) => what.split(' ')[0] === partsByRight[right])
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
  if (right === 'eks:DescribeInsight' && !insights)
    return check(right, 'unchecked', 'no insight is known here', purpose)
  if (right === 'eks:DescribeInsight' && insights?.length === 0)
    return check(right, 'ok', 'not needed: each insight passes')
  const hasTemplate = nodegroups?.some(({ launchTemplate }) => launchTemplate)
  if (right === 'ec2:DescribeLaunchTemplateVersions' && !hasTemplate)
    return check(right, 'ok', 'not needed: no nodegroup names a launch template')
  const isDescribed = right === 'eks:DescribeCluster' && eks
  const detail = isDescribed ? `the cluster is ${eks.status}, version ${eks.version}` : 'answered'
  return check(right, 'ok', detail)
}

async function accountChecks(
  record: ClusterRecord,
  place: AwsPlace,
  { policy, ...options }: { kubernetes: KubernetesClient; policy: Policy; signal: AbortSignal },
) {
  const aws = clusterInAws(record, place)
  if (!aws) return []
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
