/** How fast a pod fills a disk. */

import { amountOrNull } from '#base/go/quantity.ts'
import { hourMs } from '#base/units.ts'
import { agoMs } from '#judge/events/events.ts'
import { bytes, plural, type Satisfied, shortPodName, span } from '#judge/rule.ts'
import { isVolumeWritable, type KubernetesPod } from '#model/input/record.ts'
import type { HolderOwner, HolderPart } from '#model/prediction.ts'
import { podOf } from './deletion.ts'
import { ofLocalStorage } from './holder-cause.ts'

/** What a pod writes as it starts is no rate. */
const leastAgeMs = 10 * 60_000

/**
 * Of the owner whose pods fill the rest of the disk first; `bytes`: what they wrote since their start. Null: unknown, it takes more than an hour, or
 * their limits end them before. Folders of the node and claims outlive pods: how long they were written is unknown.
 */
export function fillRate(
  filesystem: HolderPart['filesystem'],
  left: number,
  { pods, at, ledger }: Satisfied<'disks'>,
) {
  const writers = (ledger?.parts ?? [])
    .filter(part => part.filesystem === filesystem)
    .flatMap(part => {
      const { owner, holder, lowBytes } = part
      if (!(ofLocalStorage.has(holder) || holder === 'image-volumes') || lowBytes <= 0) return []
      if (!owner || (owner.kind !== 'container' && owner.kind !== 'pod')) return []
      const pod = podOf(pods, owner)
      const { status } = pod ?? {}
      if (pod && isFilledAtStart(pod, owner)) return []
      // Logs and volumes outlive containers.
      const own =
        (holder === 'writable-layers' || holder === 'image-volumes') && owner.kind === 'container'
          ? status?.containerStatuses?.find(({ name }) => name === owner.container)
          : undefined
      const ageMs = agoMs(own?.state?.running?.startedAt ?? status?.startTime ?? '', at) ?? 0
      const room = Math.max(0, limitOf(pod, owner) - lowBytes)
      return ageMs >= leastAgeMs
        ? [{ owner, holder, lowBytes, room, ageMs, perMs: lowBytes / ageMs }]
        : []
    })
  const sumOf = (own: typeof writers, key: 'lowBytes' | 'room' | 'perMs') =>
    own.reduce((sum, one) => sum + one[key], 0)
  const [fastest = []] = [
    ...Map.groupBy(
      writers,
      ({ owner: { namespace, workload, pod }, holder }) =>
        `${namespace}/${workload ?? pod} ${holder}`,
    ).values(),
  ]
    .filter(own => sumOf(own, 'room') >= left)
    .toSorted((a, b) => sumOf(b, 'perMs') - sumOf(a, 'perMs'))
  const [first] = fastest
  const [written, perMs] = [sumOf(fastest, 'lowBytes'), sumOf(fastest, 'perMs')]
  if (!first || left / perMs > hourMs) return null
  const { namespace, pod } = first.owner
  const count = new Set(fastest.map(({ owner }) => owner.pod)).size
  const [who, together] =
    count === 1 ? [shortPodName({ namespace, name: pod }), ''] : [plural(count, 'pod'), ' together']
  const ageMs = Math.max(...fastest.map(one => one.ageMs))
  const minutes = Math.round(left / perMs / 60_000)
  const rest = minutes < 1 ? 'less than a minute' : plural(minutes, 'minute')
  const end = left <= 0 ? '' : `: at that rate the rest lasts ${rest}`
  return {
    bytes: written,
    text: `${who} wrote ${bytes(written)} in ${span(ageMs)}, about ${bytes(60_000 * perMs)} a minute${together}${end}.`,
  }
}

/** Whether an init container can write the volume: a restore, for example, ends before the pod runs. */
const isFilledAtStart = ({ spec }: KubernetesPod, owner: HolderOwner) =>
  owner.kind === 'pod' &&
  owner.volume !== null &&
  isVolumeWritable({ spec: { initContainers: spec?.initContainers } }, owner.volume)

/** Bytes at which the kubelet evicts the pod: of the volume, or of the container's layer and logs. Infinite: none is set. */
function limitOf(pod: KubernetesPod | undefined, owner: HolderOwner): number {
  const { containers = [], volumes = [] } = pod?.spec ?? {}
  const limits =
    owner.kind === 'container'
      ? containers
          .filter(({ name }) => name === owner.container)
          .map(({ resources }) => resources?.limits?.['ephemeral-storage'])
      : volumes
          .filter(({ name }) => owner.kind === 'pod' && name === owner.volume)
          .map(({ emptyDir }) => emptyDir?.sizeLimit)
  return amountOrNull(limits[0]) ?? Infinity
}
