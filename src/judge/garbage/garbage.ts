/** Summarizes many objects in few words: by namespace, by owner, by age. */

import { by, firstNames } from '#base/text.ts'
import { dayMs, hourMs } from '#base/units.ts'
import {
  ebsDrivers,
  isWholePrice,
  monthlyUsd,
  type VolumePerformance,
} from '#facts/aws/ebs-prices.ts'
import {
  bytes,
  type ClusterEvidence,
  type ClusterFailing,
  line,
  lines,
  nameLength,
  plural,
  shorten,
  span,
} from '#judge/rule.ts'
import type {
  ClusterNeed,
  ClusterPrediction,
  Controller,
  FinalizerGarbage,
  HeldFinalizer,
  HeldObject,
  HeldVolumeObject,
  InstanceGarbage,
  NodeGarbage,
  OwnedGroup,
  PodGarbage,
  ReleasedVolume,
  TerminatingPod,
} from '#model/cluster-garbage.ts'
import type { Subject } from '#model/input/record.ts'
import type { ClusterGarbagePolicy } from '#model/policy.ts'
import { type Command, clusterWord, kubectl, readCommand } from './kubectl.ts'

/** An object without a namespace is cluster-scoped. */
interface NamedObject {
  namespace?: string
  name: string
}

interface Place {
  subject: Subject
  /** `3 pods of shop` */
  all(noun: string): string
  /** The first text if one object was found there, else the second. */
  one(singular: string, plural: string): string
}

type Described = Omit<ClusterFailing, 'subject' | 'count' | 'noun'> &
  Partial<Pick<ClusterFailing, 'count' | 'noun'>>

/** One failing per namespace with such objects, and one for cluster-scoped objects. Sorted by name: equal input gives equal bytes. */
export function* garbageIn<Item extends NamedObject>(
  cluster: string,
  noun: string,
  items: readonly Item[],
  failingOf: (found: [Item, ...Item[]], place: Place) => Described,
): Generator<ClusterFailing> {
  for (const [name, group] of inGroups(items, ({ namespace = '' }) => namespace)) {
    const subject: Subject =
      name === ''
        ? { kind: 'Cluster', namespace: null, name: cluster }
        : { kind: 'Namespace', namespace: null, name }
    const found = group.toSorted(by(({ name }) => name)) as [Item, ...Item[]]
    const nounForm = (singular: string, plural: string) => (found.length === 1 ? singular : plural)
    const countedText = (noun: string) => `${plural(found.length, noun)} of ${subject.name}`
    yield {
      subject,
      count: found.length,
      noun,
      ...failingOf(found, { subject, all: countedText, one: nounForm }),
    }
  }
}

/** Maximum number of names in an evidence line, and in a command that deletes objects by name. */
const namesShown = 5
const namesInCommand = 20
const sharesShown = 5

/** `kubectl` arguments for a namespace; empty for cluster-scoped objects. */
export const inNamespace = (namespace = '') => (namespace === '' ? [] : ['-n', namespace])

/** `kubectl get Job import -n shop -o yaml` */
export const getYaml = (kind: string, { namespace, name }: NamedObject) =>
  readCommand('get', clusterWord(kind), clusterWord(name), ...inNamespace(namespace), '-o', 'yaml')

export const describe = (kind: string, { namespace, name }: NamedObject) =>
  readCommand('describe', kind, clusterWord(name), ...inNamespace(namespace))

/** Deletes the first of the objects by name. */
export const deleteObjects = (
  kind: string,
  namespace: string,
  objects: readonly NamedObject[],
): Command => [
  'changes',
  kubectl('delete', kind, ...inNamespace(namespace), ...firstNamed(objects)),
]

export const firstNamed = (objects: readonly NamedObject[]) =>
  objects.slice(0, namesInCommand).map(({ name }) => clusterWord(name))

export const inGroups = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [key: string, items: Item[]][] => [...Map.groupBy(items, keyOf)].toSorted(by(([key]) => key))

