/** A node and its prediction as the rules see them, with the reason for everything unknown. */

import { once } from '#base/once.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { supportedInput } from '#facts/kubelet/features.ts'
import { type ProbePart, probePart } from '#facts/probe-parts.ts'
import { runningSettings } from '#judge/drift/drift.ts'
import { startFact } from '#judge/drift/layers.ts'
import { recentStarts } from '#judge/events/events.ts'
import { unusedImages } from '#judge/help/listed-images.ts'
import { runningLogs } from '#judge/logs/running-logs.ts'
import { shorten } from '#judge/text.ts'
import type { CoverageState } from '#model/finding.ts'
import type { Host } from '#model/input/inspection.ts'
import {
  type KubernetesNode,
  type NodeInput,
  promisedSources,
  type ReadError,
  type Source,
  type Summary,
} from '#model/input/record.ts'
import { mistakeOf } from '#model/kubelet/configuration.ts'
import { canBeMet, type NodePrediction } from '#model/prediction.ts'
import type { Need, NodeSubject } from './node-subject.ts'

export const fargateReason = 'Fargate: AWS runs this kubelet and nothing reaches it'

export function nodeSubject(read: NodeInput, prediction: NodePrediction): NodeSubject {
  const input = supportedInput(read)
  const { mode, pods, summary, runtime, host } = input
  const sources = readSources(input)
  const { unread, running } = sources
  const configuration = running ?? prediction.configurationOnDisk ?? null
  const eviction = evictionOf(prediction)
  const nextStart = prediction.nextStart
  const identity = nodeIdentity(input.node)
  const { imageGC, containerGC, localStorageEvictions, allocatable, filesystems } = prediction
  const settings = once(() => runningSettings(configuration ?? {}, identity))
  return {
    cluster: input.cluster,
    at: prediction.at,
    identity,
    conditions: reportedConditions(input.node),
    configuration,
    runningValues: () => settings().values,
    runningKey: () => settings().key,
    runningLogs: once(() => runningLogs(input)),
    unusedImages: once(() => unusedImages(input)),
    recentStarts: once(() => recentStarts(pods ?? [], prediction.at)),
    isConfigurationOnDisk: running === null && configuration !== null,
    filesystems,
    disks: isSized(prediction) ? filesystems : null,
    imageGC,
    eviction,
    nextStart,
    startFact: once(() => startFact(nextStart)),
    containerGC,
    localStorageEvictions,
    ...(prediction.nearOwnLimits && { nearOwnLimits: prediction.nearOwnLimits }),
    allocatable,
    ...(prediction.overRequested && { overRequested: prediction.overRequested }),
    ledger: prediction.ledger,
    node: input.node,
    pods,
    summary,
    runtime,
    host,
    mode,
    ...(input.localVolumes && { localVolumes: input.localVolumes }),
    // Of a Fargate node only the pods can be read: it counts as not audited.
    coverage: identity.owner === 'fargate' ? 'notRead' : coverageState(unread, input),
    unread,
    isKubeletDown: input.errors.some(({ isKubeletDown }) => isKubeletDown),
    readFailure: failureOf(input.errors.filter(({ what }) => what in unread)),
    missing: missingNeeds(input, prediction, sources),
    doubts:
      nextStart && whyLeftOpen('nextStart', prediction) !== ''
        ? { nextStart: shorten(whyLeftOpen('nextStart', prediction)) }
        : {},
  }
}

/** Without thresholds of 0, which are never met. Null: unknown, or the running settings do not parse. */
function evictionOf({ eviction }: NodePrediction) {
  if (eviction?.error !== null) return null
  const { thresholds } = eviction
  return thresholds.every(canBeMet)
    ? eviction
    : { ...eviction, thresholds: thresholds.filter(canBeMet) }
}

const isSized = ({ filesystems: { nodefs, imagefs } }: NodePrediction) =>
  [nodefs, imagefs].some(filesystem => typeof filesystem?.capacityBytes === 'number')

