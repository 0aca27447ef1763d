/** Notes on what is not printed. */
import { counted, formatCount } from '#report/numbers.ts'

const of = (shown: number, all: string) =>
  `On paper: ${formatCount(shown)} of ${all}; the others on the page.`

const paper = {
  clusters: (shown: number, all: number) => of(shown, counted(all, 'cluster')),
  waived: (shown: number, all: number) => of(shown, counted(all, 'waived finding')),
  unknowns: (shown: number, all: number) => of(shown, counted(all, 'question')),
  notAudited: (shown: number, all: number) => of(shown, counted(all, 'entry', 'entries')),
  tables: (count: number) => `On paper: ${counted(count, 'more table')} to unfold on the page.`,
  /** The first `whole` findings are printed in full, `short` in short, `left` not at all. */
  findings: (short: number, whole: number, left: number) =>
    `On paper: Evidence, names, commands and the text for new nodes are on the page.${
      short === 0 ? '' : ` ${counted(short, 'finding')} after the first ${whole} in short.`
    }${left === 0 ? '' : ` ${counted(left, 'more row')} only there.`}`,
  thresholds: (folded: number) =>
    `On paper: Only tables that are unfolded are printed; ${counted(folded, 'more table')} to unfold on the page.`,
  nodes: (groups: number, left: number) =>
    `On paper: Of the first ${counted(groups, 'group')} the node nearest to eviction; ${counted(left, 'node')} only on the page.`,
  rules: (count: number) => `On paper: ${counted(count, 'rule')} explained on the page.`,
}

export const ofPaper = { paper }
