import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { line, lines, nodeRule } from '#judge/rule.ts'
import { kubeletSetting } from '#judge/settings.ts'
import { bounded, counted } from '#judge/text.ts'
import { durationMs } from '#judge/values.ts'

const soundHours = 24
const soundMs = soundHours * 3_600_000

export const imageAgeGcChurn = nodeRule({
  id: 'image-age-gc-churn',
  family: 'image-gc',
  severity: 'low',
  cause: kubeletSetting('imageMaximumGCAge'),
  needs: ['configuration'],
  title: 'Images are deleted by age so soon that they are pulled again and again',
  why: `imageMaximumGCAge deletes every image that was not in use for that long, however empty the disk. One that was never used goes at the next round, pulled a moment ago or not. Below ${soundHours} hours the images of daily jobs, and those pulled ahead, do not stay.`,
  fix: 'Set imageMaximumGCAge to some days, or to 0s, and leave the disk to the thresholds.',
  sources: ['pkg/kubelet/images/image_gc_manager.go freeOldImages'],
  appliesTo: ({ identity }) => featuresOf(identity.kubeletVersion).has('imageMaximumGCAge'),

  *judge({ configuration, imageGC }) {
    const written =
      configuration.imageMaximumGCAge ?? configurationDefaults.imageMaximumGCAge ?? '0s'
    const ageMs = durationMs(written)
    if (ageMs === null)
      yield { unknown: `configz: imageMaximumGCAge "${bounded(written)}" is no duration` }
    if (ageMs === null || ageMs <= 0 || ageMs >= soundMs) return
    const byAge = imageGC?.deletions?.filter(
      ({ reason, certainty }) => reason === 'age' && certainty === 'certain',
    )
    yield {
      consequence: `Every image that no container used for ${bounded(written)} is deleted, however empty the disk${byAge?.length ? `, ${counted(byAge.length, 'image')} at the next round` : ''}, and pulled again when it is needed.`,
      evidence: lines(
        line('configz', 'imageMaximumGCAge', written),
        byAge && line('computed', 'images that surely go by age at the next round', byAge.length),
      ),
      fix: { config: { imageMaximumGCAge: '168h0m0s' } },
    }
  },
})
