/** Reads records by the options: EKS, a kubeconfig, the surrounding cluster, or a saved file. */
import type { NamedEndpoint } from '#clients/kubeconfig.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { ClusterCheckup } from '#model/checkup.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources } from '#model/read-mode.ts'
import type { MalformedLine, SnapshotRecord } from '#model/record.ts'
import { everything, type Selection } from '#model/selection.ts'
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
import {
  type FleetOptions,
  type PlaceOptions,
  policyOf,
  type SelectionOptions,
  selectionOf,
} from './options.ts'
import { openProgress } from './progress.ts'
import { runSignal } from './signals.ts'

type SourceRun = Pick<
  LiveOptions,
  'signal' | 'onNodes' | 'onTarget' | 'objects' | 'depth' | 'behind'
> &
  Partial<Pick<LiveOptions, 'selection'>>

/** Records of the live fleet. @throws OperatorError if the place is unknown */
export async function* liveRecords(
  options: FleetOptions,
  run: SourceRun,
): AsyncGenerator<SnapshotRecord> {
  const live = { policy: policyOf(options), selection: selectionOf(options), ...run }
  const endpoints = await namedEndpoints(options, live.policy)
  yield* endpoints === null ? liveFleet(live) : kubeconfigFleet(endpoints, live)
}

/** The selection by EKS names, if EKS lists the clusters. */
export const eksSelection = ({ kubeconfig }: PlaceOptions, selection: Selection): Selection =>
  kubeconfig === undefined ? { ...selection, clusters: eksNames(selection.clusters) } : selection

/** What a command reads with: its signal, its progress and its records. */
export function openReading(options: FleetOptions & { snapshot?: string }) {
  const { signal, end } = runSignal(options.deadline)
  const progress = openProgress(process.stderr)
  const { snapshot } = options
  const onNodes: SourceRun['onNodes'] = ({ cluster, nodes }) => progress.expect(cluster, nodes)
  return {
    ...{ signal, progress, live: { signal, onNodes } },
    /** Records of the snapshot, or of the live fleet. @throws OperatorError as both */
    records: (onTarget?: SourceRun['onTarget']) =>
      snapshot === undefined
        ? liveRecords(options, { signal, onNodes, onTarget })
        : savedRecords(snapshot, options, signal),
    nodeRead: () => {
      if (snapshot === undefined) progress.nodeRead()
    },
    end: () => {
      progress.end()
      end()
    },
  }
}

/** Checks the same clusters instead of reading them. @throws OperatorError likewise. */
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

/** How to reach these clusters. @throws OperatorError likewise. */
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
  options: PlaceOptions,
  policy: Policy,
): Promise<NamedEndpoint[] | null> {
  const { kubeconfig, context, allContexts, inCluster, region } = options
  const isByFile = kubeconfig !== undefined || context.length > 0 || allContexts === true
  if (!isByFile && inCluster === undefined) return null
  // Neither a kubeconfig nor a cluster knows the region of its instances.
  const isPlace =
    region.length === 1 && policy.modes.some(({ mode }) => promisedSources[mode].includes('host'))
  if (region.length > 0 && !isPlace)
    throw new OperatorError(
      '--region chooses EKS clusters. With --kubeconfig, --context or --in-cluster it names the one region in which modes ssm and both use SSM',
    )
  // Loaded only if needed: client-node is large, and most runs do not use it.
  if (inCluster !== undefined) return [await endpointAround(inCluster)]
  const { kubeconfigEndpoints } = await import('#clients/kubeconfig.ts')
  return kubeconfigEndpoints(kubeconfig ?? null, allContexts === true ? ['*'] : context)
}

/** The cluster whose pod runs this process. @throws OperatorError */
export async function endpointAround(name: string): Promise<NamedEndpoint> {
  const { inClusterEndpoint } = await import('#clients/kubeconfig.ts')
  return inClusterEndpoint(name)
}

/** Records of a saved snapshot. */
export const savedRecords = (
  file: string,
  options: SelectionOptions,
  signal?: AbortSignal,
): AsyncIterable<SnapshotRecord | MalformedLine> => savedFleet(file, selectionOf(options), signal)
