/** Whether a step did on its node what the plan promised, by a new reading of the node. Unknown never counts as done. */

import { leavesOf, mapOf, mergePatch, type RawObject, valueAt } from '#base/raw-object.ts'
import { byText, firstNames, firstReasons } from '#base/text.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { isComparedField, meaningOf } from '#facts/kubelet/fields.ts'
import { probePeriodMs } from '#facts/kubelet/periods.ts'
import type { Host } from '#model/input/inspection.ts'
import type { KubernetesNode, KubernetesPod, NodeInput, ReadError } from '#model/input/record.ts'
import {
  type ExpectedSetting,
  isMoment,
  methodFacts,
  type NodeState,
  type PlanStep,
  restartsKubelet,
  type Verification,
} from '#model/plan.ts'
import { canonicalJson, sha256 } from '#remediate/plan/canonical.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { isActive, isReady, podName, readyConditionOf } from '#remediate/pods.ts'
import { imageHashOn, imageText } from '#remediate/remedies/pull-image.ts'

const hashForm = /^[a-f0-9]{64}$/

/** SHA-256 at the step's path, of the file or of the image's state: hex or `absent`. Null: unread, or no file (Bottlerocket). */
export function hashOnDisk(
  { method, path }: PlanStep,
  { host, runtime }: NodeInput,
): string | null {
  const { changes, isFile } = methodFacts[method]
  if (changes === 'image') return imageHashOn(runtime, path)
  if (!isFile) return null
  const files = (changes === 'logrotate' ? host?.logrotate : host?.kubelet?.files) ?? []
  const file = files.find(one => one.path === path)
  if (file) return file.sha256 !== undefined && hashForm.test(file.sha256) ? file.sha256 : null
  return files.length > 0 ? 'absent' : null
}

/** The hash for people. @param hash as `hashOnDisk` returns it */
function hashText({ method, path }: PlanStep, hash: string) {
  if (methodFacts[method].changes === 'image') return imageText(path, hash)
  return hash === 'absent' ? 'it is not there' : `its SHA-256 is ${hash}`
}

/** When the node's kubelet started, RFC 3339, by the node's own clock; null: unknown. */
export function kubeletStartedAt({ host, known, summary }: NodeInput): string | null {
  const process = summary?.node?.systemContainers?.find(({ name }) => name === 'kubelet')
  const times = [host?.kubelet?.startedAt, known?.kubeletStartedAt, process?.startTime]
  return times.find(time => time !== undefined && isMoment(time)) ?? null
}

/* Whether a changed node is well: it stays Ready, has no new pressure, and its pods are ready again. */

export interface Doubt {
  state: 'not-yet' | 'wrong'
  why: string
}

export const notYetDoubt = (why: string): Doubt => ({ state: 'not-yet', why })
const wrongDoubt = (why: string): Doubt => ({ state: 'wrong', why })

/** Milliseconds since the epoch. */
export interface Moment {
  at: number
  appliedAt: number
}

const conditionOf = ({ status }: KubernetesNode, wanted: string) =>
  (status?.conditions ?? []).find(({ type }) => type === wanted)
const timeOf = (time: string | null | undefined) => {
  const parsed = Date.parse(time ?? '')
  return Number.isNaN(parsed) ? null : parsed
}

/** Maximum settle time: pods with longer probe periods are checked one by one. */
const longestSettleMs = 5 * 60_000

/** How long a node has to stay Ready: until each readiness probe of its pods has run once, and at least a probe's default period. */
export function settleMs({ pods }: Pick<NodeInput, 'pods'>) {
  const probes = (pods ?? [])
    .filter(isActive)
    .flatMap(({ spec }) => (spec?.containers ?? []).flatMap(one => one.readinessProbe ?? []))
  const longest = Math.max(
    probePeriodMs,
    ...probes.map(
      probe => seconds(probe.initialDelaySeconds, 0) + seconds(probe.periodSeconds, probePeriodMs),
    ),
  )
  return Math.min(longest, longestSettleMs)
}

const seconds = (value: unknown, presetMs: number) =>
  typeof value === 'number' && value > 0 ? value * 1000 : presetMs

