/** What one bar stands for: how full a filesystem (or memory) is, in which counts, and its high-water marks. No drawing yet. */

import type { EvaluatedThreshold, FilesystemState, Signal } from '#model/prediction.ts'
import type { AuditedNode, AuditedPrediction } from '#model/report.ts'
import { counted, formatBytes, formatCount, formatDuration, formatPercent } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'

export type MarkKind = 'gc-stop' | 'gc-start' | 'alert' | 'soft' | 'hard'

export interface Mark {
  kind: MarkKind
  /** Where on the bar, as used percent; may lie outside of 0 to 100. */
  percent: number
  name: string
  /** The setting that puts it there, as configured. */
  setting: string
  /** The used bytes or inodes at the mark; null where the capacity is not known. */
  amount: string | null
}

/** Inodes are counted, the others are bytes. */
type GaugeKind = 'disk' | 'memory' | 'inodes'

export interface Gauge {
  title: string
  kind: GaugeKind
  /** Whether image GC watches this one. */
  holdsImages: boolean
  /** Null: not observed. */
  usedPercent: number | null
  summary: string
  /** What the kubelet does about it at this moment. */
  state: 'calm' | 'image-gc' | 'pressure'
  /** Free bytes or inodes above the nearest eviction threshold, in percent of the capacity: negative when met, null when none is known. */
  headroomPercent: number | null
  marks: Mark[]
  /** What is wrong with how it is watched, in sentences. */
  warnings: string[]
  /** How far it is to each mark, and what is not known, in sentences. */
  facts: string[]
}

interface Amounts {
  capacity: number | null
  available: number | null
}

/** Every gauge of a node, in the order in which they are drawn; empty where no filesystem and no memory was observed. */
export function gaugesOf({ prediction }: AuditedNode, alertPercent: number): Gauge[] {
  const { filesystems, imageGC, eviction } = prediction
  const { nodefs, imagefs, layout } = filesystems
  const disk = (title: string, state: FilesystemState | null, prefixes: string[], holdsImages: boolean): Gauge[] => {
    const bytes = { capacity: state?.capacityBytes ?? null, available: state?.availableBytes ?? null }
    const inodes = { capacity: state?.inodes ?? null, available: state?.inodesFree ?? null }
    const watched = (suffix: string) =>
      eviction?.thresholds.filter(({ signal }) => prefixes.some(prefix => signal === `${prefix}.${suffix}`)) ?? []
    const ofInodes = watched('inodesFree')
    const gauge = emptyGauge(title, 'disk', bytes)
    gauge.holdsImages = holdsImages
    if (holdsImages) addImageGc(gauge, imageGC, bytes.capacity)
    gauge.marks.push({
      kind: 'alert',
      percent: alertPercent,
      name: 'your alert',
      setting: `policy alertPercent ${alertPercent}`,
      amount: share(alertPercent, bytes.capacity),
    })
    addThresholds(gauge, watched('available'), bytes.capacity)
    if (eviction === null) gauge.facts.push('Eviction thresholds: unknown.')
    else if (eviction.error !== null) gauge.warnings.push(`The eviction settings do not parse: ${shownLine(eviction.error, 300)}`)
    else if (watched('available').length === 0) gauge.warnings.push('No eviction threshold watches the bytes of this filesystem.')
    if (ofInodes.length === 0) return [gauge]
    const thin = emptyGauge(`${title}, inodes`, 'inodes', inodes)
    addThresholds(thin, ofInodes, inodes.capacity)
    return [gauge, thin]
  }

  const disks =
    nodefs === null && imagefs === null
      ? []
      : layout === 'shared'
        ? disk('nodefs = imagefs (one disk)', nodefs ?? imagefs, ['nodefs', 'imagefs'], true)
        : layout === 'split'
          ? [...disk('nodefs = containerfs', nodefs, ['nodefs', 'containerfs'], false), ...disk('imagefs', imagefs, ['imagefs'], true)]
          : [...disk('nodefs', nodefs, ['nodefs'], false), ...disk('imagefs', imagefs, ['imagefs'], true)]
  const memory = eviction?.signals['memory.available']
  const amounts = memory ? { capacity: memory.capacityBytes, available: memory.availableBytes } : null
  return [...disks, ...memoryGauge(amounts, eviction?.thresholds ?? [])]
}

function memoryGauge(observed: Amounts | null, thresholds: EvaluatedThreshold[]): Gauge[] {
  if (observed === null) return []
  const gauge = emptyGauge('memory', 'memory', observed)
  const watched = thresholds.filter(({ signal }) => signal === 'memory.available')
  addThresholds(gauge, watched, observed.capacity)
  if (watched.length === 0) gauge.warnings.push('No eviction threshold watches the memory of this node.')
  return [gauge]
}

function emptyGauge(title: string, kind: GaugeKind, amounts: Amounts): Gauge {
  return {
    title,
    kind,
    holdsImages: false,
    ...standing(amounts, kind),
    state: 'calm',
    headroomPercent: null,
    marks: [],
    warnings: [],
    facts: [],
  }
}

