/**
 * What breaks next: nodes that evict now, then nodes whose observed growth reaches eviction within
 * days, then other nodes by headroom. A node without observed growth has no time to eviction.
 */

import { usedPercentOf } from '#base/percent.ts'
import { by } from '#base/text.ts'
import { hourMs, minuteMs, weekMs } from '#base/units.ts'
import type { Cause } from '#model/finding.ts'
import { areHappeningsCut, type RememberedImage } from '#model/history.ts'
import { nameWithoutTag } from '#model/input/image-reference.ts'
import {
  areOfOnePool,
  conditionOf,
  type DiskLedger,
  resourceOf,
  type Signal,
} from '#model/prediction.ts'
import type { Assumptions, AuditedNode, AuditReport, FirstVictims } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import {
  type DiskOutlook,
  diskOutlooks,
  growthText,
  type ScarceOutlook,
  scarceOutlooks,
  seenTime,
} from './disk-outlook.ts'
import { subjectText } from './findings.ts'
import { fillTexts } from './ledger.ts'
import { nameLimit } from './node.ts'
import { boundsText, causeText } from './steps.ts'

const shownNodes = 8
const soonMs = weekMs
/** Nodes with more headroom, in percent of capacity, are listed only if image GC is due. */
const nearPercent = 15
export const closePercent = 5
/** Names of pods of one rank. */
const shownAlike = 2

const bands = ['now', 'powerless', 'waiting', 'soon', 'close', 'near', 'calm', 'unknown'] as const
type Band = (typeof bands)[number]

export type NodeOutlook = ReturnType<typeof nodeOutlook>

/** The node that breaks next first. */
export const nodeOutlooks = ({
  nodes,
  assumptions,
}: Pick<AuditReport, 'nodes' | 'assumptions'>): NodeOutlook[] =>
  nodes.map(node => nodeOutlook(node, assumptions)).toSorted(nearestFirst)

/**
 * @param signal what the node runs out of first; undefined: unknown
 * @param held what holds the disk that eviction is nearest to; undefined: the node evicts, or it is unknown
 */
export type CauseOf = (
  node: AuditedNode,
  signal: Signal | undefined,
  held: Cause | undefined,
) => number | null

export type OutlookView = ReturnType<typeof outlookView>

export function outlookView(
  { nodes, assumptions }: Pick<AuditReport, 'nodes' | 'assumptions'>,
  language: Language,
  causeOf: CauseOf = () => null,
) {
  const { next: words } = language.words
  const all = nodeOutlooks({ nodes, assumptions })
  const listed = all.filter(one =>
    one.band === 'calm' || isUsual(one)
      ? one.node.prediction.imageGC?.triggered === true
      : one.band !== 'unknown',
  )
  const shown = listed.slice(0, shownNodes)
  const unknown = shown.filter(({ node, disk }) => lacksReleases(node, disk, assumptions))
  const count = (band: Band) => all.filter(one => one.band === band).length
  return {
    evicting: count('now'),
    rows: shown.map(one => outlookRow(one, causeOf, assumptions, language)),
    counts: bands
      .filter(band => count(band) > 0)
      .map(band => ({ text: words.bands[band](count(band)), isNow: isPast(band) })),
    /** Null: no forecast was possible for any node. */
    nothing: all.every(({ band }) => band === 'unknown') ? null : words.nothing,
    releasesUnknown: unknown.length > 0 ? words.releasesUnknown(unknown.length) : null,
    leftOut: listed.length > shownNodes ? words.leftOut(listed.length - shownNodes) : null,
  }
}

type Resource = DiskOutlook | ScarceOutlook

function resourceOutlook(next: Resource, node: AuditedNode) {
  const disk = 'seen' in next ? next : null
  const seenMs = disk && seenMsOf(disk)
  const headroomPercent = headroomPercentOf(next)
  const known = bandOf(headroomPercent, seenMs)
  const waitsUntilMs = known === 'now' && disk ? graceEndMs(node, disk) : null
  const isPowerless = known === 'now' && hasNoVictim(node, next)
  const past = isPowerless ? 'powerless' : known
  const band: Band = waitsUntilMs === null ? past : 'waiting'
  return { next, disk, seenMs, headroomPercent, band, waitsUntilMs }
}

