/** Reservations of an example, and what the daemons use. */

import { summaryOf } from '#test/at-the-door.ts'
import type { NodeExample } from '#test/example.ts'

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
