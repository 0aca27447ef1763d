import { describe, expect, it } from 'vitest'
import { kubeletRestarts } from '#judge/rules/configuration/kubelet-restarts.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

const starts = (count: number, ago: number | [number, number], message = 'Starting kubelet.') => ({
  events: [event({ reason: 'Starting', message, count, ago })],
})

itJudgesExamples(kubeletRestarts, { bad: starts(41, [35, 1]), good: starts(1, 5) })

describe('kubelet-restarts', () => {
  it.each([
    ['five starts within the hour', starts(5, [50, 10]), 'fail'],
    ['four', starts(4, [50, 10]), 'pass'],
    ['a start each day', starts(5, [5 * 1440, 10]), 'pass'],
    ['a loop that ended', starts(41, [59, 20]), 'pass'],
    ['starts of kube-proxy', starts(41, [35, 1], 'Starting kube-proxy.'), 'pass'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(kubeletRestarts, example)).toBe(expected)
  })

  it('names the limit that an enforced reservation is, which nothing shows to be the cause', () => {
    const configuration = {
      kubeReserved: { memory: '255Mi' },
      enforceNodeAllocatable: ['pods', 'kube-reserved'],
    }
    const failing = failingOf(kubeletRestarts, { ...starts(41, [35, 1]), configuration })
    expect(failing.consequence).toContain('kubeReserved.memory 255Mi')
    expect(failing.fix).toBeUndefined()
  })
})
