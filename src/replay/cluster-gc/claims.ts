/**
 * PVCs, and the protection finalizers of PVCs and volumes: what still uses them.
 *
 * Replays       pkg/controller/volume/pvcprotection/pvc_protection_controller.go  podUsesPVC, podIsShutDown
 *               pkg/controller/volume/pvprotection/pv_protection_controller.go    isBeingUsed
 *               component-helpers/storage/ephemeral                               VolumeClaimName, VolumeIsForPod
 *               pkg/volume/util/util.go                                           IsPodTerminated
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  a finished pod holds its PVC until the pod is deleted; an unscheduled pod does not; the PVC of an ephemeral volume is
 *               held only by its controlling pod, until the kubelet is done with that pod
 * Left out      the Unused condition of 1.36, which is alpha
 */
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type {
  ContainerStatus,
  KubernetesPod,
  PersistentVolume,
  PersistentVolumeClaim,
} from '#model/input/kubernetes.ts'
import { controllerOf, keyOf, type ObjectMetadata, parseMetadata } from './metadata.ts'

export interface ProtectedObject {
  /** `namespace/name` of a PVC, name of a volume. */
  object: string
  isBeingDeleted: boolean
  /** Users that hold the object by kubernetes.io/pvc-protection or kubernetes.io/pv-protection; null: not known. */
  usedBy: string[] | null
  /** Finalizers that must be removed before the object is deleted, in order. */
  finalizers: { finalizer: string; isReady: boolean | null }[]
}

/** @param pods null: not read */
export function claimProtection(
  claims: readonly PersistentVolumeClaim[],
  pods: readonly KubernetesPod[] | null,
): ProtectedObject[] {
  const users = Map.groupBy(pods?.flatMap(claimUsesOf) ?? [], ({ claim }) => claim)
  return claims.flatMap(claim => {
    const metadata = parseMetadata(claim)
    if (!metadata) return []
    const using = (users.get(keyOf(metadata)) ?? [])
      .filter(use => holdsClaim(use, metadata))
      .map(({ pod }) => keyOf(pod))
    return protectedBy('kubernetes.io/pvc-protection', metadata, pods && [...new Set(using)])
  })
}

/** A volume is in use as long as its phase is Bound. Null: the volume has no name. */
export function volumeProtection(volume: PersistentVolume): ProtectedObject | null {
  const metadata = parseMetadata(volume)
  if (!metadata) return null
  const claim = volume.spec?.claimRef
  const isUsed = volume.status?.phase === 'Bound'
  const user = `${claim?.namespace ?? ''}/${claim?.name ?? ''}`
  return protectedBy('kubernetes.io/pv-protection', metadata, isUsed ? [user] : [])
}

/** Whether other finalizers can be removed is unknown. */
function protectedBy(
  protection: string,
  metadata: ObjectMetadata,
  usedBy: string[] | null,
): ProtectedObject {
  const isReady = (finalizer: string) =>
    finalizer === protection && usedBy ? usedBy.length === 0 : null
  return {
    object: keyOf(metadata),
    isBeingDeleted: metadata.deletedMs !== null,
    usedBy,
    finalizers: metadata.finalizers.map(finalizer => ({ finalizer, isReady: isReady(finalizer) })),
  }
}

interface ClaimUse {
  pod: ObjectMetadata
  volume: string
  /** `namespace/name` */
  claim: string
  isEphemeral: boolean
  isScheduled: boolean
  /** The kubelet is done with the pod, or the pod was force-deleted. */
  isShutDown: boolean
}

/** Whether the pod holds the PVC. No kubelet starts an unscheduled pod with a Terminating PVC. */
const holdsClaim = (
  { pod, isEphemeral, isScheduled, isShutDown }: ClaimUse,
  claim: ObjectMetadata,
) => isScheduled && (!isEphemeral || (!isShutDown && controllerOf(claim)?.uid === pod.uid))

function claimUsesOf(object: KubernetesPod): ClaimUse[] {
  const pod = parseMetadata(object)
  if (!pod) return []
  const spec = object.spec
  const isScheduled = (spec?.nodeName ?? '') !== ''
  const isShutDown = pod.deletedMs !== null && object.metadata?.deletionGracePeriodSeconds === 0
  return (spec?.volumes ?? []).flatMap(source => {
    const volume = source.name ?? ''
    const claimName = source.persistentVolumeClaim?.claimName ?? null
    const isEphemeral = claimName === null
    if (isEphemeral && !source.ephemeral) return []
    const claim = `${pod.namespace}/${claimName ?? `${pod.name}-${volume}`}`
    return [{ pod, volume, claim, isEphemeral, isScheduled, isShutDown }]
  })
}

/** `namespace/name` of each PVC that the pod names, even PVCs controlled by other pods. */
export const claimKeysOf = (pod: KubernetesPod): string[] =>
  claimUsesOf(pod).map(({ claim }) => claim)

/** Whether the pod has finished, or is being deleted and none of its containers runs. */
export function isPodTerminated(pod: KubernetesPod): boolean {
  const { status } = pod
  if (isTerminalPhase(status?.phase ?? null)) return true
  const statuses = (
    ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const
  ).flatMap(key => status?.[key] ?? [])
  return (parseMetadata(pod)?.deletedMs ?? null) !== null && statuses.every(isNotRunning)
}

const isNotRunning = ({ state }: ContainerStatus) =>
  state?.terminated !== undefined || state?.waiting !== undefined
