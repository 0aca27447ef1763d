import { dayMs } from '#base/units.ts'
import { ownLimitOf } from '#facts/kubelet/event-messages.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import { recordedEvictions } from '#judge/events/evictions.ts'
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
import type { DiskHolder, HolderOwner, HolderPart } from '#model/prediction/disk-ledger.ts'
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
      ...reasonOf(first, ledger?.parts ?? []),
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
    return pod ? [{ ...eviction, ownLimit, workload: controllerOf(pod) }] : []
  })
  for (const alike of Map.groupBy(evicted, ({ owner, pod }) => owner ?? pod).values()) {
    const { namespace, name, ownLimit, workload } = alike.at(-1)!
    const low = amountOf(ownLimit.quantity, 0) ?? 0
    const owner = { kind: 'pod' as const, namespace, pod: name, workload, volume: ownLimit.volume }
    yield {
      // The message does not say whether layers, logs or volumes were written.
      ...(ownLimit.volume !== null && causeOf('pod-volumes', { low, high: null }, owner)),
      ...stepOf(ownLimit.volume, low, owner),
      severity: 'medium',
      title: titles.before,
      ...seenFirst(
        `${plural(alike.length, 'pod')} of ${shorten(workload ?? name, nameLength)} in ${shorten(namespace, nameLength)} went over ${shorten(ownLimit.quantity, 40)}, ${alike.length === 1 ? 'its' : 'their'} own limit: the disk of the node is not the cause.`,
      ),
      evidence: alike.slice(-shown).map(one => line('event', podOf(one), one.message)),
    }
  }
}

/** The pod that is over its limit, whatever else is on the disk. */
function reasonOf(
  { limit, namespace, name, what, usedBytes }: LocalStorageEviction,
  parts: readonly HolderPart[],
): Pick<Failing, 'cause' | 'steps'> {
  const isVolume = limit === 'emptyDir'
  const known = parts
    .filter(
      ({ owner }) =>
        (owner?.kind === 'pod' || owner?.kind === 'container') &&
        owner.namespace === namespace &&
        owner.pod === name,
    )
    .toSorted((a, b) => b.lowBytes - a.lowBytes)[0]
  const holder = isVolume ? 'pod-volumes' : (known?.holder ?? 'writable-layers')
  const owner = known?.owner ?? {
    kind: 'pod' as const,
    namespace,
    pod: name,
    workload: null,
    volume: isVolume ? what : null,
  }
  return {
    ...causeOf(holder, { low: usedBytes, high: usedBytes }, owner),
    ...stepOf(isVolume ? what : null, usedBytes, owner),
  }
}

const causeOf = (
  holder: DiskHolder,
  { low, high }: { low: number; high: number | null },
  owner: HolderOwner,
): Pick<Failing, 'cause'> => ({
  cause: {
    ...{ kind: 'holder', holder, filesystem: 'nodefs', freedBy: 'pod-deletion' },
    ...{ owner, place: null, amount: { unit: 'bytes', low, high } },
  },
})

/** @param volume null: a limit of ephemeral-storage */
const stepOf = (
  volume: string | null,
  bytes: number,
  owner: HolderOwner,
): Pick<Failing, 'steps'> => ({
  steps: [{ id: volume === null ? 'set-ephemeral-storage' : 'raise-volume-limit', owner, bytes }],
})

const podOf = ({ namespace, name }: { namespace: string; name: string }) =>
  `pod ${shorten(namespace, nameLength)}/${shorten(name, nameLength)}`

function limitOf({ limit, what }: LocalStorageEviction) {
  if (limit === 'pod') return 'ephemeral storage as a whole'
  return `${limit === 'emptyDir' ? 'emptyDir volume' : 'container'} ${shorten(what, nameLength)}`
}
