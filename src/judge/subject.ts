/** A record and its prediction as the rules see them: what is known, and the reason for what is not. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { type KubeletConfiguration, parseConfigz } from '#model/kubelet-configuration.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { promisedSources, type ReadMode, type Source } from '#model/read-mode.ts'
import { isRawObject, type NodeRecord, type ReadError } from '#model/record.ts'
import type { CoverageState } from '#model/report.ts'
import { type Gap, gapsOf } from './gaps.ts'
import type { Need, NodeSubject } from './rule.ts'
import { bounded } from './text.ts'

export const fargateReason = 'Fargate: AWS runs this kubelet and nothing reaches it'

export function nodeSubject(record: NodeRecord, prediction: NodePrediction): NodeSubject {
  const mode = record.mode ?? 'proxy'
  const { unread, running, runningError } = readSources(record, mode)
  const configuration = running ?? prediction.configurationOnDisk ?? null
  const eviction = prediction.eviction?.error === null ? prediction.eviction : null
  const nextStart = prediction.nextStart
  const { imageGC, containerGC, localStorageEvictions, allocatable, filesystems } = prediction
  const pods = Array.isArray(record.pods) ? record.pods : null
  const [summary, runtime, host] = [record.summary, record.runtime, record.host].map(source =>
    isRawObject(source) ? source : null,
  )
  const isSized = [filesystems.nodefs, filesystems.imagefs].some(
    filesystem => typeof filesystem?.capacityBytes === 'number',
  )
  const withoutConfiguration =
    configuration === null ? whyNotConfigured(record, mode, runningError, prediction) : null
  const computed = (need: Need) => withoutConfiguration ?? notComputed(need, prediction)
  const unreadHere = (source: 'runtime' | 'host') =>
    bounded(messages(record.errors, source) || notAsked(mode))
  const withoutSummary = `stats/summary: ${unread.summary ?? (promisedSources[mode].includes('summary') ? 'not read' : `mode ${mode} does not read it`)}`
  return {
    cluster: record.cluster,
    at: prediction.at,
    identity: nodeIdentity(record.node),
    conditions: reportedConditions(record),
    configuration,
    isConfigurationOnDisk: running === null && configuration !== null,
    filesystems,
    disks: isSized ? filesystems : null,
    imageGC,
    eviction,
    nextStart,
    containerGC,
    localStorageEvictions,
    allocatable,
    node: record.node,
    pods,
    summary: summary ?? null,
    runtime: runtime ?? null,
    host: host ?? null,
    mode,
    coverage: coverageState(unread, record, mode),
    unread,
    missing: {
      ...(withoutConfiguration !== null && { configuration: withoutConfiguration }),
      ...(!isSized && { disks: withoutSummary }),
      ...(imageGC === null && { imageGC: computed('imageGC') }),
      ...(eviction === null && { eviction: withoutConfiguration ?? missingEviction(prediction) }),
      ...(nextStart === null && { nextStart: missingNextStart(record, mode, prediction) }),
      ...(containerGC === null && { containerGC: notComputed('containerGC', prediction) }),
      ...(localStorageEvictions === null && {
        localStorageEvictions:
          withoutConfiguration ??
          (summary ? notComputed('localStorageEvictions', prediction) : withoutSummary),
      }),
      ...(allocatable === null && { allocatable: computed('allocatable') }),
      ...(pods === null && { pods: `pods: ${unread.pods ?? 'not read'}` }),
      ...(!summary && { summary: withoutSummary }),
      ...(!runtime && { runtime: unreadHere('runtime') }),
      ...(!host && { host: unreadHere('host') }),
    },
    doubts:
      nextStart && saidOf('nextStart', prediction) !== ''
        ? { nextStart: bounded(saidOf('nextStart', prediction)) }
        : {},
  }
}

const notAsked = (mode: ReadMode) =>
  `only the node itself knows it, and it was not asked (mode ${mode})`

/** In a mode that does not promise it, its files could still have told. */
function whyNotConfigured(
  record: NodeRecord,
  mode: ReadMode,
  runningError: string,
  prediction: NodePrediction,
): string {
  const onDisk = saidOf('configuration', prediction)
  if (promisedSources[mode].includes('configz') || isRawObject(record.configz))
    return bounded(`configz: ${[runningError, onDisk].filter(text => text !== '').join('; ')}`)
  return bounded(
    onDisk ||
      messages(record.errors, 'host') ||
      `configz: mode ${mode} does not read it, and the node told no files of its kubelet`,
  )
}

