/** PersistentVolumes whose claims are gone, and volumes and claims that do not go. Of bound ones nothing but what the replay asks stays. */
import type {
  HeldFinalizer,
  HeldVolumeObject,
  ReleasedVolume,
  RetainedEphemeralClaim,
  VolumeGarbage,
} from '#model/cluster-garbage.ts'
import { parseQuantity, QuantityError, quantityNumber } from '#model/quantity.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { claimProtection, volumeProtection } from '#replay/cluster-gc/claims.ts'
import { controllerOf, keyOf, parseMetadata, timeAt } from '#replay/cluster-gc/metadata.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'
import { type SyncedVolume, syncVolumes } from '#replay/cluster-gc/volumes.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'

export const volumes: Section<'volumes'> = {
  resources: ['storageclasses.storage.k8s.io', 'persistentvolumeclaims', 'persistentvolumes'],
  also: ['pods'],
  open: () => new Volumes(),
}

type HolderOf = (finalizer: string) => HeldFinalizer

class Volumes implements OpenSection<VolumeGarbage> {
  readonly #volumes = new Packed<RawObject>()
  readonly #claims = new Packed<RawObject>()
  readonly #policies = new Map<string, string>()
  /** Those that use claims. */
  readonly #pods = new Packed<RawObject>()

  take(resource: string, object: RawObject): void {
    if (resource === 'pods') {
      if (usesClaims(object)) this.#pods.push(slimPod(object))
    } else if (resource === 'persistentvolumeclaims') this.#claims.push(slimClaim(object))
    else if (resource === 'persistentvolumes') this.#volumes.push(object)
    // Upstream: pkg/apis/storage/v1/defaults.go SetDefaults_StorageClass.
    else this.#policies.set(nameOf(object), textAt(object, 'reclaimPolicy') ?? 'Delete')
  }

