/** What happened on a node since its last reading, from pods, events, conditions and the kubelet's log. */

import { sharedValue } from '#base/once.ts'
import { by } from '#base/text.ts'
import { hourMs } from '#base/units.ts'
import {
  evictionCause,
  evictionLine,
  imageGcLine,
  shortfallBytes,
} from '#facts/kubelet/event-messages.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { eventTtlMs } from '#facts/kubernetes/controllers.ts'
import { isWithinWindow } from '#judge/events/events.ts'
import { recordedEvictions } from '#judge/events/evictions.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'
import {
  type FillSeries,
  type Happening,
  mostHappenings,
  type NodeBefore,
  type PastRelease,
  type ReclaimRound,
  type RememberedImage,
} from '#model/history.ts'
import { nameWithoutTag } from '#model/input/image-reference.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { KeptImage, NodePrediction } from '#model/prediction.ts'
import type { TakenNode } from '#model/report.ts'
import { usedOf } from './fill.ts'

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
const watchedConditions = ['DiskPressure', 'MemoryPressure', 'PIDPressure', 'Ready']

export function happeningsOf(input: NodeInput, at: string) {
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
export const pressuresOf = ({ node }: NodeInput) =>
  (node.status?.conditions ?? []).flatMap(({ type = '', status, lastTransitionTime }) =>
    status === 'True' && type.endsWith('Pressure')
      ? [{ condition: shorten(type, nameLength), since: lastTransitionTime ?? null }]
      : [],
  )

/** Events come first: their message says more of an eviction than a line of the log. */
export const withEvents = (
  { happened = [], identity, at }: TakenNode,
  events: readonly NodeEvent[] | null,
) => mergeHappenings(fromEvents(events ?? [], identity.name, at), happened)

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
      watchedConditions.includes(type) && isWithinWindow(lastTransitionTime ?? null, at, windowMs)
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
export function readingOfMachine({ identity, joinedAt = '' }: TakenNode, last: NodeBefore | null) {
  if (!last || !(Date.parse(joinedAt) > Date.parse(last.at))) return last
  const { bootId } = identity
  return bootId !== null && last.fill?.bootId === shorten(bootId, 40) ? last : null
}

/** With a restart of the machine, if its boot id has changed since the last run. */
export function withRestart(
  { identity: { bootId, name }, at }: TakenNode,
  happened: Happening[],
  before: FillSeries | null,
) {
  if (!before || bootId === null || shorten(bootId, 40) === before.bootId) return happened
  const message = `boot id ${before.bootId} until ${before.readings.at(-1)?.at ?? 'an earlier run'}`
  return mergeHappenings(happened, [happening(at, 'reboot', name, message)])
}

/** Each happening once. If there are too many, evictions are kept first, refused pods last. */
export function mergeHappenings(before: readonly Happening[], now: readonly Happening[]) {
  const weight = (one: Happening) => (isPodHappening(one) ? Number(one.what === 'refused') * 2 : 1)
  return joinAlike([...before, ...now])
    .toSorted((a, b) => weight(a) - weight(b) || byAt(b, a))
    .slice(0, mostHappenings)
    .toSorted(byAt)
}

/** The same act in the same minute is one, and so are evictions of one pod within an hour: later, another pod has its name. */
export function joinAlike(happenings: readonly Happening[]) {
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

/*
 * Observed rounds of image GC: bytes the kubelet wanted to free, size of the deleted images, and bytes by which the disk became emptier.
 *
 * Follows  pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace: each round uses the same low threshold, so the wanted bytes
 *          of two rounds in a row differ by the bytes the first round freed, less the bytes written in between.
 */

const mostRounds = 6
/** If two rounds are further apart, other rounds may have run between them. */
const mostApartMs = 1.5 * imageGcPeriodMs
type Reported = Pick<ReclaimRound, 'at' | 'wantedBytes' | 'countedBytes'>

/** Rounds as the kubelet reported them, in its log or in events of rounds that freed too little. */
export function reportedRounds(
  events: readonly NodeEvent[] | null,
  logLines: readonly string[],
): ReclaimRound[] {
  const logged = loggedRounds(logLines)
  const rounds = (logged.length > 0 ? logged : roundsOfEvents(events ?? [])).toSorted(
    by(({ at }) => at),
  )
  return rounds
    .map((round, index) => ({
      ...round,
      freedBytes: freedUntil(round, rounds[index + 1]),
      predictedBytes: null,
    }))
    .slice(-mostRounds)
}

function freedUntil({ at, wantedBytes }: Reported, next: Reported | undefined) {
  if (!next || wantedBytes === null || next.wantedBytes === null) return null
  const isNext = Date.parse(next.at) - Date.parse(at) <= mostApartMs
  return isNext ? Math.max(0, wantedBytes - next.wantedBytes) : null
}

function loggedRounds(lines: readonly string[]) {
  const rounds: Reported[] = []
  for (const line of lines.flatMap(text => imageGcLine(text) ?? [])) {
    const last = rounds.at(-1)
    if ('wantedBytes' in line) rounds.push({ ...line, countedBytes: 0 })
    else if (last) last.countedBytes = (last.countedBytes ?? 0) + line.bytes
  }
  return rounds
}

/** An event counted more than once is two rounds, its first and last, that wanted the same. */
const roundsOfEvents = (events: readonly NodeEvent[]): Reported[] =>
  events.flatMap(({ reason, message, count, firstTime, lastTime }) => {
    const bytes = reason === 'FreeDiskSpaceFailed' ? shortfallBytes(message) : null
    if (!bytes || lastTime === null) return []
    const round = { wantedBytes: bytes.wantedBytes, countedBytes: bytes.freedBytes }
    const isRepeated = count > 1 && firstTime !== null && firstTime !== lastTime
    const before = isRepeated ? [{ ...round, at: firstTime }] : []
    return [...before, { ...round, at: lastTime }]
  })

export const mostImages = 32
const shownName = 40

/** The largest images, largest first. Empty: no list was read. */
export function imagesOf(
  { node, runtime, at }: Pick<NodeInput, 'node' | 'runtime' | 'at'>,
  { imageGC, at: readAt }: Pick<NodePrediction, 'imageGC' | 'at'>,
) {
  const unused = runtime ? unusedById(imageGC) : null
  const day = (at ?? readAt).slice(0, 10)
  const listed =
    runtime?.images?.map(({ id = '', repoTags = [], repoDigests = [], size }) => ({
      id,
      names: [...repoTags, ...repoDigests, id],
      bytes: Number(size),
    })) ??
    node.status?.images?.map(({ names = [], sizeBytes }) => ({
      id: '',
      names,
      bytes: Number(sizeBytes),
    })) ??
    []
  return listed
    .filter(({ names, bytes }) => names.length > 0 && Number.isSafeInteger(bytes) && bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, mostImages)
    .map(({ id, names, bytes }) => {
      const isUnused = unused?.get(id)
      return sharedValue<RememberedImage>(
        isUnused === undefined
          ? [nameOf(names), bytes]
          : [nameOf(names), bytes, isUnused ? day : null],
      )
    })
}

const isUnusedBy: Readonly<Partial<Record<KeptImage['reason'], boolean>>> = {
  'in-use': false,
  pinned: false,
  'not-needed': true,
  'too-young': true,
}

/** Images whose use is unknown are absent. */
function unusedById(imageGC: NodePrediction['imageGC']) {
  const deleted = (imageGC?.deletions ?? []).filter(({ certainty }) => certainty === 'certain')
  return new Map([
    ...deleted.map(({ image }) => [image, true] as const),
    ...(imageGC?.kept ?? []).map(({ image, reason }) => [image, isUnusedBy[reason]] as const),
  ])
}

/** The end of the image name, because the registry in front distinguishes images least. */
function nameOf(names: readonly string[]) {
  const name = shorten(names.find(each => !each.includes('@')) ?? names[0] ?? '', nameLength)
  return name.startsWith('sha256:') ? name.slice(7, 19) : name.slice(-shownName)
}

type ImagesBefore = Omit<NodeBefore, 'rounds'>

/** Compares two readings of a node: deleted images, and since when others are unused. */
export function withImages(now: TakenNode, last: ImagesBefore | null): Partial<TakenNode> {
  const before = last && Date.parse(last.at) <= Date.parse(now.at) ? last : null
  const { images = [], rounds, happened } = now
  const isUseKnown = images.some(([, , since]) => since !== undefined)
  const imagesSince = before?.imagesSince ?? (isUseKnown ? now.at.slice(0, 10) : null)
  if (!before) return { images, imagesSince }
  // A node that was not read keeps its images with the days since which they are unused.
  const { pastReleases: past } = before
  if (images.length === 0)
    return { images: [...before.images], ...(past && { pastReleases: past }), imagesSince }
  const earlier = retagImages(before.images, images)
  const gone = goneImages(earlier, images)
  const pastReleases = pastReleasesOf([...(past ?? []), ...gone], images)
  const dated = {
    images: withDays(images, earlier),
    ...(pastReleases.length > 0 && { pastReleases }),
    imagesSince,
  }
  if (gone.length === 0) return dated
  const countedBytes = gone.reduce((sum, [, bytes]) => sum + bytes, 0)
  const freedBytes = freedDiskBytes(now, before)
  const predictedBytes = before.imageGC?.predictedBytes ?? null
  const round = { at: now.at, wantedBytes: null, countedBytes, freedBytes, predictedBytes }
  const isLogged = happened?.some(({ what }) => what === 'image-deleted') ?? false
  return {
    ...dated,
    rounds: [...(rounds ?? []), round].slice(-mostRounds),
    ...(!isLogged && { happened: [...(happened ?? []), ...gone.map(deletion(now, before))] }),
  }
}

/** The earlier images by their names of today. A lost name and a new one of the same size are two tags of one image. */
function retagImages(
  before: readonly RememberedImage[],
  now: readonly RememberedImage[],
): RememberedImage[] {
  const [then, here] = [new Set(before.map(([name]) => name)), new Set(now.map(([name]) => name))]
  const added = new Map(now.flatMap(([name, bytes]) => (then.has(name) ? [] : [[bytes, name]])))
  return before.map(([name, bytes, since]) => [
    here.has(name) ? name : (added.get(bytes) ?? name),
    ...([bytes, since] as const),
  ])
}

/** An image of another size under the same name is another image. */
function withDays(images: readonly RememberedImage[], before: readonly RememberedImage[]) {
  const days = new Map(before.map(([name, bytes, since]) => [`${name} ${bytes}`, since]))
  return images.map(([name, bytes, since]) => {
    const first = since === null ? null : (days.get(`${name} ${bytes}`) ?? since)
    return sharedValue<RememberedImage>(first === undefined ? [name, bytes] : [name, bytes, first])
  })
}

/** Lists contain only the largest images. An image smaller than all of today's may still exist. */
function goneImages(before: readonly RememberedImage[], now: readonly RememberedImage[]) {
  const here = new Set(now.map(([name]) => name))
  const least = now.at(-1)?.[1] ?? Number.POSITIVE_INFINITY
  return before.filter(([name, bytes]) => !here.has(name) && bytes > least)
}

export const mostPastReleases = 8

/** Images that are gone, and still there in another release: each name once. */
function pastReleasesOf(
  gone: readonly (RememberedImage | PastRelease)[],
  now: readonly RememberedImage[],
): PastRelease[] {
  const here = new Set(now.map(([name]) => name))
  const known = new Set(now.flatMap(([name]) => nameWithoutTag(name) ?? []))
  const past = gone.filter(([name]) => !here.has(name) && known.has(nameWithoutTag(name) ?? ''))
  return [...new Map(past.map(([name, bytes]) => [name, bytes]))].slice(-mostPastReleases)
}

const deletion =
  ({ at }: TakenNode, before: ImagesBefore) =>
  ([name, bytes]: RememberedImage): Happening => ({
    at,
    what: 'image-deleted',
    subject: name,
    message: `${bytes} bytes by the CRI, after ${before.at}`,
  })

/** Bytes by which the image disk became emptier. Null: not read. 0: the disk did not. */
function freedDiskBytes({ prediction: { filesystems } }: TakenNode, { fill }: ImagesBefore) {
  const { layout, nodefs, imagefs } = filesystems
  const last = fill?.readings.at(-1)
  const used = usedOf(layout === 'shared' ? nodefs : imagefs)
  const then = layout === 'shared' ? last?.nodefsUsedBytes : last?.imagefsUsedBytes
  return used === null || then == null ? null : Math.max(0, then - used)
}

/** Each round once, because two runs may read the same event. */
export const mergedRounds = (before: readonly ReclaimRound[], now: readonly ReclaimRound[]) =>
  [...new Map([...before, ...now].map(round => [round.at, round])).values()]
    .toSorted(by(({ at }) => at))
    .slice(-mostRounds)
