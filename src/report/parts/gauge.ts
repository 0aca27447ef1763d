/** The data of one bar: use of a filesystem or of memory, and its high-water marks. */

import { usedPercentOf } from '#base/percent.ts'
import { startsAboveUsedPercent } from '#model/kubelet/image-gc-trigger.ts'
import type { EvaluatedThreshold, FilesystemState, Signal } from '#model/prediction.ts'
import type { AuditedNode, AuditedPrediction, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'

export type MarkKind = 'gc-stop' | 'gc-start' | 'alert' | 'soft' | 'hard'

export interface Mark {
  kind: MarkKind
  /** Place on the bar, as used percent; can be outside 0 to 100. */
  percent: number
  name: string
  /** Of an eviction threshold: the filesystem of its signal. */
  filesystem?: string
  /** The setting of the mark, as configured. */
  setting: string
  /** What was configured, in the label: of image GC, which compares whole percents, and of eviction, which counts what is free. */
  set?: string
  /** Used bytes or inodes at the mark; null: unknown capacity. */
  amount: string | null
}

/** `inodes` are counts, the others are bytes. */
type GaugeKind = 'disk' | 'memory' | 'inodes'

export interface Gauge {
  title: string
  kind: GaugeKind
  /** The disk whose ledger shows its holders. Null: memory and inodes have none. */
  filesystem: 'nodefs' | 'imagefs' | null
  /** Whether image GC watches this filesystem. */
  holdsImages: boolean
  /** Null: not observed. */
  usedPercent: number | null
  /** Made on demand, as `facts` are: most gauges are only compared. */
  summary: () => string
  /** What the kubelet does about this use now. */
  state: 'calm' | 'image-gc' | 'pressure'
  /**
   * Free bytes or inodes above the nearest eviction threshold, in percent of the capacity;
   * negative: the threshold is met; null: unknown.
   */
  headroomPercent: number | null
  marks: Mark[]
  /** Faults in how the kubelet watches the filesystem or memory, in sentences. */
  warnings: string[]
  /** Distance to each mark, and unknowns, in sentences. */
  facts: (() => string)[]
}

/** The disk-usage percents at which the team's alerts fire (policy). */
export type Alerts = Pick<AuditReport, 'alertPercent' | 'criticalAlertPercent' | 'isAlertAssumed'>

interface GaugeAmounts {
  capacity: number | null
  available: number | null
}

/** Every gauge of a node, in drawing order; empty if no filesystem and no memory was observed. */
export function gaugesOf({ prediction }: AuditedNode, alerts: Alerts, language: Language): Gauge[] {
  const { gauge: words } = language.words
  const { filesystems, imageGC, eviction } = prediction
  const { nodefs, imagefs, layout } = filesystems
  const disk = (
    title: string,
    state: FilesystemState | null,
    prefixes: string[],
    holdsImages: boolean,
  ): Gauge[] => {
    const bytes = {
      capacity: state?.capacityBytes ?? null,
      available: state?.availableBytes ?? null,
    }
    const inodes = { capacity: state?.inodes ?? null, available: state?.inodesFree ?? null }
    const thresholdsOf = (suffix: string) =>
      eviction?.thresholds.filter(({ signal }) =>
        prefixes.some(prefix => signal === `${prefix}.${suffix}`),
      ) ?? []
    const ofInodes = thresholdsOf('inodesFree')
    const gauge = emptyGauge(title, 'disk', bytes, language)
    gauge.holdsImages = holdsImages
    gauge.filesystem = prefixes.includes('nodefs') ? 'nodefs' : 'imagefs'
    if (holdsImages) addImageGc(gauge, imageGC, bytes.capacity, language)
    addAlerts(gauge, alerts, bytes.capacity, language)
    addThresholds(gauge, thresholdsOf('available'), bytes.capacity, language)
    if (!eviction) gauge.facts.push(() => words.thresholdsUnknown)
    else if (eviction.error !== null)
      gauge.warnings.push(words.settingsDoNotParse(language.line(eviction.error, 300)))
    else if (thresholdsOf('available').length === 0) gauge.warnings.push(words.bytesUnwatched)
    if (ofInodes.length === 0) return [gauge]
    const thin = emptyGauge(words.inodesOf(title), 'inodes', inodes, language)
    addThresholds(thin, ofInodes, inodes.capacity, language)
    return [gauge, thin]
  }

  const disks = (): Gauge[] => {
    if (!nodefs && !imagefs) return []
    if (layout === 'shared')
      return disk(words.oneDisk, nodefs ?? imagefs, ['nodefs', 'imagefs'], true)
    const ofNodefs =
      layout === 'split'
        ? disk('nodefs = containerfs', nodefs, ['nodefs', 'containerfs'], false)
        : disk('nodefs', nodefs, ['nodefs'], false)
    return [...ofNodefs, ...disk('imagefs', imagefs, ['imagefs'], true)]
  }
  const memory = eviction?.signals['memory.available']
  const amounts = memory
    ? { capacity: memory.capacityBytes, available: memory.availableBytes }
    : null
  return [...disks(), ...memoryGauge(amounts, eviction?.thresholds ?? [], language)]
}

function memoryGauge(
  observed: GaugeAmounts | null,
  thresholds: EvaluatedThreshold[],
  language: Language,
): Gauge[] {
  if (!observed) return []
  const gauge = emptyGauge(language.words.gauge.memory, 'memory', observed, language)
  const watched = thresholds.filter(({ signal }) => signal === 'memory.available')
  addThresholds(gauge, watched, observed.capacity, language)
  if (watched.length === 0) gauge.warnings.push(language.words.gauge.memoryUnwatched)
  return [gauge]
}

const emptyGauge = (
  title: string,
  kind: GaugeKind,
  amounts: GaugeAmounts,
  language: Language,
): Gauge => ({
  title,
  kind,
  filesystem: null,
  holdsImages: false,
  ...gaugeUsage(amounts, kind, language),
  state: 'calm',
  headroomPercent: null,
  marks: [],
  warnings: [],
  facts: [],
})

function gaugeUsage(
  { capacity, available }: GaugeAmounts,
  kind: GaugeKind,
  { words: { gauge: words }, bytes, count }: Language,
): Pick<Gauge, 'usedPercent' | 'summary'> {
  const usedPercent = usedPercentOf(capacity, available)
  if (usedPercent === null || capacity === null || available === null)
    return { usedPercent: null, summary: () => words.notObserved }
  const free = Math.min(Math.max(available, 0), capacity)
  const [amount, text] = kind === 'inodes' ? [count, words.inodes] : [bytes, words.bytes]
  const summary = () => text(amount(capacity - free), amount(capacity), amount(free))
  return { usedPercent, summary }
}

const shareText = (percent: number, capacity: number | null, { bytes }: Language) =>
  capacity === null ? null : bytes((capacity * percent) / 100)

function addImageGc(
  gauge: Gauge,
  imageGC: AuditedPrediction['imageGC'],
  capacity: number | null,
  language: Language,
) {
  const { gauge: words } = language.words
  if (!imageGC) {
    gauge.facts.push(() => words.imageGcUnknown)
    return
  }
  const { enabled, highThresholdPercent: high, lowThresholdPercent: low, triggered } = imageGC
  if (!enabled) {
    gauge.facts.push(() => words.imageGcOff(high))
    return
  }
  const starts = Math.max(startsAboveUsedPercent(high), 0)
  gauge.marks.push(
    {
      kind: 'gc-stop',
      percent: low,
      name: words.marks['gc-stop'],
      setting: `imageGCLowThresholdPercent ${low}`,
      amount: shareText(low, capacity, language),
    },
    {
      kind: 'gc-start',
      percent: starts,
      name: words.marks['gc-start'],
      setting: `imageGCHighThresholdPercent ${high}`,
      set: words.set(`${high}`),
      amount: shareText(starts, capacity, language),
    },
  )
  if (triggered) gauge.state = 'image-gc'
  if (imageGC.error !== null)
    gauge.warnings.push(words.imageGcFails(language.line(imageGC.error, 300)))
  else if (triggered === null) gauge.facts.push(() => words.dueUnknown)
  else if (triggered) gauge.facts.push(() => words.dueNow(language.bytes(imageGC.bytesToFree)))
  else gauge.facts.push(() => words.untilImageGc(language.bytes(imageGC.bytesUntilTrigger)))
}

function addAlerts(
  gauge: Gauge,
  { alertPercent: warning, criticalAlertPercent: critical, isAlertAssumed }: Alerts,
  capacity: number | null,
  language: Language,
) {
  const { marks } = language.words.gauge
  const alert = (percent: number, name: string, setting: string): Mark => ({
    kind: 'alert',
    percent,
    name,
    amount: shareText(percent, capacity, language),
    setting: `policy ${setting} ${percent}`,
  })
  gauge.marks.push(
    ...(critical === undefined
      ? [alert(warning, isAlertAssumed ? marks.assumed : marks.alert, 'alertPercent')]
      : [
          alert(warning, marks.alert, 'alertPercent.warning'),
          alert(critical, marks.critical, 'alertPercent.critical'),
        ]),
  )
}

const filesystemOf = (signal: Signal) => signal.split('.')[0]!

function addThresholds(
  gauge: Gauge,
  thresholds: EvaluatedThreshold[],
  capacity: number | null,
  language: Language,
) {
  const { gauge: words } = language.words
  for (const { signal, value, resolved, hard, gracePeriodMs, met, margin } of nearestFirst(
    thresholds,
  )) {
    const kind = hard ? 'hard' : 'soft'
    const written = `${signal}<${language.line(value, 40)}`
    const setting = hard ? written : words.softFor(written, language.duration(gracePeriodMs))
    const amount = (number: number) =>
      signal.endsWith('.inodesFree') ? words.inodeCount(number) : language.bytes(number)
    if (resolved !== null && capacity !== null && capacity > 0) {
      const percent = (100 * (capacity - resolved)) / capacity
      const twin = gauge.marks.find(mark => mark.kind === kind && mark.percent === percent)
      if (twin) twin.setting += `, ${setting}`
      else
        gauge.marks.push({
          kind,
          percent,
          name: words.marks[kind],
          filesystem: filesystemOf(signal),
          ...(hard && value.endsWith('%') && { set: words.free(language.line(value, 40)) }),
          setting,
          amount: amount(Math.max(capacity - resolved, 0)),
        })
    }
    if (met) gauge.state = 'pressure'
    if (margin !== null && capacity !== null && capacity > 0) {
      gauge.headroomPercent = Math.min(
        (100 * margin) / capacity,
        gauge.headroomPercent ?? Number.POSITIVE_INFINITY,
      )
    }
    gauge.facts.push(() => {
      const what = words.threshold(words.marks[kind], setting)
      if (met === null || margin === null) return words.farUnknown(what, filesystemOf(signal))
      return met ? words.met(what, amount(Math.abs(margin))) : words.until(what, amount(margin))
    })
  }
}

const nearestFirst = (thresholds: EvaluatedThreshold[]) =>
  thresholds.toSorted((a, b) => (a.margin ?? Number.MAX_VALUE) - (b.margin ?? Number.MAX_VALUE))

/** Use and marks in words, for people who cannot see the picture. */
export function describeGauge({ usedPercent, summary, marks }: Gauge, language: Language) {
  const { gauge: words } = language.words
  const now =
    usedPercent === null ? words.nowUnknown : words.now(language.percent(usedPercent), summary())
  return `${now} ${marks.length > 0 ? marksText(marks, language) : words.noMarks}`
}

const marksText = (marks: Mark[], { words: { gauge: words }, percent: shown }: Language) =>
  words.marksAre(
    inOrder(marks).map(({ name, setting, percent }) =>
      words.markAt(name, shown(Math.max(percent, 0)), setting),
    ),
  )

/** The marks where something acts, by name and percents alone. Two thresholds of one kind have their filesystems, too. */
export function actingMarks({ marks }: Gauge): Mark[] {
  const nameOf = ({ kind, name, filesystem }: Mark) =>
    filesystem === undefined || marks.filter(mark => mark.kind === kind).length === 1
      ? name
      : `${name} ${filesystem}`
  return marks
    .filter(({ kind }) => kind !== 'gc-stop')
    .map(mark => ({ ...mark, name: nameOf(mark), setting: mark.set ?? '', amount: null }))
}

export const inOrder = (marks: Mark[]) => marks.toSorted((a, b) => a.percent - b.percent)

/** The nearest disk, or the inodes or the memory of a node that evicts for those alone. */
export function nearestGauge(node: AuditedNode, alerts: Alerts, language: Language) {
  const gauges = gaugesOf(node, alerts, language)
  const disk = nearestOf(gauges)
  const other = gauges.find(({ kind, state }) => kind !== 'disk' && state === 'pressure')
  return disk?.state === 'pressure' ? disk : (other ?? disk)
}

/** The disk with the least headroom, or space where no threshold watches it. Null: no disk of the node was observed. */
export function nearestOf(gauges: readonly Gauge[]): Gauge | null {
  const disks = gauges.filter(({ filesystem }) => filesystem !== null)
  const [nearest] = disks.toSorted(
    (a, b) => leftPercent(a) - leftPercent(b) || (b.usedPercent ?? 0) - (a.usedPercent ?? 0),
  )
  return nearest ?? null
}

const leftPercent = ({ headroomPercent, usedPercent }: Gauge) =>
  headroomPercent ?? (usedPercent === null ? Number.MAX_VALUE : 100 - usedPercent)

/** Kinds of holders in the bar of a disk, in its order. `leftover`: no living pod or image holds it. `other`: kinds too small to tell apart. `unknown`: no measurement covers it. */
export const segmentKinds = [
  'images',
  'unused-images',
  'pods',
  'logs',
  'host',
  'leftover',
  'other',
  'unknown',
] as const
export type SegmentKind = (typeof segmentKinds)[number]
