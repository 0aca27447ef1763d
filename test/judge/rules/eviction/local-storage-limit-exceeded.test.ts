import { describe, expect, it } from 'vitest'
import { localStorageLimitExceeded } from '#judge/rules/eviction/local-storage-limit-exceeded.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf } from '#test/rules/eviction-settings.ts'

const gibibyte = 1024 ** 3

itJudgesExamples(localStorageLimitExceeded, {
  bad: {
    localStorageEvictions: [
      {
        namespace: 'shop',
        name: 'cart-0',
        limit: 'emptyDir',
        what: 'cache',
        usedBytes: 2 * gibibyte,
        limitBytes: gibibyte,
      },
    ],
  },
  good: { localStorageEvictions: [] },
})

describe('local-storage-limit-exceeded', () => {
  const over = (name: string) =>
    ({ namespace: 'shop', name, limit: 'pod', what: name, usedBytes: 3, limitBytes: 2 }) as const

  it('counts the others, and shows no more than ten', () => {
    const failing = failingOf(localStorageLimitExceeded, {
      localStorageEvictions: Array.from({ length: 12 }, (_, at) => over(`cart-${at}`)),
    })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toHaveLength(10)
  })
})
