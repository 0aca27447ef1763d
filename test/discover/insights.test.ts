import { expect, it } from 'vitest'
import { discover } from '#discover/discover.ts'
import { comparedNode } from '#judge/compare/delta/delta.ts'
import type { InsightScenario, Scenario } from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { unreadOf } from '#pipeline/audit/diff.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

const insight = (
  id: string,
  status: InsightScenario['insightStatus']['status'],
  more: Partial<InsightScenario> = {},
): InsightScenario => ({
  id,
  name: `check ${id}`,
  kubernetesVersion: '1.35',
  insightStatus: { status, reason: `why ${id}` },
  description: 'What it checks.',
  recommendation: `do ${id}`,
  ...more,
})

const labWith = (insights: InsightScenario[], more: Partial<Scenario> = {}) =>
  labOf([scenario([{ name: 'c', nodes: nodes(1), insights }], more)])

async function discovered(insights: InsightScenario[], more: Partial<Scenario> = {}) {
  const lab = await labWith(insights, more)
  const signal = new AbortController().signal
  const [target] = await Array.fromAsync(discover(defaultPolicy, everything, signal))
  return { record: target?.record, routes: lab.requests().routes.eks }
}

it('reads what does not pass, page by page, and nothing of other categories', async () => {
  const { record, routes } = await discovered(
    [
      insight('a', 'WARNING'),
      insight('b', 'PASSING'),
      insight('c', 'ERROR'),
      insight('d', 'ERROR', { category: 'MISCONFIGURATION' }),
      insight('e', 'UNKNOWN'),
    ],
    { eksPageSize: 2 },
  )
  expect(record?.errors).toEqual([])
  expect(record?.insights?.map(({ id, recommendation }) => [id, recommendation])).toEqual([
    ['a', 'do a'],
    ['c', 'do c'],
    ['e', 'do e'],
  ])
  expect(routes).toMatchObject({ ListInsights: 2, DescribeInsight: 3 })
})

it('stops at 50', async () => {
  const many = Array.from({ length: 60 }, (_, index) => insight(`i${index}`, 'WARNING'))
  const { record, routes } = await discovered(many, { eksPageSize: 20 })
  expect(record?.insights).toHaveLength(50)
  expect(routes).toMatchObject({ ListInsights: 3, DescribeInsight: 50 })
})

it('keeps the summary if the right to describe is missing, and asks once', async () => {
  const { record, routes } = await discovered([insight('a', 'ERROR'), insight('b', 'ERROR')], {
    eksDenied: ['eks:DescribeInsight'],
  })
  expect(record?.insights).toMatchObject([
    { id: 'a', insightStatus: { status: 'ERROR', reason: 'why a' } },
    { id: 'b' },
  ])
  expect(record?.errors).toMatchObject([{ what: 'insight a', refusal: 'right' }])
  expect(routes?.DescribeInsight).toBe(1)
})

it.each(['eks:ListInsights', 'eks:DescribeInsight'])('costs no report without %s', async right => {
  await labWith([insight('a', 'ERROR')], { eksDenied: [right] })
  const { document, nodes: audited, ruleErrors } = await auditLive()
  expect(document.notAudited).toEqual([])
  expect(document.clusters[0]?.coverage.insightsUnread).toContain(`Grant ${right}`)
  expect(document.clusters[0]?.grade).not.toBeNull()
  const run = { document, nodes: audited.map(comparedNode), ruleErrors }
  expect(unreadOf(run)).toBe('none')
})

it('lists the worst first in the document', async () => {
  await labWith([insight('a', 'UNKNOWN'), insight('b', 'ERROR'), insight('c', 'PASSING')])
  const { document } = await auditLive()
  expect(document.clusters[0]?.insights?.map(({ id }) => id)).toEqual(['b', 'a'])
  expect(document.clusters[0]?.coverage.insightsUnread).toBeUndefined()
})