/** The reason for each need that is missing on this node. */
function missingNeeds(
  input: NodeInput,
  prediction: NodePrediction,
  { unread, running, runningError }: ReturnType<typeof readSources>,
): NodeSubject['missing'] {
  const { mode, pods, summary, runtime, host } = input
  const { imageGC, eviction, nextStart, containerGC, localStorageEvictions } = prediction
  const isConfigured = (running ?? prediction.configurationOnDisk ?? null) !== null
  const withoutConfiguration = isConfigured
    ? null
    : whyNotConfigured(input, runningError, prediction)
  const computed = (need: Need) => withoutConfiguration ?? notComputedReason(need, prediction)
  const unreadHere = (source: 'runtime' | 'host') =>
    shorten(
      messages(input.errors, source) ||
        `only the node itself knows it, and it was not asked (mode ${mode})`,
    )
  const unreadSummary = promisedSources[mode].includes('summary')
    ? 'not read'
    : `mode ${mode} does not read it`
  const withoutSummary = `stats/summary: ${unread.summary ?? unreadSummary}`
  return {
    ...(withoutConfiguration !== null && { configuration: withoutConfiguration }),
    ...(!isSized(prediction) && { disks: withoutSummary }),
    ...(imageGC === null && { imageGC: computed('imageGC') }),
    ...(eviction?.error !== null && {
      eviction: withoutConfiguration ?? missingEviction(prediction),
    }),
    ...(nextStart === null && { nextStart: missingNextStart(input, prediction) }),
    ...(containerGC === null && { containerGC: notComputedReason('containerGC', prediction) }),
    ...(localStorageEvictions === null && {
      localStorageEvictions:
        withoutConfiguration ??
        (summary ? notComputedReason('localStorageEvictions', prediction) : withoutSummary),
    }),
    ...(prediction.allocatable === null && { allocatable: computed('allocatable') }),
    ...(prediction.ledger === null && { ledger: withoutSummary }),
    ...(pods === null && { pods: `pods: ${unread.pods ?? 'not read'}` }),
    ...(!summary && { summary: withoutSummary }),
    ...(!runtime && { runtime: unreadHere('runtime') }),
    ...(!host && { host: unreadHere('host') }),
  }
}

/** Why the configuration is unknown. A mode without configz can still compute it from files. */
function whyNotConfigured(
  { mode, configuration, errors }: NodeInput,
  runningError: string,
  prediction: NodePrediction,
) {
  const onDisk = whyLeftOpen('configuration', prediction)
  if (promisedSources[mode].includes('configz') || configuration)
    return shorten(`configz: ${[runningError, onDisk].filter(Boolean).join('; ')}`)
  return shorten(
    onDisk ||
      messages(errors, 'host') ||
      `configz: mode ${mode} does not read it, and no kubelet files were read on the node`,
  )
}

function missingNextStart({ mode, host, errors }: NodeInput, prediction: NodePrediction) {
  const reasons = [messages(errors, 'host'), host ? notComputedReason('nextStart', prediction) : '']
  return shorten(
    reasons.filter(Boolean).join('; ') ||
      `the files on the node's disk were not read (mode ${mode})`,
  )
}

const reportedConditions = ({ status }: KubernetesNode): Record<string, string> =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status }) => [String(type), String(status)]),
  )

function readSources(input: NodeInput) {
  const { node, pods, configuration, summary, host, runtime, errors, promised } = input
  const reason = (source: Source) => shorten(messages(errors, source) || 'not in the snapshot')
  const mistake = configuration ? mistakeOf(configuration) : reason('configz')
  const running = mistake === null ? (configuration?.fields ?? null) : null
  const runningError = mistake === null ? '' : shorten(mistake)
  const whyUnread: Record<Source, string | null> = {
    node:
      !node.metadata?.name || errors.some(({ what }) => what === 'node') ? reason('node') : null,
    pods: pods ? null : reason('pods'),
    configz: running ? null : runningError,
    summary: summary ? (whyNoNode(summary) ?? gapIn('summary', input)) : reason('summary'),
    host: hasContent(host) ? gapIn('host', input) : reason('host'),
    runtime: hasContent(runtime) ? gapIn('runtime', input) : reason('runtime'),
  }
  const unread: Partial<Record<Source, string>> = {}
  for (const source of promised) {
    const why = whyUnread[source]
    if (why !== null) unread[source] = why
  }
  return { unread, running, runningError }
}

const whyNoNode = ({ node }: Summary): string | null =>
  node ? null : 'stats/summary: no "node" object in the answer'

/** Of the first error whose kind is known. */
function failureOf(errors: readonly ReadError[]) {
  for (const { reason, refusal } of errors) {
    if (reason !== undefined) return reason
    if (refusal === 'right') return 'forbidden'
  }
  return null
}

const messages = (errors: readonly ReadError[], what: string) =>
  errors
    .filter(error => error.what === what)
    .map(({ message }) => message)
    .join('; ')

/** Missing main parts of the source; null: none is missing. */
function gapIn(source: Gap['source'], parts: GapInput) {
  const gaps = gapsOf(parts).filter(gap => gap.source === source)
  return gaps.length === 0 ? null : shorten(gaps.map(({ why }) => why).join('; '))
}

/** A record that contains only read errors has no content. */
const hasContent = (source: object | null) =>
  source !== null && Object.keys(source).some(key => key !== 'schema' && key !== 'unread')

/**
 * architecture.md, "Meanings". read: everything the mode promises. partlyRead: the Node object and one more source (promised or not). notRead:
 * less than that. A source counts if its content is there, host and runtime by their main parts. An error beside content stays in the node's errors and changes nothing.
 * Only the Node object, which every record needs, is unread by its error.
 */
