/** The findings of each node in two audits of the same nodes. Both audits read the same, so every difference is a change. */

import { severityRank } from '#judge/run/outcome.ts'
import type { Change } from '#model/delta.ts'
import { type Finding, severities } from '#model/finding.ts'

interface FindingOnNode {
  finding: Finding
  /** The node's name. */
  node: string
}

export interface NodeFindingChange extends FindingOnNode {
  change: Extract<Change, 'worse' | 'better'>
}

/** Findings that only one of both has, or that have another severity; one entry for each node. */
export function nodeFindingChanges(
  before: readonly Finding[],
  after: readonly Finding[],
): NodeFindingChange[] {
  const [old, now] = [byNode(before), byNode(after)]
  const rank = (one: FindingOnNode | undefined) =>
    one ? severityRank(one.finding.severity) : severities.length
  // What takes the place of something worse of its family is not worse.
  const worstEnded = new Map<string, number>()
  for (const [key, one] of old) {
    if (now.has(key)) continue
    const family = familyOnNode(one)
    worstEnded.set(family, Math.min(worstEnded.get(family) ?? severities.length, rank(one)))
  }
  const isMilder = (one: FindingOnNode) =>
    (worstEnded.get(familyOnNode(one)) ?? severities.length) < rank(one)
  const worse = [...now].flatMap(([key, one]) =>
    rank(one) < rank(old.get(key)) && !isMilder(one) ? [one] : [],
  )
  const worseFamilies = new Set(worse.map(familyOnNode))
  // What ends because something worse of its family takes its place is not better.
  const better = [...old].flatMap(([key, one]) =>
    rank(one) < rank(now.get(key)) && !worseFamilies.has(familyOnNode(one)) ? [one] : [],
  )
  return [
    ...worse.map(one => ({ ...one, change: 'worse' as const })),
    ...better.map(one => ({ ...one, change: 'better' as const })),
  ]
}

const familyOnNode = ({ finding: { cluster, family }, node }: FindingOnNode) =>
  JSON.stringify([cluster, node, family])

const byNode = (findings: readonly Finding[]): Map<string, FindingOnNode> =>
  new Map(
    findings.flatMap(finding =>
      finding.nodes.sample.map(
        node => [JSON.stringify([finding.rule, finding.cluster, node]), { finding, node }] as const,
      ),
    ),
  )
