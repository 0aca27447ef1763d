/** A node of the real lab while it filled: what was read of it before, and what its kubelet then did. */
import type { NodeRecord } from '#model/input/record.ts'

export interface Recording {
  name: string
  /** In words, for the table. */
  course: string
  kubeletVersion: string
  fills: string[]
  /** How long the kubelet was observed. */
  recordedMs: number
  takenAt: string
  record: NodeRecord
  observed: ObservedEvent[]
}

export interface ObservedEvent {
  /** Since the reading. */
  atMs: number
  event: 'imageGC' | 'condition' | 'reclaim' | 'evict' | 'recovered'
  /** Of a condition, with its status; of an evicted pod, `namespace/name`. */
  subject?: string
  images?: string[]
  /** What the image filesystem gained, without what filled it meanwhile. Absent: pods were evicted at the same time. */
  freedBytes?: number
}

/** A sample: seconds since 1970, available bytes and free inodes of the image disk, the same of the kubelet's disk. */
type Sample = [number, number, number, number, number, number | null]

/** As the recorder writes it: what `lab.py snapshot` prints before, and samples of the disks. */
export interface RawRecording {
  case: string
  kubeletStartedAt: string
  commandLine: string[]
  fills: { filesystem?: string; resource: 'bytes' | 'inodes' | 'memory'; perSecond: number }[]
  recordedMs: number
  before: {
    at: string
    configz: object
    statsSummary: object
    node: { status: { nodeInfo: { kubeletVersion: string } } }
    pods: object[]
    cri: { images: object[]; imageFsInfo: object; containers: object[]; sandboxes: object[] }
  }
  samples: Sample[]
}

export function recordingOf(
  raw: RawRecording,
  log: string,
  course: string,
  snapshots: object[] | undefined,
): Recording {
  const { before, fills } = raw
  const { images, imageFsInfo, containers, sandboxes } = before.cri
  const startMs = Date.parse(before.at)
  const imageFsFill = fills.find(
    ({ filesystem, resource }) =>
      resource === 'bytes' && (filesystem === 'imagefs' || fills.length === 1),
  )
  return {
    name: raw.case,
    course,
    kubeletVersion: before.node.status.nodeInfo.kubeletVersion,
    fills: fills.map(fillText),
    recordedMs: raw.recordedMs,
    takenAt: before.at,
    record: {
      kind: 'Node',
      cluster: 'real',
      at: before.at,
      node: before.node,
      configz: before.configz,
      summary: before.statsSummary,
      pods: before.pods,
      runtime: { images, containers, sandboxes, imageFs: imageFsInfo },
      host: {
        kubelet: { startedAt: raw.kubeletStartedAt, commandLine: raw.commandLine },
        containerd: { snapshotter: 'overlayfs', discardUnpackedLayers: true },
        ...(snapshots && { diskUse: { snapshots } }),
      },
    } as unknown as NodeRecord,
    observed: observedEvents(log, startMs, raw.recordedMs).map(event =>
      withFreedBytes(event, raw.samples, startMs, imageFsFill?.perSecond ?? 0),
    ),
  }
}

function fillText({ filesystem, resource, perSecond }: RawRecording['fills'][number]): string {
  if (resource === 'memory') return `memory=${perSecond}/s`
  return `${filesystem}${resource === 'inodes' ? '.inodes' : ''}=${perSecond}/s`
}

interface LogLine {
  atMs: number
  text: string
}

const logForm = /^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{3})\d* +\d+ (.*)$/

/** The kubelet's log has no year. */
function parseLog(log: string, startMs: number): LogLine[] {
  const year = new Date(startMs).getUTCFullYear()
  return log.split('\n').flatMap(line => {
    const [, month, day, time, text] = logForm.exec(line) ?? []
    if (text === undefined) return []
    return [{ atMs: Date.parse(`${year}-${month}-${day}T${time}Z`) - startMs, text }]
  })
}

/** The kubelet logs at once when it starts. */
export const firstLogLineMs = (log: string, year: number): number =>
  Date.UTC(year, 0) + (parseLog(log, Date.UTC(year, 0))[0]?.atMs ?? Number.NaN)

