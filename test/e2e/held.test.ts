/** The nodes of the demo: whatever is wrong on one, its causes say what holds its disk, or how that is read. */
import { expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/page/view.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

it('each critical and high node has a cause with holder, bytes and step', async () => {
  await labOf([incidents, probe, recorded])
  const result = await auditLive({ policy: { modes: [{ match: {}, mode: 'both' }] } })
  const { causes } = pageView(result.report, english)
  const lines = [...causes.shown, ...causes.rest].map(({ held, statement, where, step }) => ({
    text: [...held, `${where} ${statement}`].join('\n'),
    step,
  }))
  const worst = result.document.findings.filter(({ severity }) =>
    /^(critical|high)$/.test(severity),
  )
  const nodes = result.nodes.filter(({ cluster, identity: { name } }) =>
    worst.some(one => one.cluster === cluster && one.nodes.sample.includes(name)),
  )
  const isRead = ({ details }: (typeof nodes)[0]) =>
    details().ledger?.filesystems.some(({ lines }) => lines[0]?.holder !== 'unread') === true
  const named = (name: string) =>
    lines.find(({ text, step }) =>
      text
        .split('\n')
        .some(line => line.includes(name) && /\d\s[KMGT]iB/.test(line) && step !== ''),
    )
  const read = nodes.filter(isRead).map(({ identity }) => identity.name)
  expect(read.length).toBeGreaterThan(8)
  expect(read.filter(name => named(name) === undefined)).toEqual([])
  const unread = nodes.filter(node => !isRead(node)).map(({ identity }) => identity.name)
  const gaps = result.document.findings.filter(({ cause }) => cause.kind === 'unread')
  expect(unread.length).toBeGreaterThan(0)
  expect(unread.filter(name => !gaps.some(({ nodes }) => nodes.sample.includes(name)))).toEqual([])
})
