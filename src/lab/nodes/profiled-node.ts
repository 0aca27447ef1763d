/** A node of the lab, made of its profile. */
import { machineOf } from '#lab/machines/machine-of.ts'
import type { LabNode } from '#lab/scenarios/scenario.ts'
import { configzOf } from './configz.ts'
import { nodeObject } from './node-object.ts'
import { podObject } from './pod-object.ts'
import type { NodeProfile } from './profile.ts'
import { summaryOf } from './summary.ts'

export function profiledNode(profile: NodeProfile): LabNode {
  return {
    providerId: profile.providerId,
    node: at => nodeObject(profile, at),
    configz: () => configzOf(profile),
    summary: at => summaryOf(profile, at),
    podKeys: () => profile.pods.map(({ namespace, name }) => ({ namespace, name })),
    pod: (index, at) => podObject(profile, profile.pods[index]!, at),
    ...(profile.fault && { fault: profile.fault }),
    ...(profile.agent && { agent: profile.agent, machine: at => machineOf(profile, at) }),
  }
}
