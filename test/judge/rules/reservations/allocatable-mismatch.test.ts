import { allocatableMismatch } from '#judge/rules/reservations/allocatable-mismatch.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const predicted = { cpu: '3920m', memory: '15Gi', matchesNode: false }

itJudgesExamples(allocatableMismatch, {
  bad: { allocatable: predicted, node: { status: { allocatable: { cpu: '4', memory: '15Gi' } } } },
  good: {
    allocatable: { ...predicted, matchesNode: true },
    node: { status: { allocatable: { cpu: '3920m', memory: '15Gi' } } },
  },
})
