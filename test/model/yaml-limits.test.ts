/** Foreign YAML is parsed up to its first error, and within its budget. */
import { describe, expect, it, vi } from 'vitest'
import { parseYaml, TextBudget } from '#base/foreign-text.ts'

const unlimited = () =>
  new TextBudget({ maxCharacters: 1e9, maxTokens: 1e9, maxUnpackedBytes: 1e9 })

describe('the parser of YAML', () => {
  it.each(['}', 'a: b: c\n', '@ x\n'])('stops at the first error of %j', piece => {
    const budget = unlimited()
    const spend = vi.spyOn(budget, 'spend')
    expect(() => parseYaml(piece.repeat(200_000 / piece.length), budget)).toThrow('it is no YAML')
    expect(() =>
      parseYaml(piece.repeat(200_000 / piece.length), budget, { version: '1.1' }),
    ).toThrow()
    if (piece === '}') expect(spend.mock.calls.length).toBeLessThan(20)
  })

  it('takes what a budget allows, and no more', () => {
    const budget = new TextBudget({ maxCharacters: 100, maxTokens: 40, maxUnpackedBytes: 0 })
    expect(parseYaml('a: [b, c]', budget)).toEqual({ a: ['b', 'c'] })
    expect(() => parseYaml('[a, b, c, d, e, f]', budget)).toThrow('more values than are read')
    expect(() => parseYaml(`# ${'a'.repeat(90)}`, budget)).toThrow('more text than is read')
  })

  it('refuses keys that are no text, and other things that cost more than they show', () => {
    expect(() => parseYaml('{[a]: b}', unlimited())).toThrow('a key is no text')
    expect(() => parseYaml('[a]: b', unlimited())).toThrow('a key is no text')
    expect(() => parseYaml('['.repeat(1000), unlimited())).toThrow('nested too deeply')
    expect(() => parseYaml(`[&a b, ${'*a, '.repeat(101)}]`, unlimited())).toThrow(
      'too many aliases',
    )
  })
})
