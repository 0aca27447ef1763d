import {
  ageEvidence,
  costOf,
  garbageIn,
  inGroups,
  nameList,
  oldItems,
  sizeOf,
} from '#judge/garbage/garbage.ts'
import { aws, clusterWord } from '#judge/garbage/kubectl.ts'
import { clusterRule, line, lines, plural } from '#judge/rule.ts'

export const unattachedDisk = clusterRule({
  id: 'unattached-disk',
  severity: 'medium',
  needs: ['disks'],
  fate: 'never',
  title: 'EBS volumes of the cluster are unattached and unbound',
  why: 'An EBS volume with the tags of a cluster was created for it. If no PersistentVolume names it, it is left over from a forced deletion, from reclaim policy Retain, or from a node. It will not be attached again, and it costs money. The same is true if its PersistentVolume is Available, that is, bound to no PVC.',
  fix: 'Its tags name its former PVC. Take a snapshot if the data may be needed. Then delete the PersistentVolume that names the volume, if any, and the volume.',
  sources: ['EC2 API reference, DescribeVolumes', 'aws-ebs-csi-driver docs/tagging.md'],

  *judge({ cluster, at, disks: { unattached, areVolumesKnown } }, { minAgeHours }) {
    const left = oldItems(unattached, 'createdMs', at, minAgeHours).map(disk => ({
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
        consequence: `${plural(found.length, 'EBS volume')} of this cluster ${one('is', 'are')} attached to nothing, and ${namingVolumesText(found)}.`,
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

function namingVolumesText(disks: readonly { volume: string | null }[]) {
  const them = disks.length === 1 ? 'it' : 'them'
  const available = disks.filter(({ volume }) => volume !== null).length
  if (available === 0) return `no PersistentVolume names ${them}`
  const volumes =
    available === 1 ? 'PersistentVolume that names' : `${available} PersistentVolumes that name`
  return available === disks.length
    ? `no claim has the ${volumes} ${them}`
    : `no PersistentVolume names ${them}, but ${available}, which no claim has`
}
