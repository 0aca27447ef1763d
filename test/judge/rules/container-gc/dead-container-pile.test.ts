import { deadContainerPile } from '#judge/rules/container-gc/dead-container-pile.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const containers = (running: number, exited: number) => ({
  runtime: {
    containers: [
      ...Array.from({ length: running }, () => ({ state: 'CONTAINER_RUNNING' })),
      ...Array.from({ length: exited }, () => ({ state: 'CONTAINER_EXITED' })),
    ],
  },
})

itJudgesExamples(deadContainerPile, { bad: containers(10, 50), good: containers(10, 9) })
