/**
 * PersistentVolumes: which are released, and what the controller does with them.
 *
 * Replays       pkg/controller/volume/persistentvolume/pv_controller.go  syncVolume, reclaimVolume, isVolumeReleased, isVolumeUsed,
 *                                                                        deleteVolumeOperation, recycleVolumeOperation, findDeletablePlugin
 * Read at       1.29 to 1.37
 * Kept exactly  a PVC of the same name with another UID is another PVC; if a PVC left its volume for another one, the volume is released only if
 *               it was provisioned for that PVC and is to be deleted, else it is unbound; Failed is not overwritten, but retried
 * Left out      binding, volumeMode; in-tree plugins other than hostPath and nfs: on EKS they are removed, or migrated to CSI
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type {
  KubernetesPod,
  PersistentVolume,
  PersistentVolumeClaim,
} from '#model/input/kubernetes.ts'
import type { Certainty } from '#model/prediction/prediction.ts'
import { claimKeysOf, isPodTerminated } from './claims.ts'
import { keyOf, type ObjectMetadata, parseMetadata } from './metadata.ts'

/**
 * `none`: not released; `unbind`: drops the reference to a PVC bound elsewhere; `retain`: kept until the claimRef is cleared by hand;
 * `leave-to-driver`: the external provisioner deletes it; `delete`, `recycle`: a plugin of the controller does; `fail`: no such plugin or
 * policy exists; `wait-for-pods`: not recycled while pods use its PVC; `nothing-while-deleted`: its object is deleted, its storage is kept;
 * `unknown`: data that was not read decides.
 */
export type VolumeAction =
  | 'none'
  | 'unbind'
  | 'retain'
  | 'leave-to-driver'
  | 'delete'
  | 'recycle'
  | 'fail'
  | 'wait-for-pods'
  | 'nothing-while-deleted'
  | 'unknown'

interface VolumeOutcome {
  /** The phase that the controller sets; null: the phase stays as it is, or is not known. */
  phase: 'Available' | 'Bound' | 'Released' | 'Failed' | null
  action: VolumeAction
  certainty: Certainty
}

export interface SyncedVolume extends VolumeOutcome {
  volume: string
  released: 'claim-gone' | 'claim-other-uid' | 'claim-bound-elsewhere' | 'no' | 'unknown'
}

export interface Claimants {
  /** PersistentVolumeClaims of all namespaces; null: not read. */
  claims: readonly PersistentVolumeClaim[] | null
  /** Null: not read. */
  pods: readonly KubernetesPod[] | null
}

interface BoundVolume {
  metadata: ObjectMetadata
  spec: PersistentVolume['spec']
  claim: { key: string; uid: string } | null
  reclaimPolicy: string
  hasFailed: boolean
  /** Null: no annotations, or they were not kept. */
  annotations: NonNullable<PersistentVolume['metadata']>['annotations'] | null
  provisioner: string
}

export function syncVolumes(
  volumes: readonly PersistentVolume[],
  { claims, pods }: Claimants,
  features: KubeletFeatures,
): SyncedVolume[] {
  const known: KnownClaimants = {
    claims:
      claims &&
      new Map(claims.flatMap(claim => parseClaim(claim) ?? []).map(claim => [claim.key, claim])),
    inUse: pods && new Set(pods.filter(pod => !isPodTerminated(pod)).flatMap(claimKeysOf)),
  }
  return volumes.flatMap(raw => {
    const volume = parseVolume(raw)
    return volume ? [syncVolume(volume, known, features)] : []
  })
}

interface Claim {
  /** `namespace/name` */
  key: string
  uid: string
  /** The volume's name; empty: not bound. */
  boundTo: string
}

interface KnownClaimants {
  claims: ReadonlyMap<string, Claim> | null
  inUse: ReadonlySet<string> | null
}

function parseClaim(raw: PersistentVolumeClaim): Claim | null {
  const metadata = parseMetadata(raw)
  return (
    metadata && { key: keyOf(metadata), uid: metadata.uid, boundTo: raw.spec?.volumeName ?? '' }
  )
}

function syncVolume(
  volume: BoundVolume,
  { claims, inUse }: KnownClaimants,
  features: KubeletFeatures,
): SyncedVolume {
  const { claim } = volume
  const { name } = volume.metadata
  if (!claim || claim.uid === '')
    return { volume: name, released: 'no', ...certainly('Available', 'none') }
  if (!claims) return { volume: name, released: 'unknown', ...unknown }

  const found = claims.get(claim.key)
  if (!found)
    return { volume: name, released: 'claim-gone', ...reclaimVolume(volume, inUse, features) }
  if (found.uid !== claim.uid)
    return { volume: name, released: 'claim-other-uid', ...reclaimVolume(volume, noUse, features) }
  const { boundTo } = found
  if (boundTo === '') return { volume: name, released: 'no', ...certainly(null, 'none') }
  if (boundTo === name) return { volume: name, released: 'no', ...certainly('Bound', 'none') }
  return { volume: name, released: 'claim-bound-elsewhere', ...leftByClaim(volume, features) }
}

