import { oomScores } from '#replay/oom-score.ts'
import { podQosClass } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf } from '#test/at-the-door.ts'
import type { Family } from './family.ts'

interface Input {
  pod: unknown
  memoryCapacityBytes: number
}

export const oomScore: Family<Input> = {
  name: 'oom-score',
  answer({ pod: manifest, memoryCapacityBytes }, version) {
    const kubelet = kubeletOf(version)
    const pod = podOf(manifest)
    const scores = pod && oomScores(pod, memoryCapacityBytes, kubelet)
    return {
      qosClass: pod && podQosClass(pod, kubelet),
      oomScoreAdjust: Object.fromEntries(
        (scores ?? []).map(({ container, oomScoreAdj }) => [container, oomScoreAdj]),
      ),
    }
  },
}
