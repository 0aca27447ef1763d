import { basics } from './en/basics.ts'
import { ofCauses } from './en/causes.ts'
import { ofFindings } from './en/findings.ts'
import { ofGarbage } from './en/garbage.ts'
import { ofLedger } from './en/ledger.ts'
import { ofMail } from './en/mail.ts'
import { ofNodes } from './en/nodes.ts'
import { ofPage } from './en/page.ts'
import { remembered } from './en/remembered.ts'
import { ofSteps } from './en/steps.ts'
import { summary } from './en/summary.ts'
import { ofTerminal } from './en/terminal.ts'
import { ofThresholds } from './en/thresholds.ts'

export const en = {
  ...basics,
  ...ofPage,
  ...summary,
  ...ofCauses,
  ...ofFindings,
  ...ofThresholds,
  ...ofNodes,
  ...ofGarbage,
  ...ofLedger,
  ...remembered,
  ...ofMail,
  ...ofSteps,
  ...ofTerminal,
}

/** Every message of a report. English is the source; other languages are data with its keys. */
export type Catalogue = typeof en
