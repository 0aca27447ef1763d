import {
  costOf,
  describe,
  garbageIn,
  longReleased,
  namedEvidence,
  releasedConfidence,
  releasedSince,
  sizeOf,
} from '#judge/garbage/garbage.ts'
import { clusterRule, plural } from '#judge/rule.ts'

export const volumeNotDeleted = clusterRule({
  id: 'volume-not-deleted',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'late',
  title: 'Released volumes should be deleted, and are not',
  why: 'A volume whose policy is Delete goes with its claim: its driver deletes disk and object within minutes. One that stays Released or Failed has a driver that is gone, that may not delete the disk, or that finds it attached or with snapshots; or nothing that could delete it at all.',
  fix: "Read the volume's events and the log of its provisioner, and mend what they say: its role, an attachment, the driver itself.",
  sources: [
    'pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume, deleteVolumeOperation',
    'sig-storage-lib-external-provisioner controller/controller.go shouldDelete',
  ],

  *judge({ cluster, at, volumes: { released } }, { minAgeHours }) {
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