function standing({ capacity, available }: Amounts, kind: GaugeKind): { usedPercent: number | null; summary: string } {
  if (capacity === null || available === null || !(capacity > 0) || !Number.isFinite(available)) {
    return { usedPercent: null, summary: 'unknown: not observed' }
  }
  const free = Math.min(Math.max(available, 0), capacity)
  const amount = kind === 'inodes' ? formatCount : formatBytes
  const what = kind === 'inodes' ? ' inodes' : ''
  return {
    usedPercent: (100 * (capacity - free)) / capacity,
    summary: `${amount(capacity - free)} of ${amount(capacity)}${what}, ${amount(free)} free`,
  }
}

const share = (percent: number, capacity: number | null) => (capacity === null ? null : formatBytes((capacity * percent) / 100))

function addImageGc(gauge: Gauge, imageGC: AuditedPrediction['imageGC'], capacity: number | null): void {
  if (imageGC === null) {
    gauge.facts.push('Image GC: unknown.')
    return
  }
  const { enabled, highThresholdPercent: high, lowThresholdPercent: low, triggered } = imageGC
  if (!enabled) {
    gauge.facts.push(`Image GC by disk usage is off (imageGCHighThresholdPercent ${high}).`)
    return
  }
  // usagePercent is 100 − floor(available percent), so that "usage >= high" holds as soon as more than high − 1 percent are used.
  // pkg/kubelet/images/image_gc_manager.go GarbageCollect
  const starts = Math.max(high - 1, 0)
  gauge.marks.push(
    { kind: 'gc-stop', percent: low, name: 'image GC stops', setting: `imageGCLowThresholdPercent ${low}`, amount: share(low, capacity) },
    {
      kind: 'gc-start',
      percent: starts,
      name: 'image GC starts',
      setting: `imageGCHighThresholdPercent ${high}`,
      amount: share(starts, capacity),
    },
  )
  if (imageGC.error !== null) gauge.warnings.push(`Image GC fails: ${shownLine(imageGC.error, 300)}`)
  else if (triggered === null) gauge.facts.push('Whether image GC is due: unknown.')
  else if (triggered) {
    gauge.state = 'image-gc'
    gauge.facts.push(`Image GC is due now: ${formatBytes(imageGC.bytesToFree)} to free.`)
  } else gauge.facts.push(`${formatBytes(imageGC.bytesUntilTrigger)} more until image GC starts.`)
}

const filesystemOf = (signal: Signal) => signal.split('.')[0]!
const isInodes = (signal: Signal) => signal.endsWith('.inodesFree')

function addThresholds(gauge: Gauge, thresholds: EvaluatedThreshold[], capacity: number | null): void {
  for (const { signal, value, resolved, hard, gracePeriodMs, met, margin } of nearestFirst(thresholds)) {
    const kind = hard ? 'hard' : 'soft'
    const setting = `${signal}<${shownLine(value, 40)}${hard ? '' : ` for ${formatDuration(gracePeriodMs)}`}`
    const amount = (number: number) => (isInodes(signal) ? counted(number, 'inode') : formatBytes(number))
    if (resolved !== null && capacity !== null && capacity > 0) {
      const percent = (100 * (capacity - resolved)) / capacity
      const twin = gauge.marks.find(mark => mark.kind === kind && mark.percent === percent)
      if (twin) twin.setting += `, ${setting}`
      else gauge.marks.push({ kind, percent, name: `${kind} eviction`, setting, amount: amount(Math.max(capacity - resolved, 0)) })
    }
    if (met) gauge.state = 'pressure'
    if (margin !== null && capacity !== null && capacity > 0) {
      gauge.headroomPercent = Math.min((100 * margin) / capacity, gauge.headroomPercent ?? Number.POSITIVE_INFINITY)
    }
    const what = `${kind} eviction (${setting})`
    if (met === null || margin === null) gauge.facts.push(`How far to ${what}: unknown, ${filesystemOf(signal)} was not observed.`)
    else if (met) gauge.facts.push(`Met: ${what}, ${amount(Math.abs(margin))} below it.`)
    else gauge.facts.push(`${amount(margin)} more until ${what}.`)
  }
}

const nearestFirst = (thresholds: EvaluatedThreshold[]) =>
  thresholds.toSorted((a, b) => (a.margin ?? Number.MAX_VALUE) - (b.margin ?? Number.MAX_VALUE))

/** The marks and the standing in words, for who cannot see the picture. */
export function describeGauge({ usedPercent, summary, marks }: Gauge): string {
  const now = usedPercent === null ? 'How full it is now is unknown.' : `Now ${formatPercent(usedPercent)} used, ${summary}.`
  const named = inOrder(marks).map(({ name, setting, percent }) => `${name} at ${formatPercent(Math.max(percent, 0))} (${setting})`)
  return `${now} ${named.length > 0 ? `Marks: ${named.join('; ')}.` : 'No marks.'}`
}

export const inOrder = (marks: Mark[]) => marks.toSorted((a, b) => a.percent - b.percent)
