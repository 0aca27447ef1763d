import { ebsDrivers } from '#facts/aws/ebs-prices.ts'
import { byPlace, namedEvidence } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import {
  isKept,
  isLongReleased,
  releasedConfidence,
  releasedSince,
} from '#judge/garbage/released-volumes.ts'
import { costOf, sizeOf } from '#judge/garbage/volume-cost.ts'
import { clusterRule, lines } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

export const releasedVolume = clusterRule({
  id: 'released-volume',
  severity: 'medium',
  needs: ['volumes'],
  fate: 'never',
  title: 'Released PersistentVolumes are retained and cost money',
  why: 'When its PVC is deleted, a PersistentVolume with reclaim policy Retain becomes Released and stays so. It cannot be bound again, it is not deleted, and its disk costs money until it is deleted too.',
  fix: 'Check whether the data is still needed. If it is, clear spec.claimRef so that a PVC can bind the volume; else delete the PersistentVolume and then its disk.',
  sources: ['pkg/controller/volume/persistentvolume/pv_controller.go reclaimVolume'],

  *judge({ cluster, at, volumes: { released } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const left = released
      .filter(each => isKept(each) && isLongReleased(each, nowMs, minAgeHours))
      .map(each => ({ ...each, namespace: each.claim?.split('/')[0] ?? '', name: each.volume }))
    for (const [subject, found] of byPlace(left, cluster)) {
      const sized = found.map(each => ({ ...each, isEbs: ebsDrivers.has(each.driver ?? '') }))
      const disks = found.flatMap(({ handle, driver }) =>
        handle === null ? [] : [{ name: `${driver} ${handle}` }],
      )
      yield {
        subject,
        count: found.length,
        noun: 'volume',
        size: sizeOf(sized),
        ...releasedConfidence(found),
        consequence: `${counted(found.length, 'volume')} of claims that ${subject.name} no longer has ${found.length === 1 ? 'stays' : 'stay'} Released: no PVC can bind ${found.length === 1 ? 'it' : 'them'}, and no controller deletes ${found.length === 1 ? 'it' : 'them'}.`,
        evidence: lines(
          ...costOf(sized),
          ...releasedSince(found, nowMs),
          namedEvidence('volumes', found),
          disks.length !== 0 && namedEvidence('disks', disks),
          namedEvidence(
            'claims',
            found.flatMap(({ claim }) => (claim === null ? [] : [{ name: claim }])),
          ),
        ),
        commands: found
          .slice(0, 1)
          .map(({ name }) => kubectl('get', 'pv', said(name), '-o', 'yaml')),
      }
    }
  },
})
