/** The published schema of `findings.json`, and that what we write is so. `vitest run test/report/findings-schema.test.ts -u` writes it anew. */
import { expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import { findingsJsonSchema } from '#report/findings-schema.ts'
import { json } from '#report/formats/json.ts'
import { schemaErrors } from '#test/json-schema.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'
import { morningReport, quietReport } from '#test/report-builder.ts'

const errors = schemaErrors(findingsJsonSchema('refused') as Record<string, unknown>)
const published = findingsJsonSchema('allowed') as Record<string, unknown>

it('is published for whoever reads findings by machine', async () => {
  await expect(`${JSON.stringify(published, null, 2)}\n`).toMatchFileSnapshot(
    '../../docs/findings.schema.json',
  )
})

it('holds for what an audit writes', async () => {
  await labOf([incidents])
  const { document, nodes } = await auditLive()
  expect(document.findings.length).toBeGreaterThan(3)
  const idleWaivers = [
    { rule: 'job-without-ttl', match: { namespace: 'batch' }, until: '2026-12-31' },
  ]
  for (const report of [
    morningReport(),
    { ...quietReport(nodes), document: { ...document, idleWaivers } },
  ])
    expect(errors(JSON.parse(json.render(report)))).toEqual([])
})

it('refuses what the contract does not have', () => {
  const { document } = morningReport()
  expect(errors({ ...document, more: 1 })).not.toEqual([])
  expect(schemaErrors(published)({ ...document, more: 1 })).toEqual([])
  expect(schemaErrors(published)({ ...document, schema: 'highwater.findings/2' })).not.toEqual([])
  expect(errors({ ...document, clusters: [{ ...document.clusters[0], grade: 'E' }] })).not.toEqual(
    [],
  )
})
