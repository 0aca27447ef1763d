import { reasonBeyondImageGc } from '#judge/help/disk-reason.ts'
import { freesBelow } from '#judge/help/freed-by-image-gc.ts'
import { isHeldByOthers } from '#judge/help/holder-cause.ts'
import { imageGcFix } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  imageGcThresholds,
  line,
  nodeRule,
  percent,
  type Satisfied,
} from '#judge/rule.ts'
import {
  startsAboveUsedPercent,
  startsBelowAvailableBytes,
} from '#model/kubelet/image-gc-trigger.ts'
import type { Policy } from '#model/policy.ts'
import { areOfOnePool } from '#model/prediction.ts'

const titles = {
  assumed: 'The assumed disk alert fires before image garbage collection starts',
  full: 'The disk is above the alert, and no setting of image garbage collection clears it',
}

/** Used share below which a disk is far from the alert. */
const farPercent = 60

export const alertBeforeImageGc = nodeRule({
  id: 'alert-before-image-gc',
  family: 'image-gc',
  severity: 'medium',
  cause: imageGcThresholds,
  needs: ['imageGC'],
  policy: ['alertPercent', 'assumedGrowthPercent'],
  titles,
  title: 'The disk alert fires before image garbage collection starts',
  why: 'The alert pages people for a disk that the kubelet has not begun to clean. It is noise every time, and the real trouble, a collection that frees nothing, looks the same. No alert is read from the cluster (policy alertPercent assumes it), so this is a setting to improve: it stands behind all that was seen on a node. Where something else than images fills the disk, the alert is right, and no setting of image GC ends it.',
  fix: "Set imageGCHighThresholdPercent at or below the alert's percentage, or raise the alert (policy alertPercent says where it stands).",
  sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect'],

  // If image GC is off, image-gc-disabled reports it. In a pool, its percentages say little.
  appliesTo: ({ imageGC, filesystems }) => imageGC?.enabled !== false && !areOfOnePool(filesystems),

  *judge(subject, policy) {
    const { imageGC, filesystems } = subject
    const high = imageGC.highThresholdPercent
    const startsAbove = startsAboveUsedPercent(high)
    if (policy.alertPercent >= startsAbove) return
    const capacity = filesystems.imagefs?.capacityBytes
    const gap = capacity ? gapBetween(capacity, high, policy) : null
    const usedPercent = filesystems.imagefs?.usedPercent ?? null
    const isFiring = usedPercent !== null && usedPercent >= policy.alertPercent
    // Something else fills the disk: no percentage of image GC frees that, and the alert is right.
    if (isFiring && isHeldByOthers(subject.ledger, 'imagefs.available')) return
    const isFar = usedPercent !== null && usedPercent < Math.min(farPercent, policy.alertPercent)
    const unused = isFiring ? subject.unusedImages() : null
    const isBeyond = isFiring && unused === null && isBeyondImageGc(subject, policy)
    yield {
      ...(isFar && { severity: 'low' }),
      ...(policy.isAlertAssumed && { title: titles.assumed }),
      // No `seen`: an alert that fires is a setting, and no incident.
      consequence: `${unused === null ? '' : `${unused}. `}${policy.isAlertAssumed ? `An alert at ${percent(policy.alertPercent)} used is assumed (policy alertPercent sets yours)` : `The alert fires at ${percent(policy.alertPercent)} used`}; the kubelet starts deleting unused images only above ${startsAbove} % used.${gap ? ` Of this disk that is ${bytes(gap.bytes)} in which people are called and nothing cleans.` : ''}`,
      evidence: [
        line('policy', 'policy alertPercent', policy.alertPercent),
        line('configz', 'imageGCHighThresholdPercent', high),
        line('configz', 'imageGCLowThresholdPercent', imageGC.lowThresholdPercent),
        ...(gap
          ? [
              bytesLine('summary', 'image filesystem capacity', gap.capacity),
              bytesLine('computed', 'the alert fires below', gap.alert),
              bytesLine('computed', 'image GC starts below', gap.trigger),
            ]
          : []),
      ],
      fix: imageGcFix(subject, policy),
      ...(isBeyond && {
        title: titles.full,
        confidence: 'likely',
        ...reasonBeyondImageGc(subject),
      }),
    }
  },
})

/** Whether image GC cannot bring the disk below the alert. */
function isBeyondImageGc(subject: Satisfied<'imageGC'>, { alertPercent }: Policy) {
  const { triggered, reachesLow } = subject.imageGC
  const isCleared = freesBelow(alertPercent, subject)
  return isCleared === false || (triggered === true && reachesLow === false && isCleared === null)
}

/** Available bytes at which the alert fires and image GC starts, and the bytes between them. */
function gapBetween(capacity: number, high: number, policy: Policy) {
  const alert = Math.ceil(((100 - policy.alertPercent) * capacity) / 100)
  const trigger = startsBelowAvailableBytes(capacity, high)
  return { capacity, alert, trigger, bytes: alert - trigger }
}
