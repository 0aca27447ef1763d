import { durationMs } from '#base/go/duration.ts'
import { hourMs } from '#base/units.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import {
  type Failing,
  kubeletSetting,
  line,
  lines,
  nodeRule,
  plural,
  seenFirst,
  shorten,
  shortName,
  shortPodName,
} from '#judge/rule.ts'
import type { KubernetesPod } from '#model/input/record.ts'

const soundHours = 24
const soundMs = soundHours * hourMs

const titles = {
  stuck: 'Images of containers that cannot be made are deleted by age, and pulled again',
}

export const imageAgeGcChurn = nodeRule({
  id: 'image-age-gc-churn',
  family: 'image-gc',
  severity: 'low',
  cause: kubeletSetting('imageMaximumGCAge'),
  needs: ['configuration'],
  titles,
  title: 'Images are deleted by age so soon that they are pulled again and again',
  why: `imageMaximumGCAge deletes every image that was not in use for that long, however empty the disk. One that was never used goes at the next round, pulled a moment ago or not. Below ${soundHours} hours the images of daily jobs, and those pulled ahead, do not stay.`,
  fix: 'Set imageMaximumGCAge to some days, or to 0s, and leave the disk to the thresholds.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go freeOldImages',
    'pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer',
    'kubernetes/kubernetes#132403',
  ],

  *judge({ configuration, imageGC, pods }) {
    const written =
      configuration.imageMaximumGCAge ?? configurationDefaults.imageMaximumGCAge ?? '0s'
    const ageMs = durationMs(written)
    if (ageMs === null)
      yield { unknown: `configz: imageMaximumGCAge "${shorten(written)}" is no duration` }
    if (ageMs === null || ageMs <= 0) return
    const stuck = pods?.flatMap(unmadeIn) ?? []
    if (stuck.length > 0) yield pulledAgain(stuck, written)
    if (ageMs >= soundMs) return
    const byAge = imageGC?.deletions?.filter(
      ({ reason, certainty }) => reason === 'age' && certainty === 'certain',
    )
    yield {
      consequence: `Every image that no container used for ${shorten(written)} is deleted, however empty the disk${byAge?.length ? `, ${plural(byAge.length, 'image')} at the next round` : ''}, and pulled again when it is needed.`,
      evidence: lines(
        line('configz', 'imageMaximumGCAge', written),
        byAge && line('computed', 'images that surely go by age at the next round', byAge.length),
      ),
      fix: { config: { imageMaximumGCAge: '168h0m0s' } },
    }
  },
})

/** The kubelet pulls the image first, and cannot make the container then: no container uses the image. */
const afterPull = new Set(['CreateContainerConfigError', 'CreateContainerError'])

interface UnmadeContainer {
  pod: string
  image: string
}

const unmadeIn = ({ metadata, status }: KubernetesPod): UnmadeContainer[] =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    .filter(({ state }) => afterPull.has(state?.waiting?.reason ?? ''))
    .map(({ image = '' }) => ({ pod: shortPodName(metadata), image: shortName(image) }))

const pulledAgain = (stuck: readonly UnmadeContainer[], age: string): Failing => ({
  title: titles.stuck,
  severity: 'medium',
  steps: [{ id: 'set-fields' }, { id: 'ask-owner' }],
  ...seenFirst(
    `${plural(stuck.length, 'container')} cannot be made (${stuck[0]!.pod}): no container uses the image, so image GC deletes it at each round though imageMaximumGCAge is ${shorten(age)}, and the kubelet pulls it again.`,
  ),
  evidence: [
    line('configz', 'imageMaximumGCAge', age),
    ...stuck.slice(0, 10).map(({ pod, image }) => line('object', `pod ${pod} waits`, image)),
  ],
  fix: { config: { imageMaximumGCAge: '0s' } },
})
