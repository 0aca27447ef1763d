import { describe, expect, it } from 'vitest'
import type { ContextRule } from '#judge/rule.ts'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { FactsOfNodes, keptNode } from '#judge/run/cohorts.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

describe('facts of nodes', () => {
  const subject = exampleSubject({}, 'ip-1')
  const fact = { running: 'x'.repeat(500) }

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
    expect(one?.()).toBe(fact)
    expect(other).toBe(one)
  })

  it('are read where they are kept if they are long', () => {
    const long = { text: 'x'.repeat(5000) }
    expect(kept([long, { ...long }]).map(one => one?.())).toEqual([long, long])
  })

  it('differ where anything differs', () => {
    expect(new Set(kept([fact, { running: `${fact.running}x` }, {}, null])).size).toBe(4)
  })

  it('are read again if many nodes have facts of their own', () => {
    const all = Array.from({ length: 1100 }, (_, index) => ({ index, text: 'x'.repeat(index) }))
    expect(kept([...all, ...all]).map(one => one?.())).toEqual([...all, ...all])
  })

  it('have the values of their own node, also behind the key of the values', () => {
    const facts = new FactsOfNodes(lostOnTheWay)
    const examples: NodeExample[] = [
      {},
      {},
      { configuration: { imageGCHighThresholdPercent: 84 } },
      { identity: { kubeletVersion: 'v1.31.0' } },
      { identity: { amiFamily: 'Bottlerocket' } },
    ]
    const subjects = examples.map(example => exampleSubject(example, 'ip-1'))
    for (const subject of subjects) facts.take(subject)
    const read = facts.members().map(({ fact }) => fact)
    expect(read[1]).toBe(read[0])
    expect(new Set(read).size).toBe(4)
    expect(read.map(one => one?.())).toEqual(subjects.map(one => lostOnTheWay.fact(one)))
  })
})
