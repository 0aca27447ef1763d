import { describe, expect, it } from 'vitest'
import type { ContextRule } from '#judge/rule.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { FactsOfNodes, keptNode } from '#judge/run/cohorts.ts'
import { exampleSubject } from '#test/example.ts'

describe('facts of nodes', () => {
  const subject = exampleSubject({}, 'ip-1')
  const fact = { running: 'x'.repeat(5000) }

  const kept = (each: unknown[]) => {
    let next = 0
    const fact = () => each[next++]
    const rule = { ...lostOnTheWay, needs: [], appliesTo: () => true, fact } as ContextRule
    const facts = new FactsOfNodes(rule)
    for (const _ of each) facts.take(subject, keptNode(subject))
    return facts.members().map(({ fact }) => fact)
  }

  it('are kept once if they are equal', () => {
    const [one, other] = kept([fact, { ...fact }])
    expect(one?.read()).toBe(fact)
    expect(other).toBe(one)
  })

  it('differ where anything differs', () => {
    expect(new Set(kept([fact, { running: `${fact.running}x` }, {}, null])).size).toBe(4)
  })

  it('are read again if many nodes have facts of their own', () => {
    const all = Array.from({ length: 1100 }, (_, index) => ({ index, text: 'x'.repeat(index) }))
    expect(kept([...all, ...all]).map(one => one?.read())).toEqual([...all, ...all])
  })
})
