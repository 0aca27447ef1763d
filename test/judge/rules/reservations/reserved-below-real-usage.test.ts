import { reservedBelowRealUsage } from '#judge/rules/reservations/reserved-below-real-usage.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const mebibyte = 1024 ** 2

const using = (mib: number) => ({
  node: {
    systemContainers: ['kubelet', 'runtime'].map(name => ({
      name,
      memory: { workingSetBytes: (mib / 2) * mebibyte },
    })),
  },
})

itJudgesExamples(reservedBelowRealUsage, {
  bad: {
    configuration: { kubeReserved: { memory: '400Mi' }, systemReserved: { memory: '100Mi' } },
    summary: using(600),
  },
  good: {
    configuration: { kubeReserved: { memory: '400Mi' }, systemReserved: { memory: '100Mi' } },
    summary: using(300),
  },
})