export const byFrequency = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [key: string, items: Item[]][] =>
  inGroups(items, keyOf).toSorted(by(([, group]) => -group.length))

/** `cart-0, cart-1 and 3 more` */
export function nameList(items: readonly { name: string }[], shown = namesShown) {
  const names = items
    .slice(0, shown)
    .map(({ name }) => (name.length > nameLength ? `${name.slice(0, nameLength)}...` : name))
  return firstNames(names, shown, items.length)
}

export const controllersOf = (
  items: readonly { controller: Controller | null }[],
): ClusterEvidence =>
  sharesOf(
    'controlled by',
    items.map(({ controller }) =>
      controller ? shorten(`${controller.kind} ${controller.name}`, nameLength) : 'none',
    ),
  )

function sharesOf(what: string, words: readonly string[]): ClusterEvidence {
  const shares = new Map<string, number>()
  for (const word of words) shares.set(word, (shares.get(word) ?? 0) + 1)
  return { kind: 'object', what, value: sharesText(shares), shares }
}

export function sharesText(shares: ReadonlyMap<string, number>) {
  const sorted = [...shares].toSorted(
    by(
      ([, count]) => -count,
      ([who]) => who,
    ),
  )
  const shown = sorted.slice(0, sharesShown).map(([who, count]) => `${who}: ${count}`)
  const rest = sorted.length > shown.length ? [`${sorted.length - shown.length} more`] : []
  return [...shown, ...rest].join(', ')
}

/** Null: no numbers. */
export const sumOrNull = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0)

/** Evidence with amounts that can be summed over many namespaces. */
export const sumEvidence = (
  what: string,
  amounts: readonly number[],
  textOf: (amounts: readonly number[]) => string,
): ClusterEvidence => ({ kind: 'object', what, value: textOf(amounts), total: { amounts, textOf } })

export const namedEvidence = (
  what: string,
  names: readonly { name: string }[],
): ClusterEvidence => ({ kind: 'object', what, value: nameList(names), names })

export const reasonOf = (what: string, items: readonly { name: string }[]): ClusterEvidence => ({
  kind: 'object',
  what,
  value: nameList(items),
  reasonCount: items.length,
})

type Timed<Key extends string> = Readonly<Record<Key, number | null>>

/** Evidence of the earliest time; none if no time is known. @param at RFC 3339: now */
export function ageEvidence<Key extends string>(
  items: readonly Timed<Key>[],
  key: Key,
  at: string,
  what = 'oldest',
): ClusterEvidence[] {
  const known = items.map(item => item[key]).filter(time => time !== null)
  if (known.length === 0) return []
  const firstMs = known.reduce((least, time) => Math.min(least, time))
  return [{ kind: 'object', what, value: ageText(firstMs, at), since: { firstMs, at } }]
}

export const ageText = (timeMs: number, at: string) =>
  `${age(Date.parse(at) - timeMs)} ago (${new Date(timeMs).toISOString().replace('.000Z', 'Z')})`

/** `3 days`. Below two days, in the format of `span`. */
const age = (ms: number) =>
  ms < 2 * dayMs ? span(Math.max(0, ms)) : plural(Math.floor(ms / dayMs), 'day')

/** Whether an object is old enough to be garbage. True if its time is unknown. */
export const isOld = (timeMs: number | null, at: string, minAgeHours: number) =>
  timeMs === null || Date.parse(at) - timeMs >= minAgeHours * hourMs

/** The objects that are old enough to be garbage. @param key of their time */
export const oldItems = <Key extends string, Item extends Timed<Key>>(
  items: readonly Item[],
  key: Key,
  at: string,
  minAgeHours: number,
): Item[] => items.filter(item => isOld(item[key], at, minAgeHours))