/** Minimum by which the node's clock is ahead: a node cannot have posted its status after the reading. */
const aheadMs = (node: KubernetesNode, at: number) =>
  Math.max(0, (timeOf(conditionOf(node, 'Ready')?.lastHeartbeatTime) ?? at) - at)

function* readyDoubts(fresh: NodeInput, { at, appliedAt }: Moment): Iterable<Doubt> {
  const ready = conditionOf(fresh.node, 'Ready')
  if (ready?.status !== 'True') {
    const reason = ready?.reason ? ` (${ready.reason.slice(0, 100)})` : ''
    return yield notYetDoubt(`the node is not Ready${reason}`)
  }
  const ahead = aheadMs(fresh.node, at)
  const since = [
    { what: 'the change', time: appliedAt },
    {
      what: 'the node turned Ready',
      time: (timeOf(ready.lastTransitionTime) ?? appliedAt) - ahead,
    },
    { what: 'its kubelet started', time: (timeOf(kubeletStartedAt(fresh)) ?? appliedAt) - ahead },
  ].reduce((last, one) => (one.time > last.time ? one : last))
  const wanted = settleMs(fresh)
  const stableMs = at - since.time
  if (stableMs < wanted)
    yield notYetDoubt(
      `it was read ${Math.round(stableMs / 1000)} s after ${since.what}, and has to stay Ready for ${Math.round(wanted / 1000)} s`,
    )
}

/** Source: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
function pressureOf(signal: string): string {
  if (signal.includes('memory')) return 'MemoryPressure'
  return signal.startsWith('pid') ? 'PIDPressure' : 'DiskPressure'
}

/** A kubelet forgets its pressure when it restarts, and reports it anew. Pressure that was due before the change is not new. */
function* pressureDoubts(
  { before }: PlanStep,
  { node }: NodeInput,
  changedAt: number,
): Iterable<Doubt> {
  const known = new Set((before.evictsNow ?? []).map(pressureOf))
  for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure']) {
    const condition = conditionOf(node, type)
    if (condition?.status !== 'True' || known.has(type)) continue
    const since = timeOf(condition.lastTransitionTime)
    if (since === null || since >= changedAt)
      yield wrongDoubt(`the node is under ${type} since the change`)
  }
}

const shownPods = 5

/** Ignores pods that were deleted or created since the change. */
function* unreadyPodDoubts(
  { pods }: NodeInput,
  before: readonly string[] | null,
  changedAt: number,
): Iterable<Doubt> {
  if (!Array.isArray(pods)) return yield notYetDoubt('its pods were not read')
  const wereReady = before ? new Set(before) : null
  const lost = pods
    .filter(pod => isActive(pod) && !isReady(pod) && isOld(pod, changedAt))
    .filter(pod => wereReady?.has(podName(pod)) ?? hasChangedSince(pod, changedAt))
    .map(podName)
    .sort()
  if (lost.length > 0) yield notYetDoubt(`pods are not ready again: ${firstNames(lost, shownPods)}`)
}

function isOld({ metadata }: KubernetesPod, changedAt: number) {
  const made = timeOf(metadata?.creationTimestamp)
  return metadata?.deletionTimestamp === undefined && (made === null || made < changedAt)
}

/** The Ready condition changed since the change, so the pod was ready before. */
function hasChangedSince(pod: KubernetesPod, changedAt: number) {
  const since = timeOf(readyConditionOf(pod)?.lastTransitionTime)
  return since !== null && since >= changedAt
}

/* Kubelet fields that a step does not change, running or on disk. A plan contains only their digests, not their values. */

/** Settings that the step does not change. */
export type OtherSettings = Pick<PlanStep, 'others' | 'othersOn'>

/** Hex characters: no one can construct another value with the same 64 bits that a kubelet accepts. */
const digestLength = 16

/** Whether the kubelet itself was read. If not, the record has the merged files, drop-ins and flags. */
const isKubeletRead = ({ mode, errors }: NodeInput) =>
  mode !== 'ssm' && !errors.some(({ what }) => what === 'configz')

/**
 * By field, without what the step changes; of a map, only the keys that the step leaves alone.
 * @param record with the configuration on disk if configz is unread
 * @returns empty: neither configz nor the disk was read
 */
