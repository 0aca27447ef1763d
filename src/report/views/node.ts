/** One node's card: who it is, its bars, or why it has none. */
import type { Filesystems } from '#model/prediction.ts'
import type { ReadMode } from '#model/read-mode.ts'
import type { AuditedNode } from '#model/report.ts'
import { formatPercent } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import { describeGauge, type Gauge, gaugesOf } from './gauge.ts'
import { growthNotes } from './growth.ts'
import { type Ladder, layOutLadder } from './ladder.ts'
import { type Moment, momentOf } from './moment.ts'

interface BarView extends Ladder {
  id: string
  title: string
  summary: string
  description: string
  isThin: boolean
  /** `84.2%`, or null where it was not observed. */
  used: string | null
  /** SVG x of where it stands now; null with `used`. */
  usedX: string | null
  state: Gauge['state']
  stateText: string
  /** From where to the end eviction keeps the disk free; null without a hard threshold. */
  keptFree: { x: string; width: string } | null
  warnings: string[]
  facts: string[]
}

export interface NodeView {
  anchor: string | null
  name: string
  about: string
  coverage: string
  isRead: boolean
  at: Moment
  notes: string[]
  /** What could not be read of it, and why. */
  reasons: { what: string; message: string }[]
  bars: BarView[]
}

const stateTexts = { calm: '', 'image-gc': 'image GC is due', pressure: 'eviction threshold met' }
const barHeights = { disk: 24, memory: 14, inodes: 10 }
const spaceForPointer = 9
const shownReasons = 8
export const nameLimit = 120

/** Each way to read a node, and the right that it stands on. */
export const modeTexts: Readonly<Record<ReadMode, { way: string; right: string }>> = {
  proxy: { way: 'through the API server', right: 'get nodes/proxy' },
  ssm: { way: 'by SSM', right: 'ssm:SendCommand' },
  both: { way: 'through the API server and by SSM', right: 'get nodes/proxy and ssm:SendCommand' },
  kubelet: { way: 'from the kubelet itself', right: 'get nodes/configz and get nodes/stats' },
}

export const coverageTexts = { read: 'read', partlyRead: 'partly read', notRead: 'not read' }

export function nodeView(node: AuditedNode, gauges: Gauge[], id: string, anchor: string | null): NodeView {
  const { identity, errors } = node
  const system = identity.operatingSystem === 'windows' ? 'Windows' : null
  const ready = { True: 'Ready', False: 'not Ready', Unknown: 'Ready unknown' }
  const about = [
    identity.owner,
    identity.instanceType,
    identity.amiFamily,
    system === identity.amiFamily ? null : system,
    identity.kubeletVersion,
  ]
  const reasons = errors
    .slice(0, shownReasons)
    .map(({ what, message }) => ({ what: shownLine(what, 60), message: shownLine(message, 400) }))
  if (errors.length > shownReasons)
    reasons.push({ what: 'more', message: `${errors.length - shownReasons} more reasons are in the snapshot.` })
  return {
    anchor,
    name: shownLine(identity.name, nameLimit),
    about: [
      ...about.filter(part => part !== null).map(part => shownLine(part, 60)),
      identity.ready === null ? 'readiness unknown' : ready[identity.ready],
      `asked ${modeTexts[node.mode].way}`,
    ].join(', '),
    coverage: coverageTexts[node.coverage],
    isRead: node.coverage === 'read',
    at: momentOf(node.at),
    notes: [...notesOf(node), ...growthNotes(node)],
    reasons:
      gauges.length === 0 && reasons.length === 0
        ? [{ what: 'disk', message: 'No filesystem was observed, and no reason was recorded.' }]
        : reasons,
    bars: gauges.map((gauge, index) => barView(gauge, `${id}b${index + 1}`)),
  }
}

function notesOf({ prediction: { filesystems, settings } }: AuditedNode): string[] {
  const onDisk = 'Its thresholds are those of the files or settings on its disk: whether the kubelet was restarted since is not known.'
  return [...(settings.isOnDisk ? [onDisk] : []), ...layoutNotes(filesystems)]
}

function layoutNotes({ nodefs, imagefs, layout, layoutCertainty }: Filesystems): string[] {
  if (nodefs === null && imagefs === null) return []
  if (layout === null) return ['Whether nodefs and imagefs are one disk is unknown.']
  if (layoutCertainty === 'certain') return []
  const layouts = {
    shared: 'That nodefs and imagefs are one disk',
    imagefs: 'That imagefs is a disk of its own',
    split: 'That images have a disk of their own and containers live on nodefs',
  }
  return [`${layouts[layout]} is ${layoutCertainty ?? 'not certain'}: the API does not name devices.`]
}

function barView(gauge: Gauge, id: string): BarView {
  const hard = gauge.marks.filter(({ kind }) => kind === 'hard').map(({ percent }) => Math.min(Math.max(percent, 0), 100))
  const keptFrom = hard.length > 0 ? Math.min(...hard) : null
  return {
    ...layOutLadder(gauge.marks, barHeights[gauge.kind], spaceForPointer),
    id,
    title: gauge.title,
    summary: gauge.summary,
    description: describeGauge(gauge),
    isThin: gauge.kind === 'inodes',
    used: gauge.usedPercent === null ? null : formatPercent(gauge.usedPercent),
    usedX: gauge.usedPercent === null ? null : `${gauge.usedPercent.toFixed(2)}%`,
    state: gauge.state,
    stateText: stateTexts[gauge.state],
    keptFree: keptFrom === null ? null : { x: `${keptFrom.toFixed(2)}%`, width: `${(100 - keptFrom).toFixed(2)}%` },
    warnings: gauge.warnings,
    facts: gauge.facts,
  }
}

/** Gauges are made once a node and handed around: ordering, drawing and the table all ask them. */
export interface GaugedNode {
  node: AuditedNode
  gauges: Gauge[]
  /** The least headroom of all its gauges; null where none is known. */
  headroomPercent: number | null
}

export function gaugeNode(node: AuditedNode, alertPercent: number): GaugedNode {
  const gauges = gaugesOf(node, alertPercent)
  const known = gauges.flatMap(({ headroomPercent }) => headroomPercent ?? [])
  return { node, gauges, headroomPercent: known.length > 0 ? Math.min(...known) : null }
}
