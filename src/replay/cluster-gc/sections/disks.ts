/** EBS volumes that are attached to nothing, but for those that a PersistentVolume names: of these the section `volumes` tells. */
import { unattachedVolumeState } from '#facts/aws/cluster-resources.ts'
import type { DiskGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { integerAt, timeAt } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

export const disks: Section<'disks'> = {
  resources: ['volumes.ec2.amazonaws.com'],
  also: ['persistentvolumes'],
  open: () => new Disks(),
}

class Disks implements OpenSection<DiskGarbage> {
  readonly #unattached: DiskGarbage['unattached'][number][] = []
  /** Ids of volumes that PersistentVolumes name. */
  readonly #named = new Set<string>()

  take(resource: string, object: RawObject): void {
    if (resource === 'persistentvolumes') {
      const spec = objectAt(object, 'spec')
      const handle = textAt(objectAt(spec, 'csi'), 'volumeHandle') ?? textAt(objectAt(spec, 'awsElasticBlockStore'), 'volumeID')
      // In-tree: `aws://us-east-1a/vol-…`.
      if (handle !== null) this.#named.add(handle.split('/').at(-1) ?? handle)
      return
    }
    const volumeId = textAt(object, 'VolumeId')
    if (volumeId === null || textAt(object, 'State') !== unattachedVolumeState) return
    const sizeGiB = integerAt(object, 'Size')
    this.#unattached.push({
      volumeId,
      capacityBytes: sizeGiB === null ? null : sizeGiB * 2 ** 30,
      volumeType: textAt(object, 'VolumeType'),
      zone: textAt(object, 'AvailabilityZone'),
      createdMs: timeAt(object, 'CreateTime'),
    })
  }

  tell({ isWhole }: SectionContext): DiskGarbage {
    return {
      unattached: this.#unattached.filter(({ volumeId }) => !this.#named.has(volumeId)),
      areVolumesKnown: isWhole('persistentvolumes'),
    }
  }
}
