import { dayMs } from '#base/units.ts'
import { ownLimitOf } from '#facts/kubelet/event-messages.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import { recordedEvictions } from '#judge/events/evictions.ts'
import { podOf as podOfName } from '#judge/help/deletion.ts'
import { partCause } from '#judge/help/holder-cause.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import {
  bytes,
  type Failing,
  line,
  nameLength,
  nodeRule,
  plural,
  seenFirst,
  settingIn,
  shorten,
} from '#judge/rule.ts'
import { controllerOf, type KubernetesPod } from '#model/input/kubernetes.ts'
import type { DiskHolder, HolderPart } from '#model/prediction/disk-ledger.ts'
import type { LocalStorageEviction } from '#model/prediction/prediction.ts'

const shown = 10

const titles = { before: 'Pods were evicted over their own limit of local storage' }

export const localStorageLimitExceeded = nodeRule({
  id: 'local-storage-limit-exceeded',
  family: 'eviction',
  severity: 'high',
  cause: settingIn('workload', 'resources.limits.ephemeral-storage'),
  steps: ['set-ephemeral-storage'],
  titles,
  needs: ['localStorageEvictions'],
  title: 'Pods use more local storage than their own limit: the kubelet evicts them',
  why: 'Limits of ephemeral-storage and sizeLimit of emptyDir volumes are checked at each eviction pass, whether the node has pressure or not. A pod over one is evicted at once; its owner starts the next one, which fills up again.',
  fix: 'Raise the limit to what the pod needs, or have it write less: logs to standard output count too.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go localStorageEviction, emptyDirLimitEviction, podEphemeralStorageLimitEviction, containerEphemeralStorageLimitEviction',
  ],

  *judge({ localStorageEvictions, ledger, pods, at }) {
    yield* evictedBefore(pods ?? [], at)
    if (localStorageEvictions.length === 0) return
    const [first, ...others] = localStorageEvictions as [
      LocalStorageEviction,
      ...LocalStorageEviction[],
    ]
    yield {
      ...reasonOf(first, ledger?.parts ?? [], pods),
      consequence: `Within ${evictionSeconds} s the kubelet evicts ${podOf(first)}: its ${limitOf(first)} has ${bytes(first.usedBytes)} of ${bytes(first.limitBytes)}.${others.length === 0 ? '' : ` So it does for ${plural(others.length, 'other')}.`}`,
      evidence: localStorageEvictions
        .slice(0, shown)
        .map(over =>
          line(
            'computed',
            `${podOf(over)}, ${limitOf(over)}`,
            `uses ${bytes(over.usedBytes)}, limit ${bytes(over.limitBytes)}`,
          ),
        ),
    }
  },
})

/** Pods of the last day, by owner: a pod that starts again is below its limit at first. */
function* evictedBefore(pods: readonly KubernetesPod[], at: string): Generator<Failing> {
  const evicted = recordedEvictions(pods, at, dayMs).flatMap(eviction => {
    const ownLimit = ownLimitOf(eviction.message)
    const pod = ownLimit && pods.find(({ metadata }) => metadata?.uid === eviction.pod)
    return pod ? [{ ...eviction, ownLimit, object: pod }] : []
  })
  for (const alike of Map.groupBy(evicted, ({ owner, pod }) => owner ?? pod).values()) {
    const { namespace, name, ownLimit, object } = alike.at(-1)!
    const { volume, quantity } = ownLimit
    const owner = { namespace, pod: name, volume }
    yield {
      ...overLimit(object, owner, [amountOf(quantity, 0) ?? 0, null]),
      severity: 'medium',
      title: titles.before,
      ...seenFirst(
        `${plural(alike.length, 'pod')} of ${shorten(controllerOf(object) ?? name, nameLength)} in ${shorten(namespace, nameLength)} went over the pod's own limit of ${shorten(quantity, 40)}: the disk of the node is not the cause.`,
      ),
      evidence: alike.slice(-shown).map(one => line('event', podOf(one), one.message)),
    }
  }
}

/** What counts for a limit of ephemeral-storage. */
const counted: readonly DiskHolder[] = ['writable-layers', 'container-logs', 'pod-volumes']

/** The pod that is over its limit, and what is the largest part of it, whatever else is on the disk. */
function reasonOf(
  { limit, namespace, name, what, usedBytes }: LocalStorageEviction,
  parts: readonly HolderPart[],
  pods: readonly KubernetesPod[] | null,
): Pick<Failing, 'cause' | 'steps'> {
  const pod = podOfName(pods, { namespace, pod: name })
  const volume = limit === 'emptyDir' ? what : null
  const reason = overLimit(pod, { namespace, pod: name, volume }, [usedBytes, usedBytes])
  const own = parts.filter(
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
  return { cause: partCause(largest), steps: [{ ...step, owner: largest.owner }] }
}

/** A limit of ephemeral-storage is of layers, logs and volumes together: which of them were written is not known. */
function overLimit(
  pod: KubernetesPod | undefined,
  name: { namespace: string; pod: string; volume: string | null },
  [lowBytes, highBytes]: [number, number | null],
) {
  const owner = { kind: 'pod' as const, ...name, workload: pod ? controllerOf(pod) : null }
  const step = { owner, bytes: lowBytes }
  if (name.volume === null)
    return { steps: [{ id: 'set-ephemeral-storage' as const, ...step }] as const }
  const held = { holder: 'pod-volumes', filesystem: 'nodefs', place: null } as const
  return {
    cause: partCause({ ...held, owner, lowBytes, highBytes }),
    steps: [{ id: 'raise-volume-limit' as const, ...step }] as const,
  }
}

const podOf = ({ namespace, name }: { namespace: string; name: string }) =>
  `pod ${shorten(namespace, nameLength)}/${shorten(name, nameLength)}`

function limitOf({ limit, what }: LocalStorageEviction) {
  if (limit === 'pod') return 'ephemeral storage as a whole'
  return `${limit === 'emptyDir' ? 'emptyDir volume' : 'container'} ${shorten(what, nameLength)}`
}