function nodeOutlook(node: AuditedNode, assumptions: Assumptions) {
  const { filesystems, eviction, imageGC } = node.prediction
  const read = { filesystems, eviction, imageGC }
  const [first] = [...diskOutlooks(read, node.growth, assumptions), ...scarceOutlooks(read)]
    .map(next => resourceOutlook(next, node))
    // Much memory is no forecast for a disk that was not read.
    .filter(({ disk, band }) => disk !== null || band !== 'calm')
    .toSorted(
      by(
        ({ band }) => bandRank(band),
        ({ band, disk }) => isPast(band) && disk === null,
        ({ band, seenMs }) => (band === 'soon' ? (seenMs ?? 0) : 0),
        one => Number(isUsual(one)) + 2 * Number(one.band === 'calm'),
        ({ headroomPercent }) => headroomPercent ?? Number.MAX_VALUE,
        ({ next }) => next.signal,
      ),
    )
  const { next = null, disk = null, seenMs = null, headroomPercent = null } = first ?? {}
  const isFargate = node.identity.owner === 'fargate'
  return {
    node,
    // AWS runs the kubelet of a Fargate node: no finding is about it.
    band: isFargate ? 'unknown' : (first?.band ?? 'unknown'),
    /** What the node runs out of first; null: unknown. */
    next,
    /** The same, if it is the bytes of a disk. */
    disk,
    /** When the soft threshold of the disk acts at the latest. Null: no threshold waits. */
    waitsUntilMs: first?.waitsUntilMs ?? null,
    /** Milliseconds to eviction or to full at observed growth. Null: not observed, or beyond the horizon. */
    seenMs,
    /** Headroom above the threshold, in percent of the capacity; null: unknown. */
    headroomPercent,
  }
}

/** When a soft threshold that is met acts, by the node's condition. Null: a hard one is met, too, or its grace period is over. */
function graceEndMs({ at, pressures, prediction }: AuditedNode, disk: DiskOutlook | null) {
  const threshold = disk?.threshold
  const isHardMet = prediction.eviction?.thresholds.some(({ met, hard }) => met && hard)
  if (threshold == null || threshold.hard || isHardMet) return null
  const reported = pressures?.find(one => one.condition === conditionOf(threshold.signal))
  const endMs = Date.parse(reported?.since ?? at) + threshold.gracePeriodMs
  return endMs > Date.parse(at) ? endMs : null
}

/** A node may use most of its memory: only a little above the threshold is next to break. */
export const isUsual = ({ next, band }: Pick<NodeOutlook, 'next' | 'band'>) =>
  band === 'near' && next !== null && conditionOf(next.signal) === 'MemoryPressure'

function bandOf(headroomPercent: number | null, seenMs: number | null): Band {
  if (headroomPercent === null) return 'unknown'
  if (headroomPercent < 0) return 'now'
  if (seenMs !== null && seenMs <= soonMs) return 'soon'
  if (headroomPercent < closePercent) return 'close'
  return headroomPercent < nearPercent ? 'near' : 'calm'
}

/** After the bands up to `soon`, all is ordered by headroom, least first. */
const bandRank = (band: Band) => Math.min(bands.indexOf(band), bands.indexOf('soon') + 1)

/** Past a threshold. `powerless`: static and critical pods are all that is left, and the kubelet evicts none of them. */
const isPast = (band: Band) => band === 'now' || band === 'powerless'

const hasNoVictim = ({ details }: AuditedNode, { threshold }: Resource) =>
  details().firstVictims?.find(({ signal }) => signal === threshold?.signal)?.pods.length === 0

/** Milliseconds to eviction or to full. Null: growth was not observed, or the time is beyond the horizon. */
const seenMsOf = ({ seen }: DiskOutlook) =>
  seen?.usualMs != null && seen.usualMs <= seen.horizonMs ? seen.usualMs : null

/** To eviction, or to full where no threshold watches. Null: unknown. */
const amountLeft = ({ threshold, availableBytes }: Resource) =>
  threshold === null ? Math.max(0, availableBytes) : threshold.margin

