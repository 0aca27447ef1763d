import { describe, expect, it } from 'vitest'
import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { parseYamlObject } from '#collect/inspect/answer.ts'

const parsed = (text: string) => parseYamlObject(text, new TextBudget(textLimits.nodeFiles))

describe('parseYamlObject', () => {
  it('takes no time that grows faster than the text, and no text that is longer than a configuration', () => {
    const keys = Array.from({ length: 4_000 }, (_, index) => `k${index}: `).join('\n')
    expect(Object.keys(parsed(keys).value ?? {})).toHaveLength(4_000)
    const long = 'a'.repeat(textLimits.nodeFiles.maxCharacters)
    expect(parsed(`a: ${long}`)).toMatchObject({ value: null })
  })

  it.each(['a: 1\na: 2', 'a: {b: 1, c: 2, b: 3}', '{"a": 1, "\\u0061": 2}'])(
    'does not choose between keys that stand twice: %j',
    text => {
      expect(parsed(text)).toMatchSnapshot()
    },
  )
})
