import { gibibyte } from '#base/units.ts'
import {
  highestThreshold,
  thresholdEvidence,
  unobserved,
  watchingThresholds,
  withEntries,
} from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  hardThresholds,
  kubeletSetting,
  nodeRule,
  percent,
  type Satisfied,
} from '#judge/rule.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'

/** Even the smallest disk that this rule judges grows by less than this in one image GC period. */
const enough = '5%'

export const strandedDisk = nodeRule({
  id: 'stranded-disk',
  family: 'image-gc',
  severity: 'low',
  cause: hardThresholds,
  needs: ['eviction'],
  policy: ['strandedGiB', 'strandedPercent'],
  title: 'Eviction thresholds keep much of a large disk unusable',
  why: 'A percentage that is right for 20 GiB keeps hundreds of GiB free on a disk of terabytes. They are paid for, and no pod can use them: the node evicts before.',
  fix: 'Lower the threshold of that filesystem (a percentage for all sizes, or a quantity where all disks are alike), or take a smaller disk. Policy strandedPercent and strandedGiB say from where on it counts.',
  sources: [
    'pkg/kubelet/eviction/api/types.go GetThresholdQuantity',
    'aws/containers-roadmap#2876',
  ],

  *judge(subject, policy) {
    const isShared = subject.filesystems.layout === 'shared'
    for (const filesystem of ['nodefs', 'imagefs'] as const) {
      if (isShared && filesystem === 'imagefs') continue
      const thresholds = watchingThresholds(`${filesystem}.available`, subject)
      // A node that evicts has no room to give away.
      if (thresholds.length === 0 || thresholds.some(({ met }) => met === true)) continue
      const capacity = subject.filesystems[filesystem]?.capacityBytes
      const most = highestThreshold(thresholds)
      if (!capacity || !most || thresholds.some(({ resolved }) => resolved === null)) {
        yield unobserved(subject, `how much of ${filesystem} its thresholds keep free`)
        continue
      }
      const kept = most.resolved ?? 0
      if (kept < (policy.strandedPercent / 100) * capacity || kept < policy.strandedGiB * gibibyte)
        continue
      yield {
        consequence: `${bytes(kept)} of ${bytes(capacity)} (${percent((kept / capacity) * 100)}) can never be used: with less than that left on ${isShared ? 'the disk' : filesystem} the kubelet evicts.`,
        evidence: [
          thresholdEvidence(most, subject.configuration),
          bytesLine('summary', `${filesystem} capacity`, capacity),
          bytesLine('computed', `${most.signal} is met below`, kept),
        ],
        cause: kubeletSetting(`${most.hard ? 'evictionHard' : 'evictionSoft'}.${most.signal}`),
        fix: fix(subject, thresholds, policy.strandedPercent),
      }
    }
  },
})

/** Undefined if a threshold is soft: the configuration does not show why it was set. */
function fix(
  { configuration }: Satisfied<'eviction'>,
  thresholds: EvaluatedThreshold[],
  strandedPercent: number,
) {
  if (strandedPercent <= Number.parseFloat(enough) || thresholds.some(threshold => !threshold.hard))
    return undefined
  return withEntries(
    'evictionHard',
    configuration,
    Object.fromEntries(thresholds.map(({ signal }) => [signal, enough])),
  )
}
