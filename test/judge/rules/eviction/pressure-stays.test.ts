import { expect, it } from 'vitest'
import { pressureStays } from '#judge/rules/eviction/pressure-stays.ts'
import { type ContextExample, exampleCapacityBytes, exampleTime, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

/** The condition since so many minutes, and so many GiB above the threshold of 10 GiB. */
const example = (minutes: number, margin: number, type = 'DiskPressure'): ContextExample => ({
  events: [],
  thresholds: [hard('nodefs.available', 10, 10 + margin)],
  eviction: {
    signals: {
      'nodefs.available': { availableBytes: 0, capacityBytes: exampleCapacityBytes, time: null },
    },
  },
  node: {
    status: {
      conditions: [
        {
          ...{ type, status: 'True' },
          lastTransitionTime: new Date(Date.parse(exampleTime) - minutes * 60_000).toISOString(),
        },
      ],
    },
  },
})

itJudgesExamples(pressureStays, { bad: example(90, 60), good: example(90, -1) })

const again = event({
  ...{ reason: 'EvictionThresholdMet', message: 'Attempting to reclaim ephemeral-storage' },
  ago: [80, 6],
})

const { events: _, ...withoutEvents } = example(600, 60)

it.each<[string, ContextExample, string]>([
  ['for hours', example(600, 60), 'fail'],
  ['within the transition period and a report of the status', example(24, 60), 'pass'],
  ['a threshold is met', example(600, -1), 'pass'],
  ['met again within the hour', { ...example(600, 60), events: [again] }, 'pass'],
  ['another condition', example(600, 60, 'NetworkUnavailable'), 'pass'],
  ['of memory, which no threshold watches', example(600, 60, 'MemoryPressure'), 'pass'],
  ['events unread', withoutEvents, 'unknown'],
])('%s: %3$s', (_, given, expected) => {
  expect(state(pressureStays, given)).toBe(expected)
})

it('waits for what has to be reclaimed at least', () => {
  const [threshold] = example(600, 4).thresholds ?? []
  const given = { ...example(600, 4), thresholds: [{ ...threshold!, minReclaim: '5%' }] }
  expect(state(pressureStays, given)).toBe('pass')
})

it('says what the nearest threshold leaves', () => {
  expect(failingOf(pressureStays, example(600, 60)).consequence).toBe(
    'DiskPressure stays for 10 h, and pods are refused: nodefs.available is 70.0 GiB, above its threshold of 10.0 GiB.',
  )
})