/** Minimum ages in hours that replace the policy's, because a controller acts within minutes. */
export const leftHours = {
  /** The cloud's node lifecycle controller checks every few seconds. An hour is no normal delay. */
  nodeWithoutInstance: 1,
  /** Approvers and signers answer within seconds. The cleaner deletes requests after a day. */
  pendingRequest: 1,
} as const

/** Adds `name` of the first object for sorting, and `text`: `Pod cart-0, cart-1 and 3 more`. */
export function labelGroup<Group extends OwnedGroup>(
  group: Group,
): Group & { name: string; text: string } {
  const { kind, names, count } = group
  const text = `${kind} ${firstNames(names, names.length, count)}`
  return { ...group, name: names[0] ?? '', text }
}

export const totalOf = (groups: readonly OwnedGroup[]) =>
  groups.reduce((sum, { count }) => sum + count, 0)

export const isWithoutInstance = (
  { sinceMs }: InstanceGarbage['withoutInstance'][number],
  at: string,
) => isOld(sinceMs, at, leftHours.nodeWithoutInstance)

/** NotReady nodes, except those whose instance is gone. @param instances null: unknown */
export function silentNodes(
  { notReady }: NodeGarbage,
  instances: ClusterPrediction['instances'],
  at: string,
): NodeGarbage['notReady'][number][] {
  const gone = new Set(
    instances?.withoutInstance.filter(each => isWithoutInstance(each, at)).map(({ node }) => node),
  )
  return notReady.filter(({ node }) => !gone.has(node))
}

/** The TTL controller has its own clock and a queue. Neither delays a deletion by an hour. */
const overdueHours = 1

export const isOverdue = ({ expiresMs }: { expiresMs: number | null }, at: string) =>
  expiresMs !== null && Date.parse(at) - expiresMs > overdueHours * hourMs

/**
 * Leaves out objects of other rules: owners in a foreground deletion, and Jobs with expired TTL.
 * @param kinds the policy's kinds; a rule for any other kind does not run
 */
export function heldObjects(
  { held }: FinalizerGarbage,
  at: string,
  kinds: readonly ClusterNeed[],
): HeldObject[] {
  const isOfJobs = (each: HeldObject) => kinds.includes('jobs') && isOverdue(each, at)
  const isWaiting = ({ finalizer }: { finalizer: string }) =>
    kinds.includes('owners') && finalizer === 'foregroundDeletion'
  return held.flatMap(each => {
    const finalizers = each.finalizers.filter(held => !isWaiting(held))
    return finalizers.length > 0 && !isOfJobs(each) ? [{ ...each, finalizers }] : []
  })
}

export function whyPodStays({
  finalizers,
  node,
  nodeState,
  isTakenByPodGc,
  isLetGo,
}: TerminatingPod) {
  const isHeldOnly = nodeState === 'none' || nodeState === 'gone' || isTakenByPodGc || isLetGo
  if (finalizers.length > 0 && isHeldOnly) return whyFinalizersStay(finalizers)
  if (nodeState === 'none') return 'it is on no node, and pod GC has not taken it'
  if (nodeState === 'gone') return `its node ${node} is gone, and pod GC has not taken it`
  if (nodeState === 'not-ready') return `its node ${node} is not Ready, so no kubelet ends it`
  if (finalizers.length > 0) return `its kubelet holds it, or else ${whyFinalizersStay(finalizers)}`
  return nodeState === 'not-read'
    ? `whether its node ${node} is there is not known`
    : `the kubelet of ${node} has not ended it`
}

const protections: ReadonlySet<string> = new Set([
  'kubernetes.io/pvc-protection',
  'kubernetes.io/pv-protection',
])

