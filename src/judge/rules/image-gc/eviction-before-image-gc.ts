import { evictionSeconds, gcMinutes, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { reasonBeyondImageGc } from '#judge/help/disk-reason.ts'
import { freesBelow } from '#judge/help/freed-by-image-gc.ts'
import { isHeldByOthers } from '#judge/help/holder-cause.ts'
import {
  assumedGrowth,
  float32Rounding,
  growthLine,
  hasFreeAge,
  highestThreshold,
  raisedReason,
  raisedThresholds,
  soundImageGc,
  thresholdEvidence,
  unobserved,
  whyUnobserved,
} from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  imageGcThresholds,
  isLinux,
  kubeletSetting,
  line,
  nodeRule,
  percent,
  type Satisfied,
} from '#judge/rule.ts'
import { startsBelowAvailableBytes } from '#model/kubelet/image-gc-trigger.ts'
import type { Policy } from '#model/policy.ts'
import { areOfOnePool, type EvaluatedThreshold } from '#model/prediction.ts'

type ThresholdSubject = Satisfied<'imageGC' | 'eviction'>

const titles = { first: 'Eviction acts before image garbage collection runs' }

export const evictionBeforeImageGc = nodeRule({
  id: 'eviction-before-image-gc',
  family: 'image-gc',
  severity: 'high',
  cause: imageGcThresholds,
  needs: ['imageGC', 'eviction'],
  policy: ['alertPercent', 'assumedGrowthPercent'],
  titles,
  title: 'Eviction can act before image garbage collection runs',
  why: `Image GC looks at the disk every ${gcMinutes} minutes, the eviction manager every ${evictionSeconds} seconds. If the eviction threshold is met first, or within one GC period's growth, the node comes under DiskPressure and refuses new pods. The kubelet then deletes every unused image at once, and evicts pods if that frees too little.`,
  fix: 'Lower imageGCHighThresholdPercent until (101 - high) % of the disk is well above the eviction threshold, and imageGCLowThresholdPercent with it. On EKS Auto Mode neither can be changed; only a larger disk (NodeClass ephemeralStorage) gains time.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
    'pkg/kubelet/kubelet.go ImageGCPeriod',
    'pkg/kubelet/eviction/eviction_manager.go synchronize, reclaimNodeLevelResources',
    'awslabs/amazon-eks-ami#856',
  ],
  // If image GC is off, image-gc-disabled reports it. In a pool, its percentages say little.
  appliesTo: subject =>
    isLinux(subject) && subject.imageGC?.enabled !== false && !areOfOnePool(subject.filesystems),

  *judge(subject, policy) {
    const { layout, layoutCertainty } = subject.filesystems
    const firing: EvaluatedThreshold[] = []
    for (const threshold of subject.eviction.thresholds) {
      if (!isOnImageDisk(threshold, subject)) continue
      const isNodefs = threshold.signal === 'nodefs.available'
      const comesFirst = isTooClose(threshold, subject, policy)
      if (comesFirst === null) yield unobserved(subject, missingObservation(threshold))
      else if (comesFirst && isNodefs && layout === null)
        yield {
          unknown: `whether images share the filesystem of nodefs: ${whyUnobserved(subject, 'the layout')}`,
        }
      else if (comesFirst) firing.push(threshold)
    }
    const first = highestThreshold(firing)
    if (!first) return
    const isByImagefs = firing.some(({ signal }) => signal === 'imagefs.available')
    yield {
      ...failing(first, firing, subject, policy),
      ...(freesBelow(policy.alertPercent, subject) === false && reasonBeyondImageGc(subject)),
      ...unusedReason(subject),
      ...raisedReason(raisedThresholds([first], subject), subject),
      ...(!isFilledByImages(subject) && { severity: 'medium' as const }),
      confidence: isByImagefs || layoutCertainty === 'certain' ? 'certain' : 'likely',
    }
  },
})

/** Whether the threshold is, or may be, one of the disk of images. */
const isOnImageDisk = ({ signal }: EvaluatedThreshold, { filesystems }: ThresholdSubject) =>
  signal === 'imagefs.available' ||
  (signal === 'nodefs.available' && (filesystems.layout ?? 'shared') === 'shared')

/** Use of a disk below which no percentage of image GC that is worth setting frees images now, and eviction is far. */
const calmPercent = 60