function parseVolume(raw: PersistentVolume): BoundVolume | null {
  const metadata = parseMetadata(raw)
  if (!metadata) return null
  const spec = raw.spec
  const claimRef = spec?.claimRef
  const annotations = raw.metadata?.annotations ?? null
  return {
    metadata,
    spec,
    claim: claimRef
      ? { key: `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`, uid: claimRef.uid ?? '' }
      : null,
    reclaimPolicy: spec?.persistentVolumeReclaimPolicy ?? 'Retain',
    hasFailed: raw.status?.phase === 'Failed',
    annotations,
    provisioner: annotations?.['pv.kubernetes.io/provisioned-by'] ?? '',
  }
}

const certainly = (phase: VolumeOutcome['phase'], action: VolumeAction): VolumeOutcome => ({
  phase,
  action,
  certainty: 'certain',
})
/** If a PVC of that name exists, its users use another volume. */
const noUse: ReadonlySet<string> = new Set()
const unknown: VolumeOutcome = { phase: null, action: 'unknown', certainty: 'possible' }

function leftByClaim(volume: BoundVolume, features: KubeletFeatures): VolumeOutcome {
  if (volume.reclaimPolicy !== 'Delete') return certainly('Available', 'unbind')
  if (!volume.annotations) return unknown
  const isProvisioned = 'pv.kubernetes.io/provisioned-by' in volume.annotations
  return isProvisioned ? reclaimVolume(volume, noUse, features) : certainly('Available', 'unbind')
}

/** @param inUse PVCs that pods use; null: not known */
function reclaimVolume(
  volume: BoundVolume,
  inUse: ReadonlySet<string> | null,
  features: KubeletFeatures,
): VolumeOutcome {
  const phase = volume.hasFailed ? 'Failed' : 'Released'
  if ((volume.annotations?.['pv.kubernetes.io/migrated-to'] ?? '') !== '')
    return certainly(phase, 'leave-to-driver')
  if (volume.reclaimPolicy === 'Retain') return certainly(phase, 'retain')
  if (volume.reclaimPolicy === 'Recycle') return recycleVolume(volume, phase, inUse)
  if (volume.reclaimPolicy === 'Delete') return deleteVolume(volume, phase, features)
  return certainly('Failed', 'fail')
}

function recycleVolume(
  volume: BoundVolume,
  phase: 'Failed' | 'Released',
  inUse: ReadonlySet<string> | null,
): VolumeOutcome {
  if (!has(volume, 'hostPath') && !has(volume, 'nfs')) return certainly('Failed', 'fail')
  if (!inUse) return { phase, action: 'recycle', certainty: 'possible' }
  return certainly(phase, volume.claim && inUse.has(volume.claim.key) ? 'wait-for-pods' : 'recycle')
}

/** The controller has no plugin that deletes these sources. */
const undeletable = ['csi', 'nfs', 'local', 'iscsi', 'fc'] as const

function deleteVolume(
  volume: BoundVolume,
  phase: 'Failed' | 'Released',
  features: KubeletFeatures,
): VolumeOutcome {
  if (volume.metadata.deletedMs !== null && !features.has('honorPvReclaimPolicy'))
    return certainly(phase, 'nothing-while-deleted')
  const { provisioner } = volume
  // Before this point, the controller itself marks volumes of the in-tree cloud plugin as migrated.
  const isForeign =
    provisioner === 'kubernetes.io/aws-ebs' ||
    (provisioner !== '' && !provisioner.startsWith('kubernetes.io/'))
  if (isForeign) return certainly(phase, 'leave-to-driver')
  if (provisioner === '' && has(volume, 'csi')) return certainly(phase, 'leave-to-driver')
  const certainty = volume.annotations ? 'certain' : 'possible'
  const isHostPath =
    provisioner === '' ? has(volume, 'hostPath') : provisioner === 'kubernetes.io/host-path'
  if (isHostPath) return { phase, action: 'delete', certainty }
  const isUndeletable = undeletable.some(source => has(volume, source))
  return { phase: 'Failed', action: 'fail', certainty: isUndeletable ? certainty : 'possible' }
}

const has = (volume: BoundVolume, source: keyof NonNullable<PersistentVolume['spec']>) =>
  volume.spec?.[source] !== undefined
