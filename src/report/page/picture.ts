/** The first picture of the page: the node that is nearest to eviction, what holds its disk, and where something acts. */

import type { FillReading, ReclaimRound } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { FoundCause } from '#report/parts/causes.ts'
import { answersOf } from '#report/parts/causes.ts'
import {
  type Alerts,
  actingMarks,
  describeGauge,
  type Gauge,
  inOrder,
  type Mark,
  type MarkKind,
  nearestGauge,
  nearestOf,
} from '#report/parts/gauge.ts'
import { layOutLadder } from '#report/parts/ladder.ts'
import {
  barView,
  type GaugedNode,
  hasEstimateOf,
  ledgerOf,
  segmentLegend,
  segmentsOf,
} from '#report/parts/node.ts'
import type { OutlookView } from '#report/parts/outlook.ts'

type FirstRow = OutlookView['rows'][number] & {
  anchor: string | null
  /** Day since which its cause is open. Null: unknown. */
  since: string | null
  step: { anchor: string | null } | null
}

/** Null: no node is near eviction, or no disk of the nearest node was observed. */
export function pictureView(
  row: FirstRow | undefined,
  causes: readonly FoundCause[],
  alerts: Alerts,
  language: Language,
) {
  const gauge = row === undefined ? null : nearestGauge(row.node, alerts, language)
  if (row === undefined || gauge === null) return null
  const ledger = ledgerOf(row.node, gauge)
  const { picture: words, clauses } = language.words
  const since =
    !row.isNow || row.since === null || row.node.pressures !== undefined
      ? ''
      : language.words.since(row.since)
  const short = row.shortBytes > 0 ? words.short(language.bytes(row.shortBytes)) : ''
  const marks = actingMarks(gauge, language)
  const later = laterMarks(marks, language)
  return {
    name: row.name,
    anchor: row.anchor,
    state: row.state,
    isNow: row.isNow,
    about: clauses(
      [words.where(row.where), later === '' ? row.note : '', short, later, since].filter(Boolean),
    ),
    basis: row.basis,
    answers: answersOf(row, causes, language).map(({ isStep, ...answer }) => ({
      ...answer,
      anchor: isStep ? (row.step?.anchor ?? null) : null,
    })),
    bar: {
      ...barView(row.node, { ...gauge, marks }, { id: 'first', height: 36 }, language),
      description: describeGauge(gauge, language),
      stateText: '',
      warnings: [],
      facts: [],
    },
    legend: ledger === null ? [] : segmentLegend(ledger, language),
    hasEstimate: ledger !== null && hasEstimateOf(segmentsOf(ledger, language)),
    plot: fillPlot(row.node, gauge, language),
  }
}

/** Where hard eviction acts, and what acts only later: image GC, else the alert. Empty: nothing. */
function laterMarks(marks: Mark[], { words, percent: shown }: Language): string {
  const ordered = inOrder(marks)
  const hard = ordered.find(({ kind }) => kind === 'hard')
  const later = ordered.filter(
    ({ kind, percent }) =>
      hard !== undefined && percent > hard.percent && (kind === 'gc-start' || kind === 'alert'),
  )
  return later.length === 0
    ? ''
    : words.picture.later(
        later.map(({ name, percent }) => `${name} ${shown(percent)}`),
        shown(hard!.percent),
      )
}

/** The bar of a row in "Next to break": without labels, because the columns beside it have the numbers. */
export function smallBar(node: AuditedNode, alerts: Alerts, language: Language) {
  const gauge = nearestGauge(node, alerts, language)
  if (gauge === null || gauge.usedPercent === null) return null
  const ledger = ledgerOf(node, gauge)
  return {
    used: `${gauge.usedPercent.toFixed(2)}%`,
    state: gauge.state,
    segments: ledger === null ? [] : segmentsOf(ledger, language),
    marks: gauge.marks.map(({ kind, percent }) => ({
      kind,
      x: `${Math.min(Math.max(percent, 0), 100).toFixed(2)}%`,
    })),
  }
}

/* The use of one disk over the last days: readings, rounds of image GC, evictions, and the marks where something acts. */

/** Two readings are a straight line that shows nothing. */
const leastReadings = 3
const height = 132
/** Used percent above and below what is drawn. */
const sparePercent = 4
/** Pixels between the texts of two marks. */
const leastApart = 14

interface Point {
  ms: number
  percent: number
}

interface Course {
  readings: Point[]
  /** Rounds of image GC, with the use before and after where both are known. */
  rounds: { ms: number; ends: Point[] }[]
  evictions: number[]
}

