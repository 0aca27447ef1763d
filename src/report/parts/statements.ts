/** Short texts for lists of findings: one bounded line each. Each format escapes them itself. */

import type { Ending } from '#model/finding/delta.ts'
import { type Finding, type NotAudited, type Severity, severities } from '#model/finding/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { Subject } from '#model/input/record.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import { plural } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'

const limits = { name: 253, line: 1000, evidence: 24, commands: 12, names: 20 }

export const nameText = (text: string) => shownLine(withoutNoncharacters(text), limits.name)
export const lineText = (text: string) => shownLine(withoutNoncharacters(text), limits.line)

/** Replaces characters that XML and YAML do not allow. */
const withoutNoncharacters = (text: string) => text.replace(/[\ufffe\uffff]/g, '\ufffd')

/** `prod/Nodegroup/general`; a namespace stands before the name. */
export const subjectPath = (cluster: string, { kind, namespace, name }: Subject) =>
  [cluster, kind, ...(namespace === null ? [] : [namespace]), name].map(nameText).join('/')

/** `412 nodes: a, b, … and 392 more`; null for findings on objects of the cluster. */
export function nodesText(
  { count, sample }: Finding['nodes'],
  limit: number = limits.names,
): string | null {
  if (count === 0) return null
  const names = sample.slice(0, limit).map(nameText)
  const more =
    count > names.length ? `${names.length === 0 ? '' : ' '}and ${count - names.length} more` : ''
  return `${plural(count, 'node').replace('\u00a0', ' ')}: ${names.join(', ')}${names.length > 0 && more !== '' ? ',' : ''}${more}`
}

/** One line for each piece of evidence; a last line counts the rest. */
export function evidenceLines({ evidence }: Finding): string[] {
  const lines = evidence
    .slice(0, limits.evidence)
    .map(({ what, value }) => `${lineText(what)}: ${lineText(value)}`)
  const more = evidence.length - limits.evidence
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

/** Lines with the rule's advice, the fields to set and the commands. */
export function fixLines({ fix: { config }, steps, docs }: Finding): string[] {
  const commands = steps.flatMap(step => step.commands.map(({ command }) => command))
  const fields = Object.entries(config).map(
    ([field, value]) => `${nameText(field)}: ${lineText(JSON.stringify(value) ?? 'null')}`,
  )
  const shown = commands.slice(0, limits.commands).map(lineText)
  const more = commands.length - shown.length
  return [
    lineText(docs.fix),
    ...fields,
    ...shown,
    ...(more > 0 ? [`and ${more} more commands`] : []),
  ]
}

/** Within a severity, the document's order stays. */
export const bySeverity = (a: Pick<Finding, 'severity'>, b: Pick<Finding, 'severity'>) =>
  severities.indexOf(a.severity) - severities.indexOf(b.severity)

export const worstFirst = (findings: Finding[]) => findings.toSorted(bySeverity)

export const countBySeverity = (findings: Pick<Finding, 'severity'>[]) => {
  const counts: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
  for (const { severity } of findings) counts[severity]++
  return counts
}

/**
 * Whether an entry is a node that can never be read (Fargate). Such nodes are listed, but are not a
 * failure of the run.
 */
export function unreadableNodes({ nodes }: AuditReport): (entry: NotAudited) => boolean {
  const keys = new Set(
    nodes
      .filter(isFargate)
      .map(({ cluster, identity: { name } }) => JSON.stringify([cluster, name])),
  )
  return ({ cluster, node }) => node !== null && keys.has(JSON.stringify([cluster, node]))
}

const isFargate = ({ identity: { owner } }: AuditedNode) => owner === 'fargate'

/** RFC 3339 in UTC, to the second; the epoch if `time` is invalid. */
export function utcTime(time: string): string {
  const at = Date.parse(time)
  return `${new Date(Number.isNaN(at) ? 0 : at).toISOString().slice(0, 19)}Z`
}

const endings: Record<Ending, string> = {
  fixed: 'it was fixed',
  replaced: 'its nodes were replaced by others without it',
  gone: 'its nodes are gone',
  moved: 'another finding tells of its nodes',
}

/** `Ended on 2026-11-21: it was fixed. It stood since 2026-11-01.` */
export const endedText = ({ on, ended, since }: PastFinding): string =>
  `Ended on ${on}: ${endings[ended]}. It stood since ${since}.`

/** Text for a node or cluster that was unread in the last run, and is not in this run. */
export const closedText = (takenAt: string, reason: string): string =>
  `No longer said on ${utcTime(takenAt).slice(0, 10)}. Before: ${reason}`
