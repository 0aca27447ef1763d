import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leavesOf, mergePatch, patchBetween } from '#base/raw-object.ts'
import { canonicalJson } from '#remediate/plan/canonical.ts'

const scalar = fc.oneof(fc.integer(), fc.string(), fc.boolean())
const key = fc.constantFrom('a', 'b', 'c', 'nodefs.available')
const map = fc.dictionary(key, fc.oneof(scalar, fc.array(scalar), fc.dictionary(key, scalar)))

describe('a merge patch', () => {
  it('between two maps makes one of the other, keys that stay in their places', () => {
    fc.assert(
      fc.property(map, map, (from, to) => {
        const made = mergePatch(from, patchBetween(from, to))
        expect(canonicalJson(made)).toBe(canonicalJson(to))
        const kept = Object.keys(from).filter(name => Object.hasOwn(to, name))
        expect(Object.keys(made).slice(0, kept.length)).toEqual(kept)
      }),
    )
  })

  it('is listed leaf by leaf, in the order of their paths', () => {
    expect(leavesOf({ b: null, a: { 'x.y': 1, w: '2' } })).toEqual([
      ['a.w', '2'],
      ['a.x.y', 1],
      ['b', null],
    ])
  })
})
