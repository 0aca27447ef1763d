import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyDepth } from '#base/limits.ts'
import { jsonFlaw, jsonWithKeys } from '#base/raw-object.ts'

const flaw = (text: string, maxValues: number, maxDepth: number) =>
  jsonFlaw(Buffer.from(text), { maxBytes: text.length, maxValues, maxDepth })

/** Keys and values; an object's or a list's first value counts with what opens it. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return inner.reduce<number>((sum, one) => sum + valuesIn(one), 1 + Math.max(0, inner.length - 1))
}

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((most, one) => Math.max(most, depthOf(one)), 0)
    : 0

describe('jsonFlaw', () => {
  it('counts as JSON.parse finds it, whatever stands in strings', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), text => {
        const value: unknown = JSON.parse(text)
        const values = 1 + valuesIn(value)
        const depth = depthOf(value)
        expect(flaw(text, values, depth)).toBeNull()
        if (values > 1) expect(flaw(text, values - 1, depth)).toMatch(/values/)
        if (depth > 0) expect(flaw(text, values, depth - 1)).toMatch(/deeper/)
      }),
    )
  })

  it('counts the values of a long text, whatever its depth', () => {
    expect(flaw('[[[[[[', 6, anyDepth)).toBeNull()
    expect(flaw('[[[[[[[', 6, anyDepth)).toMatch(/values/)
  })

  it.each(['"[[[[,,,,"', String.raw`"\"[[[["`, String.raw`"\\"`, '"unclosed [[[', '"\\'])(
    'sees nothing in the string %s',
    text => {
      expect(flaw(text, 1, 0)).toBeNull()
    },
  )
})

it.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":3}]}', '{"a":1,"c":[{"a":3}]}'],
  ['{ "c" : "},\\"" , "b":"{" , "a":1 }', '{ "c" : "},\\"" , "a":1 }'],
  ['{"b":1,"a":1,"a":2,"c":3}', '{"a":1,"a":2,"c":3}'],
  ['{"a":"ä","c":[1],"b":{', '{"a":"ä","c":[1]}'],
  ['{"b":1}', '{"b":1}'],
  ['{}', '{}'],
  ['{"a":1,"b":{', '{"a":1,"b":{'],
  ['{"a":1} 2', '{"a":1} 2'],
])('jsonWithKeys keeps of %s: %s', (text, kept) => {
  expect(jsonWithKeys(Buffer.from(text), new Set(['a', 'c'])).toString()).toBe(kept)
})
