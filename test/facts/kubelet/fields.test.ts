import { describe, expect, it } from 'vitest'
import { supportedMinors } from '#facts/kubelet/features.ts'
import { configurationFlags, type FieldFacts } from '#facts/kubelet/fields.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'

const basic = [
  'bool',
  'string',
  'int32',
  'int64',
  'float64',
  'Duration',
  'FlushFrequency',
  'Quantity',
  'Time',
  'VerbosityLevel',
]
const words = [
  'ImagePullCredentialsVerificationPolicy',
  'KubeletAuthorizationMode',
  'MemoryReservationPolicy',
  'ResourceChangeDetectionStrategy',
  'TaintEffect',
]

const fields = Object.entries(configurationStructs).flatMap(([struct, known]) =>
  Object.entries<FieldFacts>(known).map(([name, facts]) => ({ name: `${struct}.${name}`, facts })),
)

describe('configurationStructs', () => {
  it.each(fields)('$name has a type that is known', ({ facts }) => {
    const type = facts.type.replace(/^(\*|\[\]|map\[string\])+/, '')
    expect([...basic, ...words, ...Object.keys(configurationStructs)]).toContain(type)
  })

  it('gives a default by minor from the first minor that has the field', () => {
    const byMinor = fields.filter(({ facts }) => facts.defaults !== undefined)
    expect(byMinor.length).toBeGreaterThan(1)
    for (const { facts } of byMinor)
      expect(Number(Object.keys(facts.defaults ?? {})[0])).toBe(
        facts.since ?? supportedMinors.first,
      )
  })
})

describe('configurationFlags', () => {
  it.each(Object.entries(configurationFlags))('--%s sets a field that there is', (_, { field }) => {
    let known: Readonly<Record<string, FieldFacts>> = configurationStructs.KubeletConfiguration
    for (const part of field.split('.')) {
      const type: string | undefined = known[part]?.type
      expect(type).toEqual(expect.any(String))
      known = (configurationStructs as Record<string, Record<string, FieldFacts>>)[type ?? ''] ?? {}
    }
  })
})
