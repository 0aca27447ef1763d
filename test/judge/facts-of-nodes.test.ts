import { describe, expect, it } from 'vitest'
import { FactsOfNodes, keptNode } from '#judge/facts-of-nodes.ts'
import type { ContextRule } from '#judge/rule.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { exampleSubject } from '#test/example.ts'

describe('facts of nodes', () => {
  const ruleWith = (fact: unknown): ContextRule =>
    ({ ...lostOnTheWay, needs: [], appliesTo: () => true, fact: () => fact }) as ContextRule
  const subject = exampleSubject({}, 'ip-1')
  const fact = { running: 'x'.repeat(5000) }

  it('are told apart by a few characters, however long they are: every node of a fleet keeps them', () => {
    const facts = new FactsOfNodes(ruleWith(fact))
    const [one, other] = [1, 2].map(() => facts.take(subject, keptNode(subject)))
    expect(one?.fact).toHaveLength(44)
    expect(other?.fact).toBe(one?.fact)
    expect(one && facts.get(one)).toBe(fact)
  })

  it('differ where anything differs', () => {
    const keys = [fact, { running: `${fact.running}x` }, {}, null].map(
      each => new FactsOfNodes(ruleWith(each)).take(subject, keptNode(subject)).fact,
    )
    expect(new Set(keys).size).toBe(4)
  })
})
