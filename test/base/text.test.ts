import { expect, it } from 'vitest'
import { matchesGlob } from '#base/text.ts'

it.each([
  ['prod', 'prod', true],
  ['prod', 'prod-eu', false],
  ['prod*', 'prod-eu', true],
  ['*-eu', 'prod-eu', true],
  ['p*d*u', 'prod-eu', true],
  ['p*x*u', 'prod-eu', false],
  ['*', '', true],
  ['a*a', 'a', false],
  ['ab*ba', 'aba', false],
  ['a.c', 'abc', false],
  ['**', 'anything', true],
])('%s against %s: %s', (pattern, name, isMatch) => {
  expect(matchesGlob(pattern, name)).toBe(isMatch)
})
