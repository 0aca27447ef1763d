import { describe, expect, it } from 'vitest'
import { parseYamlObject } from '#collect/inspect/yaml-object.ts'
import { inputLimits } from '#model/input-limits.ts'

describe('parseYamlObject', () => {
  it('takes no time that grows faster than the text, and no text that is longer than a configuration', () => {
    const keys = Array.from({ length: 6_000 }, (_, index) => `k${index}: `).join('\n')
    expect(Object.keys(parseYamlObject(keys).value ?? {})).toHaveLength(6_000)
    const long = 'a'.repeat(inputLimits.yaml.maxBytes + 1)
    expect(parseYamlObject(`a: ${long}`)).toMatchObject({ value: null })
  })

  it.each(['a: 1\na: 2', 'a: {b: 1, c: 2, b: 3}', '{"a": 1, "\\u0061": 2}'])(
    'does not choose between keys that stand twice: %j',
    text => {
      expect(parseYamlObject(text)).toMatchSnapshot()
    },
  )
})
