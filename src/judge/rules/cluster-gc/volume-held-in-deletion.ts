import {
  byFrequency,
  byPlace,
  inNamespace,
  isOld,
  oldest,
  reasonOf,
} from '#judge/garbage/garbage.ts'
import { whyVolumeStays } from '#judge/garbage/holders.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

export const volumeHeldInDeletion = clusterRule({
  id: 'volume-held-in-deletion',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'held',
  title: 'Volumes or claims hang in deletion',
  why: 'A claim goes when no pod uses it any more, finished ones included, and a volume when it is no longer bound. Until then a finalizer protects each. Its data looks safe, but it is not: it goes the moment the last pod does.',
  fix: 'If the data is wanted, copy it now: the deletion cannot be taken back. Else delete the pods that use the claim, finished ones too; of other finalizers, look for the driver that should take them away.',
  sources: [
    'pkg/controller/volume/pvcprotection/pvc_protection_controller.go podUsesPVC',
    'pkg/controller/volume/pvprotection/pv_protection_controller.go isBeingUsed',
  ],

  *judge({ cluster, at, volumes: { held } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const left = held.filter(({ sinceMs }) => isOld(sinceMs, nowMs, minAgeHours))
    for (const [subject, found] of byPlace(left, cluster)) {
      const noun = subject.kind === 'Cluster' ? 'volume' : 'claim'
      const reasons = byFrequency(found, whyVolumeStays)
      const [first] = found
      yield {
        subject,
        count: found.length,
        noun,
        consequence: `${counted(found.length, noun)} of ${subject.name} ${found.length === 1 ? 'does' : 'do'} not go: ${reasons[0]?.[0]}.`,
        evidence: [
          ...reasons.slice(0, 5).map(([reason, objects]) => reasonOf(reason, objects)),
          ...oldest(found, ({ sinceMs }) => sinceMs, nowMs, 'first was deleted'),
        ],
        commands: first
          ? [
              kubectl(
                'describe',
                noun === 'volume' ? 'pv' : 'pvc',
                said(first.name),
                ...inNamespace(first.namespace),
              ),
            ]
          : [],
      }
    }
  },
})
