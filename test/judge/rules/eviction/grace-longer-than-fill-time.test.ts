import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { graceLongerThanFillTime } from '#judge/rules/eviction/grace-longer-than-fill-time.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(graceLongerThanFillTime, {
  bad: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 12, 600_000)] },
  good: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 12, 90_000)] },
})

describe('grace-longer-than-fill-time', () => {
  /** 2 % in 5 min: 2 GiB of 100 in 300 s. */
  const graced = (seconds: number, ...others: EvaluatedThreshold[]): NodeExample => ({
    thresholds: [soft('nodefs.available', 12, seconds * 1000), ...others],
  })
  const hardOne = hard('nodefs.available', 10)

  it.each<[string, NodeExample, string]>([
    ['exactly as long', graced(300, hardOne), 'pass'],
    ['longer', graced(301, hardOne), 'fail'],
    ['without a hard one it may fill the disk', graced(1800), 'pass'],
    ['longer than that', graced(1801), 'fail'],
    ['the hard one of images on the same disk', graced(301, hard('imagefs.available', 10)), 'fail'],
    [
      'on another disk',
      { ...graced(301, hard('imagefs.available', 10)), filesystems: { layout: 'imagefs' } },
      'pass',
    ],
    [
      'on a disk of which it is not known',
      { ...graced(301, hard('imagefs.available', 10)), filesystems: { layout: null } },
      'unknown',
    ],
    ['a hard one that is off', graced(1800, hard('nodefs.available', 0)), 'pass'],
    ['below the hard one: never reached', graced(9999, hard('nodefs.available', 12)), 'pass'],
    ['the hard one not known', graced(301, { ...hardOne, resolved: null }), 'unknown'],
    [
      'memory',
      { thresholds: [soft('memory.available', 2, 9_999_000), hard('memory.available', 1)] },
      'pass',
    ],
    ['hard only', { thresholds: [hardOne] }, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(graceLongerThanFillTime, node)).toBe(expected)
  })

  it('takes no byte that float32 makes of a percentage for a second', () => {
    const between =
      Math.trunc(100 * gibibyte * Math.fround(Math.fround(15) / 100)) -
      Math.trunc(100 * gibibyte * Math.fround(Math.fround(10) / 100))
    expect(between).not.toBe(5 * gibibyte)
    const written = (threshold: EvaluatedThreshold, percentage: number) => ({
      ...threshold,
      value: `${percentage}%`,
      resolved: Math.trunc(100 * gibibyte * Math.fround(Math.fround(percentage) / 100)),
    })
    const node = (ms: number) => ({
      thresholds: [written(soft('nodefs.available', 15, ms), 15), written(hardOne, 10)],
    })
    expect(state(graceLongerThanFillTime, node(750_000))).toBe('pass')
    expect(state(graceLongerThanFillTime, node(750_100))).toBe('fail')
  })

  it('proposes at most half of the time, beside what is there', () => {
    const configuration = {
      evictionSoftGracePeriod: { 'memory.available': '1m', 'nodefs.available': '10m' },
      evictionMaxPodGracePeriod: 45,
    }
    const failing = failingOf(graceLongerThanFillTime, { ...graced(600, hardOne), configuration })
    expect(failing.fix?.config).toEqual({
      evictionSoftGracePeriod: { 'memory.available': '1m', 'nodefs.available': '120s' },
    })
    expect(failing.consequence).toMatchSnapshot()
    const narrow = { thresholds: [soft('nodefs.available', 10.1, 60_000), hardOne] }
    expect(failingOf(graceLongerThanFillTime, narrow).fix).toBeUndefined()
  })

  it('never fires where nothing is taken to grow', () => {
    expect(
      state(graceLongerThanFillTime, graced(99_999, hardOne), {
        ...defaultPolicy,
        assumedGrowthPercent: 0,
      }),
    ).toBe('pass')
  })
})
