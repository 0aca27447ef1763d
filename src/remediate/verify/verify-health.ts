/** Whether a changed node is well: it stays Ready, has no new pressure, and its pods are ready again. */
import { firstNames } from '#base/text.ts'
import { probePeriodMs } from '#facts/kubelet/periods.ts'
import type { KubernetesNode, KubernetesPod, NodeInput } from '#model/input/record.ts'
import type { PlanStep } from '#model/plan.ts'
import { isActive, isReady, podName, readyConditionOf } from '#remediate/pods.ts'
import { kubeletStartedAt } from './found-on-node.ts'

export interface Doubt {
  state: 'not-yet' | 'wrong'
  why: string
}

export const notYetDoubt = (why: string): Doubt => ({ state: 'not-yet', why })
export const wrongDoubt = (why: string): Doubt => ({ state: 'wrong', why })

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
export function settleMs({ pods }: Pick<NodeInput, 'pods'>): number {
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

export function* readyDoubts(fresh: NodeInput, { at, appliedAt }: Moment): Iterable<Doubt> {
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
export function* pressureDoubts(
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
export function* unreadyPodDoubts(
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
