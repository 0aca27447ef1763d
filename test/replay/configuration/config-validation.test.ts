import { describe, expect, it } from 'vitest'
import { loadConfigFile } from '#replay/configuration/configuration-file.ts'
import { validateKubeletConfiguration, validationErrors } from '#test/verdict.ts'

const errorsOf = (raw: Record<string, unknown>, version: string) =>
  validateKubeletConfiguration(raw, version).errors
const loadErrorOf = (raw: Record<string, unknown>) =>
  validateKubeletConfiguration(raw, 'v1.34.4').loadError

describe('a file of wrong types', () => {
  it.each([
    {
      raw: { maxPods: 'many' },
      error:
        'json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32',
    },
    {
      raw: { maxPods: 1.5 },
      error:
        'json: cannot unmarshal number 1.5 into Go struct field KubeletConfiguration.maxPods of type int32',
    },
    {
      raw: { maxPods: 2 ** 31 },
      error:
        'json: cannot unmarshal number 2147483648 into Go struct field KubeletConfiguration.maxPods of type int32',
    },
    {
      raw: { imageMinimumGCAge: 120 },
      error:
        'json: cannot unmarshal number into Go struct field KubeletConfiguration.imageMinimumGCAge of type string',
    },
    {
      raw: { imageMinimumGCAge: '2 minutes' },
      error: 'time: unknown unit " minutes" in duration "2 minutes"',
    },
    {
      raw: { evictionHard: 'memory.available<100Mi' },
      error:
        'json: cannot unmarshal string into Go struct field KubeletConfiguration.evictionHard of type map[string]string',
    },
    {
      raw: { evictionHard: { 'memory.available': 100 } },
      error:
        'json: cannot unmarshal number into Go struct field KubeletConfiguration.evictionHard of type string',
    },
    {
      raw: { enforceNodeAllocatable: true },
      error:
        'json: cannot unmarshal bool into Go struct field KubeletConfiguration.enforceNodeAllocatable of type []string',
    },
    {
      raw: { featureGates: { A: 'b' } },
      error:
        'json: cannot unmarshal string into Go struct field KubeletConfiguration.featureGates of type bool',
    },
    // The first wrong type is named; a malformed duration after it ends the reading and is named instead.
    {
      raw: { maxPods: 'many', imageMinimumGCAge: '1d' },
      error: 'time: unknown unit "d" in duration "1d"',
    },
  ])('$raw does not load', ({ raw, error }) => {
    expect(loadErrorOf(raw)).toBe(
      `failed to load Kubelet config file <file>, error failed to decode: ${error}`,
    )
  })

  it.each([
    { raw: { evictionhard: 5 } },
    { raw: { maxPods: null } },
    { raw: { somethingNew: [1] } },
  ])('$raw loads: misspelt fields and nulls are passed over', ({ raw }) => {
    expect(validateKubeletConfiguration(raw, 'v1.34.4')).toMatchObject({
      loadError: null,
      errors: [],
    })
  })
})

