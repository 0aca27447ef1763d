import {
  costOf,
  garbageIn,
  getYaml,
  isKept,
  longReleased,
  namedEvidence,
  releasedConfidence,
  releasedSince,
  sizeOf,
} from '#judge/garbage/garbage.ts'
import { clusterRule, lines, plural } from '#judge/rule.ts'

export const releasedVolume = clusterRule({
  id: 'released-volume',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'never',
  title: 'Released PersistentVolumes are retained and cost money',
  why: 'When its PVC is deleted, a PersistentVolume with reclaim policy Retain becomes Released and stays so. It cannot be bound again, it is not deleted, and its disk costs money until it is deleted too.',
  fix: 'Check whether the data is still needed. If it is, clear spec.claimRef so that a PVC can bind the volume; else delete the PersistentVolume and then its disk.',
  sources: ['pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume'],

  *judge({ cluster, at, volumes: { released } }, { minAgeHours }) {
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