const isCalm = ({ filesystems }: ThresholdSubject) =>
  (filesystems.imagefs?.usedPercent ?? 100) < calmPercent

/** Most listed images are unused. Where image GC is far, only their age deletes them. */
function unusedReason(subject: ThresholdSubject): Partial<Failing> {
  const unused = subject.unusedImages()
  if (unused === null) return {}
  return {
    seen: `${unused}.`,
    ...(isCalm(subject) &&
      hasFreeAge(subject) && {
        cause: kubeletSetting('imageMaximumGCAge'),
        fix: { config: { imageMaximumGCAge: '168h0m0s' } },
      }),
  }
}

/** The disk fills, and with images. If something else fills it, no setting of image GC helps. */
const isFilledByImages = (subject: ThresholdSubject) =>
  (!isCalm(subject) ||
    subject.eviction.thresholds.some(one => one.met === true && isOnImageDisk(one, subject))) &&
  !isHeldByOthers(subject.ledger, 'imagefs.available')

/** Names the missing observation: the threshold in bytes, or the capacity of the image filesystem. */
const missingObservation = ({ signal, resolved }: EvaluatedThreshold) =>
  resolved === null ? `the bytes of ${signal}` : 'the capacity of the image filesystem'

/** Null: the bytes are unknown. */
function isTooClose(
  { value, resolved, gracePeriodMs }: EvaluatedThreshold,
  { imageGC, filesystems }: ThresholdSubject,
  policy: Policy,
) {
  const capacity = filesystems.imagefs?.capacityBytes
  if (!capacity || resolved === null) return null
  // 14% of 100 GiB becomes 64 bytes more: that must not decide.
  const margin =
    startsBelowAvailableBytes(capacity, imageGC.highThresholdPercent) -
    resolved +
    float32Rounding(value, resolved)
  // A threshold before the trigger acts first: usage can stay there for its grace period. Behind the trigger, growth in that period is margin.
  const waited = margin > 0 ? assumedGrowth(gracePeriodMs, capacity, policy) : 0
  return margin + waited < assumedGrowth(imageGcPeriodMs, capacity, policy)
}

function failing(
  first: EvaluatedThreshold,
  firing: EvaluatedThreshold[],
  { configuration, imageGC, filesystems }: ThresholdSubject,
  policy: Policy,
): Failing {
  const high = imageGC.highThresholdPercent
  const capacity = filesystems.imagefs?.capacityBytes ?? 0
  const resolved = first.resolved ?? 0
  const acts = first.hard
    ? `within ${evictionSeconds} s`
    : `after its grace period of ${first.gracePeriodMs / 1000} s`
  const trigger = startsBelowAvailableBytes(capacity, high)
  const margin = trigger - resolved
  const marginPercent = percent((margin / capacity) * 100)
  // Four digits are finer than any written percentage and coarser than float32 rounding.
  const sound = soundImageGc(Number(((resolved / capacity) * 100).toFixed(4)), policy)
  return {
    ...(margin <= 0 && { title: titles.first }),
    consequence:
      margin <= 0
        ? `Below ${bytes(resolved)} of ${first.signal} the node is under DiskPressure and eviction acts ${acts}; image GC would start only below ${bytes(trigger)}${margin === 0 ? '' : `, ${bytes(-margin)} later`}. Eviction deletes every unused image, then evicts pods if that frees too little.`
        : `Image GC starts below ${bytes(trigger)} available, but looks only every ${gcMinutes} min; eviction acts below ${bytes(resolved)} of ${first.signal} ${acts}. The ${bytes(margin)} between them (${marginPercent} of the disk) can fill within one GC period. Eviction then acts first: it deletes every unused image, then evicts pods if that frees too little.`,
    evidence: [
      line('configz', 'imageGCHighThresholdPercent', high),
      ...firing.map(threshold => thresholdEvidence(threshold, configuration)),
      bytesLine('summary', 'image filesystem capacity', capacity),
      bytesLine('computed', 'image GC starts below', trigger),
      bytesLine('computed', `${first.signal} is met below`, resolved),
      line(
        'computed',
        'acts first',
        margin <= 0 ? 'eviction' : 'image GC, unless the margin fills within its period',
      ),
      line('computed', 'margin', `${bytes(margin)}, ${marginPercent} of the capacity`),
      growthLine(policy),
    ],
    ...(sound && { fix: { config: { ...sound } } }),
  }
}
