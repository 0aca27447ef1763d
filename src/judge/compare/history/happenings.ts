/** What happened on a node since its last reading, from pods, events, conditions and the kubelet's log. */

import { by } from '#base/text.ts'
import { hourMs } from '#base/units.ts'
import { evictionCause, evictionLine, imageGcLine } from '#facts/kubelet/event-messages.ts'
import { eventTtlMs } from '#facts/kubernetes/controllers.ts'
import { isWithinWindow } from '#judge/events/events.ts'
import { recordedEvictions } from '#judge/events/evictions.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'
import { type FillSeries, type Happening, mostHappenings, type NodeBefore } from '#model/history.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { TakenNode } from '#model/report.ts'

/** The interval of daily runs, plus a delay. */
const windowMs = 26 * hourMs
const joiningMs = 120_000
const messageLength = 220
/** Longest time between the lines of one eviction pass. */
const passMs = 120_000

const ofEvents: Readonly<Record<string, Happening['what']>> = {
  Evicted: 'evicted',
  FreeDiskSpaceFailed: 'image-gc-failed',
  ImageGCFailed: 'image-gc-failed',
  Rebooted: 'reboot',
}
const watchedConditions: ReadonlySet<string> = new Set([
  'DiskPressure',
  'MemoryPressure',
  'PIDPressure',
  'Ready',
])
export function happeningsOf(input: NodeInput, at: string): Happening[] {
  const recorded = recordedEvictions(input.pods ?? [], at, windowMs).map(
    ({ namespace, name, time, message }) =>
      happening(time ?? at, 'evicted', `${namespace}/${name}`, message),
  )
  return mergeHappenings(
    [],
    [...recorded, ...fromConditions(input, at), ...fromLog(input.host?.logLines ?? [], at)],
  )
}

/** The conditions of pressure that the node reports now. */
export const pressuresOf = ({ node }: NodeInput): NonNullable<TakenNode['pressures']> =>
  (node.status?.conditions ?? []).flatMap(({ type = '', status, lastTransitionTime }) =>
    status === 'True' && type.endsWith('Pressure')
      ? [{ condition: shorten(type, nameLength), since: lastTransitionTime ?? null }]
      : [],
  )

/** Events come first: their message says more of an eviction than a line of the log. */
export const withEvents = (
  { happened = [], identity, at }: TakenNode,
  events: readonly NodeEvent[] | null,
): Happening[] => mergeHappenings(fromEvents(events ?? [], identity.name, at), happened)

const fromEvents = (events: readonly NodeEvent[], node: string, at: string): Happening[] =>
  events.flatMap(({ reason, pod, message, lastTime }) => {
    const what = ofEvents[reason]
    if (what === undefined || !isWithinWindow(lastTime, at, windowMs)) return []
    const subject = pod ? `${pod.namespace}/${pod.name}` : node
    return [happening(lastTime ?? at, what, subject, message)]
  })

/** Conditions that changed while the node joined are no news. A node that was silent comes back with all conditions at one time: no pressure ended. */
function fromConditions({ node }: NodeInput, at: string): Happening[] {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  const joinedMs = Date.parse(node.metadata?.creationTimestamp ?? '') + joiningMs
  return (node.status?.conditions ?? []).flatMap(({ type = '', status, lastTransitionTime }) => {
    const isNews =
      watchedConditions.has(type) && isWithinWindow(lastTransitionTime ?? null, at, windowMs)
    if (!isNews || lastTransitionTime === undefined) return []
    if (Date.parse(lastTransitionTime) <= joinedMs) return []
    const isBack = type !== 'Ready' && lastTransitionTime === ready?.lastTransitionTime
    if (isBack && status === 'False') return []
    const now = status === 'True' || status === 'False' ? status : 'Unknown'
    // Of a node that is silent, the condition Ready says it.
    if (now === 'Unknown' && type !== 'Ready') return []
    return [
      { ...happening(lastTransitionTime, 'condition', type, `${type} is ${now}`), status: now },
    ]
  })
}

