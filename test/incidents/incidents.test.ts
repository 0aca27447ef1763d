import { describe, expect, it } from 'vitest'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { causesAndOutlook, causesView } from '#report/parts/causes.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import { incidents } from './cases/index.ts'
import type { Incident } from './incident.ts'
import { type Judged, judgedIncident } from './judged.ts'
import { type Score, scoreOf } from './scored.ts'

const judgedIncidents = new Map<Incident, Promise<Judged>>()
/** Each incident is judged once. */
function judgedOnce(incident: Incident): Promise<Judged> {
  const judged = judgedIncidents.get(incident) ?? judgedIncident(incident)
  judgedIncidents.set(incident, judged)
  return judged
}

it('names a thread for each incident, and each incident once', () => {
  expect(new Set(incidents.map(({ name }) => name)).size).toBe(incidents.length)
  for (const { thread } of incidents) expect(() => new URL(thread)).not.toThrow()
})

describe.each(incidents)('$name ($thread)', incident => {
  it('is read and judged in full', async () => {
    const { document, nodes, ruleErrors } = await judgedOnce(incident)
    expect(ruleErrors).toEqual([])
    expect(document.run.inputErrors).toEqual([])
    const { coverage } = document.clusters[0]!
    const unreadable = nodes.filter(({ identity }) => identity.owner === 'fargate')
    expect(coverage.notRead).toBe(unreadable.length)
    // What the world says that the node holds is what the ledger explains.
    for (const { details, mode } of nodes)
      if (mode === 'both')
        for (const { lines, usedBytes } of details().ledger?.filesystems ?? [])
          expect(lines.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(usedBytes)
  })
})

it('says in the legend of a mail what the hatch of its bar means', async () => {
  const name = 'images-of-docker-in-docker-on-the-host'
  const { report } = await judgedOnce(incidents.find(one => one.name === name)!)
  const { html } = renderMail(report, [])
  expect(html).toMatch(/<td class="[a-z-]+ estimate"/)
  expect(html).toContain(`</span> ${english.words.picture.estimate}</span>`)
})

describe('the explanations', async () => {
  const scores: Score[] = []
  for (const incident of incidents) scores.push(scoreOf(incident, await judgedOnce(incident)))

  it('have a cause for each node that is next to break', async () => {
    const without: string[] = []
    for (const incident of incidents) {
      const { outlook } = causesAndOutlook((await judgedOnce(incident)).report, english)
      if (outlook.rows.some(({ cause, steps }) => cause === null && steps.length === 0))
        without.push(incident.name)
    }
    expect(without).toEqual([])
  })

  it('do not say that a disk is the cause of short memory, processes or registries', async () => {
    const titles: string[] = []
    for (const incident of incidents) {
      const { report } = await judgedOnce(incident)
      const { causes } = causesAndOutlook(report, english)
      const on = { titleOf: titlesOf(report, english), language: english }
      const views = causesView(causes, on, id => id, report)
      for (const [index, { held, heldTitle }] of [...views.shown, ...views.rest].entries()) {
        const { cause } = causes[index]!
        if (held.length > 0 && cause.kind === 'world' && /memory|proc|registry/.test(cause.event))
          titles.push(heldTitle)
      }
    }
    expect(titles.length).toBeGreaterThan(3)
    expect(new Set(titles)).toEqual(new Set([english.words.causes.beside]))
  })

  it.each(['cause', 'owner', 'step', 'words'] as const)('have the %s of the thread', part => {
    const missed = scores.filter(score => !score[part])
    expect(missed.map(({ incident, says }) => [incident.name, says])).toEqual([])
  })

  it('never mislead', () => {
    expect(scores.flatMap(({ misleads }) => misleads)).toEqual([])
  })

  it('call no near miss by a cause that it does not have', () => {
    const wrong = scores.filter(({ incident, cause }) => incident.cause === null && !cause)
    expect(wrong.map(({ incident, says }) => [incident.name, says])).toEqual([])
  })
})
