/** Whether a step did on its node what the plan promised, by a new reading of the node. Unknown never counts as done. */

import { type RawObject, valueAt } from '#base/raw-object.ts'
import { firstReasons } from '#base/text.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeInput, ReadError } from '#model/input/record.ts'
import {
  type ExpectedSetting,
  type NodeState,
  type PlanStep,
  restartsKubelet,
  type Verification,
} from '#model/plan.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { hashOnDisk, hashText, kubeletStartedAt } from './found-on-node.ts'
import { isKubeletRead, otherDoubts, unmetSettings } from './other-settings.ts'
import {
  type Doubt,
  notYetDoubt,
  pressureDoubts,
  readyDoubts,
  unreadyPodDoubts,
  wrongDoubt,
} from './verify-health.ts'

const shownDoubts = 4

/**
 * A step that writes no kubelet setting (`sync-file`, `pull-image`) restarts nothing: only its file or its image is checked.
 * @param fresh read after the change; with the configuration on disk if configz is unread
 * @param replayed what the node's kubelet does now, by the replay
 * @param readyPodsBefore `namespace/name`; null: unknown, so pods that turned NotReady since the change are taken instead
 * @param at RFC 3339: when the node was read
 * @param appliedAt RFC 3339: earliest time at which the change was seen to be done
 */
export function verifyStep(
  step: PlanStep,
  fresh: NodeInput,
  replayed: NodeState,
  readyPodsBefore: readonly string[] | null,
  at: string,
  appliedAt: string,
): Verification {
  const moment = { at: Date.parse(at), appliedAt: Date.parse(appliedAt) }
  const changedAt = changedAtMs(step, fresh, moment.appliedAt)
  const doubts = [
    ...instanceDoubts(step, fresh),
    ...(!restartsKubelet(step.method)
      ? placeDoubts(step, fresh)
      : [
          ...settingDoubts(step, fresh, moment.appliedAt),
          ...otherDoubts(step, fresh),
          ...readyDoubts(fresh, moment),
          ...pressureDoubts(step, fresh, changedAt),
          ...unreadyPodDoubts(fresh, readyPodsBefore, changedAt),
          ...(hasOtherSettings(step, fresh) ? [] : promiseDoubts(step, replayed)),
        ]),
  ]
  const worst = doubts.filter(({ state }) => state === 'wrong')
  const said = worst.length > 0 ? worst : doubts
  const [first] = said
  if (!first) return { state: 'verified' }
  const reasons = said.map(({ why }) => why)
  return { state: first.state, why: firstReasons(reasons, shownDoubts) }
}

function* instanceDoubts({ instanceId }: PlanStep, { node }: NodeInput): Iterable<Doubt> {
  const found = instanceIdOf(nodeIdentity(node))
  if (found !== instanceId)
    yield {
      state: 'wrong',
      why: `the node is ${found === null ? 'no instance' : `another instance, ${found},`} now; planned was ${instanceId}`,
    }
}

function* placeDoubts(step: PlanStep, fresh: NodeInput): Iterable<Doubt> {
  const found = hashOnDisk(step, fresh)
  if (found === step.newSha256) return
  if (found === null)
    yield notYetDoubt(
      `${step.path} was not read${readErrorText(fresh, step.method === 'pull-image' ? 'runtime' : 'host', 'host')}`,
    )
  else if (found === step.oldSha256) yield notYetDoubt(`${step.path} is as it was`)
  else
    yield wrongDoubt(`${step.path} is neither as it was nor as planned: ${hashText(step, found)}`)
}

/** The running configuration, or the configuration on disk if configz is unread. */
function* settingDoubts(step: PlanStep, fresh: NodeInput, appliedAtMs: number): Iterable<Doubt> {
  const running = fresh.configuration?.printed ?? null
  if (!running)
    return yield notYetDoubt(
      `what its kubelet runs with was not read${readErrorText(fresh, 'configz', 'host')}`,
    )
  const unmet = unmetSettings(step.expect, fresh, running)
  const found = hashOnDisk(step, fresh)
  const isForeign = found !== null && found !== step.newSha256 && found !== step.oldSha256
  const isRunning = isKubeletRead(fresh)
  const hasRestarted = hasStartedSince(step, fresh, appliedAtMs)
  if (unmet.length > 0) {
    const instead = unmet.map(setting => differenceText(setting, running)).join(', ')
    if (isForeign)
      yield wrongDoubt(
        `${step.path} is neither as it was nor as planned (${hashText(step, found)}): ${instead}`,
      )
    else if (found === step.newSha256 && (!isRunning || hasRestarted === true))
      yield wrongDoubt(`${step.path} is as planned, and something takes its place: ${instead}`)
    else if (found === step.newSha256)
      yield notYetDoubt(
        `${step.path} is as planned, but its kubelet has not started anew: ${instead}`,
      )
    else yield notYetDoubt(`it still runs without the change: ${instead}`)
    return
  }
  if (found !== null && found !== step.newSha256)
    yield {
      state: isForeign ? 'wrong' : 'not-yet',
      why: `it runs with the change, but ${step.path} does not say so (${hashText(step, found)}): its next start may lose it`,
    }
  if (isRunning || hasRestarted === true) return
  yield {
    state: 'not-yet',
    why:
      hasRestarted === false
        ? 'its files say so, but its kubelet has not started anew'
        : 'its files say so, but whether its kubelet has started anew is not known',
  }
}