  tell({ features, arePodsKnown, holderOf }: SectionContext): VolumeGarbage {
    const [volumes, claims] = [[...this.#volumes], [...this.#claims]]
    const pods = arePodsKnown ? [...this.#pods] : null
    const synced = syncVolumes(volumes, { claims, pods }, features)
    const policies = new Map(volumes.map(volume => [nameOf(volume), reclaimPolicyOf(volume)]))
    const outcomes = new Map(synced.map(each => [each.volume, each]))
    return {
      released: volumes.flatMap(
        volume => releasedVolume(volume, outcomes.get(nameOf(volume))) ?? [],
      ),
      held: [
        ...heldClaims(claims, pods, holderOf),
        ...volumes.flatMap(volume => heldVolume(volume, holderOf) ?? []),
      ],
      retainedEphemeral: claims.flatMap(claim => this.#retainedEphemeral(claim, policies) ?? []),
    }
  }

  /** What a volume is made with it keeps: its class says only how the next one begins. */
  #retainedEphemeral(
    claim: RawObject,
    policies: ReadonlyMap<string, string>,
  ): RetainedEphemeralClaim | null {
    const metadata = parseMetadata(claim)
    if (!metadata || controllerOf(metadata)?.kind !== 'Pod') return null
    const spec = objectAt(claim, 'spec')
    const storageClass = textAt(spec, 'storageClassName') ?? ''
    const volume = textAt(spec, 'volumeName') ?? ''
    const own = policies.get(volume)
    const isOfClass = this.#policies.get(storageClass) === 'Retain'
    if (own === undefined ? !isOfClass : own !== 'Retain') return null
    const { namespace, name, createdMs } = metadata
    return {
      namespace,
      name,
      storageClass,
      volume: own === undefined ? null : volume,
      isOfClass,
      createdMs,
    }
  }
}

function heldClaims(
  claims: readonly RawObject[],
  pods: readonly RawObject[] | null,
  holderOf: HolderOf,
): HeldVolumeObject[] {
  const going = claims.flatMap(claim => {
    const metadata = parseMetadata(claim)
    return metadata && metadata.deletedMs !== null
      ? [{ claim, metadata, sinceMs: metadata.deletedMs }]
      : []
  })
  const held = new Map(
    claimProtection(
      going.map(({ claim }) => claim),
      pods,
    ).map(each => [each.object, each]),
  )
  return going.map(({ metadata, sinceMs }) => {
    const { namespace, name, finalizers } = metadata
    return {
      namespace,
      name,
      sinceMs,
      finalizers: finalizers.map(holderOf),
      usedBy: held.get(keyOf(metadata))?.usedBy ?? null,
    }
  })
}

const usesClaims = (pod: RawObject): boolean =>
  listAt(objectAt(pod, 'spec'), 'volumes').some(
    volume =>
      objectAt(volume, 'persistentVolumeClaim') !== null || objectAt(volume, 'ephemeral') !== null,
  )

function slimPod(pod: RawObject): RawObject {
  const status = objectAt(pod, 'status')
  const spec = objectAt(pod, 'spec')
  const volumes = listAt(spec, 'volumes')
    .filter(isRawObject)
    .filter(
      ({ persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim !== undefined || ephemeral !== undefined,
    )
    .map(volume => slim(volume, ['name', 'persistentVolumeClaim', 'ephemeral']))
  return {
    metadata: slimMetadata(pod, ['deletionTimestamp', 'deletionGracePeriodSeconds']),
    spec: { ...slim(spec, ['nodeName']), volumes },
    status: {
      ...slim(status, ['phase']),
      containerStatuses: listAt(status, 'containerStatuses').map(stateOf),
    },
  }
}

const stateOf = (status: unknown): RawObject => ({
  state: Object.fromEntries(Object.keys(objectAt(status, 'state') ?? {}).map(key => [key, {}])),
})

const slimClaim = (claim: RawObject): RawObject => ({
  metadata: slimMetadata(claim, [
    'creationTimestamp',
    'deletionTimestamp',
    'finalizers',
    'ownerReferences',
  ]),
  spec: objectAt(claim, 'spec') ?? {},
})

/** Only what the controller itself calls Released or Failed: of what its claim has just left nobody knows more. */
function releasedVolume(
  volume: RawObject,
  outcome: SyncedVolume | undefined,
): ReleasedVolume | null {
  const status = objectAt(volume, 'status')
  const phase = textAt(status, 'phase')
  if (!outcome || !isReleased.has(outcome.released) || (phase !== 'Released' && phase !== 'Failed'))
    return null
  const spec = objectAt(volume, 'spec')
  const claim = objectAt(spec, 'claimRef')
  const csi = objectAt(spec, 'csi')
  const inTree = textAt(objectAt(spec, 'awsElasticBlockStore'), 'volumeID')
  return {
    volume: nameOf(volume),
    claim: claim && `${textAt(claim, 'namespace') ?? ''}/${textAt(claim, 'name') ?? ''}`,
    storageClass: textAt(spec, 'storageClassName') || null,
    reclaimPolicy: reclaimPolicyOf(volume),
    action: actionOf(outcome),
    capacityBytes: bytesOf(textAt(objectAt(spec, 'capacity'), 'storage')),
    driver: textAt(csi, 'driver') ?? (inTree === null ? null : 'kubernetes.io/aws-ebs'),
    // In-tree: `aws://us-east-1a/vol-…`.
    handle: textAt(csi, 'volumeHandle') ?? inTree?.split('/').at(-1) ?? null,
    volumeType: textAt(objectAt(csi, 'volumeAttributes'), 'type'),
    sinceMs: timeAt(status, 'lastPhaseTransitionTime'),
    createdMs: timeAt(objectAt(volume, 'metadata'), 'creationTimestamp'),
    isBeingDeleted: timeAt(objectAt(volume, 'metadata'), 'deletionTimestamp') !== null,
  }
}

const isReleased: ReadonlySet<SyncedVolume['released']> = new Set([
  'claim-gone',
  'claim-other-uid',
  'claim-bound-elsewhere',
])

/** Upstream: pkg/apis/core/v1/defaults.go SetDefaults_PersistentVolume. */
const reclaimPolicyOf = (volume: RawObject): string =>
  textAt(objectAt(volume, 'spec'), 'persistentVolumeReclaimPolicy') ?? 'Retain'

const actionOf = ({ action }: SyncedVolume): ReleasedVolume['action'] =>
  action === 'retain' || action === 'leave-to-driver' || action === 'fail' ? action : 'other'

function bytesOf(capacity: string | null): number | null {
  if (capacity === null) return null
  try {
    return quantityNumber(parseQuantity(capacity))
  } catch (error) {
    if (error instanceof QuantityError) return null
    throw error
  }
}

function heldVolume(volume: RawObject, holderOf: HolderOf): HeldVolumeObject | null {
  const metadata = parseMetadata(volume)
  if (!metadata || metadata.deletedMs === null) return null
  const { name, deletedMs: sinceMs, finalizers } = metadata
  return {
    namespace: '',
    name,
    sinceMs,
    finalizers: finalizers.map(holderOf),
    usedBy: volumeProtection(volume)?.usedBy ?? null,
  }
}
