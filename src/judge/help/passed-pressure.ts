/** A disk that was full within a day: the kubelet evicted pods for it, and nothing was measured. */
import { amountOrNull } from '#base/go/quantity.ts'
import { dayMs } from '#base/units.ts'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { shownTime } from '#judge/events/events.ts'
import {
  allEvictions,
  diskEvictions,
  evictionReason,
  isOfDisk,
  namedThreshold,
  placeOf,
  resourceText,
} from '#judge/events/evictions.ts'
import {
  line,
  type NodeContext,
  type NodeSubject,
  placedPod,
  plural,
  podName,
  shorten,
  shortName,
  shortPodName,
} from '#judge/rule.ts'
import { ownerOf } from '#judge/subject/pod-owners.ts'
import { isVolumeWritable, type KubernetesPod } from '#model/input/record.ts'
import { podOwner } from '#model/prediction.ts'
import { localClaims, unlimitedPods } from './host-mounts.ts'

/** Null: its disks were measured, or the kubelet does not say that there is no pressure. */
export function passedPressureOf(subject: NodeSubject) {
  const { node, pods, at, disks, summary, localVolumes } = subject
  const { capacity, conditions = [] } = node.status ?? {}
  const over = conditions.find(({ type, status }) => type === 'DiskPressure' && status === 'False')
  if (!over || disks || summary) return null
  const evicted = diskEvictions(pods ?? [], at, dayMs)
  const wasEvicted = ({ metadata }: KubernetesPod) =>
    evicted.some(({ namespace, name }) => podName(metadata) === `${namespace}/${name}`)
  return {
    node: node.metadata?.name ?? '',
    /** Pods that are still there. */
    evicted,
    /** Their claims that are folders of the node, by `namespace/name` of the pod. */
    claims: Object.fromEntries(
      (pods ?? [])
        .filter(wasEvicted)
        .map(pod => [podName(pod.metadata), localClaims(pod, localVolumes)]),
    ),
    /** Quantity of the Node object, and when DiskPressure became False. */
    disk: capacity?.['ephemeral-storage'],
    since: over.lastTransitionTime ?? null,
    unlimited: unlimitedPods(pods),
  }
}

/** Running pods that keep data in an emptyDir on disk. */
export const emptyDirWriters = ({ pods, disks }: NodeSubject) =>
  disks
    ? []
    : (pods ?? []).flatMap(pod => {
        const key = ownerOf(pod)?.key
        const volumes = (pod.spec?.volumes ?? []).flatMap(({ name = '', emptyDir }) =>
          emptyDir && emptyDir.medium !== 'Memory' && isVolumeWritable(pod, name) ? [name] : [],
        )
        return key === undefined || volumes.length === 0 || pod.status?.phase !== 'Running'
          ? []
          : [{ owner: podOwner(pod, null), key, volumes }]
      })

/** Null: no eviction of such a node is known. */
export function passedPressureFailing(
  {
    node,
    evicted: recorded,
    claims,
    disk,
    since,
    unlimited,
  }: NonNullable<ReturnType<typeof passedPressureOf>>,
  context: NodeContext,
  running: ReturnType<typeof emptyDirWriters>,
) {
  const evicted = allEvictions(recorded, context).filter(({ message }) =>
    isOfDisk(evictionCause(message).resource),
  )
  const last = evicted.at(-1)
  if (last?.time == null) return null
  const diskBytes = amountOrNull(disk)
  const threshold = namedThreshold(evicted, { thresholds: [], diskBytes })
  const { user, cause, steps = [] } = evictionReason(evicted, { diskBytes, memoryBytes: null })
  const isWriter = cause !== undefined
  const ended = pressureEnd(since, last.time, context)
  const local = evicted.flatMap(({ namespace, name }) => claims[`${namespace}/${name}`] ?? [])
  const data = running.find(({ key }) => evicted.some(({ owner }) => owner?.key === key))
  const isOther = data !== undefined && !isWriter
  return {
    ...(cause && { cause }),
    isWriter,
    steps: [
      ...(isWriter ? steps : []),
      ...(isOther ? [{ id: 'move-to-volume' as const, owner: data.owner }] : []),
      ...local.slice(0, 1).map(({ path }) => ({ id: 'look-on-node' as const, place: path })),
    ],
    seen: [
      `${plural(evicted.length, 'pod')} evicted for ${evictionCause(last.message).resource} from ${shortName(node)}, the last ${placedPod(placeOf(last))} at ${shownTime(last.time)}.`,
      ended === null ? 'The pressure is over.' : `The pressure ended at ${shownTime(ended)}.`,
      ...local
        .slice(0, 1)
        .map(({ claim }) => `Its claim ${shortName(claim)} is a folder of this node.`),
      data &&
        `${shortPodName({ namespace: data.owner.namespace, name: data.owner.pod })} now has its data in an emptyDir (${shorten(data.volumes.join(', '), 100)}): each eviction deletes it.`,
      user !== null && `By its message ${user}.`,
      `What ${isWriter ? 'else ' : ''}held the disk was not measured.`,
      threshold !== null && `The kubelet named ${threshold}.`,
      disk !== undefined && `The disk has ${resourceText(disk)}.`,
      !(isWriter || unlimited.length === 0 || data) &&
        `Pods with an emptyDir without sizeLimit: ${shorten(unlimited.join(', '), 150)}.`,
    ]
      .filter(Boolean)
      .join(' '),
    evidence: evicted
      .slice(-3)
      .map(one => line('event', shorten(`pod ${one.namespace}/${one.name}`, 300), one.message)),
  }
}

/** When the pressure ended, after the last eviction. Null: unknown. */
function pressureEnd(
  since: string | null,
  lastTime: string,
  { events }: NodeContext,
): string | null {
  const event = events?.findLast(({ reason }) => reason === 'NodeHasNoDiskPressure')?.lastTime
  return [event, since].find(time => time != null && time >= lastTime) ?? null
}
