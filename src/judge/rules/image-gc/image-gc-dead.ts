import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded, exactBytes } from '#judge/text.ts'
import { whyUnobserved } from '#judge/thresholds.ts'

const gcMinutes = imageGcPeriodMs / 60_000

/** Upstream's text where a round sees no size of the disk. */
const noCapacity = 'invalid capacity 0 on image filesystem'

export const imageGcDead = nodeRule({
  id: 'image-gc-dead',
  family: 'image-gc',
  severity: 'high',
  needs: ['imageGC'],
  docs: {
    title: 'Image garbage collection fails every time: it sees no image filesystem',
    why: 'The runtime tells a mount point of its images that the kubelet cannot measure. Its capacity is then 0, and every round ends in an error before anything is deleted for space. Thresholds on imagefs see no more than image GC does.',
    fix: 'See with crictl imagefsinfo which mount point the runtime names, and make it one that exists where the kubelet looks (containerd: root). Restart the runtime first, then the kubelet.',
    sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect', 'pkg/kubelet/stats/cri_stats_provider.go ImageFsStats'],
  },
  examples: {
    bad: { imageGC: { triggered: false, usagePercent: null, reachesLow: null, error: noCapacity } },
    good: { imageGC: { triggered: false } },
  },
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  *judge(subject) {
    const { imageGC, filesystems } = subject
    if (imageGC.error !== noCapacity) {
      if (imageGC.triggered === null)
        yield { unknown: imageGC.error === null ? whyUnobserved(subject, 'the image filesystem') : bounded(imageGC.error) }
      return
    }
    const capacity = filesystems.imagefs?.capacityBytes
    yield {
      consequence: `Every ${gcMinutes} min image GC ends in "${noCapacity}" (events InvalidDiskCapacity, ImageGCFailed): no image is deleted for space, however full the disk.`,
      evidence: [
        { what: 'the kubelet says', value: noCapacity },
        {
          what: 'image filesystem capacity',
          value: capacity === null || capacity === undefined ? 'not told by stats/summary' : exactBytes(capacity),
        },
      ],
    }
  },
})
