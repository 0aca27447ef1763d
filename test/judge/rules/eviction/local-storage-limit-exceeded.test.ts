import { localStorageLimitExceeded } from '#judge/rules/eviction/local-storage-limit-exceeded.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

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
