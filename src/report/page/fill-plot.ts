/** The use of one disk over the last days: readings, rounds of image GC, evictions, and the marks where something acts. */

import type { FillReading, ReclaimRound } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Gauge, Mark } from '#report/parts/gauge.ts'

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
  const course = plotCourse(node, gauge)
  const [first, last] = [course?.readings[0], course?.readings.at(-1)]
  if (!course || !first || !last) return null
  const { readings, rounds, evictions } = course
  const path = [...readings, ...rounds.flatMap(({ ends }) => ends)].toSorted((a, b) => a.ms - b.ms)
  const levels = gauge.marks.filter(({ percent }) => percent >= 0 && percent <= 100)
  const place = placesIn(
    first.ms,
    last.ms,
    [...path, ...levels].map(({ percent }) => percent),
  )
  const lineOf = (points: Point[]) =>
    points
      .map(
        (point, index) => `${index === 0 ? 'M' : 'L'}${place.x(point.ms) * 10} ${place.y(point)}`,
      )
      .join('')
  const { plot: words } = language.words
  const [from, to] = [timeOf(first.ms).slice(0, 10), timeOf(last.ms).slice(0, 10)]
  return {
    title: words.title(gauge.title, readings.length),
    description: words.description(
      readings.map(({ percent }) => language.percent(percent)),
      rounds.length,
      evictions.length,
    ),
    height,
    from,
    to,
    /** From one known point to the next; the use between them is unknown. */
    line: lineOf(path),
    teeth: rounds.map(({ ends }) => lineOf(ends)).join(''),
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

function plotCourse(
  { fill, rounds = [], prediction: { imageGC } }: AuditedNode,
  { filesystem, holdsImages }: Gauge,
): Course | null {
  if (!fill) return null
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
