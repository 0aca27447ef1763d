/**
 * One node's prediction for a terminal: disk use, what the kubelet does in which order, and what is
 * unknown.
 */
import { usedPercentOf } from '#base/percent.ts'
import type { HolderNotes } from '#model/finding.ts'
import { startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'
import {
  type EvaluatedThreshold,
  type EvictionPrediction,
  type Filesystems,
  type ImageDeletion,
  type ImageGcPrediction,
  isWatched,
  type KubeletUpgrade,
  type LostThreshold,
  type NodePrediction,
  type RankedPod,
  type Signal,
  type SpaceBounds,
  shownLedger,
  type TimelineEvent,
  type Unknown,
} from '#model/prediction.ts'
import { english } from '#report/languages/language.ts'
import { loserText, originText } from '#report/parts/fleet.ts'
import { ledgerText } from '#report/parts/ledger.ts'
import {
  foldedLine,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatRange,
  formatUtc,
  plural,
  wrapText,
} from '#report/text.ts'
import { upgradeText } from './upgrade-text.ts'

const columns = 80
const label = 14
/** Further indent of continuation lines, in columns. */
const deeper = 2
const shownImages = 8
const shownPods = 8
const shownEvents = 60
const shownUnknowns = 12
const nameLimit = 60

/**
 * Returns the lines of the prediction, and an empty line at the end.
 *
 * @param before the node as it is, if another configuration or use was requested; else null
 * @param heading how the terminal shows a heading
 */
export function storyOf(
  prediction: NodePrediction,
  before: NodePrediction | null,
  heading: (text: string) => string,
  holders: HolderNotes,
) {
  const { cluster, node, kubeletVersion, at } = prediction
  const isRefused =
    (prediction.refusals ?? []).length + (prediction.upgrade?.errors ?? []).length > 0
  const willExit = (prediction.nextStart?.errors ?? []).length > 0
  const until = willExit ? 'the kubelet would exit at its next start; until then: ' : ''
  const answer = isRefused ? 'the kubelet would not start' : `${until}${answerText(prediction)}`
  const head = wrapText(`${name(cluster)} / ${name(node)}: ${answer}`, columns).trimEnd()
  const sections: [string, string[]][] = [
    ['Refused', refusedLines(prediction)],
    ['Changed', before ? changedLines(before, prediction) : []],
    [
      '',
      [
        `kubelet ${kubeletVersion === null ? 'of unknown version' : name(kubeletVersion)}, ${formatUtc(at)}`,
      ],
    ],
    ['Disk', diskLines(prediction)],
    ['Holds it', ledgerLines(prediction, holders)],
    ['Upgrade', upgradeLines(prediction.upgrade)],
    ['Image GC', imageGcLines(prediction.imageGC)],
    ['Eviction', evictionLines(prediction)],
    ['Limits', limitLines(prediction)],
    ['Container GC', containerLines(prediction)],
    // With another configuration the allocatable values differ anyway.
    ['Allocatable', before ? [] : allocatableLines(prediction)],
    ['Then', timelineLines(prediction.timeline)],
    ['Unknown', unknownLines(prediction)],
  ]
  const body = sections.flatMap(([title, lines]) =>
    lines.flatMap((line, index) => labelLines(index === 0 ? title : '', line)),
  )
  return `${[heading(head), ...body, ''].join('\n')}\n`
}

const name = (text: string) => foldedLine(text, nameLimit)
const podName = (pod: { namespace: string; name: string }) =>
  `${name(pod.namespace)}/${name(pod.name)}`

/** What acts first: now, while the disk fills, or after how much more use. */
function answerText(prediction: NodePrediction): string {
  const { eviction, imageGC, timeline, localStorageEvictions } = prediction
  const [overLimit] = localStorageEvictions ?? []
  if (overLimit) return `evicts now for its limit: ${podName(overLimit)}`
  const victim = eviction?.victims?.[0]
  if (eviction && eviction.actsOn.length > 0) {
    const isCertain = victim?.certainty === 'certain'
    const pod = victim ? `, ${isCertain ? 'first' : 'may evict'} ${podName(victim)}` : ''
    return `${isCertain ? 'evicts' : 'eviction acts'} now: ${eviction.actsOn.join(', ')}${pod}`
  }
  if (imageGC?.triggered) return `image GC acts now: ${formatBytes(imageGC.bytesToFree)} to free`
  if (!eviction && !imageGC) return 'what acts is not known'
  const [first] = timeline ?? []
  if (first) return `first after ${formatDuration(first.atMs)}: ${eventText(first)}`
  const next: [string, number][] = (eviction?.thresholds ?? []).flatMap(
    ({ signal, met, margin }) =>
      met === false && margin !== null && /^(node|image)fs\.available$/.test(signal)
        ? [[signal, margin]]
        : [],
  )
  if (imageGC?.enabled && imageGC.bytesUntilTrigger !== null)
    next.push(['image GC', imageGC.bytesUntilTrigger])
  const [nearest] = next.toSorted(([, a], [, b]) => a - b)
  const isKnown =
    eviction?.error === null &&
    eviction.thresholds.every(({ met }) => met !== null) &&
    imageGC !== null &&
    imageGC.triggered !== null
  return `nothing ${isKnown ? '' : 'known '}acts${nearest ? `; ${nearest[0]} next, in ${formatBytes(nearest[1])}` : ''}`
}

/** Wraps the text, and puts the label beside its first line. */
function labelLines(title: string, text: string) {
  const indent = /^ */.exec(text)?.[0].length ?? 0
  const wrapped = wrapText(text.trimStart(), columns - label - indent - deeper)
    .trimEnd()
    .split('\n')
  return wrapped.map(
    (line, index) =>
      `${(index === 0 ? title : '').padEnd(label)}${' '.repeat(indent + (index === 0 ? 0 : deeper))}${line}`,
  )
}

function diskLines({ filesystems: { nodefs, imagefs, layout, layoutCertainty } }: NodePrediction) {
  const diskLine = (title: string, filesystem: typeof nodefs) =>
    filesystem
      ? `${title}: ${formatBytes(filesystem.capacityBytes)}, ${formatPercent(usedPercentOf(filesystem.capacityBytes, filesystem.availableBytes))} used, ${formatBytes(filesystem.availableBytes)} available`
      : `${title}: unknown`
  const likely = layoutCertainty === 'likely' ? ', very likely' : ''
  if (layout === 'shared')
    return [`${diskLine('one for everything', nodefs)} (nodefs and imagefs are the same${likely})`]
  return [
    diskLine('nodefs', nodefs),
    `${diskLine('imagefs', imagefs)}${layout === 'split' ? ' (images only: containers live on nodefs)' : ''}`,
  ]
}

const ledgerLines = ({ ledger }: NodePrediction, holders: HolderNotes) =>
  ledger ? ledgerText(shownLedger(ledger), english, holders) : []

const refusedLines = ({ refusals = [], nextStart }: NodePrediction) => [
  ...refusals.map(
    text => `the kubelet would not start with this configuration: ${foldedLine(text, 400)}`,
  ),
  ...(nextStart?.errors ?? []).map(
    text => `the kubelet would exit at its next start, with its files: ${foldedLine(text, 400)}`,
  ),
]

const upgradeLines = (upgrade: KubeletUpgrade | undefined) => (upgrade ? upgradeText(upgrade) : [])

function imageGcLines(imageGC: ImageGcPrediction | null) {
  if (!imageGC) return ['not known, see below']
  const {
    enabled,
    triggered,
    highThresholdPercent: high,
    lowThresholdPercent: low,
    bytesUntilTrigger,
  } = imageGC
  const lines: string[] = []
  // The kubelet rounds the used percentage up; the use beside it is exact.
  const starts = `${high}, which is above ${startsAboveUsedPercent(high)} % used`
  if (!enabled)
    lines.push(
      `switched off: a high threshold of ${high} stops the loop; only eviction deletes images`,
    )
  else if (triggered === null) lines.push('whether it is due is not known')
  else if (triggered)
    lines.push(
      `due: it starts at ${starts} and wants ${formatBytes(imageGC.bytesToFree)}, down to ${low} %`,
    )
  else if (bytesUntilTrigger !== null)
    lines.push(`calm: ${formatBytes(bytesUntilTrigger)} more, and it starts (at ${starts})`)
  lines.push(...deletionLines(imageGC.deletions))
  if (triggered && imageGC.freedBytes !== null)
    lines.push(
      `counts ${formatBytes(imageGC.freedBytes)} freed${imageGC.reachesLow ? ', and that is enough' : `: ${formatBytes(imageGC.shortfallBytes)} short`}`,
    )
  if (imageGC.error !== null) lines.push(`says: ${foldedLine(imageGC.error, 400)}`)
  return lines
}

function deletionLines(deletions: ImageDeletion[] | null) {
  if (!deletions || deletions.length === 0) return []
  const certain = deletions.filter(({ certainty }) => certainty === 'certain').length
  const said = [
    certain > 0 ? `${certain} for certain` : '',
    certain < deletions.length ? `${deletions.length - certain} possibly` : '',
  ]
  const lines = deletions
    .slice(0, shownImages)
    .map(({ image, names, sizeBytes, certainty, reason }) => {
      const note = [certainty === 'certain' ? '' : 'possibly', reason === 'age' ? 'too old' : '']
        .filter(Boolean)
        .join(', ')
      return `  -\u00a0${imageName(names[0] ?? image)}  ${formatBytes(sizeBytes)}${note === '' ? '' : `  ${note}`}`
    })
  return [
    `deletes ${plural(deletions.length, 'image')}: ${said.filter(Boolean).join(', ')}`,
    ...lines,
    ...moreLine(deletions.length, shownImages),
  ]
}

/** Shortens the digest of an image, not its name. */
const imageName = (image: string) =>
  foldedLine(image.replace(/@(sha256:[0-9a-f]{12})[0-9a-f]{52}$/, '@$1…'), 120)

const moreLine = (count: number, shown: number) =>
  count > shown ? [`  … and ${formatCount(count - shown)} more`] : []

function evictionLines(prediction: NodePrediction) {
  const { eviction, filesystems, unknowns } = prediction
  if (!eviction) return ['not known, see below']
  if (eviction.error !== null)
    return [`the running thresholds do not parse: ${foldedLine(eviction.error, 400)}`]
  const { thresholds, conditions, actsOn, nodeReclaim, victims, rankings } = eviction
  const lines = [...thresholds.map(thresholdLine), ...lostLines(eviction, filesystems.layout)]
  if (thresholds.length === 0)
    lines.push('there is no threshold: nothing is ever evicted for pressure')
  if (conditions.length > 0)
    lines.push(
      `reports ${conditions.join(', ')}: the node is tainted, ${refusedPods(conditions)} are refused`,
    )
  if (actsOn.length > 0)
    lines.push(`acts on ${actsOn.length === 1 ? actsOn[0] : `any one of ${actsOn.join(', ')}`}`)
  if (nodeReclaim.length > 0)
    lines.push(
      `first collects ${nodeReclaim.map(kind => (kind === 'containers' ? 'dead containers' : 'every unused image')).join(', then ')}`,
    )
  lines.push(...deletionLines(eviction.imageDeletions))
  if (victims && victims.length > 0) {
    const certain = victims.filter(({ certainty }) => certainty === 'certain')
    const possible = victims.filter(({ certainty }) => certainty === 'possible')
    if (certain.length > 0) lines.push(`evicts ${certain.map(podName).join(', ')}`)
    if (possible.length > 0)
      lines.push(
        `${certain.length > 0 ? 'and ' : ''}may evict ${possible.slice(0, shownPods).map(podName).join(', ')}${possible.length > shownPods ? ', …' : ''}`,
        ...unknowns
          .filter(({ part }) => part === 'victims')
          .map(unknown => `  ${unknownText(unknown)}`),
      )
  }
  const ranking = rankings?.find(({ signal }) => actsOn.includes(signal))
  if (ranking && ranking.pods.length > 1) {
    lines.push(`its order under ${ranking.signal}:`)
    lines.push(
      ...ranking.pods
        .slice(0, shownPods)
        .map(pod => `  ${pod.rank + 1}. ${podName(pod)}  (${rankText(pod, eviction)})`),
    )
    lines.push(...moreLine(ranking.pods.length, shownPods))
  }
  return lines
}

/** Upstream: eviction_manager.go Admit. MemoryPressure alone refuses only BestEffort pods. */
const refusedPods = (conditions: readonly string[]) =>
  conditions.every(condition => condition === 'MemoryPressure')
    ? 'new BestEffort pods'
    : 'new pods that are not critical'

/** A protected pod keeps its rank in upstream's order, but is never evicted. */
function rankText(pod: RankedPod, eviction: EvictionPrediction) {
  const known = eviction.protected?.find(
    ({ namespace, name: podName }) => namespace === pod.namespace && podName === pod.name,
  )
  const reason = foldedLine(pod.reason, 120)
  return known ? `never evicted: ${known.reason}; ${reason}` : reason
}

const isCount = (signal: Signal) => signal.endsWith('inodesFree') || signal === 'pid.available'
const amount = (signal: Signal, count: number | null) =>
  isCount(signal) ? formatCount(count) : formatBytes(count)

function thresholdLine({
  signal,
  value,
  resolved,
  hard,
  gracePeriodMs,
  met,
  margin,
  origin,
}: EvaluatedThreshold) {
  const kind = hard ? '' : ` for ${formatDuration(gracePeriodMs)}`
  const written = foldedLine(value, 40)
  const limit =
    isCount(signal) || written.endsWith('%') ? `${written} = ${amount(signal, resolved)}` : written
  const state = met === null ? '?    ' : 'calm '
  const head = `${met === true ? 'MET  ' : state}${signal} < ${limit}${kind}`
  const from = origin ? ` (${originText(origin, english)})` : ''
  if (resolved === null || margin === null) return `${head}: not observed${from}`
  return `${head}: ${amount(signal, resolved + margin)} left${from}`
}

/** One line for all thresholds that were lost in the same way. */
function lostLines({ lost, thresholds }: EvictionPrediction, layout: Filesystems['layout']) {
  const replacementText = ({ signal }: LostThreshold) => {
    const isStillWatched = isWatched(signal, thresholds, layout)
    if (isStillWatched === null) return ''
    return `; ${isStillWatched ? 'another threshold' : 'nothing'} watches in its place`
  }
  const alike = Map.groupBy(
    lost,
    one => `lost ${loserText(one.by, english)}${replacementText(one)}`,
  )
  return [...alike].map(([how, ones]) => {
    const named = ones.map(
      ({ signal, value }) => `${foldedLine(signal, nameLimit)} (default ${foldedLine(value, 40)})`,
    )
    return `none ${named.join(', ')}: ${how}`
  })
}

const limitLines = ({ localStorageEvictions }: NodePrediction) =>
  (localStorageEvictions ?? []).map(
    pod =>
      `evicts ${podName(pod)}: ${limitNames[pod.limit]} ${name(pod.what)} uses ${formatBytes(pod.usedBytes)} of ${formatBytes(pod.limitBytes)}`,
  )
const limitNames = { emptyDir: 'its volume', pod: 'the pod', container: 'its container' } as const

function containerLines({ containerGC }: NodePrediction) {
  if (!containerGC || containerGC.removals.length === 0) return []
  const count = (kind: string) =>
    containerGC.removals.filter(removal => removal.kind === kind).length
  const said = [
    [count('container'), 'container'],
    [count('sandbox'), 'sandbox', 'sandboxes'],
    [count('logDirectory'), 'log directory', 'log directories'],
  ] as const
  const counts = said
    .filter(([found]) => found > 0)
    .map(([found, noun, many]) => plural(found, noun, many))
  return [`within a minute removes ${counts.join(', ')}`]
}

function allocatableLines({ allocatable }: NodePrediction) {
  if (allocatable?.matchesNode !== false) return []
  return [
    'what the node reports is not what this configuration gives: it changed since the kubelet started, or the machine did',
  ]
}

/** One line for each part of the prediction that the other configuration or use changes. */
function changedLines(before: NodePrediction, after: NodePrediction): string[] {
  const comparedFacts = (prediction: NodePrediction): [string, string][] => [
    ['image GC', imageGcState(prediction.imageGC)],
    ['image GC deletes', deletionState(prediction.imageGC?.deletions ?? null)],
    ['conditions', prediction.eviction?.conditions.join(', ') || 'none'],
    ['acts on', prediction.eviction?.actsOn.join(' or ') || 'nothing'],
    ['evicts', prediction.eviction?.victims?.map(podName).join(', ') || 'no pod'],
  ]
  const then = new Map(comparedFacts(before))
  const changed = comparedFacts(after).filter(([what, state]) => then.get(what) !== state)
  if (changed.length === 0) return ['nothing, at this moment']
  return changed.map(([what, state]) => `${what}: ${then.get(what)} → ${state}`)
}

function imageGcState(imageGC: ImageGcPrediction | null) {
  if (!imageGC || (imageGC.enabled && imageGC.triggered === null)) return 'not known'
  if (!imageGC.enabled) return 'off'
  return imageGC.triggered
    ? `due, ${formatBytes(imageGC.bytesToFree)} to free`
    : `in ${formatBytes(imageGC.bytesUntilTrigger)}`
}

const deletionState = (deletions: ImageDeletion[] | null) =>
  deletions ? plural(deletions.length, 'image') : 'not known'

function timelineLines(timeline: TimelineEvent[] | null | undefined) {
  if (timeline === undefined) return []
  if (!timeline) return ['not known, see below']
  if (timeline.length === 0) return ['nothing happens within a day']
  const lines = timeline
    .slice(0, shownEvents)
    .map(event => `+${clock(event.atMs)}  ${eventText(event)} (${boundsText(event)})`)
  return [...lines, ...moreLine(timeline.length, shownEvents)]
}

const boundsText = ({ earliestMs, latestMs, certainty }: TimelineEvent) =>
  `${certainty === 'possible' ? 'possibly, ' : ''}+${clock(earliestMs)} to +${clock(latestMs)}`

const freesText = ({ least, most }: SpaceBounds) => `frees ${formatRange(least, most, formatBytes)}`

/** Hours, minutes and seconds of equal width: `01:02:03`. */
function clock(ms: number) {
  const seconds = Math.floor(ms / 1000)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`
}

function eventText({ event, detail }: TimelineEvent) {
  switch (event) {
    case 'imageGC':
      return `image GC deletes ${plural(detail.images.length, 'image')}, counts ${formatBytes(detail.freedBytes)} of ${formatBytes(detail.bytesToFree)}, ${freesText(detail.frees)}${detail.error === null ? '' : ': not enough'}`
    case 'condition':
      return detail.status
        ? `${detail.condition}: tainted, ${refusedPods([detail.condition])} are refused`
        : `${detail.condition} ends`
    case 'reclaim':
      return `for ${detail.signal} collects ${plural(detail.containers, 'dead container')} and ${plural(detail.images.length, 'unused image')}${detail.images.length === 0 ? '' : `, ${freesText(detail.frees)}`}${detail.isEnough ? ', and that is enough' : ''}`
    case 'evict':
      return `evicts ${podName(detail)} for ${detail.signal}`
    case 'recovered':
      return 'no threshold is met any more'
    case 'full':
      return `${detail.filesystem} is full`
  }
}

const unknownText = ({ what, effect }: Unknown) =>
  `${foldedLine(what, 120)}: ${foldedLine(effect, 240)}`

/** Unknowns of the next start are left out if its files were never read. Those of victims stand beside the victims. */
function unknownLines({ unknowns: all, nextStart, eviction }: NodePrediction) {
  const isShown = eviction?.victims?.some(({ certainty }) => certainty === 'possible')
  const unknowns = all.filter(
    ({ part }) => !(part === 'victims' && isShown) && (part !== 'nextStart' || nextStart !== null),
  )
  const lines = unknowns.slice(0, shownUnknowns).map(unknownText)
  return [...lines, ...moreLine(unknowns.length, shownUnknowns)]
}