export function otherSettings(
  record: NodeInput,
  expect: readonly ExpectedSetting[],
): OtherSettings {
  const printed = record.configuration?.printed ?? null
  if (!printed) return {}
  const isOnDisk = !isKubeletRead(record)
  const settings = isOnDisk ? { ...fieldsOnDisk(record.host), ...printed } : printed
  const { kubeletVersion } = nodeIdentity(record.node)
  const changed = new Set(expect.map(({ field }) => field))
  const digests = Object.entries(settings).flatMap(([field, value]) => {
    const meant = leavesOf({ [field]: value })
      .filter(([path]) => !changed.has(path) && !changed.has(field))
      .map(([path, leaf]) => [
        path,
        isComparedField(path) ? meaningOf(path, leaf, kubeletVersion) : canonicalJson(leaf),
      ])
      .filter(([, meaning]) => meaning !== '')
    return meant.length === 0 ? [] : [[field, sha256(canonicalJson(meant)).slice(0, digestLength)]]
  })
  return { others: Object.fromEntries(digests), ...(isOnDisk && { othersOn: 'disk' }) }
}

/** Merges fields of file and drop-ins in the kubelet's order, then flags, including fields that the replay of a start leaves out. */
function fieldsOnDisk(host: Host | null): RawObject {
  const { files = [], commandLine = [] } = host?.kubelet ?? {}
  const contentsOf = (role: string) =>
    files
      .filter(file => file.role === role)
      .toSorted((a, b) => byText(a.path ?? '', b.path ?? ''))
      .map(({ content }) => mapOf(content))
  const {
    kind: _kind,
    apiVersion: _version,
    ...fields
  } = [...contentsOf('config'), ...contentsOf('drop-in')].reduce(mergePatch, {})
  return { ...fields, ...flagsOf(commandLine) }
}

/** Each flag with its values, including values that are separate words. */
function flagsOf(commandLine: readonly string[]) {
  const flags: Record<string, string> = {}
  let name = ''
  for (const word of commandLine) {
    if (word.startsWith('--')) name = word.split('=', 1)[0] ?? word
    if (name !== '') flags[name] = `${flags[name] ?? ''} ${word}`
  }
  return flags
}

/** Settings that do not run as expected. @param running configuration of the same node */
function unmetSettings(
  expected: readonly ExpectedSetting[],
  { node }: NodeInput,
  running: RawObject,
) {
  const { kubeletVersion } = nodeIdentity(node)
  const meaning = (field: string, value: unknown) => meaningOf(field, value, kubeletVersion)
  return expected.filter(
    ({ field, value }) => meaning(field, value) !== meaning(field, valueAt(running, field)),
  )
}

const shownFields = 6

/**
 * Doubts if fields that the step leaves alone are not as they were, or cannot be compared. Files lack the kubelet's
 * defaults, so the running configuration is compared only with the running configuration.
 */
export function* otherDoubts(
  { others = {}, othersOn, expect }: OtherSettings & Pick<PlanStep, 'expect'>,
  fresh: NodeInput,
): Iterable<Doubt> {
  const { others: found, othersOn: foundOn } = otherSettings(fresh, expect)
  if (!found) return
  if (othersOn !== foundOn) {
    const [planned, read] = [othersOn, foundOn].map(on => (on === 'disk' ? 'files' : 'configz'))
    const why = `the plan was made from its ${planned}, and this reading has only its ${read}: whether other settings changed is unknown. Read the node in the plan's mode`
    return yield notYetDoubt(why)
  }
  const changed = [...new Set([...Object.keys(others), ...Object.keys(found)])]
    .filter(field => others[field] !== found[field])
    .toSorted()
  if (changed.length === 0) return
  const names = changed.map(field => field.slice(0, 60))
  yield wrongDoubt(
    `its configuration differs in what the plan leaves alone: ${firstNames(names, shownFields)}`,
  )
}

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
    yield wrongDoubt(
      `the node is ${found === null ? 'no instance' : `another instance, ${found},`} now; planned was ${instanceId}`,
    )
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
    const instead = unmet
      .map(
        setting =>
          `${setting.field} is ${valueText(valueAt(running, setting.field))}, planned was ${valueText(setting.value)}`,
      )
      .join(', ')
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
  yield notYetDoubt(
    `its files say so, but ${hasRestarted === false ? 'its kubelet has not started anew' : 'whether its kubelet has started anew is not known'}`,
  )
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