/** Null: fewer than three readings of the disk are known. */
export function fillPlot(node: AuditedNode, gauge: Gauge, language: Language) {
  const course = courseOf(node, gauge)
  const [first, last] = [course?.readings[0], course?.readings.at(-1)]
  if (course === null || first === undefined || last === undefined) return null
  const { readings, rounds, evictions } = course
  const path = [...readings, ...rounds.flatMap(({ ends }) => ends)].toSorted((a, b) => a.ms - b.ms)
  const levels = gauge.marks.filter(({ percent }) => percent >= 0 && percent <= 100)
  const place = placesIn(
    first.ms,
    last.ms,
    [...path, ...levels].map(({ percent }) => percent),
  )
  const { plot: words } = language.words
  const [from, to] = [timeOf(first.ms).slice(0, 10), timeOf(last.ms).slice(0, 10)]
  return {
    title: words.title(gauge.title, readings.length, from, to),
    description: words.description(
      readings.map(({ percent }) => language.percent(percent)),
      rounds.length,
      evictions.length,
    ),
    height,
    from,
    to,
    line: path
      .map(
        (point, index) => `${index === 0 ? 'M' : 'L'}${place.x(point.ms) * 10} ${place.y(point)}`,
      )
      .join(''),
    readings: readings.map(point => ({
      x: `${place.x(point.ms)}%`,
      y: place.y(point),
      text: language.percent(point.percent),
    })),
    rounds: rounds.map(({ ms }) => ({ x: `${place.x(ms)}%`, text: words.round(timeOf(ms)) })),
    evictions: evictions.map(ms => ({ x: `${place.x(ms)}%`, text: words.eviction(timeOf(ms)) })),
    levels: levelsOf(levels, place.y, language),
  }
}

function courseOf(
  { fill, rounds = [], prediction: { imageGC } }: AuditedNode,
  { filesystem, holdsImages }: Gauge,
): Course | null {
  if (fill === undefined) return null
  const isImages = filesystem === 'imagefs' && fill.layout !== 'shared'
  const capacity = isImages ? fill.imagefsCapacityBytes : fill.nodefsCapacityBytes
  const usedOf = (reading: FillReading) =>
    isImages ? reading.imagefsUsedBytes : reading.nodefsUsedBytes
  if (!capacity) return null
  const percentOf = (bytes: number) => (100 * bytes) / capacity
  const readings = fill.readings.flatMap(reading => {
    const used = usedOf(reading)
    return used === null ? [] : [{ ms: Date.parse(reading.at), percent: percentOf(used) }]
  })
  if (readings.length < leastReadings) return null
  const isShown = (ms: number) => ms >= readings[0]!.ms && ms <= readings.at(-1)!.ms
  const low = imageGC?.lowThresholdPercent
  const endsOf = (ms: number, { wantedBytes, freedBytes }: ReclaimRound): Point[] => {
    if (low === undefined || wantedBytes === null || freedBytes === null) return []
    // The kubelet wants to free what is used above the low threshold.
    const before = low + percentOf(wantedBytes)
    return [before, before - percentOf(freedBytes)].map(percent => ({ ms, percent }))
  }
  return {
    readings,
    rounds: (holdsImages ? rounds : [])
      .map(round => ({ ms: Date.parse(round.at), round }))
      .filter(({ ms }) => isShown(ms))
      .map(({ ms, round }) => ({ ms, ends: endsOf(ms, round) })),
    evictions: fill.evictedAt.map(at => Date.parse(at)).filter(isShown),
  }
}

function placesIn(firstMs: number, lastMs: number, percents: number[]) {
  const low = Math.max(0, Math.min(...percents) - sparePercent)
  const high = Math.min(100, Math.max(...percents) + sparePercent)
  return {
    /** Percent of the width. */
    x: (ms: number) => Number(((100 * (ms - firstMs)) / (lastMs - firstMs)).toFixed(2)),
    /** Pixels from the top. */
    y: ({ percent }: Pick<Point, 'percent'>) =>
      Math.round(height - ((percent - low) / (high - low)) * height),
  }
}

/** `2026-11-21 05:00`. */
const timeOf = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')

/** Marks at one height are one level. Texts of near levels are moved down, so that none lies on another. */
function levelsOf(marks: Mark[], y: (mark: Mark) => number, { percent }: Language) {
  const levels = [...Map.groupBy(marks, y)].toSorted(([a], [b]) => a - b)
  let above = Number.NEGATIVE_INFINITY
  return levels.map(([height, alike]) => {
    above = Math.max(height + 4, above + leastApart)
    return {
      y: height,
      labelY: above,
      kind: alike.at(-1)!.kind,
      name: [...new Set(alike.map(({ name }) => name))].join('/'),
      place: percent(alike[0]!.percent),
    }
  })
}

/*
 * All nodes on one axis, by the use of the disk that is nearest to eviction. Few nodes are shapes; many are columns, whose height is
 * their number. The marks are the settings of most nodes; a thin line leads from a node that acts, or is near, to a mark of its own.
 */

const dotSize = 10
/** Percent between a node's use and its own mark, from which on no line joins them. */
const nearPercent = 15
/** A shape for each state, around its centre: a reader tells them apart without colours. */
const shapes = {
  calm: 'M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0',
  'image-gc': 'M0-4.8 4.8 3.8H-4.8z',
  pressure: 'M-4.2-4.2H4.2V4.2H-4.2z',
} satisfies Record<Gauge['state'], string>
/** A taller pile of dots is drawn as columns. */
const highestPile = 12
const columnHeight = 72

