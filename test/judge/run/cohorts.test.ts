import { describe, expect, it } from 'vitest'
import { type CohortRule, cohortRule } from '#judge/rule.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import { cohortOutcomes, FactsOfNodes } from '#judge/run/cohorts.ts'
import type { Host } from '#model/input/inspection.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject } from '#test/example.ts'

type Yields = ReturnType<CohortRule['judge']>

const toy = (judge: () => Yields, judgesAlone?: () => boolean) =>
  cohortRule({
    ...peerDrift,
    ...peerDrift.docs,
    needs: ['host'],
    cohort: () => '',
    fact: ({ host }) => host,
    judge,
    judgesAlone,
  })

function statesOf(rule: CohortRule, ...hosts: ({ name: string } | null)[]) {
  const cohorts = new FactsOfNodes(rule)
  hosts.forEach((host, index) => {
    cohorts.take(exampleSubject(host ? { host: host as Host } : {}, `node-${index}`))
  })
  return [...cohortOutcomes(rule, cohorts.members(), defaultPolicy)]
    .map(({ subject, outcome }) => `${subject.identity.name} ${outcome.state}`)
    .toSorted()
}

const failing = { consequence: 'It fails.', evidence: [] }

describe('what a cohort rule yields', () => {
  it.each<[string, Yields]>([
    [
      'after it',
      [
        { nodes: ['node-0'], failing },
        { nodes: ['node-0', 'node-1'], unknown: 'not read' },
      ],
    ],
    [
      'before it',
      [
        { nodes: ['node-0', 'node-1'], unknown: 'not read' },
        { nodes: ['node-0'], failing },
      ],
    ],
  ])('a failing stays one beside what is open %s', (_, yields) => {
    expect(
      statesOf(
        toy(() => yields),
        { name: 'a' },
        { name: 'b' },
        { name: 'c' },
      ),
    ).toEqual(['node-0 fail', 'node-1 unknown', 'node-2 pass'])
  })

  it('is asked for a node without peers only where the rule can judge it', () => {
    const yields = [{ nodes: ['node-0'], failing }]
    expect(
      statesOf(
        toy(() => yields),
        { name: 'a' },
      ),
    ).toEqual(['node-0 notApplicable'])
    expect(
      statesOf(
        toy(
          () => yields,
          () => true,
        ),
        { name: 'a' },
      ),
    ).toEqual(['node-0 fail'])
    expect(
      statesOf(
        toy(
          () => yields,
          () => true,
        ),
        null,
      ),
    ).toEqual(['node-0 unknown'])
    expect(
      statesOf(
        toy(() => yields),
        null,
      ),
    ).toEqual(['node-0 notApplicable'])
  })
})