function headroomPercentOf(one: Resource) {
  const bytes = amountLeft(one)
  return bytes === null ? null : (100 * bytes) / one.capacityBytes
}

const nearestFirst = by<NodeOutlook>(
  ({ band }) => bandRank(band),
  ({ band, seenMs }) => (band === 'soon' ? (seenMs ?? 0) : 0),
  ({ headroomPercent }) => headroomPercent ?? Number.MAX_VALUE,
  ({ node }) => node.cluster,
  ({ node }) => node.identity.name,
)

const seenLimit = 300

function outlookRow(
  one: NodeOutlook,
  causeOf: CauseOf,
  assumptions: Assumptions,
  language: Language,
) {
  const { words, line } = language
  const { node, next, disk, band } = one
  const { identity, prediction } = node
  const group = identity.group.kind === 'Node' ? [] : [subjectText(identity.group, language)]
  const signal = next && (next.threshold?.signal ?? next.signal)
  const { ledger, held: ofDisks, firstVictims } = node.details()
  const fill =
    ledger === undefined || (signal !== null && conditionOf(signal) !== 'DiskPressure')
      ? []
      : fillTexts(node, ledger, language, next?.signal)
  const isOfMemory = signal !== null && conditionOf(signal) === 'MemoryPressure'
  const memory = isOfMemory ? ofDisks?.memory : undefined
  const ofDisk = disk === null || isPast(band) ? undefined : ofDisks?.[disk.filesystem]
  const cause = causeOf(node, next?.signal, ofDisk?.cause)
  const held = memory ?? ofDisk
  const holder = cause === null && held ? holderOf(held.cause, language) : null
  const shortBytes = disk || isOfMemory ? Math.max(0, -(next?.threshold?.margin ?? 0)) : 0
  const first = isUnwatched(node, signal)
    ? undefined
    : firstVictims?.find(one => one.signal === signal)
  const unnamed = unnamedVictimText(node, signal, language)
  const victims = victimsText(first, unnamed, language)
  // Pods of the same rank have no order.
  const firstVictim = victimsText(
    first && { ...first, pods: first.pods.slice(0, Math.min(first.alike, shownAlike)) },
    unnamed,
    language,
  )
  /** Null: no threshold watches the disk, so it evicts no pod. */
  const evicted = firstEvicted(one, ledger, firstVictim, language)
  return {
    node,
    cluster: node.cluster,
    name: line(identity.name, nameLimit),
    where: words.list([line(node.cluster, nameLimit), ...group]),
    isNow: isPast(band),
    basis: basisText(one, language),
    /** Bytes that are missing to the eviction threshold. */
    shortBytes,
    ...stateOf(one, language),
    disk: next === null ? '' : diskText(next, language),
    imageGc: areOfOnePool(prediction.filesystems)
      ? words.next.gcUnknown
      : imageGcText(prediction.imageGC, language),
    releases: releasesText(node, disk, assumptions, language),
    victims: evicted?.order ?? victims,
    first: evicted && { text: evicted.text, note: evicted.note },
    /** The largest holder, and what else is to say. Empty: unknown. */
    fill: [
      ...(holder === null ? fill : [holder]),
      ...(held?.seen === undefined || cause !== null
        ? []
        : [line(held.seen.replace(/\.$/, ''), seenLimit)]),
    ],
    condition: signal && conditionOf(signal),
    cause,
    /** What uses memory that is short. Absent: there is enough, or it is unknown. */
    memory,
    /** What ends it, if there is no cause. */
    steps: (cause === null && held?.steps) || [],
  }
}

