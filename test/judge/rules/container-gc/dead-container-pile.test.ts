import { describe, expect, it } from 'vitest'
import { deadContainerPile } from '#judge/rules/container-gc/dead-container-pile.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

const containers = (running: number, exited: number) => ({
  runtime: {
    containers: [
      ...Array.from({ length: running }, () => ({ state: 'CONTAINER_RUNNING' })),
      ...Array.from({ length: exited }, () => ({ state: 'CONTAINER_EXITED' })),
    ],
  },
})

itJudgesExamples(deadContainerPile, { bad: containers(10, 50), good: containers(10, 9) })

describe('dead-container-pile', () => {
  const containers = (running: number, dead: number, other = 0) => ({
    runtime: {
      containers: [
        ...Array.from({ length: running }, () => ({ state: 'CONTAINER_RUNNING' })),
        ...Array.from({ length: dead }, () => ({ state: 'CONTAINER_EXITED' })),
        ...Array.from({ length: other }, () => ({ state: 'CONTAINER_CREATED' })),
      ],
    },
  })

  it.each([
    [containers(49, 50), 'fail'],
    [containers(50, 50), 'pass'],
    [containers(0, 49, 10), 'pass'],
    [{ runtime: {} }, 'unknown'],
    [{}, 'unknown'],
  ] as const)('%#: %s', (example, expected) => {
    expect(state(deadContainerPile, example)).toBe(expected)
  })
})
