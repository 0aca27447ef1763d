import { isPlainPath } from '#base/text.ts'
import {
  isKeyQuotaError,
  isNoSpace,
  isOfSharedMemory,
  kernelLimitOf,
  placeWithoutSpace,
} from '#facts/kubelet/event-messages.ts'
import { claimName, scarceClaims } from '#judge/help/claims.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import type { Reason } from '#judge/help/holder-cause.ts'
import { mountAround } from '#judge/help/host-mounts.ts'
import {
  containerOf,
  endedContainers,
  hasRoom,
  memoryVolumeStep,
  volumeOf,
} from '#judge/help/space-errors.ts'
import { unmeasuredReason } from '#judge/help/unmeasured-disks.ts'
import {
  bytes,
  type Failing,
  line,
  nodeRule,
  placedPod,
  plural,
  podName,
  type Satisfied,
  seenFirst,
  shorten,
  shortName,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import type { KubernetesPod, VolumeSource } from '#model/input/record.ts'
import { podOwner } from '#model/prediction.ts'

const shown = 5
/** A claim with less free: claim-nearly-full reports it. */
const scarce = 0.05

const titles = { full: 'Containers end with "no space left on device": the disk is full' }

type Ended = ReturnType<typeof endedContainers>[number]

export const containerOutOfSpace = nodeRule({
  id: 'container-out-of-space',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('no-space-elsewhere'),
  steps: ['look-on-node'],
  needs: ['pods'],
  titles,
  title: 'Containers ended with "no space left on device"',
  why: 'What a container writes beside its volumes, and into emptyDir and hostPath volumes, is on the disks of the node; a claim is a disk of its own. The message names a path of the container: its volume mounts say which disk that is.',
  fix: 'Look at the disk that is named, and at what holds it. A program that needs the space writes into a claim.',
  sources: [
    'pkg/kubelet/kuberuntime/kuberuntime_container.go getTerminationMessage',
    'kubernetes.io/docs/concepts/storage/ephemeral-storage',
  ],

  *judge(subject) {
    const { pods, at, summary, filesystems } = subject
    const claims = new Set(scarceClaims(summary, scarce).map(claimName))
    const byDisk = Map.groupBy(
      endedContainers(pods, at, isSpaceError).flatMap(ended => {
        const target = targetOf(ended, filesystems.layout === 'imagefs' ? 'imagefs' : 'nodefs')
        const names = target?.claim === undefined ? unnamedClaims(ended) : [target.claim]
        const isOfClaim = names.some(name => claims.has(podName({ ...ended.pod.metadata, name })))
        return !target || isOfClaim ? [] : [{ ...ended, ...target }]
      }),
      ({ pod, disk, claim, volume }) => disk ?? `${pod.metadata?.namespace}/${claim ?? volume}`,
    )
    for (const all of byDisk.values()) {
      const first = all[0]!
      const count = new Set(all.map(({ pod }) => podName(pod.metadata))).size
      const reason = reasonOf(first, subject)
      const who = placedPod(podOwner(first.pod, null))
      yield {
        ...reason,
        ...seenFirst(`${plural(count, 'pod')} ended, the first ${who}. ${reason.seen}`),
        evidence: all
          .slice(0, shown)
          .map(({ pod, name, message }) =>
            line(
              'object',
              shorten(`container ${name} of pod ${podName(pod.metadata)}`, 300),
              message,
            ),
          ),
      }
    }
  },
})

const ofRuntime: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun'])

const isSpaceError = (message: string, reason: string) =>
  isNoSpace(message) &&
  !ofRuntime.has(reason) &&
  !isOfSharedMemory(message) &&
  !isKeyQuotaError(message) &&
  kernelLimitOf(message) === null

interface Target {
  /** Null: another one than those of the node. */
  disk: 'nodefs' | 'imagefs' | null
  claim?: string
  volume: string | null
  /** Of the node. */
  place?: string
  step?: ReturnType<typeof memoryVolumeStep>
}

/** By the volume mount that has the path. Null: a volume of another kind, such as a Secret. */
function targetOf({ pod, name, message }: Ended, layerDisk: 'nodefs' | 'imagefs'): Target | null {
  const mount = (containerOf(pod, name)?.volumeMounts ?? [])
    .toSorted((a, b) => (b.mountPath?.length ?? 0) - (a.mountPath?.length ?? 0))
    .find(({ mountPath = '' }) => isPathIn(message, mountPath))
  if (!mount) return { disk: layerDisk, volume: null }
  const volume = volumeOf(pod, mount.name)
  return volume ? targetOfVolume(pod, volume) : null
}

/** Claims in which a file without a full path may be: those that the container mounts. */
const unnamedClaims = ({ pod, name, message }: Ended): string[] =>
  placeWithoutSpace(message) === null
    ? (containerOf(pod, name)?.volumeMounts ?? []).flatMap(mount => {
        const volume = volumeOf(pod, mount.name)
        return (volume && targetOfVolume(pod, volume)?.claim) ?? []
      })
    : []

function targetOfVolume(pod: KubernetesPod, source: VolumeSource): Target | null {
  const { name: volume = '', persistentVolumeClaim, ephemeral, emptyDir, hostPath } = source
  const claim =
    persistentVolumeClaim?.claimName ?? (ephemeral && `${pod.metadata?.name ?? ''}-${volume}`)
  if (claim !== undefined) return { disk: null, claim, volume }
  if (emptyDir?.medium === 'Memory')
    return { disk: null, volume, step: memoryVolumeStep(pod, source) }
  if (emptyDir) return { disk: 'nodefs', volume }
  if (!hostPath?.path) return null
  return { disk: 'nodefs', volume, ...(isPlainPath(hostPath.path) && { place: hostPath.path }) }
}

/** Whether the folder stands in the message, not as a part of another path. */
function isPathIn(message: string, folder: string): boolean {
  const path = folder.replace(/\/$/, '')
  const parts = path === '' ? [] : message.split(path)
  const isEnd = (part = '') => !/[\w.-]$/.test(part)
  return parts.some((part, at) => at > 0 && isEnd(parts[at - 1]) && !/^[\w.-]/.test(part))
}

function reasonOf(
  { pod, message, disk, claim, volume, place, step }: Ended & Target,
  subject: Satisfied<'pods'>,
): Omit<Reason, 'seen'> & { seen: string } & Partial<
    Pick<Failing, 'severity' | 'title' | 'confidence'>
  > {
  const owner = podOwner(pod, volume)
  const where = `Volume ${shortName(volume ?? '')} is`
  if (claim !== undefined)
    return {
      cause: worldCause('claim-full', claim),
      steps: [{ id: 'expand-claim', owner, place: claim }],
      seen: `${where} PersistentVolumeClaim ${shortName(claim)}, no disk of the node; its free space was not read, or is enough now.`,
    }
  if (disk === null)
    return {
      cause: worldCause('no-space-elsewhere', volume),
      steps: [{ id: step ?? 'read-pods', owner }],
      seen: `${where} in memory, no disk of the node.`,
    }
  const { nodefs, imagefs } = subject.filesystems
  const own = disk === 'imagefs' ? imagefs : nodefs
  const file = placeWithoutSpace(message)
  const layer =
    file === null
      ? 'The message names no path; its layer is'
      : `${shorten(file)} is in no volume, so it is`
  const what = `${volume === null ? layer : where} on`
  const free = own?.availableBytes ?? null
  const held = !own || hasRoom(own) ? null : diskReason(subject, `${disk}.available`)
  if (held)
    return {
      ...held,
      severity: 'high',
      title: titles.full,
      seen: `${what} ${disk}, which has ${bytes(free ?? 0)} free.`,
    }
  const look: StepAction = { id: 'look-on-node', ...(place !== undefined && { place }) }
  const elsewhere = place === undefined ? null : unmeasuredReason(subject, place)
  if (elsewhere)
    return {
      ...elsewhere.reason,
      steps: [...elsewhere.reason.steps, { ...look, place: mountAround(subject, place ?? '') }],
      confidence: 'likely' as const,
      seen: `${where} on the node at ${place}. It may be on a disk that was not measured.`,
    }
  // Limits of the kernel have the same words.
  const isAnyLimit = file === null && volume === null && own != null && hasRoom(own)
  const or = isAnyLimit
    ? ', the path is on another disk, or it is a limit of the kernel, such as inotify watches'
    : ', or the path is on another disk'
  return {
    cause: worldCause('no-space-elsewhere', place ?? disk),
    steps: isAnyLimit ? [{ id: 'read-limits' }, look] : [look],
    seen: `${what} ${place === undefined ? disk : `the node at ${place}`}${free === null ? '' : `; ${disk} has ${bytes(free)} free now: it was full then${or}`}.`,
  }
}