function observedEvents(log: string, startMs: number, untilMs: number): ObservedEvent[] {
  const lines = parseLog(log, startMs).filter(({ atMs }) => atMs >= 0 && atMs <= untilMs)
  const events = [...imageEvents(lines), ...passEvents(lines), ...evictions(lines)]
  return events.sort((a, b) => a.atMs - b.atMs)
}

function evictions(lines: LogLine[]): ObservedEvent[] {
  return lines.flatMap(({ atMs, text }) => {
    const [, subject] = /pod is evicted successfully" pod="([^"]+)"/.exec(text) ?? []
    return subject === undefined ? [] : [{ atMs, event: 'evict' as const, subject }]
  })
}

function imageEvents(lines: LogLine[]): ObservedEvent[] {
  const events: ObservedEvent[] = []
  let removed: { atMs: number; image: string }[] = []
  let isReclaim = false
  let wasFailing = false
  for (const { atMs, text } of lines) {
    const [, image] = /"Removing image to free bytes" imageID="([^"]+)"/.exec(text) ?? []
    if (image !== undefined) removed.push({ atMs, image })
    if (text.includes('Attempting to delete unused images')) isReclaim = true
    const isEnd = isReclaim
      ? /pressure without evicting pods|must evict pod/.test(text)
      : /Image garbage collection (succeeded|failed)/.test(text)
    if (!isEnd) continue
    // The first of several failed rounds counts even if it deletes nothing, as in a timeline.
    const isFailing: boolean = isReclaim ? wasFailing : text.includes('failed')
    if (removed.length > 0 || (isFailing && !wasFailing))
      events.push({
        atMs: removed[0]?.atMs ?? atMs,
        event: isReclaim ? 'reclaim' : 'imageGC',
        images: removed.map(one => one.image),
      })
    wasFailing = isFailing
    removed = []
    isReclaim = false
  }
  return events
}

const observationLine = 'log="observations" signal='

/** Conditions, and the end of pressure: by what each pass of the eviction manager logs. */
function passEvents(lines: LogLine[]): ObservedEvent[] {
  const events: ObservedEvent[] = []
  let reported: string[] = []
  let wasMet = false
  let pass: { atMs: number; conditions: string[]; isMet: boolean } | null = null
  const close = () => {
    if (pass === null) return
    const { atMs, conditions, isMet } = pass
    const known = reported
    for (const name of conditions.filter(one => !known.includes(one)))
      events.push({ atMs, event: 'condition', subject: `${name} true` })
    for (const name of known.filter(one => !conditions.includes(one)))
      events.push({ atMs, event: 'condition', subject: `${name} false` })
    if (wasMet && !isMet) events.push({ atMs, event: 'recovered' })
    reported = conditions
    wasMet = isMet
    pass = null
  }
  for (const { atMs, text } of lines) {
    if (text.includes(observationLine)) {
      if (pass === null || atMs - pass.atMs > 500) {
        close()
        pass = { atMs, conditions: [], isMet: false }
      }
      continue
    }
    if (pass === null) continue
    if (text.includes('transition period not met'))
      pass.conditions = [...text.matchAll(/"(\w+Pressure)"/g)].map(([, name = '']) => name)
    if (text.includes('log="thresholds - ignoring grace period"')) pass.isMet = true
  }
  close()
  return events
}

/** Snapshots are removed some time after their image. */
const settledSeconds = 4

function withFreedBytes(
  event: ObservedEvent,
  samples: readonly Sample[],
  startMs: number,
  perSecond: number,
): ObservedEvent {
  if (event.event !== 'imageGC' || event.images?.length === 0) return event
  const atSeconds = (startMs + event.atMs) / 1000
  const before = samples.findLast(([time]) => time < atSeconds)
  const after = samples.find(([time]) => time > atSeconds + settledSeconds)
  if (!before || !after) return event
  const filled = (after[0] - before[0]) * perSecond
  return { ...event, freedBytes: Math.round(after[1] - before[1] + filled) }
}
