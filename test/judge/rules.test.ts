import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { judgeCluster } from '#judge/cluster-rules.ts'
import { Cohorts } from '#judge/cohorts.ts'
import { type ContextExample, exampleSubject, type NodeExample } from '#judge/example.ts'
import { type ClusterExample, exampleCluster } from '#judge/garbage/example-cluster.ts'
import { outcomeOf } from '#judge/outcome.ts'
import type { CohortRule, Rule } from '#judge/rule.ts'
import { rules } from '#judge/rules/index.ts'
import { rulesDocument } from '#judge/rules-document.ts'
import { defaultPolicy } from '#model/policy.ts'
import { outcomeIn } from '#test/rule-outcome.ts'

function statesOf(rule: Rule, example: NodeExample | NodeExample[] | ClusterExample): string[] {
  if (rule.kind === 'cluster')
    return [
      judgeCluster(rule, exampleCluster(example as ClusterExample), defaultPolicy).outcome.state,
    ]
  if (rule.kind === 'node')
    return [outcomeOf(rule, exampleSubject(example as NodeExample), defaultPolicy).state]
  if (rule.kind === 'context') return [outcomeIn(rule, example as ContextExample).state]
  return compared(rule, example as NodeExample[])
}

function compared(rule: CohortRule, examples: NodeExample[]): string[] {
  const cohorts = new Cohorts(rule)
  examples.forEach((example, index) => {
    cohorts.take(exampleSubject(example, `ip-10-0-1-${index}.ec2.internal`))
  })
  return [...cohorts.outcomes(defaultPolicy)].map(({ outcome }) => outcome.state)
}

describe.each(rules.map(rule => [rule.id, rule] as const))('%s', (id, rule) => {
  it('fails its bad example', () => {
    expect(statesOf(rule, rule.examples.bad)).toContain('fail')
  })

  it('passes its good example', () => {
    expect(new Set(statesOf(rule, rule.examples.good))).toEqual(new Set(['pass']))
  })

  it('stands in a file of its name, in the folder of its family', () => {
    const file = `src/judge/rules/${rule.family}/${id}.ts`
    expect(globSync(file)).toEqual([file])
    expect(readFileSync(file, 'utf8')).toContain(`id: '${id}'`)
  })

  it('says what it is, why, how to end it, and on what it relies', () => {
    for (const text of [rule.docs.title, rule.docs.why, rule.docs.fix]) expect(text).toMatch(/\w/)
    expect(rule.docs.sources).not.toEqual([])
    expect(rule.docs.title).not.toMatch(/[.\n]$/)
  })
})

describe('the shelf', () => {
  it('is sorted and gives no id twice', () => {
    const ids = rules.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].toSorted())
  })

  it('holds every rule that has a file', () => {
    const files = globSync('src/judge/rules/*/*.ts').map(file => file.replace(/^.*\/|\.ts$/g, ''))
    expect(files.toSorted()).toEqual(rules.map(({ id }) => id))
  })

  it('is what docs/rules.md says', async () => {
    await expect(rulesDocument(rules)).toMatchFileSnapshot('../../docs/rules.md')
  })
})
