/** What to change on a node that evicts soon: the fix of the worst finding on its image GC or eviction. */
import type { Finding } from '#model/finding.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { firstAdvice } from '#report/rule-words.ts'
import { worstFirst } from './findings.ts'

const shownFields = 2
const adviceLimit = 120

export interface NodeChange {
  text: string
  /** Place of the whole fix on the page; null: not on the page. */
  anchor: string | null
}

/** @param anchorOf place of a finding's card on the page; null: none */
export function changesOf(
  { document, nodes }: Pick<AuditReport, 'document' | 'nodes'>,
  anchorOf: (finding: Finding) => string | null,
  language: Language,
): (node: AuditedNode) => NodeChange | null {
  const sizes = new Map<string, number>()
  for (const node of nodes) sizes.set(groupKey(node), (sizes.get(groupKey(node)) ?? 0) + 1)
  const findings = document.findings
    .filter(({ family }) => family === 'image-gc' || family === 'eviction')
    .toSorted(worstFirst)
  const byCluster = Map.groupBy(findings, ({ cluster }) => cluster)
  return node => {
    const { kind, name } = node.identity.group
    const isOnIt = ({ subject, nodes: { count, sample } }: Finding) =>
      sample.includes(node.identity.name) ||
      (subject.kind === kind && subject.name === name && count === sizes.get(groupKey(node)))
    const found = byCluster.get(node.cluster)?.find(isOnIt)
    return found === undefined
      ? null
      : { text: changeText(found, language), anchor: anchorOf(found) }
  }
}

const groupKey = ({ cluster, identity: { group } }: AuditedNode) =>
  JSON.stringify([cluster, group.kind, group.name])

/** `imageGCHighThresholdPercent 70, imageGCLowThresholdPercent 60`; without fields to set, the first sentence of the advice. */
function changeText(finding: Finding, language: Language): string {
  const { words, line } = language
  const fields = Object.entries(finding.fix.config).map(([field, value]) =>
    typeof value === 'object' && value !== null
      ? `${field} (${Object.keys(value).join(', ')})`
      : `${field} ${value}`,
  )
  if (fields.length === 0) return line(firstAdvice(finding, language), adviceLimit)
  const more = fields.length - shownFields
  return line(words.outlook.change(fields.slice(0, shownFields), Math.max(more, 0)), adviceLimit)
}
