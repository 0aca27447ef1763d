/** The findings of a hostile fleet: bounded in bytes, and what is left out is counted and named. */

import { describe, expect, it } from 'vitest'
import { compareRuns } from '#judge/compare/delta/delta.ts'
import { rules } from '#judge/rules/index.ts'
import type { FindingsDocument } from '#model/finding.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type AuditResult, audit, boundedLists } from '#pipeline/audit/audit.ts'
import { formats } from '#report/formats/index.ts'
import { finding } from '#test/report-builder.ts'

const MiB = 2 ** 20
const long = 'x'.repeat(190)
const usual = rules.filter(({ kind }) => kind === 'node')
/** A usual rule that finds much on each node. */
const loud = (index: number, severity: 'high' | 'low') => ({
  ...usual[index],
  ...{ severity, needs: [], appliesTo: () => true },
  *judge({ identity }: { identity: { name: string } }) {
    yield {
      consequence: long,
      evidence: Array.from({ length: 24 }, (_, line) => ({
        ...{ kind: 'node', what: `${identity.name} ${line}`, value: long },
      })),
    }
  },
})

const takenAt = '2026-11-21T05:00:00Z'
async function* fleet(count: number): AsyncGenerator<SnapshotRecord> {
  yield {
    ...{ kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt },
    account: null,
    region: null,
  }
  for (let index = 0; index < count; index++)
    yield {
      ...{ kind: 'Node', cluster: `c${index % 3}`, at: takenAt },
      node: {
        metadata: { name: `n${index}`, labels: { 'eks.amazonaws.com/nodegroup': `g${index}` } },
      },
    }
}

const audited = (count: number): Promise<AuditResult> =>
  audit(fleet(count), {
    ...{ source: 'snapshot', version: '1', policy: defaultPolicy, snapshot: null, history: null },
    rules: [loud(0, 'low'), loud(1, 'high')],
    formats: formats.filter(({ id }) => ['json', 'html', 'sarif', 'csv'].includes(id)),
    ...{ channels: [], audiences: [] },
  } as never)

describe('findings of many groups', () => {
  it('are at most 24 MiB; the least severe are left out, counted, and named by cluster', async () => {
    const count = 2_400
    const { document, files } = await audited(count)
    expect(JSON.stringify(document.findings).length).toBeLessThan(24 * MiB + 100_000)
    const severe = document.findings.filter(({ severity }) => severity === 'high')
    expect(severe).toHaveLength(count)
    const notes = document.notAudited.filter(({ cause }) => cause === 'length')
    expect(notes.map(({ cluster, node }) => [cluster, node])).toEqual([
      ['c1', null],
      ['c2', null],
    ])
    const hidden = notes.map(({ reason }) => Number(/(\d+) findings/.exec(reason)?.[1]))
    expect(document.findings.length + hidden.reduce((a, b) => a + b, 0)).toBe(2 * count)
    const fails = document.clusters.map(({ outcomes }) => outcomes.fail)
    expect(fails.reduce((a, b) => a + b, 0)).toBe(2 * count)
    for (const { name, body } of files) expect(body.length, name).toBeLessThan(64 * MiB)
  }, 120_000)

  it('stay whole in a usual fleet', async () => {
    const { document } = await audited(30)
    expect(document.findings).toHaveLength(60)
    expect(document.notAudited.some(({ cause }) => cause === 'length')).toBe(false)
  })
})

describe('a document that is too long', () => {
  const of = (count: number, cluster: string) =>
    Array.from({ length: count }, (_, index) =>
      finding('low', { cluster, id: `${cluster}${index}`, consequence: long.repeat(50) }),
    )
  const lists = { findings: [], waived: [], unknowns: [], notAudited: [] }

  it('counts what is left out of each list', () => {
    const unread = Array.from({ length: 30_000 }, (_, index) => ({
      ...{ cluster: 'a', node: `n${index}`, cause: 'sources' as const, reason: long },
    }))
    const { findings, notAudited } = boundedLists({
      ...lists,
      findings: [...of(2_000, 'a'), ...of(2_000, 'b')],
      notAudited: unread,
    })
    const [ofA, ofB] = notAudited.slice(-2).map(({ reason }) => reason)
    expect(ofA).toBe(
      `left out, because the report would be too long: ${(30_000 - notAudited.length + 2).toLocaleString('en-US')} unread parts`,
    )
    expect(ofB).toBe(
      `left out, because the report would be too long: ${(4_000 - findings.length).toLocaleString('en-US')} findings`,
    )
  })

  it('does not make a finding look fixed', () => {
    const before = of(4_000, 'b')
    const run = (parts: Partial<FindingsDocument>) => ({
      document: {
        ...lists,
        run: { rules: [finding('low').rule], inputErrors: [], takenAt, version: '1' },
        clusters: [{ name: 'b', coverage: { nodes: 3 }, outcomes: { error: 0 } }],
        ...parts,
      } as never,
      ...{ nodes: null, ruleErrors: null },
    })
    const after = boundedLists({ ...lists, findings: before })
    expect(after.findings.length).toBeLessThan(4_000)
    const { findings } = compareRuns(run({ findings: before }), run(after))
    expect(findings.filter(({ change }) => change === 'fixed')).toEqual([])
  })
})
