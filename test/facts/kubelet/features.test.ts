import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'

describe('featuresOf', () => {
  it.each([
    { version: 'v1.34.1-eks-abcd', minor: 34, rulesOfMinor: 34, exact: true },
    { version: 'v1.29', minor: 29, rulesOfMinor: 29, exact: true },
    { version: '1.30.0+k3s1', minor: 30, rulesOfMinor: 30, exact: true },
    { version: 'v1.28.15', minor: 28, rulesOfMinor: 29, exact: false },
    { version: 'v1.99.0', minor: 99, rulesOfMinor: 37, exact: false },
    { version: 'v2.0.0', minor: null, rulesOfMinor: 37, exact: false },
    { version: 'v1.3x', minor: null, rulesOfMinor: 37, exact: false },
    { version: '', minor: null, rulesOfMinor: 37, exact: false },
    { version: null, minor: null, rulesOfMinor: 37, exact: false },
  ])('takes $version for 1.$rulesOfMinor, exact: $exact', ({ version, ...expected }) => {
    expect(featuresOf(version)).toMatchObject(expected)
  })

  it('has a feature from the minor that brought it', () => {
    expect(featuresOf('v1.29.0').has('maximumAgeKeepsImageGc')).toBe(false)
    expect(featuresOf('v1.30.0').has('maximumAgeKeepsImageGc')).toBe(true)
  })
})

describe('evictionHardDefaults', () => {
  const linux = {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
  }
  const windows = {
    'memory.available': '500Mi',
    'nodefs.available': '10%',
    'imagefs.available': '15%',
  }

  it.each([
    { version: 'v1.29.15', operatingSystem: 'linux', defaults: linux },
    {
      version: 'v1.30.0',
      operatingSystem: 'linux',
      defaults: { ...linux, 'imagefs.inodesFree': '5%' },
    },
    { version: null, operatingSystem: 'linux', defaults: { ...linux, 'imagefs.inodesFree': '5%' } },
    {
      version: 'v1.30.14',
      operatingSystem: 'windows',
      defaults: { ...windows, 'memory.available': '100Mi' },
    },
    { version: 'v1.31.0', operatingSystem: 'windows', defaults: windows },
  ] as const)('of $version on $operatingSystem', ({ version, operatingSystem, defaults }) => {
    expect(evictionHardDefaults(version, operatingSystem)).toEqual(defaults)
  })
})