describe('what versions differ in', () => {
  it.each([
    {
      version: 'v1.29.15',
      raw: { imageMaximumGCAge: '1h' },
      errors: [
        'invalid configuration: ImageMaximumGCAge feature gate is required for Kubelet configuration option ImageMaximumGCAge',
      ],
    },
    { version: 'v1.30.0', raw: { imageMaximumGCAge: '1h' }, errors: [] },
    {
      version: 'v1.30.0',
      raw: { imageMaximumGCAge: '1h', featureGates: { ImageMaximumGCAge: false } },
      errors: [
        'invalid configuration: ImageMaximumGCAge feature gate is required for Kubelet configuration option imageMaximumGCAge',
      ],
    },
    { version: 'v1.35.4', raw: { imageMinimumGCAge: '-1s' }, errors: [] },
    {
      version: 'v1.36.0',
      raw: { imageMinimumGCAge: '-1s' },
      errors: ['invalid configuration: imageMinimumGCAge -1s must not be negative'],
    },
    { version: 'v1.32.0', raw: { containerLogMaxFiles: 1 }, errors: [] },
    {
      version: 'v1.33.0',
      raw: { containerLogMaxFiles: 1 },
      errors: ['invalid configuration: containerLogMaxFiles must be greater than 1'],
    },
    { version: 'v1.30.14', raw: { enforceNodeAllocatable: ['pods', 'pods'] }, errors: [] },
    {
      version: 'v1.31.0',
      raw: { enforceNodeAllocatable: ['pods', 'pods'] },
      errors: [
        'invalid configuration: duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable)',
      ],
    },
    {
      version: 'v1.31.14',
      raw: { enforceNodeAllocatable: ['kube-reserved'] },
      errors: [
        'invalid configuration: kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
      ],
    },
    {
      version: 'v1.30.14',
      raw: { cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] },
      errors: [
        'invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) is not supported unless cgroupsPerQOS (--cgroups-per-qos) is set to true',
      ],
    },
    {
      version: 'v1.31.0',
      raw: { cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] },
      errors: [],
    },
  ])('$version on $raw: $errors', ({ version, raw, errors }) => {
    expect(errorsOf(raw, version)).toEqual(errors)
  })

  it('names a gate that is locked', () => {
    const raw = { featureGates: { ImageMaximumGCAge: false } }
    expect(validateKubeletConfiguration(raw, 'v1.35.4').loadError).toMatchSnapshot()
  })

  it.each([
    { version: 'v1.34.4', cgroupVersion: 1, refused: 0 },
    { version: 'v1.35.4', cgroupVersion: 1, refused: 1 },
    { version: 'v1.35.4', cgroupVersion: 2, refused: 0 },
    { version: 'v1.35.4', cgroupVersion: null, refused: 0 },
  ] as const)(
    '$version on cgroup v$cgroupVersion: $refused refusals',
    ({ version, cgroupVersion, refused }) => {
      const configuration = loadConfigFile(
        {},
        { kubeletVersion: version, operatingSystem: 'linux' },
      )
      expect(
        validationErrors(configuration, version, { operatingSystem: 'linux', cgroupVersion }),
      ).toHaveLength(refused)
    },
  )
})

describe('what is refused only at the start', () => {
  it('a log size that is a quantity but no int64', () => {
    const { errors, startup } = validateKubeletConfiguration(
      { containerLogMaxSize: '1.5Gi' },
      'v1.34.4',
    )
    expect({ errors, containerLogs: startup?.containerLogs }).toMatchSnapshot()
  })

  it('a negative reservation', () => {
    expect(
      validateKubeletConfiguration({ kubeReserved: { memory: '-1Gi' } }, 'v1.34.4').startup
        ?.kubeReserved,
    ).toMatchSnapshot()
  })
})

describe('the hard thresholds of a file', () => {
  const hardOf = (raw: Record<string, unknown>, version: string) =>
    Object.keys(
      loadConfigFile(raw, { kubeletVersion: version, operatingSystem: 'linux' }).evictionHard ?? {},
    ).sort()

  it.each([
    { raw: {}, version: 'v1.34.4', signals: 5 },
    { raw: {}, version: 'v1.29.15', signals: 4 },
    { raw: { evictionHard: {} }, version: 'v1.34.4', signals: 0 },
    { raw: { evictionHard: { 'pid.available': '10%' } }, version: 'v1.34.4', signals: 1 },
    {
      raw: { evictionHard: { 'pid.available': '10%' }, mergeDefaultEvictionSettings: true },
      version: 'v1.34.4',
      signals: 6,
    },
    {
      raw: { evictionHard: { 'pid.available': '10%' }, mergeDefaultEvictionSettings: true },
      version: 'v1.32.0',
      signals: 1,
    },
  ])('$raw on $version: $signals', ({ raw, version, signals }) => {
    expect(hardOf(raw, version)).toHaveLength(signals)
  })
})
