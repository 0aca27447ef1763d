import { ebsDrivers } from '#facts/aws/ebs-prices.ts'
import { byPlace, namedEvidence } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import {
  isLongReleased,
  releasedConfidence,
  releasedSince,
} from '#judge/garbage/released-volumes.ts'
import { costOf, sizeOf } from '#judge/garbage/volume-cost.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

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
    const nowMs = Date.parse(at)
    const left = released
      .filter(each => each.action !== 'retain' && isLongReleased(each, nowMs, minAgeHours))
      .map(each => ({ ...each, namespace: each.claim?.split('/')[0] ?? '', name: each.volume }))
    for (const [subject, found] of byPlace(left, cluster)) {
      const sized = found.map(each => ({ ...each, isEbs: ebsDrivers.has(each.driver ?? '') }))
      const undeletable = found.filter(({ action }) => action === 'fail').length
      const drivers = [...new Set(found.flatMap(({ driver }) => driver ?? []))].toSorted()
      yield {
        subject,
        count: found.length,
        noun: 'volume',
        size: sizeOf(sized),
        ...releasedConfidence(found),
        consequence: `${counted(found.length, 'volume')} of claims that ${subject.name} no longer has should be deleted, and ${found.length === 1 ? 'is' : 'are'} not: ${undeletable === found.length ? 'nothing in this cluster can delete such a volume' : `${drivers.join(', ') || 'its driver'} has not done it`}.`,
        evidence: [
          ...costOf(sized),
          ...releasedSince(found, nowMs),
          namedEvidence('volumes', found),
          namedEvidence(
            'storage classes',
            [...new Set(found.map(each => each.storageClass ?? 'none'))].map(name => ({ name })),
          ),
        ],
        commands: found.slice(0, 1).map(({ name }) => kubectl('describe', 'pv', said(name))),
      }
    }
  },
})
