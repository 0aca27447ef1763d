import { expect, it } from 'vitest'
import { findingEvents } from '#report/parts/finding-events.ts'
import { finding, morningReport } from '#test/report-builder.ts'

it('makes at most 500 events of a run, in the order of the findings', () => {
  const { document, before } = morningReport()
  const findings = Array.from({ length: 700 }, (_, index) => finding('high', { id: `${index}` }))
  const delta = { ...document.delta, new: findings.map(({ id }) => id) }
  const events = findingEvents({ document: { ...document, findings, delta }, before }, null)
  expect(events.map(one => one.finding)).toEqual(findings.slice(0, 500).map(({ id }) => id))
})
