/** EBS volumes that are attached to nothing, but for those of PersistentVolumes that claims have or had: of these the section `volumes` tells. */
import { unattachedVolumeState } from '#facts/aws/cluster-resources.ts'
import type { DiskGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { integerAt, timeAt } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

export const disks: Section<'disks'> = {
  resources: ['volumes.ec2.amazonaws.com'],
  also: ['persistentvolumes'],
  open: () => new Disks(),
}

class Disks implements OpenSection<DiskGarbage> {
  readonly #unattached: DiskGarbage['unattached'][number][] = []
  /** By the id of the disk, the PersistentVolume that names it. */
  readonly #named = new Map<string, NamingVolume>()

  take(resource: string, object: RawObject): void {
    if (resource === 'persistentvolumes') {
      const spec = objectAt(object, 'spec')
      const handle =
        textAt(objectAt(spec, 'csi'), 'volumeHandle') ??
        textAt(objectAt(spec, 'awsElasticBlockStore'), 'volumeID')
      // In-tree: `aws://us-east-1a/vol-…`.
      if (handle !== null) this.#named.set(handle.split('/').at(-1) ?? handle, namingVolume(object))
      return
    }
    const volumeId = textAt(object, 'VolumeId')
    if (volumeId === null || textAt(object, 'State') !== unattachedVolumeState) return
    const sizeGiB = integerAt(object, 'Size')
    this.#unattached.push({
      volumeId,
      capacityBytes: sizeGiB === null ? null : sizeGiB * 2 ** 30,
      volumeType: textAt(object, 'VolumeType'),
      iops: integerAt(object, 'Iops'),
      throughputMiBps: integerAt(object, 'Throughput'),
      volume: null,
      zone: textAt(object, 'AvailabilityZone'),
      createdMs: timeAt(object, 'CreateTime'),
    })
  }

  tell({ isWhole }: SectionContext): DiskGarbage {
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
  /** No claim has it. */
  isAvailable: boolean
  /** Since when it is as it is, or is there at all. */
  sinceMs: number | null
}

function namingVolume(volume: RawObject): NamingVolume {
  const status = objectAt(volume, 'status')
  const sinceMs =
    timeAt(status, 'lastPhaseTransitionTime') ??
    timeAt(objectAt(volume, 'metadata'), 'creationTimestamp')
  return { name: nameOf(volume), isAvailable: textAt(status, 'phase') === 'Available', sinceMs }
}
