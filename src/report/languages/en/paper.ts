/** What of the page is not printed. */
import { counted, formatCount } from '#report/numbers.ts'

const of = (shown: number, all: string) =>
  `On paper: ${formatCount(shown)} of ${all}; the others on the page.`

const paper = {
  clusters: (shown: number, all: number) => of(shown, counted(all, 'cluster')),
  waived: (shown: number, all: number) => of(shown, counted(all, 'waived finding')),
  unknowns: (shown: number, all: number) => of(shown, counted(all, 'question')),
  notAudited: (shown: number, all: number) => of(shown, counted(all, 'entry', 'entries')),
  /** Findings beyond the first are in short; of some not even a row is left. `tables`: of cluster garbage, folded. */
  findings: (tables: number, findings: { short: number; whole: number; left: number } | null) =>
    `On paper: ${[
      ...(tables > 0 ? [`${counted(tables, 'more table')} to unfold on the page.`] : []),
      ...(findings === null
        ? []
        : ['Evidence, names, commands and the text for new nodes stand on the page.']),
      ...(findings !== null && findings.short > 0
        ? [`${counted(findings.short, 'finding')} after the first ${findings.whole} in short.`]
        : []),
      ...(findings !== null && findings.left > 0
        ? [`${counted(findings.left, 'more row')} only there.`]
        : []),
    ].join(' ')}`,
  thresholds: (folded: number) =>
    `On paper: Only tables that are unfolded are printed; ${counted(folded, 'more table')} to unfold on the page.`,
  nodes: (groups: number, left: number) =>
    `On paper: Of the first ${counted(groups, 'group')} the node nearest to eviction; ${counted(left, 'node')} only on the page.`,
  rules: (count: number) => `On paper: ${counted(count, 'rule')} explained on the page.`,
}

export const ofPaper = { paper }
