import { hard } from '#judge/example.ts'
import { nodeRule } from '#judge/rule.ts'
import { percent } from '#judge/text.ts'
import { soundImageGc } from '#judge/thresholds.ts'

export const alertBeforeImageGc = nodeRule({
  id: 'alert-before-image-gc',
  family: 'image-gc',
  severity: 'medium',
  needs: ['imageGC'],
  docs: {
    title: 'The disk alert fires before image garbage collection starts',
    why: 'The alert pages people for a disk that the kubelet has not begun to clean. It is noise every time, and the real trouble, a collection that frees nothing, looks the same.',
    fix: "Set imageGCHighThresholdPercent at or below the alert's percentage, or raise the alert (policy alertPercent says where it stands).",
    sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect'],
  },
  examples: {
    bad: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 } },
    good: { imageGC: { highThresholdPercent: 80, lowThresholdPercent: 70 }, thresholds: [hard('nodefs.available', 10)] },
  },

  *judge({ imageGC, eviction, filesystems }, policy) {
    const high = imageGC.highThresholdPercent
    if (policy.alertPercent >= high) return
    const capacity = filesystems.imagefs?.capacityBytes
    const resolved = eviction?.thresholds.filter(({ signal }) => signal === 'imagefs.available' || signal === 'nodefs.available')
    const evictionBytes = Math.max(0, ...(resolved ?? []).map(threshold => threshold.resolved ?? 0))
    const sound = soundImageGc(capacity ? (evictionBytes / capacity) * 100 : 0, policy)
    yield {
      consequence: imageGC.enabled
        ? `The alert fires at ${percent(policy.alertPercent)} used; the kubelet starts deleting unused images only above ${high - 1} % used.`
        : `The alert fires at ${percent(policy.alertPercent)} used; image GC is switched off and never starts.`,
      evidence: [
        { what: 'policy alertPercent', value: String(policy.alertPercent) },
        { what: 'configz imageGCHighThresholdPercent', value: String(high) },
        { what: 'configz imageGCLowThresholdPercent', value: String(imageGC.lowThresholdPercent) },
      ],
      fix: sound ? { config: { ...sound } } : undefined,
    }
  },
})
