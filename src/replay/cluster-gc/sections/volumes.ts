/** Released PersistentVolumes, and PVs and PVCs with a pending deletion. Of bound ones only the replay's input is kept. */

import { amountOrNull } from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import { unattachedVolumeState } from '#facts/aws/cluster-resources.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type {
  DiskGarbage,
  HeldFinalizer,
  HeldVolumeObject,
  ReleasedVolume,
  VolumeGarbage,
} from '#model/cluster-garbage.ts'
import {
  type ClusterObject,
  type EbsVolume,
  isObjectOf,
  type KubernetesPod,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type VolumeSource,
} from '#model/input/record.ts'
import {
  controllerOf,
  keyOf,
  nameOf,
  type ObjectMetadata,
  type OpenSection,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
  slim,
  slimMetadata,
  timeOf,
} from '#replay/cluster-gc/section.ts'

export const volumes: Section<'volumes'> = {
  resources: ['persistentvolumeclaims', 'persistentvolumes'],
  also: ['pods'],
  open: () => new Volumes(),
}

type HolderOf = (finalizer: string) => HeldFinalizer

class Volumes implements OpenSection<VolumeGarbage> {
  readonly #volumes = new Packed<PersistentVolume>()
  readonly #claims = new Packed<PersistentVolumeClaim>()
  /** Pods that use PVCs. */
  readonly #pods = new Packed<KubernetesPod>()

  take(resource: string, object: ClusterObject) {
    if (isObjectOf('pods', resource, object)) {
      if (usesClaims(object)) this.#pods.push(slimPod(object))
    } else if (isObjectOf('persistentvolumeclaims', resource, object)) this.#claims.push(object)
    else if (isObjectOf('persistentvolumes', resource, object)) this.#volumes.push(object)
  }

  close({ features, arePodsKnown, holderOf }: SectionContext): VolumeGarbage {
    const [volumes, claims] = [[...this.#volumes], [...this.#claims]]
    const pods = arePodsKnown ? [...this.#pods] : null
    const byKey = claimsByKey(claims)
    return {
      released: volumes.flatMap(
        volume => releasedVolume(volume, releasedAction(volume, byKey, features)) ?? [],
      ),
      held: [
        ...heldClaims(claims, pods, holderOf),
        ...volumes.flatMap(volume => heldVolume(volume, holderOf) ?? []),
      ],
    }
  }
}

function heldClaims(
  claims: readonly PersistentVolumeClaim[],
  pods: readonly KubernetesPod[] | null,
  holderOf: HolderOf,
): HeldVolumeObject[] {
  const usersOf = pods && claimUsers(pods)
  return claims.flatMap(claim => {
    const metadata = parseMetadata(claim)
    if (!metadata || metadata.deletedMs === null) return []
    const { namespace, name, deletedMs: sinceMs, finalizers } = metadata
    const usedBy = usersOf?.(metadata) ?? null
    return [{ namespace, name, sinceMs, finalizers: finalizers.map(holderOf), usedBy }]
  })
}

const usesClaims = ({ spec }: KubernetesPod) => (spec?.volumes ?? []).some(usesClaim)

const usesClaim = ({ persistentVolumeClaim, ephemeral }: VolumeSource) =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined

function slimPod(pod: KubernetesPod): KubernetesPod {
  const { spec } = pod
  const volumes = (spec?.volumes ?? [])
    .filter(usesClaim)
    .map(volume => slim(volume, ['name', 'persistentVolumeClaim', 'ephemeral']))
  return {
    metadata: slimMetadata(pod, ['deletionTimestamp', 'deletionGracePeriodSeconds']),
    spec: { ...slim(spec, ['nodeName']), volumes },
  }
}

/** Only volumes whose phase, set by the controller, is Released or Failed. */
function releasedVolume(
  volume: PersistentVolume,
  action: ReleasedVolume['action'] | null,
): ReleasedVolume | null {
  const { metadata, spec, status } = volume
  const phase = status?.phase
  if (action === null || (phase !== 'Released' && phase !== 'Failed')) return null
  const claim = spec?.claimRef
  const csi = spec?.csi
  const inTree = spec?.awsElasticBlockStore?.volumeID
  return {
    volume: nameOf(volume),
    claim: claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : null,
    storageClass: spec?.storageClassName || null,
    action,
    capacityBytes: amountOrNull(spec?.capacity?.storage),
    driver: csi?.driver ?? (inTree === undefined ? provisionerOf(volume) : 'kubernetes.io/aws-ebs'),
    // In-tree: `aws://us-east-1a/vol-…`.
    handle: csi?.volumeHandle ?? inTree?.split('/').at(-1) ?? null,
    volumeType: csi?.volumeAttributes?.type ?? null,
    sinceMs: timeOf(status?.lastPhaseTransitionTime),
    createdMs: timeOf(metadata?.creationTimestamp),
    isBeingDeleted: timeOf(metadata?.deletionTimestamp) !== null,
  }
}

function heldVolume(volume: PersistentVolume, holderOf: HolderOf): HeldVolumeObject | null {
  const metadata = parseMetadata(volume)
  if (!metadata || metadata.deletedMs === null) return null
  const { name, deletedMs: sinceMs, finalizers } = metadata
  return {
    namespace: '',
    name,
    sinceMs,
    finalizers: finalizers.map(holderOf),
    usedBy: volumeUsers(volume),
  }
}

/* Unattached EBS volumes, without those of PersistentVolumes that are or were bound: the section `volumes` reports these. */

export const disks: Section<'disks'> = {
  resources: ['volumes.ec2.amazonaws.com'],
  also: ['persistentvolumes'],
  open: () => new Disks(),
}

class Disks implements OpenSection<DiskGarbage> {
  readonly #unattached: DiskGarbage['unattached'][number][] = []
  /** PersistentVolumes by the id of the EBS volume that they name. */
  readonly #named = new Map<string, NamingVolume>()

  take(resource: string, object: ClusterObject) {
    if (isObjectOf('persistentvolumes', resource, object)) {
      const { spec } = object
      const handle = spec?.csi?.volumeHandle ?? spec?.awsElasticBlockStore?.volumeID
      // In-tree: `aws://us-east-1a/vol-…`.
      if (handle !== undefined)
        this.#named.set(handle.split('/').at(-1) ?? handle, namingVolume(object))
      return
    }
    if (isObjectOf('volumes.ec2.amazonaws.com', resource, object)) this.#takeDisk(object)
  }

  #takeDisk(disk: EbsVolume) {
    const volumeId = disk.VolumeId ?? null
    if (volumeId === null || disk.State !== unattachedVolumeState) return
    const sizeGiB = disk.Size ?? null
    this.#unattached.push({
      volumeId,
      capacityBytes: sizeGiB === null ? null : sizeGiB * gibibyte,
      volumeType: disk.VolumeType ?? null,
      iops: disk.Iops ?? null,
      throughputMiBps: disk.Throughput ?? null,
      volume: null,
      createdMs: timeOf(disk.CreateTime),
    })
  }

