import { describe, expect, it } from 'vitest'
import { compareTimes, parseMetadata, timeOf } from '#replay/cluster-gc/section.ts'
import { objectOf } from '#test/at-the-door.ts'

describe('parseMetadata', () => {
  it('leaves out what has another shape', () => {
    const ownerReferences = [
      null,
      { apiVersion: 1, kind: null, name: [], uid: {}, controller: 'true', blockOwnerDeletion: 1 },
    ]
    const metadata = {
      name: 'x',
      namespace: 1,
      uid: 2,
      creationTimestamp: 3,
      deletionTimestamp: true,
      generation: 'many',
      finalizers: ['a', 1],
      ownerReferences,
    }
    expect(parseMetadata(objectOf('jobs.batch', { metadata }))).toEqual({
      namespace: '',
      name: 'x',
      uid: '',
      createdMs: null,
      deletedMs: null,
      generation: 0,
      finalizers: ['a'],
      ownerReferences: [
        {
          apiVersion: '',
          kind: '',
          name: '',
          uid: '',
          isController: false,
          blocksOwnerDeletion: false,
        },
      ],
    })
  })

  it.each([
    null,
    'text',
    {},
    { metadata: [] },
    { metadata: { name: 7 } },
    { metadata: { name: '' } },
  ])('is nothing of %j', raw => {
    expect(parseMetadata(objectOf('jobs.batch', raw))).toBeNull()
  })
})

describe('timeOf', () => {
  it.each([
    { text: '2025-01-01T00:00:00Z', ms: Date.UTC(2025, 0, 1) },
    { text: '2025-01-01T00:00:00.500000Z', ms: Date.UTC(2025, 0, 1) + 500 },
    { text: '2025-01-01T02:00:00+02:00', ms: Date.UTC(2025, 0, 1) },
    { text: '0001-01-01T00:00:00Z', ms: null },
    { text: '2025-13-01T00:00:00Z', ms: null },
    { text: '2025-01-01', ms: null },
    { text: ' 2025-01-01T00:00:00Z', ms: null },
    { text: '2025-01-01T00:00:00Z ', ms: null },
    { text: undefined, ms: null },
  ])('reads $text as $ms', ({ text, ms }) => {
    expect(timeOf(text)).toBe(ms)
  })
})

it('compares times, a missing one before all', () => {
  expect([
    compareTimes(null, null),
    compareTimes(null, -1),
    compareTimes(-1, null),
    compareTimes(1, 2),
    compareTimes(2, 1),
    compareTimes(2, 2),
  ]).toEqual([0, -1, 1, -1, 1, 0])
})

it('reads whole numbers only', () => {
  const generations = [7, 7.5, '7', 2 ** 60, null].map(generation =>
    parseMetadata(objectOf('jobs.batch', { metadata: { name: 'a', generation } })),
  )
  expect(generations.map(metadata => metadata?.generation)).toEqual([7, 0, 0, 0, 0])
})
