/** When the kubelet acts on a disk that fills at the rate that was observed or is assumed: image GC, pressure, eviction, and which comes first. */
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'
import type { Assumptions, AuditedNode } from '#model/report.ts'

const hourMs = 3_600_000

type Disk = 'nodefs' | 'imagefs'

/** When the kubelet acts on one disk. Null: never, at this growth; `eviction` 0: a threshold is met now. */
export interface DiskOutlook {
  title: string
  capacityBytes: number
  availableBytes: number
  bytesPerHour: number
  isObserved: boolean
  /** Undefined: this disk holds no images, or image GC is off or not known. */
  imageGcMs: number | null | undefined
  pressureMs: number | null
  evictionMs: number | null
  /** The threshold that evicts first; null: none watches this disk. */
  threshold: EvaluatedThreshold | null
  fullMs: number | null
  /** Who acts first when the disk fills. */
  first: 'image-gc' | 'eviction' | 'either' | 'nobody'
}

/** One for each disk of which capacity, content and thresholds are known. */
export function diskOutlooks({ prediction, growth }: AuditedNode, assumptions: Assumptions): DiskOutlook[] {
  const { filesystems, eviction, imageGC } = prediction
  const { layout } = filesystems
  if (eviction === null || eviction.error !== null || layout === null) return []
  const disks: Disk[] = layout === 'shared' ? ['nodefs'] : ['nodefs', 'imagefs']
  return disks.flatMap(disk => {
    const { capacityBytes, availableBytes } = filesystems[disk] ?? { capacityBytes: null, availableBytes: null }
    if (capacityBytes === null || availableBytes === null || capacityBytes <= 0) return []
    const observed = layout === 'shared' ? (growth?.nodefs ?? growth?.imagefs) : growth?.[disk]
    const assumed = ((assumptions.growthPercent / 100) * capacityBytes * hourMs) / assumptions.imageGcPeriodMs
    const bytesPerHour = observed?.bytesPerHour ?? assumed
    const within = (bytes: number) => (bytes <= 0 ? 0 : bytesPerHour > 0 ? (bytes / bytesPerHour) * hourMs : null)
    const signals: Signal[] = layout === 'shared' ? ['nodefs.available', 'imagefs.available'] : [`${disk}.available`]
    // A threshold of no bytes is never met.
    const watching = eviction.thresholds.filter(({ signal, resolved }) => signals.includes(signal) && resolved !== null && resolved > 0)
    const times = watching.flatMap(threshold => {
      const pressureMs = within(threshold.margin ?? Number.POSITIVE_INFINITY)
      return pressureMs === null ? [] : [{ threshold, pressureMs, evictionMs: pressureMs + (threshold.hard ? 0 : threshold.gracePeriodMs) }]
    })
    const soonest = times.toSorted((a, b) => a.evictionMs - b.evictionMs || (a.threshold.margin ?? 0) - (b.threshold.margin ?? 0))[0]
    const holdsImages = layout === 'shared' || disk === 'imagefs'
    const untilTrigger = holdsImages && imageGC?.enabled ? imageGC.bytesUntilTrigger : null
    const imageGcMs = untilTrigger === null ? undefined : within(untilTrigger)
    const evictionMs = soonest?.evictionMs ?? null
    return [
      {
        title: layout === 'shared' ? 'nodefs = imagefs' : disk,
        capacityBytes,
        availableBytes,
        bytesPerHour,
        isObserved: observed !== undefined,
        imageGcMs,
        pressureMs: times.length === 0 ? null : Math.min(...times.map(time => time.pressureMs)),
        evictionMs,
        threshold: soonest?.threshold ?? nearest(watching),
        fullMs: within(availableBytes),
        first: firstToAct(imageGcMs ?? null, evictionMs, assumptions.imageGcPeriodMs),
      },
    ]
  })
}

const nearest = (thresholds: EvaluatedThreshold[]) =>
  thresholds.toSorted((a, b) => (a.margin ?? Number.MAX_VALUE) - (b.margin ?? Number.MAX_VALUE))[0] ?? null

/** Image GC looks once in its period, so it acts that much later at worst. */
function firstToAct(imageGcMs: number | null, evictionMs: number | null, periodMs: number): DiskOutlook['first'] {
  if (imageGcMs === null) return evictionMs === null ? 'nobody' : 'eviction'
  if (evictionMs === null || imageGcMs + periodMs <= evictionMs) return 'image-gc'
  return imageGcMs >= evictionMs ? 'eviction' : 'either'
}
