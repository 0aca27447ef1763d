/** Simplified Chinese. */
import type { Catalogue } from './en.ts'
import { basics } from './zh/basics.ts'
import { ofFindings } from './zh/findings.ts'
import { ofGarbage } from './zh/garbage.ts'
import { ofMail } from './zh/mail.ts'
import { ofNodes } from './zh/nodes.ts'
import { ofPage } from './zh/page.ts'
import { ofPaper } from './zh/paper.ts'
import { remembered } from './zh/remembered.ts'
import { summary } from './zh/summary.ts'
import { ofTerminal } from './zh/terminal.ts'
import { ofThresholds } from './zh/thresholds.ts'

export const zh: Catalogue = {
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
