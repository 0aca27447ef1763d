import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(missingSystemReserved, {
  bad: { configuration: { maxPods: 58 } },
  good: {
    configuration: { kubeReserved: { memory: '893Mi' }, systemReserved: { memory: '256Mi' } },
  },
})
