/**
 * How fast a disk was seen to fill. Runs are hours or days apart. In between, image GC and ending pods free space. Stretches in which a disk
 * became emptier prove nothing. The others give a mean that is at most the real growth, and several of them are needed for a result.
 */

import { hourMs } from '#base/units.ts'
import { diskMeasurementMs } from '#facts/kubelet/periods.ts'
import { shorten } from '#judge/text.ts'
import type {
  FillReading,
  FillSeries,
  NodeGrowth,
  ObservedGrowth,
  Spread,
  UnseenGrowth,
} from '#model/history.ts'
import type { FilesystemState, Filesystems } from '#model/prediction.ts'
import type { TakenNode } from '#model/report.ts'

export const fillLimits = {
  /** One reading per day of the kept time, so daily runs keep every reading. */
  readings: 9,
  keptMs: 8 * 24 * hourMs,
  /** Closer readings count as one. Otherwise a single image pull would look like a rate. */
  leastApartMs: hourMs / 2,
  leastOverMs: 6 * hourMs,
  leastReadings: 3,
  leastRises: 2,
}

type GrowingDisk = 'nodefs' | 'imagefs'

/** Appends this run's reading to the series. A node with unread disks keeps the series. A rebooted node starts a new one. */
export function withReading(
  before: FillSeries | null,
  { identity, at, prediction, happened = [] }: TakenNode,
) {
  if (identity.bootId === null) return null
  const bootId = shorten(identity.bootId, 40)
  const earlier = before?.bootId === bootId ? before : null
  const { layout, nodefs, imagefs: images } = prediction.filesystems
  const imagefs = layout === 'shared' ? null : images
  const reading: FillReading = {
    at,
    nodefsUsedBytes: usedOf(nodefs),
    imagefsUsedBytes: usedOf(imagefs),
  }
  if (
    layout === null ||
    Number.isNaN(Date.parse(at)) ||
    (reading.nodefsUsedBytes ?? reading.imagefsUsedBytes) === null
  )
    return earlier
  const disks = {
    bootId,
    layout,
    nodefsCapacityBytes: nodefs?.capacityBytes ?? null,
    imagefsCapacityBytes: imagefs?.capacityBytes ?? null,
  }
  const isSame =
    earlier?.layout === layout &&
    earlier.nodefsCapacityBytes === disks.nodefsCapacityBytes &&
    earlier.imagefsCapacityBytes === disks.imagefsCapacityBytes
  const kept = isSame ? earlier.readings.filter(one => isRecentReading(one, at)) : []
  const evictions = happened.filter(({ what }) => what === 'evicted').map(one => one.at)
  const evictedAt = [...new Set([...(isSame ? earlier.evictedAt : []), ...evictions])]
    .filter(time => isRecentReading({ at: time }, at))
    .toSorted()
    .slice(-fillLimits.readings)
  return { ...disks, readings: thinReadings([...kept, reading]), evictedAt }
}

/** Null: not read. */
export const usedOf = (disk: FilesystemState | null) =>
  disk?.capacityBytes == null || disk.availableBytes === null
    ? null
    : Math.max(0, disk.capacityBytes - disk.availableBytes)

const disksOf = (layout: FillSeries['layout']): GrowingDisk[] =>
  layout === 'shared' ? ['nodefs'] : ['nodefs', 'imagefs']

const timeOf = ({ at }: Pick<FillReading, 'at'>) => Date.parse(at)

function isRecentReading(past: Pick<FillReading, 'at'>, at: string) {
  const ageMs = Date.parse(at) - timeOf(past)
  return ageMs > 0 && ageMs <= fillLimits.keptMs
}

/** Removes readings whose neighbors are closest in time, never the first or the last. The rest stay spread over the kept time. */
function thinReadings(readings: FillReading[]) {
  const kept = [...readings]
  while (kept.length > fillLimits.readings) {
    const gapsWithout = kept
      .slice(2)
      .map((reading, index) => timeOf(reading) - timeOf(kept[index]!))
    kept.splice(gapsWithout.indexOf(Math.min(...gapsWithout)) + 1, 1)
  }
  return kept
}

/** @param series with this run's reading; null: no reading is known */
export function growthOf(
  series: FillSeries | null,
  { prediction: { filesystems } }: TakenNode,
): NodeGrowth {
  const { layout } = filesystems
  return layout === null ? {} : growthIn({ layout, readings: series?.readings ?? [] })
}

export const growthIn = ({
  layout,
  readings,
}: Pick<FillSeries, 'layout' | 'readings'>): NodeGrowth =>
  Object.fromEntries(disksOf(layout).map(disk => [disk, diskGrowth(readings, disk)]))

/**
 * The rate between two readings of one run. Each reading was measured up to 15 s earlier, so the time between them has that
 * error. A disk that changed its size has no rate; one that became emptier has `why` instead.
 */