/** The pod that is evicted first; the note names the unused images that the kubelet deletes before it. */
function firstEvicted(
  { node, next, disk, band }: NodeOutlook,
  ledger: DiskLedger | undefined,
  victims: string,
  language: Language,
) {
  if (next?.threshold === null) return null
  const signal = disk?.threshold?.signal ?? next?.signal
  if (signal && conditionOf(signal) !== 'DiskPressure') return { text: victims, note: '' }
  const isShared = ledger?.isShared ?? node.prediction.filesystems.layout === 'shared'
  const holdsImages =
    isShared || (disk ? disk.filesystem === 'imagefs' : signal?.startsWith('imagefs.') === true)
  const isNoneUnused =
    ledger?.freeable.unusedImageBytes === 0 || node.prediction.imageGC?.deletableBytes === 0
  if (!holdsImages || isNoneUnused) return { text: victims, note: '' }
  const unused = ledger?.filesystems
    .flatMap(({ lines }) => lines)
    .find(({ holder }) => holder === 'images-unused')
  // Under pressure, and in a round that failed, the kubelet has deleted them.
  if (unused === undefined && (hasLongPressure(node) || hasFailedRound(node)))
    return { text: victims, note: '' }
  const { picture, next: words } = language.words
  // Of inodes, the ledger's bytes say nothing.
  const isOfBytes = disk !== null || next === null
  const amount = unused === undefined || !isOfBytes ? null : boundsText(unused, language)
  const isEnough =
    amount !== null &&
    unused !== undefined &&
    disk !== null &&
    disk.threshold !== null &&
    !isPast(band) &&
    Number.parseFloat(disk.threshold.minReclaim) === 0 &&
    unused.lowBytes >= enoughShare * disk.capacityBytes
  if (isEnough) {
    const text = picture.imagesFirst(amount)
    return { text, note: '', order: text }
  }
  return {
    text: victims,
    note: picture.afterImages(amount),
    /** In place of the pods after the first, what goes before it. */
    order: words.andThen(picture.unused(amount), [victims]),
  }
}

/** Share of a disk: more than anything writes in the seconds between two passes of the eviction manager. */
const enoughShare = 0.1

/** The kubelet needs minutes to delete many images, and to update the node's image list. */
const deletionMs = 5 * minuteMs

const hasLongPressure = ({ at, pressures = [] }: AuditedNode): boolean =>
  pressures.some(
    ({ condition, since }) =>
      condition === 'DiskPressure' &&
      (since === null || Date.parse(at) - Date.parse(since) >= deletionMs),
  )

const hasFailedRound = ({ at, happened = [] }: AuditedNode): boolean =>
  happened.some(
    one => one.what === 'image-gc-failed' && Date.parse(at) - Date.parse(one.at) <= hourMs,
  )

/** Whether the eviction was observed or only computed, and the growth of the disk. Empty: no eviction now, no growth. */
function basisText({ node, next, disk, band }: NodeOutlook, language: Language): string {
  const { next: words, ...all } = language.words
  const growth = growthOf(disk, language)
  const condition = conditionOf(next?.signal ?? 'nodefs.available')
  const reported = node.pressures?.find(one => one.condition === condition)
  if (!isPast(band) && reported === undefined) return all.clauses(growth)
  const evicted = (node.happened ?? []).filter(
    ({ what, resource }) => what === 'evicted' && resource,
  )
  const last = evicted.at(-1)
  const observed = [
    ...(reported
      ? [words.reported(condition, reported.since && language.utc(reported.since))]
      : []),
    ...(last
      ? [
          words.evicted(
            evicted.length,
            timeOf(last.at, reported?.since, language),
            Date.parse(last.at) < Date.parse(reported?.since ?? last.at),
            areHappeningsCut(node.happened),
          ),
        ]
      : []),
  ]
  const said = observed.length > 0 ? observed : [words.computed(condition)]
  const others = next === null ? [] : otherMet(node, next.signal)
  return all.clauses([
    ...said,
    ...(others.length > 0 ? [words.alsoMet(all.all(others))] : []),
    ...growth,
  ])
}

/** Signals of other disks, inodes, memory or process ids whose hard threshold is met, too. */
function otherMet({ prediction: { eviction, filesystems } }: AuditedNode, own: Signal): string[] {
  const keyOf = (signal: Signal) => resourceOf(signal, filesystems.layout)
  const met = (eviction?.thresholds ?? []).flatMap(({ met, hard, signal }) =>
    met === true && hard && keyOf(signal) !== keyOf(own) ? [signal] : [],
  )
  return [...new Map(met.toReversed().map(signal => [keyOf(signal), signal])).values()]
}

