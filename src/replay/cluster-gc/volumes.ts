/**
 * PersistentVolumes: which are released, and what the controller does with them. PVCs and volumes: what still uses them.
 *
 * Replays       pkg/controller/volume/persistentvolume/pv_controller.go  syncVolume, reclaimVolume, isVolumeReleased, deleteVolumeOperation,
 *                                                                        findDeletablePlugin
 *               pkg/controller/volume/pvcprotection/pvc_protection_controller.go  podUsesPVC, podIsShutDown
 *               pkg/controller/volume/pvprotection/pv_protection_controller.go    isBeingUsed
 *               component-helpers/storage/ephemeral                               VolumeClaimName, VolumeIsForPod
 * Read at       1.29 to 1.37
 * Kept exactly  a PVC of the same name with another UID is another PVC; if a PVC left its volume for another one, the volume is released only if
 *               it was provisioned for that PVC and is to be deleted, else it is unbound; a finished pod holds its PVC until the pod is deleted;
 *               an unscheduled pod does not; the PVC of an ephemeral volume is held only by its controlling pod, until the kubelet is done with
 *               that pod
 * Left out      binding, volumeMode; when the controller recycles or deletes a volume itself; in-tree plugins other than hostPath and nfs: on EKS
 *               they are removed, or migrated to CSI; the Unused condition of 1.36, which is alpha
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { ReleasedVolume } from '#model/finding/cluster-garbage.ts'
import type {
  KubernetesPod,
  PersistentVolume,
  PersistentVolumeClaim,
} from '#model/input/kubernetes.ts'
import { controllerOf, keyOf, type ObjectMetadata, parseMetadata, timeOf } from './metadata.ts'

type Action = ReleasedVolume['action']

/** PVCs by `namespace/name`. */
export type ClaimsByKey = ReadonlyMap<string, { uid: string; boundTo: string }>

export const claimsByKey = (claims: readonly PersistentVolumeClaim[]): ClaimsByKey =>
  new Map(
    claims.flatMap(claim => {
      const metadata = parseMetadata(claim)
      const boundTo = claim.spec?.volumeName ?? ''
      return metadata ? [[keyOf(metadata), { uid: metadata.uid, boundTo }]] : []
    }),
  )

/**
 * What the controller does with a released volume. `retain`: kept until the claimRef is cleared by hand; `leave-to-driver`: the external
 * provisioner deletes it; `fail`: no plugin or policy deletes it. Null: the volume is not released, or has no name.
 */
export function releasedAction(
  volume: PersistentVolume,
  claims: ClaimsByKey,
  features: KubeletFeatures,
): Action | null {
  const { metadata, spec } = volume
  const claim = spec?.claimRef
  if (!metadata?.name || !claim?.uid) return null
  const found = claims.get(`${claim.namespace ?? ''}/${claim.name ?? ''}`)
  if (found?.uid !== claim.uid) return reclaimVolume(volume, features)
  if (found.boundTo === '' || found.boundTo === metadata.name) return null
  const isProvisioned = metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== undefined
  return spec?.persistentVolumeReclaimPolicy === 'Delete' && isProvisioned
    ? reclaimVolume(volume, features)
    : 'other'
}

function reclaimVolume(volume: PersistentVolume, features: KubeletFeatures): Action {
  const { metadata, spec } = volume
  if (metadata?.annotations?.['pv.kubernetes.io/migrated-to']) return 'leave-to-driver'
  const policy = spec?.persistentVolumeReclaimPolicy ?? 'Retain'
  if (policy === 'Retain') return 'retain'
  if (policy === 'Recycle') return spec?.hostPath || spec?.nfs ? 'other' : 'fail'
  return policy === 'Delete' ? deleteVolume(volume, features) : 'fail'
}

function deleteVolume({ metadata, spec }: PersistentVolume, features: KubeletFeatures): Action {
  if (timeOf(metadata?.deletionTimestamp) !== null && !features.has('honorPvReclaimPolicy'))
    return 'other'
  const provisioner = metadata?.annotations?.['pv.kubernetes.io/provisioned-by'] ?? ''
  if (provisioner === '') {
    if (spec?.csi) return 'leave-to-driver'
    return spec?.hostPath ? 'other' : 'fail'
  }
  // Before this point, the controller itself marks volumes of the in-tree cloud plugin as migrated.
  if (provisioner === 'kubernetes.io/aws-ebs' || !provisioner.startsWith('kubernetes.io/'))
    return 'leave-to-driver'
  return provisioner === 'kubernetes.io/host-path' ? 'other' : 'fail'
}

/** Finds the pods that hold a PVC by kubernetes.io/pvc-protection, as `namespace/name`. */
export function claimUsers(pods: readonly KubernetesPod[]): (claim: ObjectMetadata) => string[] {
  const uses = Map.groupBy(pods.flatMap(claimUsesOf), ({ claim }) => claim)
  return claim => {
    const holding = (uses.get(keyOf(claim)) ?? []).filter(use => holdsClaim(use, claim))
    return [...new Set(holding.map(({ pod }) => keyOf(pod)))]
  }
}

/** The PVC that holds the volume by kubernetes.io/pv-protection. A volume is in use as long as its phase is Bound. */
export const volumeUsers = ({ spec, status }: PersistentVolume): string[] =>
  status?.phase === 'Bound'
    ? [`${spec?.claimRef?.namespace ?? ''}/${spec?.claimRef?.name ?? ''}`]
    : []

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
