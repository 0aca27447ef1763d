/** Volumes, claims and disks. */
import { ebsDrivers } from '#facts/aws/ebs-prices.ts'
import { whyVolumeStays } from '#judge/garbage/holders.ts'
import { isKept } from '#judge/garbage/released-volumes.ts'
import { sizeOf } from '#judge/garbage/volume-cost.ts'
import type { DiskGarbage, ReleasedVolume, VolumeGarbage } from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageRow, GarbageRowKind } from '#model/garbage-overview.ts'
import { heldBy, type Moment, rowOf } from './row.ts'

export function volumeRows(
  { released, held, retainedEphemeral }: VolumeGarbage,
  moment: Moment,
): GarbageRow[] {
  const row = (kind: GarbageRowKind, volumes: ReleasedVolume[], fate: GarbageFate) =>
    rowOf(
      kind,
      volumes.map(each => ({
        ...{ whose: each.claim ?? '', sinceMs: each.sinceMs, notBeforeMs: each.createdMs },
        ...{
          capacityBytes: each.capacityBytes,
          volumeType: each.volumeType,
          isEbs: ebsDrivers.has(each.driver ?? ''),
        },
      })),
      fate,
      moment,
      sizeOf,
    )
  const undeleted = released.filter(({ action }) => action !== 'retain')
  return [
    ...row('released-volumes', released.filter(isKept), { is: 'never' }),
    ...row('undeleted-volumes', undeleted, {
      is: undeleted.every(({ action }) => action === 'fail') ? 'never' : 'late',
    }),
    ...rowOf(
      'held-volumes',
      held.map(({ namespace, name, sinceMs }) => ({ whose: namespace || name, sinceMs })),
      heldBy(held.map(whyVolumeStays)),
      moment,
    ),
    ...rowOf(
      'retained-ephemeral-volumes',
      retainedEphemeral.map(({ namespace, storageClass, isOfClass, createdMs }) => ({
        whose: isOfClass ? `${namespace}: StorageClass ${storageClass}` : namespace,
        sinceMs: createdMs,
      })),
      { is: 'never' },
      moment,
    ),
  ]
}

export function diskRows(
  { unattached, areVolumesKnown }: DiskGarbage,
  moment: Moment,
): GarbageRow[] {
  return rowOf(
    'unattached-disks',
    unattached.map(
      ({
        volumeId: whose,
        createdMs: sinceMs,
        capacityBytes,
        volumeType,
        iops,
        throughputMiBps,
      }) => ({
        ...{ whose, sinceMs, capacityBytes, volumeType, iops, throughputMiBps, isEbs: true },
      }),
    ),
    { is: areVolumesKnown ? 'never' : 'unknown' },
    moment,
    sizeOf,
  )
}