function coverageState(
  unread: Partial<Record<Source, string>>,
  { host, runtime, configuration, summary, promised }: NodeInput,
): CoverageState {
  const missed = Object.keys(unread).length
  if (missed === 0) return 'read'
  // Counts unpromised sources with content, and host and runtime even if read only in part.
  const isAlsoRead = (source: Source, value: object | null) =>
    (!promised.includes(source) || source === 'host' || source === 'runtime') && hasContent(value)
  const hasMore =
    isAlsoRead('host', host) ||
    isAlsoRead('runtime', runtime) ||
    isAlsoRead('configz', configuration?.printed ? configuration : null) ||
    isAlsoRead('summary', summary)
  return unread.node === undefined && (hasMore || missed < promised.length - 1)
    ? 'partlyRead'
    : 'notRead'
}

/** Why the replay left a need open. */
const whyLeftOpen = (need: Need, { unknowns }: NodePrediction) =>
  unknowns
    .filter(({ part }) => part === need)
    .map(({ effect }) => effect)
    .join('; ')

const notComputedReason = (need: Need, prediction: NodePrediction) =>
  shorten(whyLeftOpen(need, prediction) || `${need} was not computed`)

function missingEviction(prediction: NodePrediction) {
  const error = prediction.eviction?.error
  return error
    ? shorten(`the running eviction settings do not parse: ${error}`)
    : notComputedReason('eviction', prediction)
}

export interface Gap {
  source: 'host' | 'runtime' | 'summary'
  open: string
  why: string
  part?: 'imagefs'
}

const shown = 5

export type GapInput = Pick<NodeInput, 'host' | 'runtime' | 'summary' | 'pods'>

/** Empty if the source itself was not read. */
export function gapsOf({ host, runtime, summary, pods }: GapInput): Gap[] {
  const unread = (host?.unread ?? []).map(({ what = '', why = '' }) => ({
    what,
    why,
    part: probePart(what),
  }))
  const reasonFor = (parts: readonly ProbePart['is'][]) =>
    unread.find(({ part }) => parts.includes(part.is))?.why ?? 'not in the answer'
  const gaps: Gap[] = []
  const noteGap = (
    part: unknown,
    [source, name, open]: readonly [Gap['source'], string, string],
    ...parts: ProbePart['is'][]
  ) => {
    if (part === undefined)
      gaps.push({ source, open, why: shorten(`${name}: ${reasonFor(parts)}`, 300) })
  }
  const isImageFsKnown =
    Number(summary?.node?.runtime?.imageFs?.capacityBytes) > 0 ||
    host?.filesystems?.some(({ role }) => role === 'imagefs') === true
  if (summary?.node && !isImageFsKnown)
    gaps.push({
      source: 'summary',
      open: 'how full its image filesystem is',
      why: 'no capacity of the image filesystem in the answer',
      part: 'imagefs',
    })
  if (
    summary?.node &&
    !summary.pods?.length &&
    pods?.some(({ status }) => status?.phase === 'Running')
  )
    gaps.push({
      source: 'summary',
      open: 'what its pods use of its disks and memory',
      why: 'no statistics of pods in the answer',
    })
  if (host) {
    const files = ['host', 'kubelet', 'what the files and flags of its kubelet say'] as const
    noteGap(host.kubelet?.files, files, 'kubelet', 'kubelet-file')
    gaps.push(...unreadFiles(host, unread))
    noteGap(host.filesystems, ['host', 'filesystems', 'how full its disks are'], 'filesystems')
  }
  if (runtime) {
    noteGap(runtime.images, ['runtime', 'images', 'which images it has'], 'runtime', 'images')
    const containers = ['runtime', 'containers', 'which containers it has'] as const
    noteGap(runtime.containers, containers, 'runtime', 'containers')
  }
  return gaps
}

function unreadFiles(
  host: Host | null,
  unread: readonly { what: string; why: string; part: ProbePart }[],
): Gap[] {
  const files = (host?.kubelet?.files ?? [])
    .filter(
      ({ role, content }) =>
        (role === 'config' || role === 'drop-in') && (content === null || content === undefined),
    )
    .slice(0, shown)
  const folders = unread.filter(({ part }) => part.is === 'drop-ins').slice(0, shown)
  return [
    ...files.map(({ path = '' }): Gap => {
      const reason = unread.find(({ part }) => part.is === 'kubelet-file' && part.path === path)
      return {
        source: 'host',
        open: `what ${shorten(path, 200)} says`,
        why: shorten(`${path}: ${reason?.why ?? 'without its fields'}`, 300),
      }
    }),
    ...folders.map(
      ({ what, why }): Gap => ({
        source: 'host',
        open: `what all ${shorten(what, 200)} say`,
        why: shorten(`${what}: ${why}`, 300),
      }),
    ),
  ]
}
