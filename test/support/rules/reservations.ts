/** What the tests of these rules share: reservations. */

import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { summaryOf } from '#test/at-the-door.ts'
import type { NodeExample } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const judge = (rule: NodeRule | ContextRule, example: NodeExample) => outcomeFor(rule, example)

export const state = (rule: NodeRule | ContextRule, example: NodeExample) =>
  judge(rule, example).state

export const failingOf = (rule: NodeRule | ContextRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

export const MiB = 1024 ** 2

/** Working sets of the daemons in bytes. */
export const daemons = (used: Record<string, unknown>) =>
  summaryOf({
    node: {
      systemContainers: Object.entries(used).map(([name, workingSetBytes]) => ({
        name,
        memory: { workingSetBytes },
      })),
    },
  })

export const both = (bytes: number) => daemons({ kubelet: bytes - 1, runtime: 1, pods: 2 ** 40 })

export const reserving = (kube: string | undefined, system?: string): NodeExample => ({
  configuration: {
    ...(kube !== undefined && { kubeReserved: { memory: kube } }),
    ...(system !== undefined && { systemReserved: { memory: system } }),
  },
})
