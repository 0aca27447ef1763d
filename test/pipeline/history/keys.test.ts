import { expect, it } from 'vitest'
import { checkKey } from '#clients/store/store.ts'
import { clusterKey, nodesKey } from '#pipeline/history/keys.ts'

it('gives every name of a cluster a place of its own in a store', () => {
  const names = [
    'prod',
    'Prod',
    '.',
    '..',
    'a/b',
    'a%2Fb',
    '111122223333/eu-west-1/prod',
    'x'.repeat(5000),
    `${'x'.repeat(5000)}y`,
    '운영',
    '\ud800',
    'a:b',
    "a'b",
    '',
  ]
  const keys = names.map(clusterKey)
  expect(new Set(keys).size).toBe(names.length)
  for (const name of names)
    expect(checkKey(nodesKey(name, '2026-11-21'))).toMatch(
      /^history\/nodes\/[^/]+\/2026-11-21\.ndjson\.gz$/,
    )
  expect(clusterKey('prod')).toBe('prod')
})