export function rateBetween(
  { at: firstAt, prediction }: TakenNode,
  at: string,
  then: Filesystems,
): NodeGrowth {
  const { layout } = prediction.filesystems
  const overMs = Date.parse(at) - Date.parse(firstAt)
  if (layout === null || !(overMs > diskMeasurementMs)) return {}
  return Object.fromEntries(
    disksOf(layout).flatMap(disk => {
      const before = prediction.filesystems[disk]
      const [usedBefore, usedThen] = [usedOf(before), usedOf(then[disk])]
      if (usedBefore === null || usedThen === null) return []
      if (before?.capacityBytes !== then[disk]?.capacityBytes) return []
      return [[disk, rateOf(usedThen - usedBefore, overMs)]]
    }),
  )
}

function rateOf(grownBytes: number, overMs: number): ObservedGrowth | UnseenGrowth {
  if (grownBytes < 0) return { isSeen: false, why: 'emptier', readings: 2 }
  const growthPer = (ms: number) => (grownBytes * hourMs) / ms
  const bytesPerHour = {
    min: growthPer(overMs + diskMeasurementMs),
    median: growthPer(overMs),
    max: growthPer(overMs - diskMeasurementMs),
  }
  return { isSeen: true, bytesPerHour, overMs, readings: 2, falls: 0 }
}

/** The growth seen by earlier runs, if known; else the rate within this run. */
export const mergedGrowth = (remembered: NodeGrowth | undefined, rate: NodeGrowth | undefined) =>
  rate
    ? {
        ...remembered,
        ...Object.fromEntries(
          Object.entries(rate).filter(
            ([disk, { isSeen }]) =>
              remembered?.[disk as GrowingDisk]?.isSeen !== true &&
              (isSeen || remembered === undefined),
          ),
        ),
      }
    : remembered

/** Growth is continued for this time at most, and for a few times the time in which it was observed. */
const foreseen = { hours: 168, times: 4 }

/** Hours until so many bytes are written. Infinite: not within a week, or the growth is unknown. */
export function hoursToFill(bytes: number, growth: NodeGrowth[GrowingDisk]) {
  if (!growth?.isSeen) return Number.POSITIVE_INFINITY
  const hours = Math.max(0, bytes) / growth.bytesPerHour.median
  const horizon = Math.min(foreseen.hours, (foreseen.times * growth.overMs) / hourMs)
  return hours <= horizon ? hours : Number.POSITIVE_INFINITY
}

interface Reading {
  atMs: number
  usedBytes: number
}

function diskGrowth(all: FillReading[], disk: GrowingDisk): ObservedGrowth | UnseenGrowth {
  const readings = dropCloseReadings(
    all.flatMap(reading => {
      const usedBytes = disk === 'nodefs' ? reading.nodefsUsedBytes : reading.imagefsUsedBytes
      return usedBytes === null ? [] : [{ atMs: timeOf(reading), usedBytes }]
    }),
  )
  const unseenGrowth = (why: UnseenGrowth['why']): UnseenGrowth => ({
    isSeen: false,
    why,
    readings: readings.length,
  })
  const overMs = readings.length === 0 ? 0 : readings.at(-1)!.atMs - readings[0]!.atMs
  if (readings.length < 2) return unseenGrowth(all.length < 2 ? 'first' : 'near')
  if (readings.length < fillLimits.leastReadings) return unseenGrowth('few')
  if (overMs < fillLimits.leastOverMs) return unseenGrowth('near')
  const stretches = readings.slice(1).map((reading, index) => {
    const lengthMs = reading.atMs - readings[index]!.atMs
    return {
      lengthMs,
      bytesPerHour: ((reading.usedBytes - readings[index]!.usedBytes) * hourMs) / lengthMs,
    }
  })
  const rises = stretches.filter(({ bytesPerHour }) => bytesPerHour >= 0)
  if (rises.length < fillLimits.leastRises) return unseenGrowth('emptier')
  return {
    isSeen: true,
    bytesPerHour: spreadOf(rises),
    overMs,
    readings: readings.length,
    falls: stretches.length - rises.length,
  }
}

/** Of readings that are too close in time, keeps the last. */
function dropCloseReadings(readings: Reading[]) {
  const kept: Reading[] = []
  for (const reading of readings) {
    const last = kept.at(-1)
    if (last && reading.atMs - last.atMs < fillLimits.leastApartMs) kept.pop()
    kept.push(reading)
  }
  return kept
}

function spreadOf(rises: { lengthMs: number; bytesPerHour: number }[]): Spread {
  const sorted = rises.toSorted((a, b) => a.bytesPerHour - b.bytesPerHour)
  const half = sorted.reduce((sum, { lengthMs }) => sum + lengthMs, 0) / 2
  let passedMs = 0
  const middle = sorted.find(({ lengthMs }) => {
    passedMs += lengthMs
    return passedMs >= half
  })
  return {
    min: sorted[0]!.bytesPerHour,
    median: middle!.bytesPerHour,
    max: sorted.at(-1)!.bytesPerHour,
  }
}
