import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import { type Failing, line, nodeRule } from '#judge/rule.ts'
import { settingIn } from '#judge/settings.ts'
import { bounded, bytes, counted, exactBytes, nameLength } from '#judge/text.ts'
import type { HolderPart } from '#model/disk-ledger.ts'
import type { LocalStorageEviction } from '#model/prediction.ts'

const evictionSeconds = evictionMonitoringPeriodMs / 1000
const shown = 10

export const localStorageLimitExceeded = nodeRule({
  id: 'local-storage-limit-exceeded',
  family: 'eviction',
  severity: 'high',
  cause: settingIn('workload', 'resources.limits.ephemeral-storage'),
  steps: [{ id: 'set-ephemeral-storage' }],
  needs: ['localStorageEvictions'],
  title: 'Pods use more local storage than their own limit: the kubelet evicts them',
  why: 'Limits of ephemeral-storage and sizeLimit of emptyDir volumes are checked at each eviction pass, whether the node has pressure or not. A pod over one is evicted at once; its owner starts the next one, which fills up again.',
  fix: 'Raise the limit to what the pod needs, or have it write less: logs to standard output count too.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go localStorageEviction, emptyDirLimitEviction, podEphemeralStorageLimitEviction, containerEphemeralStorageLimitEviction',
  ],

  *judge({ localStorageEvictions, ledger }) {
    if (localStorageEvictions.length === 0) return
    const [first, ...others] = localStorageEvictions as [
      LocalStorageEviction,
      ...LocalStorageEviction[],
    ]
    yield {
      ...reasonOf(first, ledger?.parts ?? []),
      consequence: `Within ${evictionSeconds} s the kubelet evicts ${podOf(first)}: its ${limitOf(first)} has ${bytes(first.usedBytes)} of ${bytes(first.limitBytes)}.${others.length === 0 ? '' : ` So it does for ${counted(others.length, 'other')}.`}`,
      evidence: localStorageEvictions
        .slice(0, shown)
        .map(over =>
          line(
            'computed',
            `${podOf(over)}, ${limitOf(over)}`,
            `uses ${exactBytes(over.usedBytes)}, limit ${exactBytes(over.limitBytes)}`,
          ),
        ),
    }
  },
})

/** The pod that is over its limit, whatever else is on the disk. */
function reasonOf(
  { limit, namespace, name, what, usedBytes }: LocalStorageEviction,
  parts: readonly HolderPart[],
): Pick<Failing, 'cause' | 'steps'> {
  const isVolume = limit === 'emptyDir'
  const holder = isVolume ? 'pod-volumes' : 'writable-layers'
  const known = parts.find(
    ({ owner }) =>
      (owner?.kind === 'pod' || owner?.kind === 'container') &&
      owner.namespace === namespace &&
      owner.pod === name,
  )?.owner
  const owner = known ?? {
    kind: 'pod' as const,
    ...{ namespace, pod: name, workload: null, volume: isVolume ? what : null },
  }
  return {
    cause: {
      kind: 'holder',
      holder,
      filesystem: 'nodefs',
      freedBy: 'pod-deletion',
      amount: { unit: 'bytes', low: usedBytes, high: usedBytes },
      owner,
      place: null,
    },
    steps: [
      { id: isVolume ? 'set-volume-limit' : 'set-ephemeral-storage', owner, bytes: usedBytes },
    ],
  }
}

const podOf = ({ namespace, name }: LocalStorageEviction) =>
  `pod ${bounded(namespace, nameLength)}/${bounded(name, nameLength)}`

function limitOf({ limit, what }: LocalStorageEviction): string {
  if (limit === 'pod') return 'ephemeral storage as a whole'
  return `${limit === 'emptyDir' ? 'emptyDir volume' : 'container'} ${bounded(what, nameLength)}`
}
