import { by } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { exceededLimit } from '#facts/kubelet/event-messages.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import {
  allEvictions,
  type Eviction,
  manyEvictions,
  ownerName,
  placeOf,
  recordedEvictions,
} from '#judge/events/evictions.ts'
import { podOf } from '#judge/help/deletion.ts'
import { partCause } from '#judge/help/holder-cause.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import {
  bytes,
  contextRule,
  type Failing,
  line,
  type NodeContext,
  plural,
  type Satisfied,
  seenFirst,
  settingIn,
  shorten,
  shortName,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import { controllerOf, type KubernetesPod, placedWorkload } from '#model/input/record.ts'
import {
  type DiskHolder,
  type HolderOwner,
  type LocalStorageEviction,
  type PodHolder,
  podOwner,
} from '#model/prediction.ts'

const shown = 10

const titles = {
  before: 'Pods were evicted over their own limit of local storage',
  near: 'Pods are near their own limit of local storage',
  memory: 'Pods reach the sizeLimit of a volume in memory: the kubelet evicts them',
}

/** An evicted pod whose object is known. */
interface Recorded extends Eviction {
  setter: string | null
}

export const localStorageLimitExceeded = contextRule({
  id: 'local-storage-limit-exceeded',
  family: 'eviction',
  severity: 'high',
  cause: settingIn('workload', 'resources.limits.ephemeral-storage'),
  steps: ['set-ephemeral-storage'],
  titles,
  needs: ['pods'],
  title: 'Pods use more local storage than their own limit: the kubelet evicts them',
  why: 'Limits of ephemeral-storage and sizeLimit of emptyDir volumes are checked at each eviction pass, whether the node has pressure or not. A pod over one is evicted at once; its owner starts the next one, which fills up again.',
  fix: 'Raise the limit to what the pod needs, or have it write less: logs to standard output count too.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go localStorageEviction, emptyDirLimitEviction, podEphemeralStorageLimitEviction, containerEphemeralStorageLimitEviction',
  ],

  fact: subject => ({
    over: overLimitFailing(subject),
    near: nearLimitFailing(subject),
    recorded: recordedEvictions(subject.pods, subject.at, dayMs)
      .filter(isOverLimit)
      .map(eviction => {
        const pod = subject.pods.find(({ metadata }) => metadata?.uid === eviction.pod)
        return { ...eviction, setter: limitSetter(pod) }
      }),
    inMemory: volumesInMemory(subject),
    unknown: subject.missing.localStorageEvictions ?? null,
  }),

  *judge({ over, near, unknown, recorded, inMemory }, context) {
    if (over) yield over
    const [first, ...others] = evictedBefore(recorded, inMemory, context)
    if (first) yield near ? withNearLimit(first, near) : first
    else if (near) yield near
    yield* others
    if (unknown !== null) yield { unknown }
  },

  judgeUnread: context => evictedBefore([], [], context),
})

const isOverLimit = ({ message }: Eviction) => exceededLimit(message) !== null

type WithPods = Satisfied<'pods'>

/** Their sizeLimit is one of memory. */
const volumesInMemory = ({ pods }: WithPods): string[] =>
  pods.flatMap(pod =>
    (pod.spec?.volumes ?? []).flatMap(({ name = '', emptyDir }) =>
      emptyDir?.medium === 'Memory' ? volumeKey(podOwner(pod, name)) : [],
    ),
  )

/** All pods of a workload have the same volumes. */
const volumeKey = ({ namespace, pod, workload, volume }: PodHolder) =>
  [namespace, workload ?? pod, volume].join('/')

function overLimitFailing(subject: WithPods): Failing | null {
  const [first, ...others] = subject.localStorageEvictions ?? []
  if (!first) return null
  return {
    ...reasonOf(first, subject),
    ...(subject.isConfigurationOnDisk && { confidence: 'likely' }),
    consequence: `Within ${evictionSeconds} s the kubelet evicts ${useText(first)}${setterText(podLimitSetter(first, subject))}.${others.length === 0 ? '' : ` So it does for ${plural(others.length, 'other')}.`}`,
    evidence: useLines([first, ...others]),
  }
}

/** It can still be saved: the kubelet evicts it at the next few writes. */
function nearLimitFailing(subject: WithPods): Failing | null {
  const near = subject.nearOwnLimits ?? []
  const [first, ...others] = near.toSorted(
    (a, b) => b.usedBytes / b.limitBytes - a.usedBytes / a.limitBytes,
  )
  if (!first) return null
  return {
    title: titles.near,
    ...reasonOf(first, subject),
    // A limit above the use alone would be below the one that is set.
    steps: reasonOf({ ...first, usedBytes: first.limitBytes }, subject).steps,
    severity: 'medium',
    ...seenFirst(
      `Next is ${useText(first)}.`,
      `The kubelet evicts it when it writes more.${others.length === 0 ? '' : ` ${plural(others.length, 'other')} ${others.length === 1 ? 'is' : 'are'} as near.`}`,
    ),
    evidence: useLines([first, ...others]),
  }
}

