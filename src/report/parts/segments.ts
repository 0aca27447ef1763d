/**
 * The used part of a disk's bar: a segment for each kind of holder. Of a holder with bounds, the part above the lower bound is an
 * estimate, which the bar hatches.
 */
import type { DiskHolder, FilesystemLedger, LedgerLine } from '#model/prediction/disk-ledger.ts'
import type { Language } from '#report/languages/language.ts'
import { type SegmentKind, segmentKinds } from './segment-kind.ts'

const kindOf: Record<DiskHolder, SegmentKind> = {
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

/** Segments from the left, as far as the used bytes go. */
export function segmentsOf(
  { lines, capacityBytes, usedBytes }: FilesystemLedger,
  { words, bytes }: Language,
): Segment[] {
  const segments: Segment[] = []
  let fromBytes = 0
  const add = (kind: SegmentKind, amount: number, isEstimate: boolean) => {
    const width = Math.min(amount, usedBytes - fromBytes)
    if (width <= 0) return
    const place = (at: number) => `${((100 * at) / capacityBytes).toFixed(2)}%`
    const label = labelOf(kind, lines, words)
    const text = words.ledger.segment(label, bytes(width), isEstimate)
    segments.push({ kind, x: place(fromBytes), width: place(width), isEstimate, text })
    fromBytes += width
  }
  for (const kind of segmentKinds) {
    const own = lines.filter(line => kindOf[line.holder] === kind)
    const knownBytes = own.reduce((sum, line) => sum + Math.min(line.lowBytes, line.bytes), 0)
    const allBytes = own.reduce((sum, line) => sum + line.bytes, 0)
    const isUnknown = kind === 'unknown'
    add(kind, isUnknown ? 0 : knownBytes, false)
    add(kind, isUnknown ? allBytes : allBytes - knownBytes, true)
  }
  return segments
}

const unnamed: ReadonlySet<SegmentKind> = new Set(['leftover', 'unknown'])
const leastNamed = 0.99

/** The one holder, if a kind of unlike holders has only one. What was not measured has no holder. */
function labelOf(kind: SegmentKind, lines: readonly LedgerLine[], { ledger }: Language['words']) {
  const own = lines.filter(({ holder }) => kindOf[holder] === kind)
  const all = own.reduce((sum, { bytes }) => sum + bytes, 0)
  const sumOf = (one: DiskHolder) =>
    own.reduce((sum, { holder, bytes }) => sum + (holder === one ? bytes : 0), 0)
  const only = own.find(({ holder }) => all > 0 && sumOf(holder) >= leastNamed * all)?.holder
  return only !== undefined && only !== 'unread' && unnamed.has(kind)
    ? ledger.holders[only]
    : ledger.kinds[kind]
}

/** Segments of less than this part of the used bytes are not in the legend. */
const leastPart = 0.01

/** Label and amount of each segment, largest first. */
export function segmentLegend({ lines, usedBytes }: FilesystemLedger, { words, bytes }: Language) {
  return segmentKinds
    .flatMap(kind => {
      const own = lines.filter(line => kindOf[line.holder] === kind)
      const sum = (amount: 'bytes' | 'lowBytes' | 'highBytes') =>
        own.reduce((total, line) => total + line[amount], 0)
      const [allBytes, lowBytes] = [sum('bytes'), sum('lowBytes')]
      if (allBytes < Math.max(1, leastPart * usedBytes)) return []
      const highBytes = Math.max(allBytes, sum('highBytes'))
      const [low, high] = [bytes(lowBytes), bytes(highBytes)]
      const amount = low === high ? bytes(allBytes) : words.ledger.between(low, high)
      return [
        { kind, label: labelOf(kind, own, words), amount, allBytes, isUnknown: kind === 'unknown' },
      ]
    })
    .toSorted((a, b) => b.allBytes - a.allBytes)
}
