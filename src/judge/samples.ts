/** The names that a findings document shows, of findings that name every node. */
import type { Finding, FindingsDocument, UnknownOutcome } from '#model/finding.ts'
import { sampleSize } from './drift/variants.ts'
import { fewNodes } from './tally.ts'

/** More findings than these name few of their nodes each: hundreds of nodegroups must still fit a report. */
export const manyFindings = 300

type NamedSample = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns'>

/** The same as a judgement without `allNodes` gives. */
export function withShownNames({ findings, waived, unknowns }: NamedSample): NamedSample {
  const size = findings.length + waived.length > manyFindings ? fewNodes : sampleSize
  const cut = <Entry extends Finding | UnknownOutcome>(entry: Entry, names: number): Entry => ({
    ...entry,
    nodes: { ...entry.nodes, sample: entry.nodes.sample.slice(0, names) },
  })
  return {
    findings: findings.map(finding => cut(finding, size)),
    waived: waived.map(finding => cut(finding, size)),
    unknowns: unknowns.map(unknown => cut(unknown, fewNodes)),
  }
}
