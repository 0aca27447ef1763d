/** What the lab's SES knows from one request to the next. */
import type { Scenario, SesScenario } from '#lab/scenarios/scenario.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'

export interface WorldSes {
  scenario: SesScenario
  mailbox: Mailbox
  refusalsLeft: number
  /** Recipients so far. */
  sent: number
}

/** Where several scenarios speak of SES, the last one holds. */
export function createSes(scenarios: readonly Scenario[], folder: string | undefined): WorldSes {
  const usual: SesScenario = {
    identities: ['example.com'],
    sandbox: false,
    sendingPaused: false,
    denied: false,
    refuseFirst: null,
    suppressed: [],
    suppressionDenied: false,
    down: false,
  }
  const scenario: SesScenario = Object.assign(usual, ...scenarios.map(({ ses }) => ses))
  return {
    scenario,
    mailbox: openMailbox(folder),
    refusalsLeft: scenario.refuseFirst?.count ?? 0,
    sent: 0,
  }
}

export function suppressionOf(
  { scenario }: WorldSes,
  address: string,
): SesScenario['suppressed'][number] | undefined {
  return scenario.suppressed.find(each => each.address.toLowerCase() === address.toLowerCase())
}
