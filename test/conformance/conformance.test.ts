import { describe, expect, it } from 'vitest'
import { vectorFiles } from '#test/vectors.ts'
import { differences } from './conformance.ts'
import { families } from './families.ts'
import type { Family } from './family.ts'

it.each(vectorFiles())(
  '$family answers as upstream $version',
  ({ family: name, version, cases }) => {
    const family = families.find(known => known.name === name)
    if (family === undefined) throw new Error(`no family is called ${name}`)
    expect(cases.length).toBeGreaterThan(0)
    expect(differences(family, version, cases)).toEqual([])
  },
)

const echo = (answer: (input: never) => unknown): Family<never> => ({ name: 'echo', answer })

describe('differences', () => {
  const found = (answer: unknown, expected: unknown) =>
    differences(
      echo(() => answer),
      'v1.34',
      [{ name: 'one', input: {}, expected }],
    ).length

  it('takes absent and undefined for the same, and any order of keys', () => {
    expect(found({ b: 1, a: undefined }, { b: 1 })).toBe(0)
    expect(found({ b: 1, a: 2 }, { a: 2, b: 1 })).toBe(0)
  })

  it('takes null, another order of a list, another number for different', () => {
    expect(found({ a: null }, {})).toBe(1)
    expect(found([1, 2], [2, 1])).toBe(1)
    expect(found(1, '1')).toBe(1)
    expect(found(Number.NaN, 0)).toBe(1)
  })

  it('takes alternatives for a set, and wants all of them', () => {
    expect(found({ anyOf: [1, 2] }, { anyOf: [2, 1] })).toBe(0)
    expect(found({ anyOf: [1, 1] }, 1)).toBe(0)
    expect(found({ anyOf: [1] }, { anyOf: [2, 1] })).toBe(1)
    expect(found({ anyOf: [1, 2] }, { anyOf: [1] })).toBe(1)
    expect(found({ anyOf: [1, 2] }, { anyOf: [1, 2], error: null })).toBe(1)
  })

  it('takes an error for an answer that differs', () => {
    const broken = echo(() => {
      throw new Error('broken')
    })
    expect(
      differences(broken, 'v1.34', [{ name: 'one', input: {}, expected: 1 }])[0]?.answer,
    ).toContain('threw Error: broken')
  })

  it('lets no answer change what the next one reads', () => {
    const greedy = echo((input: { list: number[] }) => input.list.push(1))
    const cases = [{ name: 'one', input: { list: [] }, expected: 1 }]
    expect(differences(greedy, 'v1.34', cases)).toEqual([])
    expect(differences(greedy, 'v1.34', cases)).toEqual([])
  })
})