function missingNextStart(record: NodeRecord, mode: ReadMode, prediction: NodePrediction): string {
  const reasons = [
    messages(record.errors, 'host'),
    isRawObject(record.host) ? notComputed('nextStart', prediction) : '',
  ]
  return bounded(
    reasons.filter(reason => reason !== '').join('; ') ||
      `the files on the node's disk were not read (mode ${mode})`,
  )
}

function reportedConditions({ node }: NodeRecord): Record<string, string> {
  const conditions = node.status?.conditions
  return Object.fromEntries(
    Array.isArray(conditions)
      ? conditions.map(({ type, status }) => [String(type), String(status)])
      : [],
  )
}

function readSources(record: NodeRecord, mode: ReadMode) {
  const { node, pods, configz, summary, errors } = record
  const reason = (source: Source) => bounded(messages(errors, source) || 'not in the snapshot')
  let running: KubeletConfiguration | null = null
  let runningError = ''
  if (!configz) runningError = reason('configz')
  else {
    try {
      running = parseConfigz(configz)
    } catch (error) {
      runningError = bounded(error instanceof Error ? error.message : String(error))
    }
  }
  const whyUnread: Record<Source, string | null> = {
    node:
      !node.metadata?.name || errors?.some(({ what }) => what === 'node') ? reason('node') : null,
    pods: pods ? null : reason('pods'),
    configz: running === null ? runningError : null,
    summary: !summary
      ? reason('summary')
      : isRawObject(summary.node)
        ? null
        : 'stats/summary: no "node" object in the answer',
    host: tells(record.host) ? gapIn('host', record) : reason('host'),
    runtime: tells(record.runtime) ? gapIn('runtime', record) : reason('runtime'),
  }
  const unread: Partial<Record<Source, string>> = {}
  for (const source of promisedSources[mode]) {
    const why = whyUnread[source]
    if (why !== null) unread[source] = why
  }
  return { unread, running, runningError }
}

const messages = (errors: ReadError[] | undefined, what: string) =>
  (errors ?? [])
    .filter(error => error.what === what)
    .map(({ message }) => message)
    .join('; ')

/** Null: the source has told its main parts. */
function gapIn(source: Gap['source'], { host, runtime }: NodeRecord): string | null {
  const told = {
    host: isRawObject(host) ? host : null,
    runtime: isRawObject(runtime) ? runtime : null,
  }
  const gaps = gapsOf(told).filter(gap => gap.source === source)
  return gaps.length === 0 ? null : bounded(gaps.map(({ why }) => why).join('; '))
}

/** A host that only says what it could not read is none. */
const tells = (source: unknown): boolean =>
  isRawObject(source) && Object.keys(source).some(key => key !== 'schema' && key !== 'unread')

/**
 * architecture.md, "Meanings": read is everything that the mode promises, partlyRead the Node object and one more (whether promised or not), notRead
 * less. A source counts by what is there of it, the node's own by its main parts: an error entry beside an answer stays among the node's errors, and takes nothing away. Only the Node
 * object, without which there is no record, is unread by its error.
 */
function coverageState(
  unread: Partial<Record<Source, string>>,
  { host, runtime, configz, summary }: NodeRecord,
  mode: ReadMode,
): CoverageState {
  const missed = Object.keys(unread).length
  if (missed === 0) return 'read'
  const promised = promisedSources[mode]
  // What was told in part is there, too.
  const isAlsoRead = (source: Source, value: unknown) =>
    (!promised.includes(source) || source === 'host' || source === 'runtime') && tells(value)
  const hasMore =
    isAlsoRead('host', host) ||
    isAlsoRead('runtime', runtime) ||
    isAlsoRead('configz', configz) ||
    isAlsoRead('summary', summary)
  return unread.node === undefined && (hasMore || missed < promised.length - 1)
    ? 'partlyRead'
    : 'notRead'
}

/** The replay's own words on what it left open. */
const saidOf = (need: Need, { unknowns }: NodePrediction): string =>
  unknowns
    .filter(({ what }) => what.startsWith(`${need}.`))
    .map(({ effect }) => effect)
    .join('; ')

const notComputed = (need: Need, prediction: NodePrediction): string =>
  bounded(saidOf(need, prediction) || `${need} was not computed`)

function missingEviction(prediction: NodePrediction): string {
  const error = prediction.eviction?.error
  return error
    ? bounded(`the running eviction settings do not parse: ${error}`)
    : notComputed('eviction', prediction)
}
