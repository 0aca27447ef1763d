/** Unattached EBS volumes, without those of PersistentVolumes that are or were bound: the section `volumes` reports these. */
import { unattachedVolumeState } from '#facts/aws/cluster-resources.ts'
import type { DiskGarbage } from '#model/finding/cluster-garbage.ts'
import { type EbsVolume, isOf } from '#model/input/cluster-objects.ts'
import type { ClusterObject, PersistentVolume } from '#model/input/kubernetes.ts'
import { timeOf } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'

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
    if (isOf('persistentvolumes', resource, object)) {
      const { spec } = object
      const handle = spec?.csi?.volumeHandle ?? spec?.awsElasticBlockStore?.volumeID
      // In-tree: `aws://us-east-1a/vol-…`.
      if (handle !== undefined)
        this.#named.set(handle.split('/').at(-1) ?? handle, namingVolume(object))
      return
    }
    if (isOf('volumes.ec2.amazonaws.com', resource, object)) this.#takeDisk(object)
  }

  #takeDisk(disk: EbsVolume) {
    const volumeId = disk.VolumeId ?? null
    if (volumeId === null || disk.State !== unattachedVolumeState) return
    const sizeGiB = disk.Size ?? null
    this.#unattached.push({
      volumeId,
      capacityBytes: sizeGiB === null ? null : sizeGiB * 2 ** 30,
      volumeType: disk.VolumeType ?? null,
      iops: disk.Iops ?? null,
      throughputMiBps: disk.Throughput ?? null,
      volume: null,
      zone: disk.AvailabilityZone ?? null,
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
