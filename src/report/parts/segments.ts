/**
 * The used part of a disk's bar: a segment for each kind of holder. Of a holder with bounds, the part above the lower bound is an
 * estimate, which the bar hatches.
 */
import type { DiskHolder, FilesystemLedger, LedgerLine } from '#model/prediction/disk-ledger.ts'
import type { Language } from '#report/languages/language.ts'
import { type SegmentKind, segmentKinds } from './segment-kind.ts'

const kindOf: Record<DiskHolder, Exclude<SegmentKind, 'other'>> = {
  'images-in-use': 'images',
  'images-pinned': 'images',
  images: 'images',
  'image-content': 'images',
  'images-unused': 'unused-images',
  'writable-layers': 'pods',
  'pod-volumes': 'pods',
  'container-logs': 'logs',
  journal: 'logs',
  'host-logs': 'logs',
  kubelet: 'host',
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
  'host-path': 'host',
  'local-volumes': 'host',
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

interface KindSum {
  kind: SegmentKind
  label: string
  lowBytes: number
  bytes: number
  highBytes: number
}

/** What each kind holds, in the order of the bar. */
function kindsOf({ lines, usedBytes }: FilesystemLedger, words: Language['words']): KindSum[] {
  const sumOf = (kind: SegmentKind, label: string, own: readonly LedgerLine[]): KindSum => {
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
    lines.filter(({ bytes }) => bytes > 0),
    ({ holder }): SegmentKind => kindOf[holder],
  )
  const kinds = [...byKind].map(([kind, own]) => sumOf(kind, labelOf(kind, own, words), own))
  const small = kinds.filter(({ bytes }) => bytes < leastPart * usedBytes)
  const together = sumOf(
    'other',
    words.ledger.kinds.other,
    small.flatMap(({ kind }) => byKind.get(kind)!),
  )
  const shown = small.length < 2 ? kinds : [...kinds.filter(one => !small.includes(one)), together]
  return shown.toSorted((a, b) => segmentKinds.indexOf(a.kind) - segmentKinds.indexOf(b.kind))
}

/** Segments from the left, as far as the used bytes go. */
export function segmentsOf(ledger: FilesystemLedger, { words, bytes: shown }: Language): Segment[] {
  const { capacityBytes, usedBytes } = ledger
  const segments: Segment[] = []
  let fromBytes = 0
  for (const { kind, label, lowBytes, bytes } of kindsOf(ledger, words)) {
    const add = (amount: number, isEstimate: boolean) => {
      const width = Math.min(amount, usedBytes - fromBytes)
      if (width <= 0) return
      const place = (at: number) => `${((100 * at) / capacityBytes).toFixed(2)}%`
      const text = words.ledger.segment(label, shown(width), isEstimate)
      segments.push({ kind, x: place(fromBytes), width: place(width), isEstimate, text })
      fromBytes += width
    }
    const knownBytes = kind === 'unknown' ? 0 : lowBytes
    add(knownBytes, false)
    add(bytes - knownBytes, true)
  }
  return segments
}

const unnamed: ReadonlySet<SegmentKind> = new Set(['leftover', 'unknown'])
const leastNamed = 0.99

/** The one holder, if a kind of unlike holders has only one. What was not measured has no holder. */
function labelOf(kind: SegmentKind, own: readonly LedgerLine[], { ledger }: Language['words']) {
  const all = own.reduce((sum, { bytes }) => sum + bytes, 0)
  const sumOf = (one: DiskHolder) =>
    own.reduce((sum, { holder, bytes }) => sum + (holder === one ? bytes : 0), 0)
  const only = own.find(({ holder }) => all > 0 && sumOf(holder) >= leastNamed * all)?.holder
  return only !== undefined && only !== 'unread' && unnamed.has(kind)
    ? ledger.holders[only]
    : ledger.kinds[kind]
}

/** Label and amount of each segment, largest first. */
export const segmentLegend = (ledger: FilesystemLedger, { words, bytes: shown }: Language) =>
  kindsOf(ledger, words)
    .map(({ kind, label, lowBytes, bytes, highBytes }) => {
      const [low, high] = [shown(lowBytes), shown(highBytes)]
      const amount = low === high ? shown(bytes) : words.ledger.between(low, high)
      return { kind, label, amount, bytes, isUnknown: kind === 'unknown' }
    })
    .toSorted((a, b) => b.bytes - a.bytes)

/** Names of kinds, for bars without amounts. */
export const kindLegend = (kinds: readonly SegmentKind[], { words }: Language) =>
  kinds.map(kind => ({ kind, label: words.ledger.kinds[kind], isUnknown: kind === 'unknown' }))
