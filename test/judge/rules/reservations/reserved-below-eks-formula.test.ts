import { reservedBelowEksFormula } from '#judge/rules/reservations/reserved-below-eks-formula.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = { status: { capacity: { cpu: '4' } } }

itJudgesExamples(reservedBelowEksFormula, {
  bad: { configuration: { maxPods: 110, kubeReserved: { cpu: '80m', memory: '893Mi' } }, node },
  good: { configuration: { maxPods: 58, kubeReserved: { cpu: '80m', memory: '893Mi' } }, node },
})
