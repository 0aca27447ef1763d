import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { imageGcFreesLittle } from '#judge/rules/image-gc/image-gc-frees-little.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const minutes = imageGcPeriodMs / 60_000

const gibibyte = 1024 ** 3

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
