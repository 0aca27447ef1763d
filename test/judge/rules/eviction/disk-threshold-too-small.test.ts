import { expect, it } from 'vitest'
import { gibibyte, mebibyte } from '#base/units.ts'
import { diskThresholdTooSmall } from '#judge/rules/eviction/disk-threshold-too-small.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'

const written = (signal: Parameters<typeof hard>[0], value: string, resolved: number | null) => ({
  ...hard(signal, 1),
  value,
  resolved,
})

itJudgesExamples(diskThresholdTooSmall, {
  bad: { thresholds: [written('nodefs.available', '10', 10)] },
  good: { thresholds: [written('nodefs.available', '10%', 10 * 1024 * mebibyte)] },
})

it.each([
  [
    'one byte below the bound',
    [written('imagefs.available', '16777215', 16 * mebibyte - 1)],
    'fail',
  ],
  ['at the bound', [written('imagefs.available', '16Mi', 16 * mebibyte)], 'pass'],
  ['few inodes', [written('nodefs.inodesFree', '5', 5)], 'fail'],
  ['a hundred inodes', [written('nodefs.inodesFree', '100', 100)], 'pass'],
  ['a small share of a small disk', [written('nodefs.available', '0.1%', 10 * mebibyte)], 'pass'],
  ['off, which is another rule’s', [written('nodefs.available', '0', 0)], 'pass'],
  ['memory, which is another rule’s', [written('memory.available', '10', 10)], 'pass'],
  [
    'a larger one beside it',
    [written('nodefs.available', '10', 10), written('nodefs.available', '10Gi', 10_240 * mebibyte)],
    'pass',
  ],
] as const)('%s: %s', (_, thresholds, expected) => {
  expect(state(diskThresholdTooSmall, { thresholds: [...thresholds] })).toBe(expected)
})

const judged = (capacityBytes: number, value: string, resolved: number) =>
  outcomeFor(diskThresholdTooSmall, {
    thresholds: [written('nodefs.available', value, resolved)],
    eviction: { signals: { 'nodefs.available': { availableBytes: 90 * gibibyte, capacityBytes } } },
  } as NodeExample)

it.each([
  ['1Gi of 468 GiB, which the disk takes in 10 s', judged(468 * gibibyte, '1Gi', gibibyte), 'fail'],
  ['1Gi of 100 GiB, more than 1 %', judged(100 * gibibyte, '1Gi', gibibyte), 'pass'],
  ['2Gi of 468 GiB, more than the disk takes', judged(468 * gibibyte, '2Gi', 2 * gibibyte), 'pass'],
  ['as much as a percentage', judged(468 * gibibyte, '0.2%', gibibyte), 'pass'],
])('%s: %s', (_, outcome, expected) => {
  expect(outcome.state).toBe(expected)
  if (outcome.state !== 'fail') return
  expect(outcome.failing.severity).toBe('medium')
  expect(outcome.failing.fix?.config.evictionHard).toMatchObject({ 'nodefs.available': '5%' })
})

it('says once what holds for two disks', () => {
  const thresholds = (['nodefs.available', 'imagefs.available'] as const).map(signal =>
    written(signal, '10', 10),
  )
  expect(failingOf(diskThresholdTooSmall, { thresholds })).toMatchObject({
    consequence: expect.stringMatching(/^nodefs\.available and imagefs\.available act only/),
    fix: { config: { evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '10%' } } },
  })
})
