import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { mostLooseNodes } from '#judge/run/tally.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import { isSlow } from '#test/slow.ts'

const rule = 'alert-before-image-gc'
const nameOf = (index: number) => `loose-${String(index).padStart(4, '0')}`

/** Nodes of no group whose image GC begins after the alert, with usages of their own. */
function judged(count: number, policy: Partial<Policy> = {}) {
  const judgement = openJudgement(rules, { ...defaultPolicy, ...policy }, { allNodes: true })
  for (let index = 0; index < count; index++) {
    const imageGC = { highThresholdPercent: 85, usagePercent: 20 + (index % 50) }
    const { record, prediction } = buildNode({
      name: nameOf(index),
      nodegroup: null,
      imageGC,
      configuration: { imageGCHighThresholdPercent: 85 },
    })
    judgement.take(inputOf(record), prediction)
  }
  return judgement.close(takenAt)
}
const of = (findings: ReturnType<typeof judged>['findings']) =>
  findings.filter(finding => finding.rule === rule)

it('are subjects of their own while they are few', () => {
  const found = of(judged(mostLooseNodes).findings)
  expect(found).toHaveLength(mostLooseNodes)
  expect(found[0]?.subject).toEqual({ kind: 'Node', namespace: null, name: nameOf(0) })
})

it('are one finding on the cluster when they are many, with every node in it', () => {
  const result = judged(mostLooseNodes + 1)
  expect(of(result.findings)).toMatchObject([
    { subject: { kind: 'Cluster', name: 'prod' }, nodes: { count: mostLooseNodes + 1 } },
  ])
  expect(of(result.findings)[0]?.nodes.sample.at(-1)).toBe(nameOf(mostLooseNodes))
  expect(result.unknowns.every(({ subject }) => subject.kind === 'Cluster')).toBe(true)
})

it('stay subjects of their own where a waiver names them', () => {
  const waivers = [
    {
      rule,
      match: { kind: 'Node' as const, name: nameOf(7) },
      until: '2027-01-01',
      reason: 'known',
    },
  ]
  const result = judged(mostLooseNodes + 2, { waivers })
  expect(of(result.findings)).toMatchObject([
    { subject: { kind: 'Cluster' }, nodes: { count: mostLooseNodes + 1 } },
  ])
  expect(result.waived).toMatchObject([{ subject: { kind: 'Node', name: nameOf(7) } }])
})

it('of 5,000 give findings that fit into 2 MB', () => {
  const { findings, unknowns } = judged(isSlow ? 5000 : 1000)
  expect(JSON.stringify({ findings, unknowns }).length).toBeLessThan(2_000_000)
})