  close({ isWhole }: SectionContext): DiskGarbage {
    return {
      unattached: this.#unattached.flatMap(disk => {
        const naming = this.#named.get(disk.volumeId)
        if (!naming) return [disk]
        if (!naming.isAvailable) return []
        const times = [disk.createdMs, naming.sinceMs].filter(time => time !== null)
        return [
          {
            ...disk,
            volume: naming.name,
            createdMs: times.length === 0 ? null : Math.max(...times),
          },
        ]
      }),
      areVolumesKnown: isWhole('persistentvolumes'),
    }
  }
}

interface NamingVolume {
  name: string
  /** Whether the volume is Available: no PVC is bound to it. */
  isAvailable: boolean
  /** When the volume entered this state, else when it was created. */
  sinceMs: number | null
}

function namingVolume(volume: PersistentVolume): NamingVolume {
  const { metadata, status } = volume
  const sinceMs = timeOf(status?.lastPhaseTransitionTime) ?? timeOf(metadata?.creationTimestamp)
  return { name: nameOf(volume), isAvailable: status?.phase === 'Available', sinceMs }
}

/*
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

type Action = ReleasedVolume['action']

/** PVCs by `namespace/name`. */
type ClaimsByKey = ReadonlyMap<string, { uid: string; boundTo: string }>

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

function reclaimVolume(volume: PersistentVolume, features: KubeletFeatures) {
  const { metadata, spec } = volume
  if (metadata?.annotations?.['pv.kubernetes.io/migrated-to']) return 'leave-to-driver'
  // Upstream: pkg/apis/core/v1/defaults.go SetDefaults_PersistentVolume.
  const policy = spec?.persistentVolumeReclaimPolicy ?? 'Retain'
  if (policy === 'Retain') return 'retain'
  if (policy === 'Recycle') return spec?.hostPath || spec?.nfs ? 'other' : 'fail'
  return policy === 'Delete' ? deleteVolume(volume, features) : 'fail'
}

const provisionerOf = ({ metadata }: Pick<PersistentVolume, 'metadata'>) =>
  metadata?.annotations?.['pv.kubernetes.io/provisioned-by'] || null

function deleteVolume({ metadata, spec }: PersistentVolume, features: KubeletFeatures): Action {
  if (timeOf(metadata?.deletionTimestamp) !== null && !features.has('honorPvReclaimPolicy'))
    return 'other'
  const provisioner = provisionerOf({ metadata })
  if (provisioner === null) {
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
