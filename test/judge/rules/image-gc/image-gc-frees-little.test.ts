import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { imageGcFreesLittle } from '#judge/rules/image-gc/image-gc-frees-little.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

const minutes = imageGcPeriodMs / 60_000

const failedRound = (minute: number, wantedGib: number) => ({
  reason: 'FreeDiskSpaceFailed',
  pod: null,
  message: `Failed to garbage collect required amount of images. Attempted to free ${wantedGib * gibibyte} bytes, but only found ${gibibyte} bytes eligible to free.`,
  count: 1,
  firstTime: null,
  lastTime: `2026-11-20T23:${minute}:00Z`,
})

const wanting = (...gib: number[]) => ({
  events: gib.map((wanted, index) => failedRound(30 + minutes * index, wanted)),
})

itJudgesExamples(imageGcFreesLittle, { bad: wanting(9, 9, 9, 9), good: wanting(9, 8, 7, 6) })

const round = (at: string, freed: number, wanted: number | null = 9) => ({
  ...{ at, wantedBytes: wanted && wanted * gibibyte, countedBytes: 4 * gibibyte },
  ...{ freedBytes: freed * gibibyte, predictedBytes: null },
})
const mornings = ['2026-11-18T02:00:00Z', '2026-11-19T02:00:00Z', '2026-11-20T02:00:00Z']

it.each([
  { name: 'a night each', rounds: mornings.map(at => round(at, 1)), is: 'fail' },
  { name: 'half of the counted bytes', rounds: mornings.map(at => round(at, 2)), is: 'pass' },
  { name: 'two nights', rounds: mornings.slice(1).map(at => round(at, 1)), is: 'pass' },
  {
    name: 'rounds of weeks ago',
    rounds: mornings.map(at => round(at.replace('-11-', '-10-'), 1)),
    is: 'pass',
  },
  { name: 'image lists a day apart', rounds: mornings.map(at => round(at, 1, null)), is: 'pass' },
])('$name: $is', ({ rounds, is }) => {
  expect(outcomeIn(imageGcFreesLittle, { rounds }).state).toBe(is)
})

it('fails for the rounds that a kubelet logs every 5 minutes', () => {
  const logged = (minute: number, text: string) =>
    `2026-11-20T23:${minute}:00+0000 n kubelet[9]: I1120 23:${minute}:00.000000       9 image_gc_manager.go:1] ${text}`
  const logLines = [30, 35, 40, 45].flatMap(minute => [
    logged(
      minute,
      `"Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=91 highThreshold=85 amountToFree=${9 * gibibyte - minute} lowThreshold=80`,
    ),
    logged(
      minute,
      `"Removing image to free bytes" imageID="sha256:${minute}" size=${gibibyte} runtimeHandler=""`,
    ),
  ])
  expect(outcomeIn(imageGcFreesLittle, { host: { logLines } }).state).toBe('fail')
})