/** What was evicted leads; what runs can still be saved. Pods of one workload need a step once. */
function withNearLimit(before: Failing, near: Failing): Failing {
  const { steps = [] } = before
  const others = (near.steps ?? []).filter(
    ({ id, owner }) =>
      !steps.some(step => step.id === id && workloadOf(step.owner) === workloadOf(owner)),
  )
  return {
    ...before,
    ...seenFirst(`${before.seen} ${near.seen}`),
    steps: [...steps, ...others],
    evidence: [...before.evidence, ...near.evidence],
  }
}

const workloadOf = (owner: HolderOwner | undefined) =>
  owner && 'workload' in owner ? `${owner.namespace}/${owner.workload ?? owner.pod}` : null

/** By owner, of the last day: a pod that starts again is below its limit at first. */
function* evictedBefore(
  recorded: readonly Recorded[],
  inMemory: readonly string[],
  context: NodeContext,
): Generator<Failing> {
  const all = allEvictions(recorded, context).filter(isOverLimit)
  const byOwner = Map.groupBy(all, ownerName)
  for (const alike of byOwner.values()) {
    const latest = alike.at(-1)!
    const owner = placeOf(latest)
    const limits = limitsReached(alike, recorded)
    const [{ quantity, ...limit }, ...others] = limits as [ReachedLimit, ...ReachedLimit[]]
    const each = limits.map(one => `${one.count} over ${limitText(one)}`).join(', ')
    const over = others.length === 0 ? limitText(limits[0]!) : `their own limits (${each})`
    const reasonOfLimit = (limit: WhichLimit, quantity: string) =>
      overLimitReason(owner, limit, [amountOf(quantity, 0) ?? 0, null], inMemory)
    const reason = reasonOfLimit(limit, quantity)
    yield {
      title: titles.before,
      ...reason,
      steps: [
        ...reason.steps,
        ...others.flatMap(one => reasonOfLimit(one, one.quantity).steps as readonly StepAction[]),
      ],
      ...(alike.length < manyEvictions && { severity: 'medium' }),
      confidence: latest.owner || isRecorded(alike, recorded) ? 'certain' : 'likely',
      ...seenFirst(
        `${podsText(owner, alike.length, ownerName(latest))} went over ${over}: the disk of the node is not the cause.`,
      ),
      evidence: alike.slice(-shown).map(one => line('event', podText(one), one.message)),
    }
  }
}

interface WhichLimit {
  /** Null: no emptyDir. */
  volume: string | null
  /** Null: of the pod. */
  container: string | null
}

interface ReachedLimit extends WhichLimit {
  quantity: string
  /** The one container of several that sets the pod's limit. */
  setter: string | null
  count: number
}

const isRecorded = (evictions: readonly Eviction[], recorded: readonly Recorded[]) =>
  recorded.some(({ pod }) => evictions.some(one => one.pod === pod))

/** The limits that pods of one owner reached, each with its latest value: who raises one alone meets the other. Most pods first. */
function limitsReached(evictions: readonly Eviction[], recorded: readonly Recorded[]) {
  const byLimit = Map.groupBy(evictions, ({ message }) => {
    const { volume, container } = exceededLimit(message)!
    return JSON.stringify([volume, container])
  })
  return [...byLimit.values()]
    .map((alike): ReachedLimit => {
      const { quantity, volume, container } = exceededLimit(alike.at(-1)!.message)!
      const known = recorded.findLast(({ pod }) => alike.some(one => one.pod === pod))
      const setter = (volume ?? container) === null && known ? known.setter : null
      return { volume, container: container ?? setter, quantity, setter, count: alike.length }
    })
    .toSorted(by(({ count }) => -count))
}

function podsText({ namespace, pod, workload }: PodPlace, count: number, names: string): string {
  if (workload !== null)
    return `${plural(count, 'pod')} of ${shortName(placedWorkload(namespace, workload))}`
  return count === 1 ? podText({ namespace, name: pod }) : `${count} ${names}`
}

function limitText({ volume, container, quantity, setter }: ReachedLimit): string {
  const of = `${limitName(volume, setter === null ? container : null)} of ${shorten(quantity, 40)}`
  return `${of}${setterText(setter)}`
}

function limitName(volume: string | null, container: string | null): string {
  if (volume !== null) return `the sizeLimit of emptyDir volume ${shortName(volume)}`
  return container === null
    ? "the pod's own limit"
    : `the limit of container ${shortName(container)}`
}

