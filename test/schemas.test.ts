/** The published schemas, and that what we write keeps to them. `npm run schemas` writes them anew. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { WaiverNotice } from '#model/finding.ts'
import type { GateVerdict } from '#model/gate.ts'
import { defaults } from '#model/policy/defaults.ts'
import { json } from '#report/formats/index.ts'
import { gateSarif } from '#report/gate/sarif.ts'
import { findingEvents } from '#report/parts/finding-events.ts'
import { gated, gateSnapshot } from '#test/gate-changes.ts'
import { inProcess } from '#test/in-process.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'
import { fleetNode, snapshotOf } from '#test/plan-fleet.ts'
import { morningReport, quietReport, secondMorning } from '#test/report-builder.ts'
import { withReference } from '#tools/policy-reference.ts'
import { closedSchemas, type FormatName, fileText, openSchemas } from '#tools/schemas.ts'

const strict = closedSchemas()
const published = openSchemas(strict)
const errorsOf = (name: FormatName, schemas = strict) =>
  schemaErrors(schemas[name] as Record<string, unknown>)
const sarifErrors = schemaErrors(schemaFile('sarif-2.1.0.json'))
const folder = mkdtempSync(join(tmpdir(), 'highwater-schemas-'))
const snapshot = join(folder, 'snapshot.ndjson.gz')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each(Object.keys(published) as FormatName[])('docs/schemas has %s as it is', name => {
  const file = `docs/schemas/${name}.schema.json`
  expect(readFileSync(file, 'utf8'), 'npm run schemas').toBe(fileText(published[name]))
  expect(published[name].$id).toBe(`urn:highwater:schema:${name}:1`)
})

it('docs/policy.md has every key as it is', () => {
  const page = readFileSync('docs/policy.md', 'utf8')
  expect(page, 'npm run schemas').toBe(withReference(page, published.policy))
  expect(page).toContain('| `report.attach` | `report`, `none` | `"report"` |')
})

it('know every key of the policy', () => {
  const keys = Object.keys(published.policy.properties ?? {}).sort()
  expect(keys).toEqual(Object.keys(defaults).sort())
})

describe('what we write', () => {
  it('findings', async () => {
    await labOf([incidents])
    const { document, nodes } = await auditLive({ snapshotPath: snapshot })
    expect(document.findings.length).toBeGreaterThan(3)
    const waiverNotices: WaiverNotice[] = [
      {
        ...{ rule: 'job-without-ttl', match: { namespace: 'batch' }, until: '2026-12-31' },
        state: 'idle',
      },
    ]
    const quiet = { ...quietReport(nodes), document: { ...document, waiverNotices } }
    for (const report of [morningReport(), quiet])
      expect(errorsOf('findings')(JSON.parse(json.render(report)))).toEqual([])
  })

  it('events', () => {
    const events = findingEvents(secondMorning(), null)
    expect(new Set(events.map(({ change }) => change))).toEqual(new Set(['new', 'worse', 'ended']))
    expect(events.flatMap(errorsOf('event'))).toEqual([])
  })

  it('a snapshot, line by line, as the audit left it', () => {
    const lines = gunzipSync(readFileSync(snapshot)).toString().trim().split('\n')
    expect(lines.length).toBeGreaterThan(20)
    const errors = errorsOf('snapshot')
    expect(lines.flatMap(line => errors(JSON.parse(line)))).toEqual([])
  })

  it('predictions, with their ledgers', async () => {
    const args = ['--snapshot', snapshot, '--fill', 'nodefs=50Mi/s', '--format', 'json']
    const { stdout } = await inProcess(['predict', ...args])
    const prediction = JSON.parse(stdout)
    expect(errorsOf('prediction')(prediction)).toEqual([])
    const ledgers = prediction.nodes.flatMap(
      ({ ledger }: { ledger: object | null }) => ledger ?? [],
    )
    expect(ledgers.length).toBeGreaterThan(5)
    expect(ledgers.flatMap(errorsOf('ledger'))).toEqual([])
  })

  const nodeConfig = (config: string) =>
    `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {${config}}}}\n`

  it.each<[verdict: GateVerdict, what: string, files: Record<string, string>]>([
    ['refused', 'a refused field', { 'a.yaml': nodeConfig('imageGCHighThresholdPercent: 120') }],
    ['refused', 'a file that cannot be parsed', { 'a.yaml': `${nodeConfig('')}spec: [` }],
    ['worse', 'a worse node', { 'a.yaml': nodeConfig('imageGCHighThresholdPercent: 100') }],
    ['worse', 'an eviction', { 'a.yaml': nodeConfig('evictionHard: {nodefs.available: 90%}') }],
    [
      'ok',
      'a better node',
      { 'a.yaml': nodeConfig('imageGCHighThresholdPercent: 75, imageGCLowThresholdPercent: 65') },
    ],
    ['unread', 'an unread value', { 'a.yaml': nodeConfig('maxPods: "$PODS"') }],
    ['unread', 'an unread file', { 'values.yaml': 'kubelet: {maxPods: "{{ .Values.pods }}"}\n' }],
    ['ok', 'an ignored file', { 'README.md': 'kubelet' }],
    ['ok', 'no file', {}],
  ])('a gate that is %s: %s', async (verdict, _, files) => {
    const texts = Object.entries(files).map(([file, text]) => ({ file, text, base: null }))
    const document = await gated(gateSnapshot(), texts, { group: 'general' })
    expect(document.verdict).toBe(verdict)
    expect(errorsOf('gate')(JSON.parse(JSON.stringify(document)))).toEqual([])
    expect(sarifErrors(JSON.parse(gateSarif(document)))).toEqual([])
  })

  it('plans and approvals', async () => {
    const out = join(folder, 'plan.json')
    const nodes = snapshotOf([fleetNode({ name: 'a' }), fleetNode({ name: 'b' })])
    const set = [
      '--set',
      'imageGCHighThresholdPercent=70',
      '--set',
      'imageGCLowThresholdPercent=60',
    ]
    await inProcess(['plan', '--snapshot', nodes, '--out', out, ...set])
    const plan = JSON.parse(readFileSync(out, 'utf8'))
    expect(plan.steps).toHaveLength(2)
    expect(errorsOf('plan')(plan)).toEqual([])
    await inProcess(['approve', out, '--digest', plan.digest, '--by', 'Ada Lovelace'])
    const sealed = JSON.parse(readFileSync(join(folder, 'plan.approval.json'), 'utf8'))
    expect(errorsOf('approval', published)(sealed)).toEqual([])
  })
})

it('refuse what the contract does not have', () => {
  const { document } = morningReport()
  const [errors, lenient] = [errorsOf('findings'), errorsOf('findings', published)]
  expect(errors({ ...document, more: 1 })).not.toEqual([])
  expect(lenient({ ...document, more: 1 })).toEqual([])
  expect(lenient({ ...document, schema: 'highwater.findings/2' })).not.toEqual([])
  const [cluster] = document.clusters
  expect(errors({ ...document, clusters: [{ ...cluster, grade: 'E' }] })).not.toEqual([])
})
