/** A record and its prediction as the rules see them: what is known, and the reason for what is not. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { type KubeletConfiguration, parseConfigz } from '#model/kubelet-configuration.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { isRawObject, type NodeRecord, type ReadError } from '#model/record.ts'
import type { CoverageState } from '#model/report.ts'
import { type Need, type NodeSubject, promisedSources, type Source } from './rule.ts'
import { bounded } from './text.ts'

export const fargateReason = 'Fargate: AWS runs this kubelet and nothing reaches it'

export function nodeSubject(record: NodeRecord, prediction: NodePrediction): NodeSubject {
  const { unread, configuration } = readSources(record)
  const eviction = prediction.eviction?.error === null ? prediction.eviction : null
  const nextStart = prediction.nextStart
  const { imageGC, containerGC, localStorageEvictions, allocatable } = prediction
  const pods = Array.isArray(record.pods) ? record.pods : null
  const [summary, runtime, host] = [record.summary, record.runtime, record.host].map(source => (isRawObject(source) ? source : null))
  const unreadHere = (source: 'runtime' | 'host') =>
    bounded(messages(record.errors, source) || 'only the node itself knows it, and it was not asked (mode proxy)')
  return {
    cluster: record.cluster,
    at: prediction.at,
    identity: nodeIdentity(record.node),
    conditions: reportedConditions(record),
    configuration,
    filesystems: prediction.filesystems,
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
    coverage: coverageState(unread, hasMore(record)),
    unread,
    missing: {
      ...(configuration === null && { configuration: fromConfigz(unread) }),
      ...(imageGC === null && { imageGC: unread.configz ? fromConfigz(unread) : notComputed('imageGC', prediction) }),
      ...(eviction === null && { eviction: missingEviction(unread, prediction) }),
      ...(nextStart === null && { nextStart: missingNextStart(record, prediction) }),
      ...(containerGC === null && { containerGC: notComputed('containerGC', prediction) }),
      ...(localStorageEvictions === null && { localStorageEvictions: notComputed('localStorageEvictions', prediction) }),
      ...(allocatable === null && { allocatable: unread.configz ? fromConfigz(unread) : notComputed('allocatable', prediction) }),
      ...(pods === null && { pods: `pods: ${unread.pods ?? 'not read'}` }),
      ...(!summary && { summary: `stats/summary: ${unread.summary ?? 'not read'}` }),
      ...(!runtime && { runtime: unreadHere('runtime') }),
      ...(!host && { host: unreadHere('host') }),
    },
    doubts: nextStart && saidOf('nextStart', prediction) !== '' ? { nextStart: bounded(saidOf('nextStart', prediction)) } : {},
  }
}

function missingNextStart(record: NodeRecord, prediction: NodePrediction): string {
  const reasons = [messages(record.errors, 'host'), isRawObject(record.host) ? notComputed('nextStart', prediction) : '']
  return bounded(reasons.filter(reason => reason !== '').join('; ') || "the files on the node's disk were not read (mode proxy)")
}

function reportedConditions({ node }: NodeRecord): Record<string, string> {
  const conditions = node.status?.conditions
  return Object.fromEntries(Array.isArray(conditions) ? conditions.map(({ type, status }) => [String(type), String(status)]) : [])
}

function readSources({ node, pods, configz, summary, errors }: NodeRecord) {
  const unread: Partial<Record<Source, string>> = {}
  const reason = (source: Source) => bounded(messages(errors, source) || 'not in the snapshot')
  if (!node.metadata?.name || errors?.some(({ what }) => what === 'node')) unread.node = reason('node')
  if (!pods) unread.pods = reason('pods')
  if (!summary) unread.summary = reason('summary')
  else if (typeof summary.node !== 'object' || summary.node === null) unread.summary = 'stats/summary: no "node" object in the answer'
  let configuration: KubeletConfiguration | null = null
  if (!configz) unread.configz = reason('configz')
  else {
    try {
      configuration = parseConfigz(configz)
    } catch (error) {
      unread.configz = bounded(error instanceof Error ? error.message : String(error))
    }
  }
  return { unread, configuration }
}

const messages = (errors: ReadError[] | undefined, what: string) =>
  (errors ?? [])
    .filter(error => error.what === what)
    .map(({ message }) => message)
    .join('; ')

/** Whether something was read that the mode did not promise; a host that only says what it could not read is none. */
const hasMore = ({ host, runtime }: NodeRecord): boolean =>
  [host, runtime].some(source => isRawObject(source) && Object.keys(source).some(key => key !== 'schema' && key !== 'unread'))

/**
 * architecture.md, "Meanings": read is everything promised, partlyRead the Node object and one more (`host` and `runtime` count), notRead less.
 * A source counts by what is there of it: an error entry beside an answer stays among the node's errors, and takes nothing away. Only the Node
 * object, without which there is no record, is unread by its error.
 */
function coverageState(unread: Partial<Record<Source, string>>, hasMore: boolean): CoverageState {
  const missed = Object.keys(unread).length
  if (missed === 0) return 'read'
  return unread.node === undefined && (hasMore || missed < promisedSources.length - 1) ? 'partlyRead' : 'notRead'
}

const fromConfigz = (unread: Partial<Record<Source, string>>) => `configz: ${unread.configz ?? 'not read'}`

/** The replay's own words on what it left open. */
const saidOf = (need: Need, { unknowns }: NodePrediction): string =>
  unknowns
    .filter(({ what }) => what.startsWith(`${need}.`))
    .map(({ effect }) => effect)
    .join('; ')

const notComputed = (need: Need, prediction: NodePrediction): string => bounded(saidOf(need, prediction) || `${need} was not computed`)

function missingEviction(unread: Partial<Record<Source, string>>, prediction: NodePrediction): string {
  if (unread.configz !== undefined) return fromConfigz(unread)
  const error = prediction.eviction?.error
  return error ? bounded(`the running eviction settings do not parse: ${error}`) : notComputed('eviction', prediction)
}
