import { unsafeEnforcedReservation } from '#judge/rules/reservations/unsafe-enforced-reservation.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unsafeEnforcedReservation, {
  bad: {
    configuration: {
      enforceNodeAllocatable: ['pods', 'system-reserved'],
      systemReserved: { memory: '512Mi' },
      systemReservedCgroup: '/system.slice',
    },
  },
  good: {
    configuration: {
      enforceNodeAllocatable: ['pods'],
      systemReserved: { memory: '512Mi' },
      systemReservedCgroup: '/system.slice',
    },
  },
})
