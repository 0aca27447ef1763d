/** Reads records by the options: EKS, a kubeconfig, the surrounding cluster, or a saved file. */

import { OperatorError } from '#base/operator-error.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { ClusterCheckup } from '#model/checkup.ts'
import {
  everything,
  type MalformedLine,
  promisedSources,
  type Selection,
  type SnapshotRecord,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import {
  eksTargets,
  kubeconfigFleet,
  kubeconfigTargets,
  type LiveOptions,
  liveFleet,
  savedFleet,
} from '#pipeline/audit/fleet.ts'
import { checkUp } from '#pipeline/doctor/doctor.ts'
import { eksNames } from '#pipeline/remediation/run/fresh.ts'
import { formatCount, plural } from '#report/text.ts'
import {
  type FleetOptions,
  type PlaceOptions,
  policyOf,
  type SelectionOptions,
  selectionOf,
} from './options.ts'
import { runSignal } from './signals.ts'
import { clean } from './terminal.ts'

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
  yield* endpoints ? kubeconfigFleet(endpoints, live) : liveFleet(live)
}

/** The selection by EKS names, if EKS lists the clusters. */
export const eksSelection = ({ kubeconfig }: PlaceOptions, selection: Selection) =>
  kubeconfig === undefined ? { ...selection, clusters: eksNames(selection.clusters) } : selection

/** What a command reads with: its signal, its progress and its records. */
export function openReading(options: FleetOptions & { snapshot?: string }) {
  const { signal, end } = runSignal(options.deadline)
  const progress = openProgress(process.stderr, options.quiet)
  const { snapshot } = options
  const onNodes: SourceRun['onNodes'] = ({ cluster, nodes }) => progress.expect(cluster, nodes)
  return {
    signal,
    progress,
    live: { signal, onNodes },
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
  yield* checkUp(await targetsOf(options, live), live)
}

/** How to reach these clusters. @throws OperatorError likewise. */
export async function* liveTargets(
  options: PlaceOptions,
  clusters: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<ClusterTarget> {
  const selection = { ...everything, clusters: eksNames(clusters) }
  yield* await targetsOf(options, { policy: policyOf(options), selection, signal })
}

async function targetsOf(options: PlaceOptions, live: Parameters<typeof eksTargets>[0]) {
  const endpoints = await namedEndpoints(options, live.policy)
  return endpoints ? kubeconfigTargets(endpoints, live.policy) : eksTargets(live)
}

/** Clusters of a kubeconfig, or the cluster that runs this process; null: EKS is queried. */
async function namedEndpoints(options: PlaceOptions, policy: Policy) {
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
  if (inCluster !== undefined) return [await ownClusterEndpoint(inCluster)]
  const { kubeconfigEndpoints } = await import('#clients/kubernetes/kubeconfig.ts')
  return kubeconfigEndpoints(kubeconfig ?? null, allContexts === true ? ['*'] : context)
}

/** The cluster whose pod runs this process. @throws OperatorError */
export async function ownClusterEndpoint(name: string) {
  const { inClusterEndpoint } = await import('#clients/kubernetes/kubeconfig.ts')
  return inClusterEndpoint(name)
}

/** Records of a saved snapshot. */
export const savedRecords = (
  file: string,
  options: SelectionOptions,
  signal?: AbortSignal,
): AsyncIterable<SnapshotRecord | MalformedLine> => savedFleet(file, selectionOf(options), signal)

/** Progress of a live run: on a terminal one rewritten line; elsewhere a line for each cluster, and one line a minute. */
const quietEveryMs = 60_000
const redrawEveryMs = 120

/** @param stream standard error, so that standard output contains only the report */
export function openProgress(
  stream: NodeJS.WriteStream,
  isQuiet = false,
  now: () => number = () => performance.now(),
) {
  if (isQuiet) return { expect() {}, nodeRead() {}, wait() {}, end() {} }
  const startMs = now()
  const expected = new Map<string, number>()
  let read = 0
  let drawnMs = stream.isTTY ? Number.NEGATIVE_INFINITY : startMs
  const draw = () => {
    drawnMs = now()
    const line = progressLine(
      read,
      Array.from(expected.values()).reduce((total, value) => total + value, 0),
      expected.size,
      drawnMs - startMs,
    )
    stream.write(
      stream.isTTY ? `\r\u001b[2K${line.slice(0, (stream.columns ?? 80) - 1)}` : `${line}\n`,
    )
  }
  const maybeDraw = () => {
    if (now() - drawnMs >= (stream.isTTY ? redrawEveryMs : quietEveryMs)) draw()
  }
  return {
    /** Called when the number of nodes of a cluster is known. */
    expect(cluster: string, nodes: number) {
      expected.set(cluster, nodes)
      if (stream.isTTY) maybeDraw()
      else stream.write(`reading ${plural(nodes, 'node')} of cluster ${clean(cluster)}\n`)
    },
    nodeRead() {
      read += 1
      maybeDraw()
    },
    /** Called before nodes, or none, are read again after that time; null: no time is left for it. */
    wait(nodes: number, waitMs: number | null) {
      if (stream.isTTY) stream.write('\r\u001b[2K')
      if (nodes === 0) {
        stream.write('no node with little headroom and unknown growth: nothing is read again\n')
        return
      }
      const again = `${plural(nodes, 'node')} again`
      stream.write(
        waitMs === null
          ? `no time is left to read ${again}: growth stays unknown (--deadline)\n`
          : `reading ${again} in ${timeLeft(waitMs / 1000)}, for the rate of growth\n`,
      )
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[2K')
    },
  }
}

/** `reading 1,200 of 5,000 nodes in 3 clusters · 48/s · 1 min 19 s left` */
export function progressLine(read: number, expected: number, clusters: number, elapsedMs: number) {
  const perSecond = elapsedMs > 0 ? (read * 1000) / elapsedMs : 0
  const parts = [
    `reading ${formatCount(read)} of ${plural(Math.max(read, expected), 'node')} in ${plural(clusters, 'cluster')}`,
  ]
  if (perSecond > 0)
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`)
  if (perSecond > 0 && expected > read)
    parts.push(`${timeLeft((expected - read) / perSecond)} left`)
  return parts.join(' · ')
}

function timeLeft(seconds: number) {
  const rounded = Math.ceil(seconds)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}
