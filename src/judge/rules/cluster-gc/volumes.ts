import {
  ebsDrivers,
  isWholePrice,
  monthlyUsd,
  type VolumePerformance,
} from '#facts/aws/ebs-prices.ts'
import {
  ageEvidence,
  byFrequency,
  describe,
  garbageIn,
  getYaml,
  inGroups,
  isOld,
  namedEvidence,
  nameList,
  oldOf,
  reasonOf,
  sumEvidence,
  sumOrNull,
  whyVolumeStays,
} from '#judge/garbage/garbage.ts'
import { aws, clusterWord } from '#judge/garbage/kubectl.ts'
import { bytes, type ClusterEvidence, clusterRule, line, lines, plural } from '#judge/rule.ts'
import type { ReleasedVolume } from '#model/finding/cluster-garbage.ts'

export const releasedVolume = clusterRule({
  id: 'released-volume',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'never',
  title: 'Released PersistentVolumes are retained and cost money',
  why: 'When its PVC is deleted, a PersistentVolume with reclaim policy Retain becomes Released and stays so. It cannot be bound again, it is not deleted, and its disk costs money until it is deleted too.',
  fix: 'Check whether the data is still needed. If it is, clear spec.claimRef so that a PVC can bind the volume; else delete the PersistentVolume and then its disk.',
  sources: ['pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume'],

  *judge({ cluster, at, volumes: { released } }, { clusterGarbage: { minAgeHours } }) {
    const left = longReleased(released, at, minAgeHours).filter(isKept)
    yield* garbageIn(cluster, 'volume', left, (found, { one, subject }) => {
      const disks = found.flatMap(({ handle, driver }) =>
        handle === null ? [] : [{ name: `${driver} ${handle}` }],
      )
      const claims = found.flatMap(({ claim }) => (claim === null ? [] : [{ name: claim }]))
      const it = one('it', 'them')
      return {
        size: sizeOf(found),
        ...releasedConfidence(found),
        consequence: `${plural(found.length, 'volume')} of claims that ${subject.name} no longer has ${one('stays', 'stay')} Released: no PVC can bind ${it}, and no controller deletes ${it}.`,
        evidence: lines(
          ...costOf(found),
          ...releasedSince(found, at),
          namedEvidence('volumes', found),
          disks.length > 0 && namedEvidence('disks', disks),
          namedEvidence('claims', claims),
        ),
        commands: [getYaml('pv', { name: found[0].name })],
      }
    })
  },
})

export const volumeNotDeleted = clusterRule({
  id: 'volume-not-deleted',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'late',
  title: 'Released volumes should be deleted, and are not',
  why: 'A volume whose policy is Delete goes with its claim: its driver deletes disk and object within minutes. One that stays Released or Failed has a driver that is gone, that may not delete the disk, or that finds it attached or with snapshots; or nothing that could delete it at all.',
  fix: "Read the volume's events and the log of the driver's provisioner (of EBS: ebs-csi-controller), and mend what it says: its role, an attachment, the driver itself.",
  sources: [
    'pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume, deleteVolumeOperation',
    'sig-storage-lib-external-provisioner controller/controller.go shouldDelete',
  ],

  *judge({ cluster, at, volumes: { released } }, { clusterGarbage: { minAgeHours } }) {
    const left = longReleased(released, at, minAgeHours).filter(each => each.action !== 'retain')
    yield* garbageIn(cluster, 'volume', left, (found, { one, subject }) => {
      const undeletable = found.filter(({ action }) => action === 'fail').length
      const drivers = [...new Set(found.flatMap(({ driver }) => driver ?? []))].toSorted()
      const classes = [...new Set(found.map(each => each.storageClass ?? 'none'))]
      return {
        size: sizeOf(found),
        ...releasedConfidence(found),
        consequence: `${plural(found.length, 'volume')} of claims that ${subject.name} no longer has should be deleted, and ${one('is', 'are')} not: ${undeletable === found.length ? 'nothing in this cluster can delete such a volume' : `${drivers.join(', ') || 'its driver'} has not done it`}.`,
        evidence: [
          ...costOf(found),
          ...releasedSince(found, at),
          namedEvidence('volumes', found),
          namedEvidence(
            'storage classes',
            classes.map(name => ({ name })),
          ),
        ],
        commands: [describe('pv', { name: found[0].name })],
      }
    })
  },
})

