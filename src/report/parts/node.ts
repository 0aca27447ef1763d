/** One node's card: its identity, and its bars or the reason why the node has none. */

import type { ReadMode } from '#model/input/record.ts'
import {
  type DiskHolder,
  type FilesystemLedger,
  type Filesystems,
  type GroupDiskUse,
  heldLines,
  type LedgerLine,
} from '#model/prediction.ts'
import type { Assumptions, AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { momentOf } from './anchors.ts'
import { groupName } from './consumers.ts'
import { diskOutlooks, growthNotes } from './disk-outlook.ts'
import {
  type Alerts,
  describeGauge,
  type Gauge,
  gaugesOf,
  nearestOf,
  type SegmentKind,
  segmentKinds,
} from './gauge.ts'
import { layOutLadder } from './ladder.ts'
import { boundsText } from './steps.ts'

const barHeights = { disk: 24, memory: 14, inodes: 10 }
const spaceForPointer = 9
const shownReasons = 8
export const nameLimit = 120

/** The rights that each way to read a node needs. */
export const modeRights: Readonly<Record<ReadMode, string[]>> = {
  proxy: ['get nodes/proxy'],
  ssm: ['ssm:SendCommand'],
  both: ['get nodes/proxy', 'ssm:SendCommand'],
  kubelet: ['get nodes/configz', 'get nodes/stats'],
}

interface NodePlace {
  /** Prefix of the ids of its pictures. */
  id: string
  anchor: string | null
  /** Whether the page lists what holds its disk. */
  hasDisk: boolean
  /** Of the run; null: unknown, or several. */
  region: string | null
  assumptions: Assumptions
}

export function nodeView({ node, gauges }: GaugedNode, place: NodePlace, language: Language) {
  const { words: all, line } = language
  const words = all.node
  const { id, anchor, assumptions } = place
  const { identity, errors } = node
  const system = identity.operatingSystem === 'windows' ? 'Windows' : null
  const about = [
    identity.owner,
    identity.instanceType,
    identity.amiFamily,
    system === identity.amiFamily ? null : system,
    identity.kubeletVersion,
  ]
  const reasons = errors
    .slice(0, shownReasons)
    .map(({ what, message }) => ({ what: line(what, 60), message: line(message, 400) }))
  if (errors.length > shownReasons)
    reasons.push({ what: words.more, message: words.moreReasons(errors.length - shownReasons) })
  return {
    anchor,
    name: line(identity.name, nameLimit),
    about: all.list([
      ...about.filter(part => part !== null).map(part => line(part, 60)),
      identity.ready === null ? words.readinessUnknown : words.ready[identity.ready],
      words.asked(all.ways[node.mode]),
    ]),
    coverage: all.coverage[node.coverage],
    isRead: node.coverage === 'read',
    at: momentOf(node.at, language),
    notes: [
      ...notesOf(node, language),
      ...growthNotes(node, language),
      ...[stressText(node, assumptions, language) ?? []].flat(),
    ],
    reasons:
      gauges.length === 0 && reasons.length === 0
        ? [{ what: words.disk, message: words.nothingObserved }]
        : reasons,
    bars: gauges
      .filter(gauge => !isCalm(gauge))
      .map((gauge, index) => barView(node, gauge, { id: `${id}b${index + 1}` }, language)),
    calm: gauges
      .filter(isCalm)
      .map(({ title, usedPercent, summary }) =>
        words.calm(title, words.used(language.percent(usedPercent ?? 0)), summary()),
      ),
    links: nodeLinks(node, place, language),
  }
}

/** Inodes and memory far from every threshold: a line of text, not a picture. */
const isCalm = ({ kind, state, usedPercent, warnings, headroomPercent }: Gauge) =>
  kind !== 'disk' &&
  state === 'calm' &&
  usedPercent !== null &&
  warnings.length === 0 &&
  (headroomPercent ?? 0) >= calmPercent

const calmPercent = 15

function nodeLinks(
  { cluster, identity }: AuditedNode,
  { anchor, hasDisk, region }: NodePlace,
  { words: { node: words } }: Language,
) {
  const disk = hasDisk
    ? [{ text: words.links.disk, href: `#disk-${identity.name}`, isOutside: false }]
    : []
  const findings = `#findings?text=${identity.name}`
  // Only a valid name has an anchor.
  const own =
    anchor === null
      ? []
      : [...disk, { text: words.links.findings, href: findings, isOutside: false }]
  const links = consoleLinks(identity.instanceId, regionOf(cluster, region))
  if (!links) return own
  const outside = (['instance', 'session'] as const).flatMap(name => {
    const href = links[name]
    return href === null ? [] : [{ text: words.links[name], href, isOutside: true }]
  })
  return [...own, ...outside]
}

const notesOf = ({ prediction: { filesystems, settings } }: AuditedNode, language: Language) => [
  ...(settings.isOnDisk ? [language.words.node.onDisk] : []),
  ...layoutNotes(filesystems, language),
]

function layoutNotes(
  { nodefs, imagefs, layout, layoutCertainty }: Filesystems,
  { words: { node: words, confidences } }: Language,
) {
  if (!nodefs && !imagefs) return []
  if (layout === null) return [words.layoutUnknown]
  if (layoutCertainty === 'certain') return []
  return [
    words.layout[layout](
      layoutCertainty === null ? words.notCertain : confidences[layoutCertainty],
    ),
  ]
}

/** The disk's holders as segments, its use, and the marks at which something acts. */
export function barView(
  node: AuditedNode,
  gauge: Gauge,
  {
    id,
    height = barHeights[gauge.kind],
    owners,
  }: { id: string; height?: number; owners?: readonly GroupDiskUse[] | undefined },
  language: Language,
) {
  const { node: words } = language.words
  const hard = gauge.marks
    .filter(({ kind }) => kind === 'hard')
    .map(({ percent }) => Math.min(Math.max(percent, 0), 100))
  const keptFrom = hard.length > 0 ? Math.min(...hard) : null
  const ledger = ledgerOf(node, gauge)
  const layout = layOutLadder(gauge.marks, height, spaceForPointer, language)
  const freeFrom = keptFrom === null ? null : Math.max(keptFrom, gauge.usedPercent ?? 0)
  return {
    ...layout,
    id,
    title: gauge.title,
    summary: gauge.summary(),
    description: describeGauge(gauge, language),
    isThin: gauge.kind === 'inodes',
    used: gauge.usedPercent === null ? null : words.used(language.percent(gauge.usedPercent)),
    usedX: gauge.usedPercent === null ? null : `${gauge.usedPercent.toFixed(2)}%`,
    segments: ledger ? segmentsOf(ledger, language, owners) : [],
    over: evictionStrip(gauge.usedPercent, keptFrom, layout),
    state: gauge.state,
    stateText: words.states[gauge.state],
    keptFree:
      freeFrom === null
        ? null
        : { x: `${freeFrom.toFixed(2)}%`, width: `${(100 - freeFrom).toFixed(2)}%` },
    warnings: gauge.warnings,
    facts: gauge.facts.map(fact => fact()),
  }
}

/** The part of the use above the threshold of hard eviction: a strip at the foot of the bar. */
function evictionStrip(
  usedPercent: number | null,
  keptFrom: number | null,
  { barTop, barHeight }: ReturnType<typeof layOutLadder>,
) {
  if (usedPercent === null || keptFrom === null || usedPercent <= keptFrom) return null
  return {
    x: `${keptFrom.toFixed(2)}%`,
    width: `${(usedPercent - keptFrom).toFixed(2)}%`,
    y: barTop + barHeight - 5,
  }
}

/** Null: the gauge is of no disk, or what holds the disk is unknown. */
export const ledgerOf = (
  { details }: AuditedNode,
  { filesystem }: Gauge,
): FilesystemLedger | null =>
  details().ledger?.filesystems.find(disk => disk.filesystem === filesystem) ?? null

/** A node with its worst state and least headroom, for ordering, drawing and tables. */
export class GaugedNode {
  readonly node: AuditedNode
  /** The worst state of its gauges. */
  readonly state: Gauge['state']
  /** The least headroom of its gauges; null: unknown. */
  readonly headroomPercent: number | null
  /** Of its gauges, in percent. Null: not observed; undefined: it has no such gauge. */
  readonly used: Readonly<Record<'images' | 'nodefs' | 'memory', number | null | undefined>>
  /** Of the disk that is nearest to eviction. Null: no disk was observed. */
  readonly nearest: Pick<Gauge, 'usedPercent' | 'state' | 'headroomPercent' | 'marks'> | null
  readonly #alerts: Alerts
  readonly #language: Language

  constructor(node: AuditedNode, alerts: Alerts, language: Language) {
    this.node = node
    this.#alerts = alerts
    this.#language = language
    const { gauges } = this
    const states = gauges.map(({ state }) => state)
    const known = gauges.flatMap(({ headroomPercent }) => headroomPercent ?? [])
    this.state = (['pressure', 'image-gc'] as const).find(state => states.includes(state)) ?? 'calm'
    this.headroomPercent = known.length > 0 ? Math.min(...known) : null
    const usedPercentBy = (matches: (gauge: Gauge) => boolean) => gauges.find(matches)?.usedPercent
    this.used = {
      images: usedPercentBy(({ holdsImages }) => holdsImages),
      nodefs: usedPercentBy(({ kind, holdsImages }) => kind === 'disk' && !holdsImages),
      memory: usedPercentBy(({ kind }) => kind === 'memory'),
    }
    const nearest = nearestOf(gauges)
    this.nearest = nearest && withoutTexts(nearest)
  }

  /**
   * Built on each access and not stored: gauges with their texts are many times larger than the
   * node, and few nodes are drawn.
   */
  get gauges(): Gauge[] {
    return gaugesOf(this.node, this.#alerts, this.#language)
  }
}

const withoutTexts = ({ usedPercent, state, headroomPercent, marks }: Gauge) => ({
  usedPercent,
  state,
  headroomPercent,
  marks,
})

/* Links to a node's pages in the AWS console. Source: AWS, endpoints of the Management Console, per partition. */

const domains = [
  { regions: /^cn-/, domain: 'console.amazonaws.cn' },
  { regions: /^us-gov-/, domain: 'console.amazonaws-us-gov.com' },
  { regions: /^[a-z]{2}-[a-z]+-\d+$/, domain: 'console.aws.amazon.com' },
]

/** @param cluster its name, or `account/region/name` if the run has several regions */
export const regionOf = (cluster: string, ofRun: string | null): string | null =>
  /^\d{12}\/([a-z0-9-]+)\//.exec(cluster)?.[1] ?? ofRun

/** Null: not a managed node, or of an unknown partition. A hybrid node (`mi-`) is no instance of EC2. */
export function consoleLinks(instanceId: string | null, region: string | null) {
  const domain = domains.find(({ regions }) => regions.test(region ?? ''))?.domain
  const [, hybrid] = /^(m?)i-[0-9a-f]{8,17}$/.exec(instanceId ?? '') ?? []
  if (domain === undefined || hybrid === undefined) return null
  const host = `https://${region}.${domain}`
  return {
    instance: hybrid
      ? null
      : `${host}/ec2/home?region=${region}#InstanceDetails:instanceId=${instanceId}`,
    session: `${host}/systems-manager/session-manager/${instanceId}?region=${region}`,
  }
}

/** Null: no disk is known. */
function stressText(node: AuditedNode, assumptions: Assumptions, language: Language) {
  const { next: words } = language.words
  const time = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? words.never : words.after(language.duration(roundMs(ms)))
  const parts = diskOutlooks(node.prediction, node.growth, assumptions).map(
    ({ title, imageGcMs, evictionMs, first }) =>
      words.stressDisk(title, time(imageGcMs), time(evictionMs), words.acts[first]),
  )
  return parts.length === 0
    ? null
    : words.stress(
        language.percent(assumptions.growthPercent),
        language.duration(assumptions.imageGcPeriodMs),
        parts,
      )
}

/** Rounds to minutes, because an estimate is not exact to the second. */
const roundMs = (ms: number) => Math.round(ms / 60_000) * 60_000

/*
 * The used part of a disk's bar: a segment for each kind of holder. Of a holder with bounds, the part above the lower bound is an
 * estimate, which the bar hatches.
 */

const kindOf: Record<DiskHolder, Exclude<SegmentKind, 'other'>> = {
  'images-in-use': 'images',
  'images-pinned': 'images',
  images: 'images',
  'images-unused': 'unused-images',
  'writable-layers': 'pods',
  'pod-volumes': 'pods',
  'container-logs': 'logs',
  journal: 'logs',
  'host-logs': 'logs',
  kubelet: 'host',
  // Layers as they were pulled, of images in use and of unused ones.
  'image-content': 'host',
  'core-dumps': 'host',
  'package-caches': 'host',
  'temporary-files': 'host',
  'other-runtime': 'host',
  system: 'host',
  'reserved-blocks': 'host',
  'leftover-snapshots': 'leftover',
  'other-namespaces': 'leftover',
  'not-images': 'leftover',
  'dead-containers': 'leftover',
  'log-debris': 'leftover',
  'orphaned-pods': 'leftover',
  'deleted-open-files': 'leftover',
  'host-path': 'pods',
  'local-volumes': 'pods',
  'memory-volumes': 'pods',
  'pod-folders': 'pods',
  'image-volumes': 'pods',
  'unknown-folder': 'host',
  unread: 'unknown',
  'not-explained': 'unknown',
}

interface Segment {
  kind: SegmentKind
  /** SVG length, such as `12.50%`. */
  x: string
  width: string
  isEstimate: boolean
  /** For people who point at the segment. */
  text: string
}

/** Whether a known holder has bounds. What was not measured has its hatch in its own entry of the legend. */
export const hasEstimateOf = (segments: readonly Segment[]) =>
  segments.some(({ isEstimate, kind }) => isEstimate && kind !== 'unknown')

/** Kinds of less than this part of the used bytes are drawn as one. */
const leastPart = 0.01

/** What each kind holds, in the order of the bar. */
function kindsOf(disk: FilesystemLedger, words: Language['words']) {
  const sumOf = (kind: SegmentKind, label: string, own: readonly LedgerLine[]) => {
    const sum = (bytesOf: (line: LedgerLine) => number) =>
      own.reduce((total, line) => total + bytesOf(line), 0)
    const bytes = sum(line => line.bytes)
    const lowBytes = sum(line => Math.min(line.lowBytes, line.bytes))
    return {
      kind,
      label,
      lowBytes,
      bytes,
      highBytes: Math.max(
        bytes,
        sum(one => one.highBytes),
      ),
    }
  }
  const byKind = Map.groupBy(
    heldLines(disk).filter(({ bytes }) => bytes > 0),
    ({ holder }): SegmentKind => kindOf[holder],
  )
  const kinds = [...byKind].map(([kind, own]) => sumOf(kind, labelOf(kind, own, words), own))
  const small = kinds.filter(({ bytes }) => bytes < leastPart * disk.usedBytes)
  const together = sumOf(
    'other',
    words.ledger.kinds.other,
    small.flatMap(({ kind }) => byKind.get(kind)!),
  )
  const shown = small.length < 2 ? kinds : [...kinds.filter(one => !small.includes(one)), together]
  return shown.toSorted((a, b) => segmentKinds.indexOf(a.kind) - segmentKinds.indexOf(b.kind))
}

/** Segments from the left, as far as the used bytes go. @param owners whose pods have segments of their own, largest first */
export function segmentsOf(
  ledger: FilesystemLedger,
  language: Language,
  owners: readonly GroupDiskUse[] = [],
): Segment[] {
  const { words, bytes: shown } = language
  const { capacityBytes, usedBytes } = ledger
  const segments: Segment[] = []
  let fromBytes = 0
  for (const { kind, label, lowBytes, bytes } of kindsOf(ledger, words)) {
    const add = (amount: number, isEstimate: boolean, name = label) => {
      const width = Math.min(amount, usedBytes - fromBytes)
      if (width <= 0) return
      const xPercent = (at: number) => `${((100 * at) / capacityBytes).toFixed(2)}%`
      const text = words.ledger.segment(name, shown(width), isEstimate)
      segments.push({ kind, x: xPercent(fromBytes), width: xPercent(width), isEstimate, text })
      fromBytes += width
    }
    const knownBytes = kind === 'unknown' ? 0 : lowBytes
    let restBytes = knownBytes
    for (const owner of kind === 'pods' ? podOwners(ledger, owners) : []) {
      const part = Math.min(owner.bytes, restBytes)
      add(part, false, groupName(owner, language))
      restBytes -= part
    }
    add(restBytes, false)
    add(bytes - knownBytes, true)
  }
  return segments
}

/** Owners whose pods hold a visible part of the disk, without their logs, largest first. */
export function podOwners(
  { lines, usedBytes }: FilesystemLedger,
  owners: readonly GroupDiskUse[],
): GroupDiskUse[] {
  const has = (holder: DiskHolder) => lines.some(line => line.holder === holder)
  const [hasLayers, hasVolumes] = [has('writable-layers'), has('pod-volumes')]
  return owners
    .map(owner => ({
      ...owner,
      bytes: (hasLayers ? owner.layerBytes : 0) + (hasVolumes ? owner.volumeBytes : 0),
    }))
    .filter(({ bytes }) => bytes >= leastPart * usedBytes)
    .toSorted((a, b) => b.bytes - a.bytes)
}

const unnamed: ReadonlySet<SegmentKind> = new Set(['images', 'leftover', 'unknown'])
const leastNamed = 0.99

/** The one holder, if a kind of unlike holders has only one. What was not measured has no holder. */
function labelOf(kind: SegmentKind, own: readonly LedgerLine[], { ledger }: Language['words']) {
  const all = own.reduce((sum, { bytes }) => sum + bytes, 0)
  const sumOf = (one: DiskHolder) =>
    own.reduce((sum, { holder, bytes }) => sum + (holder === one ? bytes : 0), 0)
  const only = own.find(({ holder }) => all > 0 && sumOf(holder) >= leastNamed * all)?.holder
  // A disk of images alone has nothing of the host.
  return only !== undefined && only !== 'unread' && (unnamed.has(kind) || only === 'image-content')
    ? ledger.holders[only]
    : ledger.kinds[kind]
}

/** Label and amount of each kind, in the order of the bar. */
export const segmentLegend = (ledger: FilesystemLedger, language: Language) =>
  kindsOf(ledger, language.words)
    // What is too small to see needs no colour.
    .filter(({ highBytes }) => highBytes >= leastPart * ledger.usedBytes)
    .map(({ kind, label, ...sum }) => ({
      kind,
      label,
      amount: boundsText(sum, language),
      isUnknown: kind === 'unknown',
    }))

/** Names of kinds, for bars without amounts. */
export const kindLegend = (kinds: readonly SegmentKind[], { words }: Language) =>
  kinds.map(kind => ({ kind, label: words.ledger.kinds[kind], isUnknown: kind === 'unknown' }))