/** Whether the kubelet runs with other settings, for which the plan predicts nothing. */
function hasOtherSettings(step: PlanStep, fresh: NodeInput) {
  const running = fresh.configuration?.printed ?? null
  return running !== null && unmetSettings(step.expect, fresh, running).length > 0
}

/** A process's start time is relative to the boot time, which moves when the clock is corrected. */
const clockStepMs = 5000

/** By the node's clock alone, if the plan has the kubelet's start time; null: unknown. */
function hasStartedSince(step: PlanStep, fresh: NodeInput, appliedAtMs: number) {
  const started = kubeletStartedAt(fresh)
  if (started === null) return null
  if (step.kubeletStartedAt !== null)
    return Date.parse(started) - Date.parse(step.kubeletStartedAt) > clockStepMs
  return Date.parse(started) >= appliedAtMs ? true : null
}

/** The restart comes before the answer to the command, so its effects might come before it, too. */
function changedAtMs(step: PlanStep, fresh: NodeInput, appliedAtMs: number) {
  const started = kubeletStartedAt(fresh)
  return started !== null && hasStartedSince(step, fresh, appliedAtMs) === true
    ? Math.min(Date.parse(started), appliedAtMs)
    : appliedAtMs
}

const differenceText = ({ field, value }: ExpectedSetting, running: RawObject) =>
  `${field} is ${valueText(valueAt(running, field))}, planned was ${valueText(value)}`

const valueText = (value: unknown) =>
  value === null || value === undefined
    ? 'not set'
    : (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100)

/** The first error of the record with one of these sources. */
function readErrorText({ errors }: NodeInput, ...sources: ReadError['what'][]) {
  const error = (errors ?? []).find(({ what }) => sources.includes(what))
  return error ? `: ${error.message.slice(0, 300)}` : ''
}

/** Compares the node's replay with the plan's promise. Better than promised is accepted. */
function* promiseDoubts({ before, after }: PlanStep, replayed: NodeState): Iterable<Doubt> {
  const unknown = (Object.keys(after) as (keyof NodeState)[]).filter(
    key => after[key] !== null && replayed[key] === null,
  )
  if (unknown.length > 0)
    yield notYetDoubt(
      `what it does now cannot be replayed (${unknown.map(name => words[name]).join(', ')})`,
    )
  if (after.evictsBeforeImageGc === false && replayed.evictsBeforeImageGc === true)
    yield wrongDoubt('eviction still comes before image GC, and the plan promised the contrary')
  const promised = new Set([...(before.evictsNow ?? []), ...(after.evictsNow ?? [])])
  const evicting = after.evictsNow
    ? (replayed.evictsNow ?? []).filter(signal => !promised.has(signal))
    : []
  if (evicting.length > 0)
    yield wrongDoubt(`eviction is due now (${evicting.join(', ')}), which the plan did not promise`)
  if (after.imageGcDue === false && replayed.imageGcDue === true)
    yield notYetDoubt('image GC is due now, which the plan did not promise')
}

const words: Readonly<Record<keyof NodeState, string>> = {
  evictsBeforeImageGc: 'whether eviction comes before image GC',
  imageGcDue: 'whether image GC is due',
  freedBytesAtMost: 'what image GC would free',
  evictsNow: 'whether eviction is due',
}

/* Whether a rolled-back node is what it was before its step, by a new reading of the node. */

/** @param fresh read after the step was rolled back; with the configuration on disk if configz is unread */
export function verifyBack(step: PlanStep, fresh: NodeInput): Verification {
  const found = instanceIdOf(nodeIdentity(fresh.node))
  if (found !== step.instanceId)
    return wrongDoubt(`the node is another instance now: ${found ?? 'none that is known'}`)
  const reasons = [
    ...fileReasons(step, fresh),
    ...(restartsKubelet(step.method) ? settingReasons(step, fresh) : []),
  ]
  return reasons.length === 0
    ? { state: 'verified' }
    : { state: 'not-yet', why: reasons.join('; ') }
}

function* fileReasons(step: PlanStep, fresh: NodeInput): Iterable<string> {
  const hash = hashOnDisk(step, fresh)
  if (hash !== null && hash !== step.oldSha256)
    yield `${step.path} is not as it was: ${hashText(step, hash)}`
  if (hash === null && !restartsKubelet(step.method)) yield `${step.path} was not read`
}

function* settingReasons(step: PlanStep, fresh: NodeInput): Iterable<string> {
  const { expectBack } = step
  const running = fresh.configuration?.printed ?? null
  if (!running) return yield 'what its kubelet runs with was not read'
  for (const { field } of unmetSettings(expectBack, fresh, running).slice(0, 4))
    yield `${field} is not what it was: ${JSON.stringify(valueAt(running, field) ?? null).slice(0, 100)}`
  for (const { why } of otherDoubts(step, fresh)) yield why
  if (nodeIdentity(fresh.node).ready !== 'True') yield 'the node is not Ready'
}