export const volumeHeldInDeletion = clusterRule({
  id: 'volume-held-in-deletion',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'held',
  title: 'PersistentVolumes or PVCs are stuck in deletion',
  why: 'A claim goes when no pod uses it any more, finished ones included, and a volume when it is no longer bound. Until then a finalizer protects each. Its data looks safe, but it is not: it goes the moment the last pod does.',
  fix: 'If the data is wanted, copy it now: the deletion cannot be taken back. Else delete the pods that use the claim, finished ones too; of other finalizers, look for the driver that should take them away.',
  sources: [
    'pkg/controller/volume/pvcprotection/pvc_protection_controller.go podUsesPVC',
    'pkg/controller/volume/pvprotection/pv_protection_controller.go isBeingUsed',
  ],

  *judge({ cluster, at, volumes: { held } }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(held, 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'claim', left, (found, { all, one, subject }) => {
      const noun = subject.kind === 'Cluster' ? 'volume' : 'claim'
      const reasons = byFrequency(found, whyVolumeStays)
      const resource = noun === 'volume' ? 'pv' : 'pvc'
      return {
        noun,
        consequence: `${all(noun)} ${one('does', 'do')} not go: ${reasons[0]?.[0]}.`,
        evidence: [
          ...reasons.slice(0, 5).map(([reason, objects]) => reasonOf(reason, objects)),
          ...ageEvidence(found, 'sinceMs', at, 'first was deleted'),
        ],
        commands: [describe(resource, found[0])],
      }
    })
  },
})

export const unattachedDisk = clusterRule({
  id: 'unattached-disk',
  severity: 'medium',
  needs: ['disks'],
  fate: 'never',
  title: 'EBS volumes of the cluster are unattached and unbound',
  why: 'An EBS volume with the tags of a cluster was created for it. If no PersistentVolume names it, it is left over from a forced deletion, from reclaim policy Retain, or from a node. It will not be attached again, and it costs money. The same is true if its PersistentVolume is Available, that is, bound to no PVC.',
  fix: 'Its tags name its former PVC. Take a snapshot if the data may be needed. Then delete the PersistentVolume that names the volume, if any, and the volume.',
  sources: ['EC2 API reference, DescribeVolumes', 'aws-ebs-csi-driver docs/tagging.md'],

  *judge(
    { cluster, at, disks: { unattached, areVolumesKnown } },
    { clusterGarbage: { minAgeHours } },
  ) {
    const left = oldOf(unattached, 'createdMs', at, minAgeHours).map(disk => ({
      ...disk,
      name: disk.volumeId,
      isEbs: true,
    }))
    if (left.length > 0 && !areVolumesKnown)
      return yield {
        unknown:
          'persistentvolumes: not all of them are known, and one may name a disk that is not attached',
      }
    yield* garbageIn(cluster, 'disk', left, (found, { one }) => {
      const available = found.flatMap(({ volume: name }) => (name === null ? [] : [{ name }]))
      return {
        size: sizeOf(found),
        consequence: `${plural(found.length, 'EBS volume')} of this cluster ${one('is', 'are')} attached to nothing, and ${whoHas(found)}.`,
        evidence: lines(
          ...costOf(found),
          ...inGroups(found, ({ volumeType }) => volumeType ?? 'unknown type')
            .slice(0, 5)
            .map(([what, { length }]) => line('object', what, plural(length, 'volume'))),
          ...ageEvidence(found, 'createdMs', at, 'oldest was made'),
          available.length > 0 &&
            line('object', 'Available PersistentVolumes that name them', nameList(available)),
          line('object', 'volumes', nameList(found)),
        ),
        commands: [
          ['reads', aws('ec2', 'describe-volumes', '--volume-ids', clusterWord(found[0].name))],
        ],
      }
    })
  },
})

