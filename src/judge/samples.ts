/** Shortens findings that name every node to the names that a findings document shows. */
import type { Finding, FindingsDocument, UnknownOutcome } from '#model/finding.ts'
import { sampleSize } from './drift/variants.ts'
import { fewNodes } from './tally.ts'

/** If a document has more findings than this, each names fewer nodes, so that reports stay short. */
export const manyFindings = 300

type NamedSample = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns'>

/** Gives the same names as a judgement without `allNodes`. */
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
