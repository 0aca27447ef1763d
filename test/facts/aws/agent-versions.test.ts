import { expect, it } from 'vitest'
import { isAgentTooOld, leastAgentVersion } from '#facts/aws/agent-versions.ts'

it.each([
  ['1.2.371', true],
  ['2.0.700.0', true],
  ['2.0.789.9999', true],
  ['2.0.790.0', false],
  ['2.0.790', false],
  ['2.1.4.0', false],
  ['3.0.0.0', false],
  ['3.3.3598.0', false],
  ['', false],
  ['latest', false],
])('agent %j is too old: %s', (version, isTooOld) => {
  expect(isAgentTooOld(version, leastAgentVersion)).toBe(isTooOld)
})
