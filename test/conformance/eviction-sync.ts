/** One eviction manager over time, with everything that upstream may do where a map's order decides. */
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import {
  type Eviction,
  type EvictionState,
  type Outcome,
  type Pass,
  startEviction,
  synchronizeAlternatives,
} from '#replay/eviction/synchronize.ts'
import {
  type EvictionConfiguration,
  isHardThreshold,
  makeSignalObservations,
  parseEvictionConfig,
} from '#replay/eviction/thresholds.ts'
import { resourceOf } from '#replay/eviction/victims.ts'
import type { Pod } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { manifestOf, podOf, podStatsOf as statsOf, summaryOf } from '#test/at-the-door.ts'
import { type EvictedPodTexts, textsOf } from '#test/eviction-messages.ts'
import { admit } from './admission.ts'
import type { Family } from './family.ts'

interface Step {
  at: string
  node: unknown
  nodeAfterReclaim?: unknown
  podStats?: unknown[]
}

interface Input {
  config: EvictionConfiguration
  dedicatedImageFs: boolean
  dedicatedContainerFs: boolean
  pods: unknown[]
  podStats: unknown[]
  steps: Step[]
  admitProbes?: unknown[]
}

export const evictionSync: Family<Input> = {
  name: 'eviction-sync',
  answer(input, version) {
    const stories = unlike(storiesOf(input, version).map(steps => ({ steps })))
    return stories.length === 1 ? stories[0] : { anyOf: stories }
  },
}

interface Branch {
  state: EvictionState
  pods: readonly Pod[]
  steps: unknown[]
}

function storiesOf(input: Input, version: string): unknown[][] {
  const kubelet = kubeletOf(version)
  const config = parseEvictionConfig(input.config)
  const probes = (input.admitProbes ?? []).map(manifestOf).filter(({ metadata }) => metadata?.name)
  let branches: Branch[] = [
    { state: startEviction(config), pods: parsedPods(input.pods), steps: [] },
  ]
  for (const step of input.steps) {
    const observe = (node: unknown) => makeSignalObservations(summaryOf({ node }))
    const afterReclaim = observe(step.nodeAfterReclaim ?? step.node)
    const pass: Omit<Pass, 'pods'> = {
      nowMs: Date.parse(step.at),
      observations: observe(step.node),
      podStats: statsOf({ pods: step.podStats ?? input.podStats }),
      layout: {
        dedicatedImageFs: input.dedicatedImageFs,
        splitContainerImageFs: input.dedicatedContainerFs,
      },
      config,
      kubelet,
      reclaim: () => afterReclaim,
    }
    branches = unlike(
      branches.flatMap(({ state: before, pods, steps }) => {
        const { state, outcomes } = synchronizeAlternatives(before, { ...pass, pods })
        const admitted = probes.map(
          pod =>
            [pod.metadata?.name ?? '', admit(pod, state.conditions, kubelet).isAdmitted] as const,
        )
        return outcomes.map(outcome => {
          const gone = outcome.evictions.map(({ pod }) => pod)
          const told = {
            ...shownOutcome(outcome, pass),
            ...(input.admitProbes ? { admitted: Object.fromEntries(admitted) } : {}),
          }
          return { state, pods: pods.filter(pod => !gone.includes(pod)), steps: [...steps, told] }
        })
      }),
      ({ steps }) => steps,
    )
  }
  return branches.map(({ steps }) => steps)
}

const parsedPods = (manifests: unknown[]): Pod[] => manifests.map(podOf).filter(pod => pod !== null)

const gcCalls: Record<ReclaimKind, string> = { containers: 'containerGC', images: 'imageGC' }

const shownOutcome = (outcome: Outcome, pass: Omit<Pass, 'pods'>) => ({
  conditions: outcome.conditions,
  thresholdsMet: outcome.thresholdsMet
    .map(threshold => `${threshold.signal} ${isHardThreshold(threshold) ? 'hard' : 'soft'}`)
    .sort(),
  reclaiming: outcome.picked && resourceOf(outcome.picked.signal),
  gcCalls: outcome.reclaimed.map(kind => gcCalls[kind]),
  killed: outcome.evictions.map(eviction =>
    shownEviction(eviction, textsOf(eviction, outcome, pass)),
  ),
  error: outcome.error,
})

const shownEviction = (
  { pod, gracePeriodOverrideSeconds }: Eviction,
  { message, annotations, disruptionTarget }: EvictedPodTexts,
) => ({
  pod: pod.name,
  gracePeriodSeconds: gracePeriodOverrideSeconds,
  phase: 'Failed',
  reason: 'Evicted',
  message,
  annotations,
  disruptionTarget: disruptionTarget && {
    status: disruptionTarget.status,
    reason: disruptionTarget.reason,
  },
})

/** Of those that tell the same only the first. */
const unlike = <Item>(items: Item[], told: (item: Item) => unknown = item => item): Item[] => [
  ...new Map(items.map(item => [JSON.stringify(told(item)), item])).values(),
]
