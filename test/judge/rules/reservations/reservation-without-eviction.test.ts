import { reservationWithoutEviction } from '#judge/rules/reservations/reservation-without-eviction.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const gibibyte = 1024 ** 3

const oneGib = {
  node: {
    systemContainers: ['kubelet', 'runtime'].map(name => ({
      name,
      memory: { workingSetBytes: gibibyte / 2 },
    })),
  },
}

const half = hard('memory.available', 0.5)

itJudgesExamples(reservationWithoutEviction, {
  bad: {
    configuration: { systemReserved: { memory: '1Gi' } },
    thresholds: [half],
    summary: oneGib,
  },
  good: {
    configuration: { systemReserved: { memory: '1536Mi' } },
    thresholds: [half],
    summary: oneGib,
  },
})
