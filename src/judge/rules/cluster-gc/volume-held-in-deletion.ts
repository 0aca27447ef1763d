import {
  ageEvidence,
  byFrequency,
  describe,
  garbageIn,
  oldItems,
  reasonOf,
  whyVolumeStays,
} from '#judge/garbage/garbage.ts'
import { clusterRule } from '#judge/rule.ts'

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

  *judge({ cluster, at, volumes: { held } }, { minAgeHours }) {
    const left = oldItems(held, 'sinceMs', at, minAgeHours)
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
