import { missingEnforcedCgroup } from '#judge/rules/reservations/missing-enforced-cgroup.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(missingEnforcedCgroup, {
  bad: {
    configuration: {
      enforceNodeAllocatable: ['pods', 'system-reserved'],
      systemReserved: { memory: '512Mi' },
    },
  },
  good: {
    configuration: {
      enforceNodeAllocatable: ['pods', 'system-reserved'],
      systemReservedCgroup: '/system',
    },
  },
})
