import { gcMinutes } from '#facts/kubelet/periods.ts'
import { bytes, imageGcThresholds, line, nodeRule, percent } from '#judge/rule.ts'
import { startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'

/** The kubelet's defaults, 85 % and 80 %, are this many percentage points apart. */
const soundBandPercent = 5
const widerBandPercent = 10

export const narrowGcBand = nodeRule({
  id: 'narrow-gc-band',
  family: 'image-gc',
  severity: 'medium',
  cause: imageGcThresholds,
  needs: ['imageGC'],
  title: 'The two image GC thresholds are too close together',
  why: 'A round starts at the high threshold and ends at the low one. Closer than the 5 % of the defaults it frees so little that the disk is full again soon: a round every few minutes, and images that are deleted and pulled again.',
  fix: 'Lower imageGCLowThresholdPercent, to ten below imageGCHighThresholdPercent for example. A low threshold that is not below the high one is refused at the next start.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
    'pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration',
  ],
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  *judge({ imageGC, filesystems }) {
    const { highThresholdPercent: high, lowThresholdPercent: low } = imageGC
    if (high - low >= soundBandPercent) return
    const startsAbove = startsAboveUsedPercent(high)
    const freedPercent = Math.max(0, startsAbove - low)
    const capacity = filesystems.imagefs?.capacityBytes
    const size = capacity ? ` (${bytes((freedPercent / 100) * capacity)})` : ''
    yield {
      consequence: `Image GC starts above ${startsAbove} % used and stops at ${low} %: it asks for ${freedPercent === 0 ? 'one image' : `${percent(freedPercent)} of the disk${size}`} at a time, and starts again every ${gcMinutes} min while the disk fills.`,
      evidence: [
        line('configz', 'imageGCHighThresholdPercent', high),
        line('configz', 'imageGCLowThresholdPercent', low),
      ],
      fix:
        high > 0 && high < 100
          ? {
              config: {
                imageGCHighThresholdPercent: high,
                imageGCLowThresholdPercent: Math.max(0, high - widerBandPercent),
              },
            }
          : undefined,
    }
  },
})
