/** Japanese. */
import type { Catalogue } from './en.ts'
import { basics } from './ja/basics.ts'
import { ofFindings } from './ja/findings.ts'
import { ofGarbage } from './ja/garbage.ts'
import { ofMail } from './ja/mail.ts'
import { ofNodes } from './ja/nodes.ts'
import { ofPage } from './ja/page.ts'
import { ofPaper } from './ja/paper.ts'
import { remembered } from './ja/remembered.ts'
import { summary } from './ja/summary.ts'
import { ofTerminal } from './ja/terminal.ts'
import { ofThresholds } from './ja/thresholds.ts'

export const ja: Catalogue = {
  ...basics,
  ...ofPage,
  ...summary,
  ...ofFindings,
  ...ofThresholds,
  ...ofNodes,
  ...ofGarbage,
  ...remembered,
  ...ofPaper,
  ...ofMail,
  ...ofTerminal,
}
