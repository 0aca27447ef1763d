/**
 * Changes with a countable gain: space that a setting frees, or how much earlier image GC starts.
 * Largest gain first.
 */

import type { Finding } from '#model/finding.ts'
import { startsBelowAvailableBytes } from '#model/image-gc-trigger.ts'
import type { Assumptions, AuditedNode, AuditReport } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import type { Language } from '#report/languages/language.ts'
import { docsIn } from '#report/rule-words.ts'
import { type DiskOutlook, diskOutlooks } from './disk-outlook.ts'
import { subjectText, worstFirst } from './findings.ts'
import { nameLimit } from './node.ts'

const shownOpportunities = 12
const hourMs = 3_600_000

export interface OpportunitiesView {
  rows: {
    gain: string
    gainNote: string
    change: string
    where: string
    nodeCount: string
    anchor: string | null
  }[]
  leftOut: string | null
}

interface Opportunity {
  /** 0: no needless evictions any more; 1: space. */
  kind: 0 | 1
  size: number
  gain: string
  gainNote: string
  finding: Finding
}

/** @param anchorOf place of a finding's card on the page; null: none */
export function opportunitiesView(
  report: AuditReport,
  anchorOf: (finding: Finding) => string | null,
  language: Language,
): OpportunitiesView {
  const { words, line } = language
  const groups = Map.groupBy(report.nodes, ({ cluster, identity: { group } }) =>
    subjectKey(cluster, group),
  )
  const clusters = Map.groupBy(report.nodes, ({ cluster }) => cluster)
  const membersOf = ({ cluster, subject }: Finding) =>
    (subject.kind === 'Cluster'
      ? clusters.get(cluster)
      : groups.get(subjectKey(cluster, subject))) ?? []
  const found = report.document.findings
    .flatMap(
      finding => opportunityOf(finding, membersOf(finding), report.assumptions, language) ?? [],
    )
    .toSorted((a, b) => a.kind - b.kind || b.size - a.size || worstFirst(a.finding, b.finding))
  return {
    rows: found
      .slice(0, shownOpportunities)
      .map(({ gain, gainNote, finding }) => ({
        gain,
        gainNote,
        change: changeText(finding, language),
        where: words.of(subjectText(finding.subject, language), line(finding.cluster, nameLimit)),
        nodeCount: words.nodeCount(finding.nodes.count),
        anchor: anchorOf(finding),
      })),
    leftOut:
      found.length > shownOpportunities
        ? words.opportunities.leftOut(found.length - shownOpportunities)
        : null,
  }
}

const subjectKey = (cluster: string, { kind, name }: { kind: string; name: string }) =>
  JSON.stringify([cluster, kind, name])

function opportunityOf(
  finding: Finding,
  members: AuditedNode[],
  assumptions: Assumptions,
  language: Language,
): Opportunity | null {
  const high = finding.fix.config.imageGCHighThresholdPercent
  const isImageGc = finding.family === 'image-gc' && typeof high === 'number'
  if (isImageGc && finding.rule !== 'alert-before-image-gc')
    return earlierImageGc(finding, high, nodesOf(finding, members), assumptions, language)
  if (finding.rule === 'stranded-disk')
    return lessStranded(finding, nodesOf(finding, members), assumptions, language)
  return null
}

/**
 * The named nodes; the whole group if the finding names only some of them and their numbers match.
 */
function nodesOf({ nodes }: Finding, members: AuditedNode[]): AuditedNode[] {
  if (nodes.count === members.length) return members
  const named = new Set(nodes.sample)
  return members.filter(({ identity }) => named.has(identity.name))
}

function earlierImageGc(
  finding: Finding,
  high: number,
  nodes: AuditedNode[],
  assumptions: Assumptions,
  language: Language,
): Opportunity | null {
  const { opportunities: words } = language.words
  const gains = nodes.flatMap(node => {
    const disk = diskOutlooks(node, assumptions).find(one => one.title !== 'nodefs')
    const kept = disk?.threshold?.resolved
    if (disk === undefined || kept === null || kept === undefined || disk.bytesPerHour <= 0)
      return []
    const leadMs = (percent: number) => leadOf(disk, kept, percent)
    return [
      {
        before: node.prediction.imageGC?.enabled
          ? leadMs(node.prediction.imageGC.highThresholdPercent)
          : null,
        after: leadMs(high),
      },
    ]
  })
  const median = gains.toSorted((a, b) => a.after - b.after)[Math.floor(gains.length / 2)]
  if (median === undefined || median.after <= (median.before ?? 0)) return null
  return {
    kind: 0,
    size: finding.nodes.count,
    gain: words.noNeedlessEviction(finding.nodes.count),
    gainNote: words.earlier(
      language.duration(roundToMinutes(median.after)),
      beforeText(median.before, language),
    ),
    finding,
  }
}

/** Time between the start of image GC and eviction while the disk fills, in ms. */
const leadOf = ({ capacityBytes, bytesPerHour }: DiskOutlook, keptBytes: number, high: number) =>
  ((startsBelowAvailableBytes(capacityBytes, high) - keptBytes) / bytesPerHour) * hourMs

const roundToMinutes = (ms: number) => Math.max(Math.round(ms / 60_000), 1) * 60_000

function beforeText(
  ms: number | null,
  { words: { opportunities: words }, duration }: Language,
): string {
  if (ms === null) return words.leadNever
  if (Math.abs(ms) < 30_000) return words.leadNone
  const lead = duration(roundToMinutes(Math.abs(ms)))
  return ms > 0 ? words.leadBefore(lead) : words.leadAfter(lead)
}

/** Bytes that a threshold of `enough` percent keeps free. */
const enoughPercent = 5

function lessStranded(
  finding: Finding,
  nodes: AuditedNode[],
  assumptions: Assumptions,
  language: Language,
): Opportunity | null {
  const { opportunities: words } = language.words
  const { strandedPercent, strandedBytes } = assumptions
  const gained = nodes.flatMap(node =>
    diskOutlooks(node, assumptions).flatMap(({ threshold, capacityBytes }) => {
      const kept = threshold?.resolved ?? 0
      const isStranded = kept >= (strandedPercent / 100) * capacityBytes && kept >= strandedBytes
      return isStranded ? [kept - (enoughPercent / 100) * capacityBytes] : []
    }),
  )
  const sum = gained.reduce((total, bytes) => total + bytes, 0)
  if (sum <= 0) return null
  return {
    kind: 1,
    size: sum,
    gain: words.usable(language.bytes(sum)),
    gainNote: words.usableOn(
      gained.length,
      gained.length < finding.nodes.count ? finding.nodes.count : null,
      enoughPercent,
    ),
    finding,
  }
}

/** `imageGCHighThresholdPercent 70, imageGCLowThresholdPercent 60`. */
function changeText(finding: Finding, language: Language): string {
  const { words, line } = language
  const parts = Object.entries(finding.fix.config)
    .toSorted(([a], [b]) => byText(a, b))
    .flatMap(([field, value]): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([signal, threshold]) => `${field}.${signal} ${threshold}`)
        : [`${field} ${value}`],
    )
  return line(
    parts.length === 0 ? docsIn(language, finding).fix : words.opportunities.set(parts.join(', ')),
    240,
  )
}
