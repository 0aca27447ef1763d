/** From the options to the records: EKS, a kubeconfig, the cluster around, or a saved snapshot. */
import type { NamedEndpoint } from '#clients/kubeconfig.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { ClusterCheckup } from '#model/checkup.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import type { MalformedLine, SnapshotRecord } from '#model/record.ts'
import { everything } from '#model/selection.ts'
import { checkUp } from '#pipeline/doctor/doctor.ts'
import {
  eksTargets,
  kubeconfigFleet,
  kubeconfigTargets,
  type LiveOptions,
  liveFleet,
  savedFleet,
} from '#pipeline/fleet.ts'
import { eksNames } from '#pipeline/remediation/verify.ts'
import { type FleetOptions, type PlaceOptions, policyOf, selectionOf } from './options.ts'

type SourceRun = Pick<
  LiveOptions,
  'signal' | 'onNodes' | 'onTarget' | 'objects' | 'depth' | 'behind'
> &
  Partial<Pick<LiveOptions, 'selection'>>

/** Records of the live fleet. @throws OperatorError when the options contradict each other. */
export async function* liveRecords(
  options: FleetOptions,
  run: SourceRun,
): AsyncGenerator<SnapshotRecord> {
  const live = { policy: policyOf(options), selection: selectionOf(options), ...run }
  const endpoints = await namedEndpoints(options, live.policy)
  yield* endpoints === null ? liveFleet(live) : kubeconfigFleet(endpoints, live)
}

/** The same clusters, checked instead of read. @throws OperatorError likewise. */
export async function* liveCheckups(
  options: FleetOptions,
  run: SourceRun & { isRemediating: boolean },
): AsyncGenerator<ClusterCheckup> {
  const live = { policy: policyOf(options), selection: selectionOf(options), ...run }
  const endpoints = await namedEndpoints(options, live.policy)
  yield* checkUp(
    endpoints === null ? eksTargets(live) : await kubeconfigTargets(endpoints, live.policy),
    live,
  )
}

/** How these clusters are reached. @throws OperatorError likewise. */
export async function* liveTargets(
  options: PlaceOptions,
  clusters: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<ClusterTarget> {
  const policy = policyOf(options)
  const endpoints = await namedEndpoints(options, policy)
  const selection = { ...everything, clusters: eksNames(clusters) }
  yield* endpoints === null
    ? eksTargets({ policy, selection, signal })
    : await kubeconfigTargets(endpoints, policy)
}

/** Clusters of a kubeconfig, or the cluster that runs this process; null: EKS is queried. */
async function namedEndpoints(
  options: PlaceOptions & { cluster?: string[] },
  policy: Policy,
): Promise<NamedEndpoint[] | null> {
  const isByFile =
    options.kubeconfig !== undefined || options.context.length > 0 || options.allContexts === true
  if (!isByFile && options.inCluster === undefined) return null
  if (isByFile && options.inCluster !== undefined)
    throw new OperatorError(
      '--in-cluster reads the cluster around, --kubeconfig and --context others: give one or the other',
    )
  const [given, others] = isByFile
    ? ['--kubeconfig and --context', 'others']
    : ['--in-cluster', 'the one around']
  if (Object.keys(options.tag).length > 0)
    throw new OperatorError(`--tag chooses EKS clusters, ${given} ${others}: give one or the other`)
  if ((options.cluster ?? []).length > 0)
    throw new OperatorError(
      `--cluster chooses EKS clusters, ${given} ${others}: give one or the other`,
    )
  // Where the instances are, neither says.
  const isPlace =
    options.region.length === 1 &&
    policy.modes.some(({ mode }) => promisedSources[mode].includes('host'))
  if (options.region.length > 0 && !isPlace)
    throw new OperatorError(
      `--region chooses EKS clusters, ${given} ${others}: give one or the other; beside ${isByFile ? 'a kubeconfig' : 'it'} it names the one region in which the modes ssm and both ask SSM`,
    )
  // Loaded only where it is needed: client-node is large, and most runs need none of it.
  if (options.inCluster !== undefined) return [await endpointAround(options.inCluster)]
  const { kubeconfigEndpoints } = await import('#clients/kubeconfig.ts')
  const contexts = options.allContexts === true ? ['*'] : options.context
  return kubeconfigEndpoints(options.kubeconfig ?? null, contexts)
}

/** The cluster in whose pod this runs. @throws OperatorError */
export async function endpointAround(name: string): Promise<NamedEndpoint> {
  const { inClusterEndpoint } = await import('#clients/kubeconfig.ts')
  return inClusterEndpoint(name)
}

/** Records of a saved snapshot. @throws OperatorError when options that only a live fleet has are given too. */
export function savedRecords(
  file: string,
  options: FleetOptions,
  signal?: AbortSignal,
): AsyncIterable<SnapshotRecord | MalformedLine> {
  const { kubeconfig, context, allContexts, inCluster, region, tag } = options
  const isLive =
    kubeconfig !== undefined ||
    allContexts === true ||
    inCluster !== undefined ||
    context.length > 0 ||
    region.length > 0 ||
    Object.keys(tag).length > 0
  if (isLive)
    throw new OperatorError(
      '--snapshot audits a saved fleet: --kubeconfig, --context, --in-cluster, --region and --tag choose a live one',
    )
  if (options.mode !== undefined)
    throw new OperatorError('--snapshot audits what was read: --mode says how to read a live fleet')
  return savedFleet(file, selectionOf(options), signal)
}