const states = ['calm', 'image-gc', 'pressure'] as const

interface Place {
  node: GaugedNode
  percent: number
  state: Gauge['state']
  marks: Mark[]
}

export type AnchorOf = (node: GaugedNode['node']) => string | null

/** Null: fewer than two nodes have a disk that was observed. */
export function fleetStrip(nodes: readonly GaugedNode[], anchorOf: AnchorOf, language: Language) {
  const { strip: words } = language.words
  const places = nodes.flatMap(node => placeOf(node) ?? [])
  if (places.length < 2) return null
  const piles = Map.groupBy(places, ({ percent }) => Math.min(Math.floor(percent), 99))
  const highest = Math.max(...[...piles.values()].map(pile => pile.length))
  const areDots = highest <= highestPile
  const height = areDots ? highest * dotSize + 4 : columnHeight
  const common = commonMarks(places)
  const ladder = layOutLadder(common, height, 0, language)
  const bottom = ladder.barTop + height
  const drawn = [...piles].toSorted(([a], [b]) => a - b)
  const dots = (areDots ? drawn : []).flatMap(([, pile]) =>
    pile.toSorted(worstLast).map((place, index) => {
      const y = bottom - dotSize * (index + 0.5)
      return { ...dotOf(place, common, language), y, anchor: anchorOf(place.node.node) }
    }),
  )
  return {
    ...ladder,
    bottom,
    title: words.title,
    description: words.description(
      drawn.map(([percent, pile]) => words.pile(pile.length, language.percent(percent))),
    ),
    count: words.count(places.length, nodes.length - places.length),
    hasOwn: dots.some(({ own }) => own !== null),
    legend: states.flatMap(state => {
      const count = places.filter(place => place.state === state).length
      return count === 0 ? [] : [{ state, shape: shapes[state], text: words.states[state](count) }]
    }),
    dots,
    columns: areDots
      ? []
      : drawn.flatMap(([percent, pile]) => columnsOf(percent, pile, highest, bottom, language)),
  }
}

/** A node's shape, and the line to the node's own mark if the common mark of this kind is elsewhere. */
function dotOf(
  { node, percent, state, marks }: Place,
  common: readonly Mark[],
  language: Language,
) {
  const kind: MarkKind = state === 'image-gc' ? 'gc-start' : 'hard'
  const markOf = (some: readonly Mark[]) => some.find(mark => mark.kind === kind)
  const [own, usual] = [markOf(marks), markOf(common)]
  const differs =
    own !== undefined &&
    own.percent - percent < nearPercent &&
    Math.round(own.percent) !== Math.round(usual?.percent ?? -1)
  const { strip: words } = language.words
  const name = language.line(node.node.identity.name, 80)
  return {
    // In the middle of its percent, as the others of its pile.
    x: `${Math.min(Math.floor(percent), 99) + 0.5}%`,
    state,
    shape: shapes[state],
    own: differs ? { kind, x: `${own.percent.toFixed(2)}%` } : null,
    text: words.dot(
      name,
      language.percent(percent),
      own === undefined ? null : `${own.name} ${language.percent(own.percent)}`,
    ),
  }
}

function placeOf(node: GaugedNode): Place | null {
  const nearest = nearestOf(node.gauges)
  if (nearest?.usedPercent == null) return null
  return { node, percent: nearest.usedPercent, state: nearest.state, marks: nearest.marks }
}

const worstLast = (a: Place, b: Place) => states.indexOf(a.state) - states.indexOf(b.state)

/** One column a state, one on the other, the worst on top. A few nodes are still 2 px high. */
function columnsOf(
  percent: number,
  pile: Place[],
  highest: number,
  bottom: number,
  { words, percent: shown }: Language,
) {
  let y = bottom
  return states.flatMap(state => {
    const count = pile.filter(place => place.state === state).length
    if (count === 0) return []
    const height = Math.max(2, Math.round((columnHeight * count) / highest))
    y -= height
    const text = words.strip.pile(count, shown(percent))
    return [{ x: `${percent}%`, y, height, state, text }]
  })
}

/** Of each kind of mark the place that most nodes have. */
function commonMarks(places: readonly Place[]): Mark[] {
  const kinds: MarkKind[] = ['alert', 'gc-start', 'soft', 'hard']
  return kinds.flatMap(kind => {
    const own = places.flatMap(({ marks }) => marks.filter(mark => mark.kind === kind))
    const byPlace = [...Map.groupBy(own, ({ percent }) => Math.round(percent)).values()]
    const [most] = byPlace.toSorted((a, b) => b.length - a.length)
    return most === undefined ? [] : [{ ...most[0]!, setting: '', amount: null }]
  })
}