/** The kubelet evicts at most one pod in a pass, after the line with the scarce resource. */
function fromLog(lines: readonly string[], at: string): Happening[] {
  let scarce: { at: string; resource: string } | null = null
  return lines.flatMap(text => {
    const line = imageGcLine(text) ?? evictionLine(text)
    if (!line || !isWithinWindow(line.at, at, windowMs)) return []
    if ('image' in line)
      return [happening(line.at, 'image-deleted', line.image, `${line.bytes} bytes by the CRI`)]
    if ('resource' in line) scarce = line
    if (!('pod' in line)) return []
    const low = scarce && isWithinWindow(scarce.at, line.at, passMs) ? scarce.resource : null
    scarce = null
    return [happening(line.at, 'evicted', line.pod, logMessage(low))]
  })
}

/** In the words of the event of this eviction, so that its resource is read from both alike. */
const logMessage = (resource: string | null) =>
  resource === null
    ? 'evicted, by the log of the kubelet'
    : `The node was low on resource: ${resource}. (by the log of the kubelet)`

function happening(
  at: string,
  what: Happening['what'],
  subject: string,
  message: string,
): Happening {
  const { resource, isRefused } = evictionCause(what === 'evicted' ? message : '')
  return {
    at,
    what: isRefused ? 'refused' : what,
    subject: shorten(subject, nameLength),
    message: shorten(message, messageLength),
    // Evicted pods have a resource by which they were ranked. Refused pods have none.
    ...(resource !== null && !isRefused && { resource }),
  }
}

/** The reading, unless it is of another machine: since then a machine with another boot id has joined under the same name. */
export function readingOfMachine(
  { identity, joinedAt = '' }: TakenNode,
  last: NodeBefore | null,
): NodeBefore | null {
  if (!last || !(Date.parse(joinedAt) > Date.parse(last.at))) return last
  const { bootId } = identity
  return bootId !== null && last.fill?.bootId === shorten(bootId, 40) ? last : null
}

/** With a restart of the machine, if its boot id has changed since the last run. */
export function withRestart(
  { identity: { bootId, name }, at }: TakenNode,
  happened: Happening[],
  before: FillSeries | null,
): Happening[] {
  if (!before || bootId === null || shorten(bootId, 40) === before.bootId) return happened
  const message = `boot id ${before.bootId} until ${before.readings.at(-1)?.at ?? 'an earlier run'}`
  return mergeHappenings(happened, [happening(at, 'reboot', name, message)])
}

/** Each happening once. If there are too many, evictions are kept first, refused pods last. */
export function mergeHappenings(
  before: readonly Happening[],
  now: readonly Happening[],
): Happening[] {
  const weight = (one: Happening) => (isPodHappening(one) ? Number(one.what === 'refused') * 2 : 1)
  return joinAlike([...before, ...now])
    .toSorted((a, b) => weight(a) - weight(b) || byAt(b, a))
    .slice(0, mostHappenings)
    .toSorted(byAt)
}

/** The same act in the same minute is one, and so are evictions of one pod within an hour: later, another pod has its name. */
export function joinAlike(happenings: readonly Happening[]): Happening[] {
  const all = new Map<string, Happening[]>()
  for (const one of happenings) {
    const key = `${one.what} ${one.subject} ${isPodHappening(one) ? '' : one.at.slice(0, 16)}`
    const alike = all.get(key) ?? []
    all.set(key, alike)
    const index = alike.findIndex(
      ({ at }) => at === one.at || Math.abs(Date.parse(at) - Date.parse(one.at)) <= eventTtlMs,
    )
    const known = alike[index]
    if (!known) alike.push(one)
    // An event that was sent again has a later time.
    else if (one.at < known.at) alike[index] = { ...known, at: one.at }
  }
  return [...all.values()].flat().toSorted(byAt)
}

const byAt = by<Happening>(({ at }) => at)

const isPodHappening = ({ what }: Happening) => what === 'evicted' || what === 'refused'
