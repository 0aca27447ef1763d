/** Korean. */
import type { Catalogue } from './en.ts'
import { basics } from './ko/basics.ts'
import { ofFindings } from './ko/findings.ts'
import { ofGarbage } from './ko/garbage.ts'
import { ofMail } from './ko/mail.ts'
import { ofNodes } from './ko/nodes.ts'
import { ofPage } from './ko/page.ts'
import { ofPaper } from './ko/paper.ts'
import { remembered } from './ko/remembered.ts'
import { summary } from './ko/summary.ts'
import { ofTerminal } from './ko/terminal.ts'
import { ofThresholds } from './ko/thresholds.ts'

export const ko: Catalogue = {
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
