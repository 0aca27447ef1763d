/** A node of the lab, made of its profile. */
import { machineOf } from '#lab/machines/machine-of.ts'
import type { KubeletStart } from '#lab/machines/start.ts'
import type { LabNode } from '#lab/scenarios/scenario.ts'
import { configzOf } from './configz.ts'
import { nodeObject } from './node-object.ts'
import { podObject } from './pod-object.ts'
import type { NodeProfile } from './profile.ts'
import { restartTimes } from './restart-times.ts'
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
    ...(profile.changeFault && { changeFault: profile.changeFault }),
    asStarted: (start, nowMs) => profiledNode(restarted(profile, start, nowMs)),
    ...(profile.agent && { agent: profile.agent, machine: at => machineOf(profile, at) }),
  }
}

/** One that exits cannot be reached; in time the cluster notices that it tells nothing any more. */
function restarted(
  { fault: _, silent: __, ...profile }: NodeProfile,
  start: KubeletStart,
  nowMs: number,
): NodeProfile {
  const started = { start, nowMs }
  if (start.downSinceMs === null) return { ...profile, started }
  return {
    ...profile,
    started,
    fault: { kind: 'down' },
    silent: nowMs - start.downSinceMs >= restartTimes.unheardMs,
  }
}
