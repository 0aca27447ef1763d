/** The order in which pods would be evicted under one signal. */
import type { Signal } from '#model/prediction.ts'
import { rankPods } from '#replay/eviction/victims.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf, podStatsOf as statsOf } from '#test/at-the-door.ts'
import type { Family } from './family.ts'

interface Input {
  signal: Signal
  dedicatedImageFs: boolean
  dedicatedContainerFs: boolean
  pods: unknown[]
  podStats: unknown[]
}

export const evictionRank: Family<Input> = {
  name: 'eviction-rank',
  answer({ signal, dedicatedImageFs, dedicatedContainerFs, pods, podStats }, version) {
    const active = pods.map(podOf).filter(pod => pod !== null)
    const layout = { dedicatedImageFs, splitContainerImageFs: dedicatedContainerFs }
    const ranking = rankPods(
      signal,
      active,
      statsOf({ pods: podStats }),
      layout,
      kubeletOf(version),
    )
    return { order: ranking.map(({ pod }) => pod.name) }
  },
}
