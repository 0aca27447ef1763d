/** Whether a rolled-back node is what it was before its step, by a new reading of the node. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import { type PlanStep, restartsKubelet } from '#model/plan/plan.ts'
import type { Verification } from '#model/plan/remediation.ts'
import { valueAt } from '#remediate/merge.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { hashOnDisk, hashText } from './found-on-node.ts'
import { otherDoubts, unmetIn } from './other-settings.ts'
import { wrong } from './verify-health.ts'

/** @param fresh read after the step was rolled back; with the configuration on disk if configz is unread */
export function verifyBack(step: PlanStep, fresh: NodeInput): Verification {
  const found = instanceIdOf(nodeIdentity(fresh.node))
  if (found !== step.instanceId)
    return wrong(`the node is another instance now: ${found ?? 'none that is known'}`)
  const whys = [
    ...fileDoubts(step, fresh),
    ...(restartsKubelet(step.method) ? settingDoubts(step, fresh) : []),
  ]
  return whys.length === 0 ? { state: 'verified' } : { state: 'not-yet', why: whys.join('; ') }
}

function* fileDoubts(step: PlanStep, fresh: NodeInput): Iterable<string> {
  const hash = hashOnDisk(step, fresh)
  if (hash !== null && hash !== step.oldSha256)
    yield `${step.path} is not as it was: ${hashText(step, hash)}`
  if (hash === null && !restartsKubelet(step.method)) yield `${step.path} was not read`
}

function* settingDoubts(step: PlanStep, fresh: NodeInput): Iterable<string> {
  const { expectBack } = step
  const running = fresh.configuration?.printed ?? null
  if (running === null) return yield 'what its kubelet runs with was not read'
  for (const { field } of unmetIn(expectBack, fresh, running).slice(0, 4))
    yield `${field} is not what it was: ${JSON.stringify(valueAt(running, field) ?? null).slice(0, 100)}`
  for (const { why } of otherDoubts(step, fresh)) yield why
  if (nodeIdentity(fresh.node).ready !== 'True') yield 'the node is not Ready'
}