/** Empty: not observed, or none. */
const growthOf = (disk: DiskOutlook | null, language: Language): string[] =>
  disk?.seen && disk.seen.growth.bytesPerHour.max > 0 ? [growthText(disk, language)] : []

/** Without its day, if the time before it is of the same day. */
function timeOf(at: string, before: string | null | undefined, { utc }: Language) {
  const isSameDay = before != null && utc(at).slice(0, 10) === utc(before).slice(0, 10)
  return isSameDay ? utc(at).slice(11) : utc(at)
}

function stateOf(one: NodeOutlook, language: Language) {
  const { next: words } = language.words
  const { next, disk, band, seenMs } = one
  const threshold = next?.threshold
  if (isPast(band) || band === 'waiting') {
    const note =
      threshold == null ? '' : words.below(threshold.signal, language.line(threshold.value, 40))
    const time = one.waitsUntilMs && language.utc(new Date(one.waitsUntilMs).toISOString())
    const state = words[band === 'powerless' ? 'powerless' : 'now']
    return { state: time ? words.actsAt(time) : state, note }
  }
  const isUnwatched = threshold === null
  const isUnderPressure = one.node.pressures?.some(({ condition }) => condition === 'DiskPressure')
  const watched = disk && isUnderPressure ? words.leftUnderPressure : words.left
  const isFull = isUnwatched && one.headroomPercent === 0
  const left = isFull
    ? words.full
    : (isUnwatched ? words.leftUnwatched : watched)(
        leftText(next, language),
        language.percent(one.headroomPercent),
      )
  const [growth = ''] = growthOf(disk, language)
  if (band !== 'soon' || seenMs === null || !disk?.seen) return { state: left, note: growth }
  const { text, note } = seenTime(seenMs, disk.seen, language)
  return { state: text, note: [note, isUnwatched && left, growth].filter(Boolean).join('; ') }
}

/** Null: the holder was not read. */
const holderOf = (cause: Cause, language: Language) =>
  cause.kind === 'holder' ? causeText(cause, language) : null

const diskText = (next: Resource, language: Language) =>
  language.words.next.disk(
    titleOf(next, language),
    language.percent(usedPercentOf(next.capacityBytes, next.availableBytes)),
  )

function titleOf(next: Resource, { words: { next: words } }: Language): string {
  if ('seen' in next) return next.title
  if (next.title !== null) return words.inodes(next.title)
  if (next.signal === 'pid.available') return words.pids
  return next.signal === 'memory.available' ? words.memory : words.allocatableMemory
}

/** `5.0 GiB` of a disk, `5.0 GiB memory`, `500 process ids`. */
function leftText(next: Resource | null, language: Language): string {
  const { words, bytes, count } = language
  const left = next && amountLeft(next)
  if (next === null || 'seen' in next) return bytes(left)
  const isMemory = conditionOf(next.signal) === 'MemoryPressure'
  return words.ledger.briefRow(isMemory ? bytes(left) : count(left), titleOf(next, language))
}

function imageGcText(
  imageGC: AuditedNode['prediction']['imageGC'],
  { words: { next: words }, bytes }: Language,
) {
  if (imageGC === null) return words.gcUnknown
  if (!imageGC.enabled) return words.gcOff
  if (imageGC.triggered) return words.gcDue
  return imageGC.bytesUntilTrigger === null
    ? words.gcUnknown
    : words.gcIn(bytes(imageGC.bytesUntilTrigger))
}

/** Nothing is evicted for it, whatever the order of pods. */
const isUnwatched = ({ prediction: { eviction } }: AuditedNode, signal: Signal | null) =>
  eviction?.thresholds.every(threshold => threshold.signal !== signal) === true

/** Why no pod is named. The order of eviction is not kept by each signal. */
function unnamedVictimText(node: AuditedNode, signal: Signal | null, { words }: Language) {
  if (isUnwatched(node, signal)) return words.next.noThreshold
  return node.details().firstVictims?.length ? words.unknown : words.next.noOrder
}