/** The one of several containers that has a limit: the kubelet compares the whole pod with it. */
function limitSetter(pod: KubernetesPod | undefined): string | null {
  const { containers = [], initContainers = [] } = pod?.spec ?? {}
  const all = [...containers, ...initContainers]
  const limited = all.filter(({ resources }) => resources?.limits?.['ephemeral-storage'])
  return limited.length === 1 && all.length > 1 ? (limited[0]?.name ?? null) : null
}

/** Null: the limit is of one container, or of a volume. */
const podLimitSetter = ({ limit, namespace, name }: LocalStorageEviction, { pods }: WithPods) =>
  limit === 'pod' ? limitSetter(podOf(pods, { namespace, pod: name })) : null

const setterText = (setter: string | null) =>
  setter === null
    ? ''
    : `, which container ${shortName(setter)} alone sets and all its containers share`

/** What counts for a limit of ephemeral-storage. */
const counted: readonly DiskHolder[] = ['writable-layers', 'container-logs', 'pod-volumes']

/** The pod that is at its limit, and what is the largest part of it, whatever else is on the disk. */
function reasonOf(
  { limit, namespace, name, what, usedBytes }: LocalStorageEviction,
  subject: WithPods,
): Pick<Failing, 'cause' | 'steps' | 'title'> {
  const { ledger, pods } = subject
  const pod = podOf(pods, { namespace, pod: name })
  const volume = limit === 'emptyDir' ? what : null
  const container = limit === 'container' ? what : limitSetter(pod)
  const owner = { namespace, pod: name, workload: pod ? controllerOf(pod) : null }
  const used = [usedBytes, usedBytes] as const
  const reason = overLimitReason(owner, { volume, container }, used, volumesInMemory(subject))
  const own = (ledger?.parts ?? []).filter(
    ({ holder, owner }) =>
      counted.includes(holder) &&
      (owner?.kind === 'container' || owner?.kind === 'pod') &&
      owner.namespace === namespace &&
      owner.pod === name &&
      (limit === 'pod' || (owner.kind === 'container' && owner.container === what)),
  )
  const [largest] = own.toSorted((a, b) => b.lowBytes - a.lowBytes)
  if (volume !== null || !largest?.owner) return reason
  const [step] = reason.steps
  return {
    cause: partCause(largest),
    steps: [{ ...step, ...(container === null && { owner: largest.owner }) }],
  }
}

interface PodPlace {
  namespace: string
  pod: string
  workload: string | null
}

/** A limit of ephemeral-storage is of layers, logs and volumes together: which of them were written is not known. */
function overLimitReason(
  pod: PodPlace,
  { volume, container }: WhichLimit,
  [lowBytes, highBytes]: readonly [number, number | null],
  inMemory: readonly string[],
) {
  if (volume === null) {
    const owner: HolderOwner =
      container === null
        ? { kind: 'pod', volume, ...pod }
        : { kind: 'container', container, ...pod }
    const step = { id: 'set-ephemeral-storage', variant: 'limit', owner, bytes: lowBytes } as const
    return { steps: [step] as const }
  }
  const owner = { kind: 'pod' as const, volume, ...pod }
  const isMemory = inMemory.includes(volumeKey(owner))
  const holder = isMemory ? 'memory-volumes' : 'pod-volumes'
  const id = isMemory ? 'raise-memory-volume' : 'raise-volume-limit'
  return {
    ...(isMemory && { title: titles.memory }),
    cause: partCause({ holder, filesystem: 'nodefs', place: null, owner, lowBytes, highBytes }),
    steps: [{ id, owner, bytes: lowBytes }] as const,
  }
}

const podText = ({ namespace, name }: { namespace: string; name: string }) =>
  `pod ${shortName(namespace)}/${shortName(name)}`

/** `pod shop/cart-0: its container app has 1.0 GiB of 1.0 GiB`. */
const useText = ({ usedBytes, limitBytes, ...of }: LocalStorageEviction) =>
  `${podText(of)}: its ${partText(of)} has ${bytes(usedBytes)} of ${bytes(limitBytes)}`

const useLines = (all: readonly LocalStorageEviction[]) =>
  all
    .slice(0, shown)
    .map(one =>
      line(
        'computed',
        `${podText(one)}, ${partText(one)}`,
        `uses ${bytes(one.usedBytes)}, limit ${bytes(one.limitBytes)}`,
      ),
    )

function partText({ limit, what }: Pick<LocalStorageEviction, 'limit' | 'what'>) {
  if (limit === 'pod') return 'ephemeral storage as a whole'
  return `${limit === 'emptyDir' ? 'emptyDir volume' : 'container'} ${shortName(what)}`
}