function whoHas(disks: readonly { volume: string | null }[]) {
  const them = disks.length === 1 ? 'it' : 'them'
  const available = disks.filter(({ volume }) => volume !== null).length
  if (available === 0) return `no PersistentVolume names ${them}`
  const volumes =
    available === 1 ? 'PersistentVolume that names' : `${available} PersistentVolumes that name`
  return available === disks.length
    ? `no claim has the ${volumes} ${them}`
    : `no PersistentVolume names ${them}, but ${available}, which no claim has`
}

const isKept = ({ action, isBeingDeleted }: ReleasedVolume): boolean =>
  action === 'retain' && !isBeingDeleted

/**
 * Volumes that were released long ago, by the namespace of their PVC. API servers before 1.29 do not
 * record the time of release (KEP-3762). For such volumes the creation time counts.
 */
const longReleased = (released: readonly ReleasedVolume[], at: string, minAgeHours: number) =>
  released
    .filter(({ sinceMs, createdMs }) => isOld(sinceMs ?? createdMs, at, minAgeHours))
    .map(each => ({
      ...each,
      namespace: each.claim?.split('/')[0] ?? '',
      name: each.volume,
      isEbs: ebsDrivers.has(each.driver ?? ''),
    }))

/** When the volumes were released; for volumes without that time, when they were created. */
function releasedSince(volumes: readonly ReleasedVolume[], at: string): ClusterEvidence[] {
  const undated = volumes.filter(({ sinceMs }) => sinceMs === null)
  return lines(
    ...ageEvidence(volumes, 'sinceMs', at, 'first was released'),
    undated.length !== 0 &&
      sumEvidence(
        'since when is not known',
        [undated.length],
        ([all]) => `${all}, by age of the volume`,
      ),
    ...ageEvidence(undated, 'createdMs', at, 'first of these was made'),
  )
}

/** If no volume has a time of release, some may have been released just now. */
const releasedConfidence = (volumes: readonly ReleasedVolume[]): { confidence?: 'likely' } =>
  volumes.every(({ sinceMs }) => sinceMs === null) ? { confidence: 'likely' } : {}

interface SizedVolume extends Partial<VolumePerformance> {
  capacityBytes: number | null
  volumeType: string | null
  isEbs: boolean
}

/** Each sum is null if no volume has a known amount. `monthlyUsd`: EBS volumes only, at list price of us-east-1. */
function sizeOf(volumes: readonly SizedVolume[]): {
  bytes: number | null
  monthlyUsd: number | null
} {
  const sizes = volumes.flatMap(({ capacityBytes }) => capacityBytes ?? [])
  const costs = volumes.flatMap(volume => costOfOne(volume) ?? [])
  return { bytes: sumOrNull(sizes), monthlyUsd: sumOrNull(costs) }
}

/** Null: not an EBS volume, or its price is unknown. */
const costOfOne = (volume: SizedVolume) =>
  volume.isEbs && volume.capacityBytes !== null
    ? monthlyUsd(volume.capacityBytes, volume.volumeType, performanceOf(volume))
    : null

const performanceOf = ({
  iops = null,
  throughputMiBps = null,
}: SizedVolume): VolumePerformance => ({ iops, throughputMiBps })

/** Capacity of the volumes, and the cost of the EBS volumes at list price. */
function costOf(volumes: readonly SizedVolume[]): ClusterEvidence[] {
  const { bytes: held, monthlyUsd: usd } = sizeOf(volumes)
  const bySize = volumes.filter(
    each => costOfOne(each) !== null && !isWholePrice(each.volumeType, performanceOf(each)),
  ).length
  const unpriced = volumes.filter(volume => volume.isEbs && costOfOne(volume) === null).length
  return lines(
    held !== null && sumEvidence('capacity', [held], ([all = 0]) => bytes(all)),
    usd !== null &&
      sumEvidence(
        'cost of EBS at list price of us-east-1',
        [usd],
        ([all = 0]) => `${dollars(all)} a month`,
      ),
    bySize !== 0 &&
      sumEvidence(
        'of EBS, and in the cost by size alone',
        [bySize],
        ([all]) => `${all}: IOPS and throughput are not known`,
      ),
    unpriced !== 0 &&
      sumEvidence(
        'of EBS, and not in the cost',
        [unpriced],
        ([all]) => `${all}: size or price is not known`,
      ),
  )
}

const dollars = (usd: number) => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`