/** @param unnamed why no pod is named */
function victimsText(
  group: FirstVictims | undefined,
  unnamed: string,
  { words: all, line }: Language,
) {
  const { next: words } = all
  if (group === undefined) return unnamed
  const [first, ...rest] = group.pods.map(({ namespace, name }) =>
    line(`${namespace}/${name}`, nameLimit),
  )
  if (first === undefined) return words.noVictim
  const alike = all.list([
    ...[first, ...rest].slice(0, group.alike),
    ...(group.alike > group.pods.length ? ['…'] : []),
  ])
  if (group.isUnmeasured) return words.unmeasured(group.alike, alike)
  if (group.alike > 1) return words.oneOf(group.alike, alike)
  return rest.length === 0 ? first : words.andThen(first, rest)
}

/* How many more releases of an image a node takes before image GC and before eviction, from the images that it lists. */

const byNumber = new Intl.Collator('en', { numeric: true }).compare
const shownTags = 3
/** Fewer images of one name do not show how large the next one is. */
const leastReleases = 3

/** Of the images in use, or of the workloads with several of these, the one with the largest release. Null: fewer than three releases of each are known. */
function largestReleases(
  { images = [], pastReleases = [], details }: AuditedNode,
  { mostUnpacking }: Assumptions,
) {
  const past = pastReleases.map(([name, bytes]): RememberedImage => [name, bytes, 'gone'])
  const byName = Map.groupBy([...past, ...images], ([name]) => nameWithoutTag(name) ?? '')
  byName.delete('')
  const known = [...byName]
    .filter(([, all]) => all.length >= leastReleases && all.some(([, , unused]) => unused == null))
    .map(([name, all]) => ({
      /** End of the image's path, without registry and tag. */
      name: name.split('/').slice(-2).join('/'),
      path: `/${name}`,
      /** Of the releases that it was learned from. */
      tags: all.map(([image]) => image.slice(name.length + 1)).toSorted(byNumber),
      /** Unpacked, at most. The disk takes less where releases share layers. */
      largestBytes: mostUnpacking * Math.max(...all.map(([, bytes]) => bytes)),
    }))
  const largestFirst = known.toSorted((a, b) => b.largestBytes - a.largestBytes)
  if (known.length < 2) return largestFirst[0] ?? null
  const ofWorkloads = (details().workloads ?? []).flatMap(({ workload, images: names }) => {
    const own = largestFirst.filter(({ path }) => names.some(name => path.endsWith(`/${name}`)))
    const [first] = own
    const largestBytes = own.reduce((sum, one) => sum + one.largestBytes, 0)
    return first && own.length > 1 ? [{ name: workload, tags: first.tags, largestBytes }] : []
  })
  const all = [...ofWorkloads, ...largestFirst]
  return all.toSorted((a, b) => b.largestBytes - a.largestBytes)[0] ?? null
}

/** Whether room for more releases is unknown because the node lists too few of each. */
const lacksReleases = (
  node: AuditedNode,
  disk: DiskOutlook | null,
  assumptions: Assumptions,
): boolean => hasImages(disk) && largestReleases(node, assumptions) === null

const hasImages = (disk: DiskOutlook | null) => disk?.imageGcMs !== undefined

/** Empty: unknown. */
function releasesText(
  node: AuditedNode,
  disk: DiskOutlook | null,
  assumptions: Assumptions,
  { words: { list, next: words }, bytes, line }: Language,
): string {
  const { imageGC } = node.prediction
  const releases = largestReleases(node, assumptions)
  if (releases === null || disk === null || !hasImages(disk)) return ''
  const { name, tags, largestBytes } = releases
  const imagesFitting = (room: number | null | undefined) =>
    room == null ? null : Math.floor(Math.max(room, 0) / largestBytes)
  const untilGc = imageGC?.enabled ? imagesFitting(imageGC.bytesUntilTrigger) : null
  const untilEviction = imagesFitting(disk.threshold?.margin)
  if (untilGc === null && untilEviction === null) return ''
  const latest = list(tags.slice(-shownTags).map(tag => line(tag, 20)))
  return words.releases(line(name, 60), latest, bytes(largestBytes), untilGc, untilEviction)
}
