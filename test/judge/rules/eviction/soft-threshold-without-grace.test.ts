import { softThresholdWithoutGrace } from '#judge/rules/eviction/soft-threshold-without-grace.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const bad = {
  evictionSoft: { 'nodefs.available': '15Gi' },
  evictionSoftGracePeriod: { 'nodefs.available': '0s' },
}

itJudgesExamples(softThresholdWithoutGrace, {
  bad: { configuration: bad, thresholds: [hard('nodefs.available', 15)] },
  good: { configuration: { ...bad, evictionSoftGracePeriod: { 'nodefs.available': '90s' } } },
})
