import { describe, expect, it } from 'vitest'
import type { ReadMode } from '#model/input/record.ts'
import { readModeOf } from '#model/policy.ts'

describe('the mode of a cluster', () => {
  it.each<[string, { match: { cluster?: string }; mode: ReadMode }[], ReadMode]>([
    ['prod', [], 'proxy'],
    ['prod', [{ match: {}, mode: 'ssm' }], 'ssm'],
    ['prod', [{ match: { cluster: 'dev' }, mode: 'ssm' }], 'proxy'],
    [
      'prod-eu',
      [
        { match: { cluster: 'prod-*' }, mode: 'both' },
        { match: {}, mode: 'ssm' },
      ],
      'both',
    ],
    // The unique name of two clusters that are called alike.
    ['111122223333/eu-west-1/prod', [{ match: { cluster: '*/prod' }, mode: 'ssm' }], 'ssm'],
  ])('%s by %j: %s', (cluster, modes, mode) => {
    expect(readModeOf({ modes }, cluster)).toBe(mode)
  })
})
