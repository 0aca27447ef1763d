import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { nodeRule } from '#judge/rule.ts'
import { bytes, exactBytes } from '#judge/text.ts'
import { whyUnobserved } from '#judge/thresholds.ts'

const gcMinutes = imageGcPeriodMs / 60_000

export const imageGcDue = nodeRule({
  id: 'image-gc-due',
  family: 'image-gc',
  severity: 'info',
  needs: ['imageGC'],
  docs: {
    title: 'Image garbage collection is about to delete images',
    why: 'The image filesystem is above the high threshold, so the next round deletes unused images, oldest first. Where a registry cannot be reached, what it deletes does not come back.',
    fix: 'Nothing, if the images can be pulled again. Otherwise pin them or make room: fewer images, a larger disk, or another threshold.',
    sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace'],
  },
  examples: {
    bad: { imageGC: { triggered: true, usagePercent: 91, bytesUntilTrigger: 0, bytesToFree: 11 * 1024 ** 3 } },
    good: { imageGC: { triggered: false, usagePercent: 79 } },
  },
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  *judge(subject) {
    const { imageGC, filesystems } = subject
    const { triggered, usagePercent, bytesToFree, highThresholdPercent, lowThresholdPercent } = imageGC
    // Upstream's round ends with that error, and frees nothing.
    if (triggered === null || imageGC.error !== null) yield { unknown: imageGC.error ?? whyUnobserved(subject, 'the image filesystem') }
    if (!triggered) return
    const available = filesystems.imagefs?.availableBytes
    yield {
      consequence: `Within ${gcMinutes} min the kubelet deletes unused images${bytesToFree === null ? '' : ` until it has counted ${bytes(bytesToFree)} freed`}, at least one. It counts compressed sizes, the disk has unpacked ones: it deletes more than the disk needs, and may still report that it freed too little.`,
      evidence: [
        ...(usagePercent === null ? [] : [{ what: 'image filesystem used', value: `${usagePercent} %` }]),
        { what: 'configz imageGCHighThresholdPercent', value: String(highThresholdPercent) },
        { what: 'configz imageGCLowThresholdPercent', value: String(lowThresholdPercent) },
        ...(available === null || available === undefined ? [] : [{ what: 'image filesystem available', value: exactBytes(available) }]),
        ...(bytesToFree === null ? [] : [{ what: 'to free', value: exactBytes(bytesToFree) }]),
      ],
    }
  },
})
