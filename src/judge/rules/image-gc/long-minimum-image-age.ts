import { durationMs } from '#base/go/duration.ts'
import { hourMs } from '#base/units.ts'
import { kubeletSetting, line, nodeRule, shorten } from '#judge/rule.ts'

const soundHours = 24
const soundMs = soundHours * hourMs

export const longMinimumImageAge = nodeRule({
  id: 'long-minimum-image-age',
  family: 'image-gc',
  severity: 'medium',
  cause: kubeletSetting('imageMinimumGCAge'),
  needs: ['configuration'],
  title: 'Unused images are kept for days, however full the disk',
  why: `Neither image GC nor eviction deletes an image that the kubelet first saw less than imageMinimumGCAge ago. With more than ${soundHours} hours, the images of the latest releases stay on a full disk, and pods are evicted in their place.`,
  fix: "Remove imageMinimumGCAge: the kubelet's default is 2 minutes, which only keeps an image that is just pulled for its container.",
  sources: ['pkg/kubelet/images/image_gc_manager.go freeImage, DeleteUnusedImages'],

  *judge({ configuration }) {
    const written = configuration.imageMinimumGCAge
    const ageMs = written === undefined ? null : durationMs(written)
    if (written === undefined || ageMs === null || ageMs <= soundMs) return
    yield {
      consequence: `No image is deleted in the first ${shorten(written)} after its pull, not even when pods are evicted for want of disk.`,
      evidence: [line('configz', 'imageMinimumGCAge', written)],
      fix: { config: { imageMinimumGCAge: '2m0s' } },
    }
  },
})
