import { describe, expect, it } from 'vitest'
import { versionSkew } from '#facts/kubernetes/version-skew.ts'
import { unsupportedVersion } from '#judge/rules/kernel/unsupported-version.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state, state as stateOf } from '#test/rule-outcome.ts'

itJudgesExamples(unsupportedVersion, {
  bad: { identity: { kubeletVersion: 'v1.28.15' } },
  good: { identity: { kubeletVersion: 'v1.29.0' } },
})

describe('unsupported-version', () => {
  it.each([
    ['v1.34.1', '1.34', 'supported'],
    ['v1.34.1', '1.33', 'newer'],
    ['v1.31.9', '1.34', 'supported'],
    ['v1.30.9', '1.34', 'tooOld'],
    ['v1.25.9', '1.28', 'supported'],
    ['v1.25.9', '1.27', 'supported'],
    ['v1.24.9', '1.27', 'tooOld'],
    ['v1.24.9', '1.26', 'supported'],
  ])('a kubelet %s under %s is %s', (kubeletVersion, version, expected) => {
    expect(versionSkew(kubeletVersion, version)?.state).toBe(expected)
    const isKnown = !/^v1\.2[0-8]\./.test(kubeletVersion)
    expect(state(unsupportedVersion, { identity: { kubeletVersion }, eks: { version } })).toBe(
      expected === 'supported' && isKnown ? 'pass' : 'fail',
    )
  })

  it.each([undefined, {}, { version: 'latest' }])(
    'without a control plane version it says the same as before: %j',
    eks => {
      expect(state(unsupportedVersion, { identity: { kubeletVersion: 'v1.29.0' }, eks })).toBe(
        'pass',
      )
      expect(state(unsupportedVersion, { identity: { kubeletVersion: null }, eks })).toBe('unknown')
    },
  )

  it('says both where both are so', () => {
    const { title, consequence } = failingOf(unsupportedVersion, {
      identity: { kubeletVersion: 'v1.23.17' },
      eks: { version: '1.33' },
    })
    expect(title).toBeUndefined()
    expect(consequence).toMatchSnapshot()
  })
})

describe('unsupported-version', () => {
  it.each([
    ['v1.23.17', 'fail'],
    ['v1.28.15', 'fail'],
    ['v1.29.0', 'pass'],
    ['v1.37.9-eks-1', 'pass'],
    ['v1.99.0', 'fail'],
    [null, 'unknown'],
  ] as const)('%s: %s', (kubeletVersion, expected) => {
    expect(stateOf(unsupportedVersion, { identity: { kubeletVersion } })).toBe(expected)
  })
})

describe('a control plane that was not read', () => {
  it('leaves open how far the kubelet is from it', () => {
    const errors = { cluster: 'AccessDenied' }
    expect(outcomeFor(unsupportedVersion, { errors })).toEqual({
      state: 'unknown',
      reason: 'cluster: AccessDenied',
    })
    expect(state(unsupportedVersion, { errors, eks: { version: '1.34' } })).toBe('pass')
    expect(state(unsupportedVersion, {})).toBe('pass')
  })
})
