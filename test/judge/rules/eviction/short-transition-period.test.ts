import { shortTransitionPeriod } from '#judge/rules/eviction/short-transition-period.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(shortTransitionPeriod, {
  bad: { configuration: { evictionPressureTransitionPeriod: '30s' } },
  good: { configuration: { evictionPressureTransitionPeriod: '5m0s' } },
})
