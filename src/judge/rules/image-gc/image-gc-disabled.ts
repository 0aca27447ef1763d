import { imageGcFix } from '#judge/help/thresholds.ts'
import { imageGcThresholds, line, nodeRule } from '#judge/rule.ts'

export const imageGcDisabled = nodeRule({
  id: 'image-gc-disabled',
  family: 'image-gc',
  severity: 'high',
  cause: imageGcThresholds,
  needs: ['imageGC'],
  policy: ['alertPercent', 'assumedGrowthPercent'],
  title: 'Image garbage collection is switched off',
  why: 'imageGCHighThresholdPercent 100 stops the loop, and no maximum age of images keeps it running. Unused images stay until eviction deletes every one of them, when the node is under DiskPressure already.',
  fix: 'Set imageGCHighThresholdPercent below 100 and below where eviction starts, and imageGCLowThresholdPercent with it.',
  sources: ['pkg/kubelet/kubelet.go StartGarbageCollection'],

  *judge(subject, policy) {
    const { imageGC, configuration } = subject
    if (imageGC.enabled) return
    yield {
      consequence:
        'The kubelet never starts an image GC round, however full the disk: unused images go only when eviction needs the space.',
      evidence: [
        line('configz', 'imageGCHighThresholdPercent', imageGC.highThresholdPercent),
        line('configz', 'imageMaximumGCAge', configuration?.imageMaximumGCAge ?? 'absent'),
      ],
      fix: imageGcFix(subject, policy),
    }
  },
})