export function whyVolumeStays({ finalizers, usedBy, namespace }: HeldVolumeObject) {
  const others = finalizers.filter(({ finalizer }) => !protections.has(finalizer))
  const names = finalizers.map(({ finalizer }) => finalizer).join(', ')
  const isProtected = others.length < finalizers.length
  const users = (usedBy ?? []).map(name => ({ name }))
  if (isProtected && users.length > 0)
    return `${namespace === '' ? 'it is still bound to' : 'still used by pods:'} ${nameList(users, 3)}`
  if (others.length > 0) return whyFinalizersStay(others)
  if (isProtected && !usedBy) return `${names} holds it, and which pods use it is not known`
  return isProtected
    ? `${names} holds it, and nothing that is known uses it`
    : 'nothing holds it that it names'
}

function whyFinalizerStays({ finalizer, controller, state }: HeldFinalizer) {
  if (controller === null) return `no known controller removes the finalizer ${finalizer}`
  if (state === 'absent')
    return `the finalizer ${finalizer} is for ${controller}, and nothing in this cluster is called like it`
  if (state === 'stopped')
    return `the finalizer ${finalizer} is for ${controller}, which is scaled to zero`
  return `${controller} has not taken away the finalizer ${finalizer}`
}

export const whyFinalizersStay = (finalizers: readonly HeldFinalizer[]) =>
  finalizers.map(whyFinalizerStays).join('; ')

export const isKept = ({ action, isBeingDeleted }: ReleasedVolume) =>
  action === 'retain' && !isBeingDeleted

/**
 * Volumes that were released long ago, by the namespace of their PVC. API servers before 1.29 do not
 * record the time of release (KEP-3762). For such volumes the creation time counts.
 */
export const longReleased = (
  released: readonly ReleasedVolume[],
  at: string,
  minAgeHours: number,
) =>
  released
    .filter(({ sinceMs, createdMs }) => isOld(sinceMs ?? createdMs, at, minAgeHours))
    .map(each => ({
      ...each,
      namespace: each.claim?.split('/')[0] ?? '',
      name: each.volume,
      isEbs: ebsDrivers.has(each.driver ?? ''),
    }))

/** When the volumes were released; for volumes without that time, when they were created. */
export function releasedSince(volumes: readonly ReleasedVolume[], at: string): ClusterEvidence[] {
  const undated = volumes.filter(({ sinceMs }) => sinceMs === null)
  return lines(
    ...ageEvidence(volumes, 'sinceMs', at, 'first was released'),
    undated.length !== 0 &&
      sumEvidence(
        'since when is not known',
        [undated.length],
        ([all]) => `${all}, by age of the volume`,
      ),
    ...ageEvidence(undated, 'createdMs', at, 'first of these was made'),
  )
}

/** If no volume has a time of release, some may have been released just now. */
export const releasedConfidence = (
  volumes: readonly ReleasedVolume[],
): { confidence?: 'likely' } =>
  volumes.every(({ sinceMs }) => sinceMs === null) ? { confidence: 'likely' } : {}

interface SizedVolume extends Partial<VolumePerformance> {
  capacityBytes: number | null
  volumeType: string | null
  isEbs: boolean
}

/** Each sum is null if no volume has a known amount. `monthlyUsd`: EBS volumes only, at list price of us-east-1. */
export function sizeOf(volumes: readonly SizedVolume[]) {
  const sizes = volumes.flatMap(({ capacityBytes }) => capacityBytes ?? [])
  const costs = volumes.flatMap(volume => costOfOne(volume) ?? [])
  return { bytes: sumOrNull(sizes), monthlyUsd: sumOrNull(costs) }
}

/** Null: not an EBS volume, or its price is unknown. */
const costOfOne = (volume: SizedVolume) =>
  volume.isEbs && volume.capacityBytes !== null
    ? monthlyUsd(volume.capacityBytes, volume.volumeType, performanceOf(volume))
    : null

const performanceOf = ({
  iops = null,
  throughputMiBps = null,
}: SizedVolume): VolumePerformance => ({ iops, throughputMiBps })

/** Capacity of the volumes, and the cost of the EBS volumes at list price. */
export function costOf(volumes: readonly SizedVolume[]): ClusterEvidence[] {
  const { bytes: held, monthlyUsd: usd } = sizeOf(volumes)
  const bySize = volumes.filter(
    each => costOfOne(each) !== null && !isWholePrice(each.volumeType, performanceOf(each)),
  ).length
  const unpriced = volumes.filter(volume => volume.isEbs && costOfOne(volume) === null).length
  return lines(
    held !== null && sumEvidence('capacity', [held], ([all = 0]) => bytes(all)),
    usd !== null &&
      sumEvidence(
        'cost of EBS at list price of us-east-1',
        [usd],
        ([all = 0]) => `${dollars(all)} a month`,
      ),
    bySize !== 0 &&
      sumEvidence(
        'of EBS, and in the cost by size alone',
        [bySize],
        ([all]) => `${all}: IOPS and throughput are not known`,
      ),
    unpriced !== 0 &&
      sumEvidence(
        'of EBS, and not in the cost',
        [unpriced],
        ([all]) => `${all}: size or price is not known`,
      ),
  )
}

const dollars = (usd: number) => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`

type WithPods = Pick<ClusterPrediction, 'at' | 'cluster'> & {
  pods: NonNullable<ClusterPrediction['pods']>
}

/** Reasons of pods that node pressure or node shutdown ended, not their containers. Upstream: pkg/kubelet/eviction (Evicted), nodeshutdown (Terminated, NodeShutdown), lifecycle (Preempting). */
const byNode: ReadonlySet<string | null> = new Set([
  'Evicted',
  'NodeShutdown',
  'Terminated',
  'Preempting',
  'NodeLost',
  'Shutdown',
])

/** @param isDebris true: pods that their node ended; false: the other failed pods */
export function endedPodFailings(
  { cluster, at, pods: { terminated, threshold, excess } }: WithPods,
  { minAgeHours }: ClusterGarbagePolicy,
  isDebris: boolean,
): Iterable<ClusterFailing> {
  const failed = terminated
    .filter(
      ({ phase, reason, isBeingDeleted }) =>
        phase === 'Failed' && !isBeingDeleted && byNode.has(reason) === isDebris,
    )
    // A pod that the kubelet refused or evicted may have no container that ended.
    .map(pod => ({ ...pod, endedMs: pod.finishedMs ?? pod.createdMs }))
  const left = oldItems(failed, 'endedMs', at, minAgeHours)
  const noun = isDebris ? 'evicted pod' : 'failed pod'
  return garbageIn(cluster, noun, left, (found, { all, one, subject }) => ({
    consequence: `${all(noun)} ${one('stays', 'stay')} as long as what owns ${one('it', 'them')}: ${whenDeleted(threshold, excess)}.`,
    evidence: lines(
      line('object', `${noun}s`, found.length),
      sharesOf(
        'reasons',
        found.map(({ reason }) => reason ?? 'its containers failed'),
      ),
      controllersOf(found),
      ...ageEvidence(found, 'endedMs', at, 'first'),
      line('object', 'pods', nameList(found)),
      threshold.isAssumed && line('object', 'threshold of pod GC', thresholdText(threshold)),
    ),
    commands: [
      readCommand('get', 'pods', '-n', subject.name, '--field-selector=status.phase=Failed'),
      deleteObjects('pods', subject.name, found),
    ],
  }))
}

export const thresholdText = ({ pods, isAssumed }: PodGarbage['threshold']) =>
  isAssumed ? `${pods}, upstream's default: EKS does not say` : `${pods}, as EKS says`

function whenDeleted({ pods, isAssumed }: PodGarbage['threshold'], excess: number) {
  if (pods <= 0) return 'pod GC deletes never'
  const limit = `${pods}${isAssumed ? ' (assumed)' : ''}`
  if (excess <= 0)
    return `pod GC deletes not before more than ${limit} pods of the cluster have finished`
  return `of all that have finished pod GC keeps ${limit}, and deletes the first ${excess} in its next round, these or others`
}
