import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'
import {
  configzOf,
  flagsOnlyConfiguration,
  LoadError,
  loadConfigFile,
} from '#replay/configuration/configuration-file.ts'
import { thresholdOrigins } from '#replay/configuration/configuration-on-disk.ts'
import { predictNextStart } from '#replay/configuration/next-start.ts'
import { mergeKubeletConfigurations } from '#replay/configuration/start-settings.ts'
import { hostOf } from '#test/at-the-door.ts'
import { validateKubeletConfiguration, validationErrors } from '#test/verdict.ts'

const load = (raw: RawObject, kubeletVersion = 'v1.34.4') =>
  loadConfigFile(raw, { kubeletVersion, operatingSystem: 'linux' })
const configz = (raw: RawObject, kubeletVersion = 'v1.34.4') =>
  configzOf(load(raw, kubeletVersion), featuresOf(kubeletVersion))
const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]

describe('configzOf', () => {
  it('trap 40: prints durations as Go does, and leaves out zeros that are not behind a pointer', () => {
    const shown = configz({
      imageMinimumGCAge: '90s',
      evictionMaxPodGracePeriod: 0,
      podsPerCore: 0,
      kubeReserved: {},
      registryPullQPS: 0,
    })
    expect(shown).toMatchObject({
      imageMinimumGCAge: '1m30s',
      imageMaximumGCAge: '0s',
      registryPullQPS: 0,
      cpuCFSQuotaPeriod: '100ms',
    })
    for (const field of [
      'evictionMaxPodGracePeriod',
      'podsPerCore',
      'kubeReserved',
      'runOnce',
      'cgroupRoot',
    ]) {
      expect(shown).not.toHaveProperty(field)
    }
  })

  it.each([
    ['v1.29.0', {}, '5s'],
    ['v1.29.0', { flushFrequency: 7_000_000_000 }, 7_000_000_000],
    ['v1.29.0', { flushFrequency: '7s' }, '7s'],
  ])('trap 40: %s shows the flush frequency of %j as %s', (version, logging, flushFrequency) => {
    expect(configz({ logging }, version)).toMatchObject({ logging: { flushFrequency } })
  })

  it('trap 17: shows no evictionHard where there are no hard thresholds', () => {
    expect(configz({ evictionHard: {} })).not.toHaveProperty('evictionHard')
    const shownBy = (minor: number) =>
      configzOf(flagsOnlyConfiguration(`v1.${minor}.0`), featuresOf(`v1.${minor}.0`))
    expect(minors.filter(minor => 'evictionHard' in shownBy(minor))).toEqual([])
  })

  it('names its kind from 1.36 on', () => {
    expect(minors.filter(minor => 'kind' in configz({}, `v1.${minor}.0`))).toEqual([36, 37])
  })

  it.each(minors)('of 1.%i is a file that loads to the same', minor => {
    const version = `v1.${minor}.0`
    const shown = configz({}, version)
    expect(configz(JSON.parse(JSON.stringify(shown)) as RawObject, version)).toEqual(shown)
  })
})

describe('loadConfigFile', () => {
  it('resolves paths against the folder of the file', () => {
    const raw = {
      staticPodPath: 'pods',
      podLogsDir: '../logs',
      resolvConf: '',
      authentication: { x509: { clientCAFile: './ca.crt' } },
    }
    const options = {
      kubeletVersion: 'v1.34.0',
      operatingSystem: 'linux',
      path: '/etc/kubernetes/kubelet.json',
    } as const
    expect(loadConfigFile(raw, options)).toMatchObject({
      staticPodPath: '/etc/kubernetes/pods',
      podLogsDir: '/etc/logs',
      resolvConf: '',
      authentication: { x509: { clientCAFile: '/etc/kubernetes/ca.crt' } },
    })
  })

  it('gives Windows no thresholds for inodes', () => {
    const { evictionHard } = loadConfigFile(
      {},
      { kubeletVersion: 'v1.34.0', operatingSystem: 'windows' },
    )
    expect(evictionHard).toEqual({
      'memory.available': '500Mi',
      'nodefs.available': '10%',
      'imagefs.available': '15%',
    })
  })

  it.each([
    { version: 'v1.30.0', raw: {}, errors: 2 },
    { version: 'v1.30.0', raw: { cgroupsPerQOS: false, enforceNodeAllocatable: [] }, errors: 0 },
    { version: 'v1.31.0', raw: {}, errors: 0 },
    { version: 'v1.32.0', raw: { singleProcessOOMKill: true }, errors: 1 },
    { version: 'v1.33.0', raw: { userNamespaces: {} }, errors: 1 },
    {
      version: 'v1.37.0',
      raw: { defaultPodSysctls: { 'net.a': '1' }, featureGates: { DefaultPodSysctls: true } },
      errors: 1,
    },
    { version: 'v1.37.0', raw: { defaultPodSysctls: {} }, errors: 0 },
  ])('$version on Windows with $raw: $errors errors', ({ version, raw, errors }) => {
    const configuration = loadConfigFile(raw, {
      kubeletVersion: version,
      operatingSystem: 'windows',
    })
    expect(
      validationErrors(configuration, version, { operatingSystem: 'windows', cgroupVersion: null }),
    ).toHaveLength(errors)
  })

  it('says on Windows what it does not support there', () => {
    const refused = (raw: RawObject, version: string) =>
      validationErrors(
        loadConfigFile(raw, { kubeletVersion: version, operatingSystem: 'windows' }),
        version,
        { operatingSystem: 'windows', cgroupVersion: null },
      )
    expect(refused({ enforceNodeAllocatable: ['pods', 'x'] }, 'v1.29.0')).toMatchSnapshot()
    expect(
      refused({ userNamespaces: {}, singleProcessOOMKill: false }, 'v1.33.0'),
    ).toMatchSnapshot()
  })

  it('refuses on cgroup v1 what needs v2, the first only', () => {
    const refused = (raw: RawObject, version: string) =>
      validationErrors(load(raw, version), version, { operatingSystem: 'linux', cgroupVersion: 1 })
    expect(refused({}, 'v1.34.0')).toEqual([])
    expect(
      refused({ failCgroupV1: true, singleProcessOOMKill: false }, 'v1.34.0'),
    ).toMatchSnapshot()
    expect(refused({}, 'v1.35.0')).toMatchSnapshot()
    expect(
      refused({ failCgroupV1: false, singleProcessOOMKill: false }, 'v1.35.0'),
    ).toMatchSnapshot()
    expect(refused({ failCgroupV1: true }, 'v1.30.0')).toEqual([])
  })

  it.each([
    [
      'v1.35.0',
      "--show-hidden-metrics-for-version must be omitted or have the value '1.34'. Only the previous minor version is allowed",
    ],
    [
      'v1.36.0',
      'invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: "1.33": must be omitted or have the value \'1.35\'; only the previous minor version is allowed',
    ],
  ])('%s shows the hidden metrics of the minor before it only', (version, error) => {
    const { errors } = validateKubeletConfiguration(
      { showHiddenMetricsForVersion: '1.33' },
      version,
    )
    expect(errors).toEqual([error])
    expect(
      validateKubeletConfiguration({ showHiddenMetricsForVersion: '1.34' }, 'v1.35.0').errors,
    ).toEqual([])
  })

  it('logs in JSON only with a gate', () => {
    const raw = { logging: { format: 'json' }, featureGates: { LoggingBetaOptions: false } }
    expect(validateKubeletConfiguration(raw, 'v1.34.0').errors).toMatchSnapshot()
    expect(validateKubeletConfiguration({ logging: { format: 'json' } }, 'v1.34.0').errors).toEqual(
      [],
    )
  })
})

describe('what the start finds later', () => {
  it('trap 15: 0% and 100% take a threshold away, 0.0% and 100.0% do not, 0 is refused', () => {
    const eviction = (value: string) =>
      validateKubeletConfiguration({ evictionHard: { 'nodefs.available': value } }, 'v1.34.4')
    expect(
      ['0%', '100%', '0.0%', '100.0%'].map(value => eviction(value).startup?.eviction),
    ).toEqual([null, null, null, null])
    expect(['0', '0Gi'].map(value => eviction(value).startup?.eviction)).toMatchSnapshot()
  })

  it('trap 39: containerLogMaxSize 1.5Gi is a valid quantity, and keeps the kubelet from starting', () => {
    expect(validateKubeletConfiguration({ containerLogMaxSize: '1.5Gi' }, 'v1.34.4')).toMatchObject(
      {
        errors: [],
        startup: {
          containerLogs: 'failed to parse container log max size "1.5Gi": invalid max log size',
        },
      },
    )
  })

  it('trap 41: validation does not look into the eviction maps', () => {
    const raw = { evictionHard: { nonsense: 'x' }, evictionSoft: { 'memory.available': '1Gi' } }
    expect(validateKubeletConfiguration(raw, 'v1.34.4')).toMatchObject({
      errors: [],
      startup: { eviction: 'unsupported eviction signal nonsense' },
    })
  })

  it.each(['kubeReservedCgroup', 'systemReservedCgroup'])(
    'trap 42: reservedSystemCPUs conflicts with the %s that the AMI sets',
    field => {
      const text =
        "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
      expect(
        validateKubeletConfiguration({ reservedSystemCPUs: '0-1', [field]: '/runtime' }, 'v1.34.4')
          .errors,
      ).toEqual([text])
      expect(
        validateKubeletConfiguration({ reservedSystemCPUs: '0-1', [field]: '' }, 'v1.34.4').errors,
      ).toEqual([])
    },
  )
})

describe('any answer of a node', () => {
  const names = Object.keys(configurationStructs.KubeletConfiguration)
  const file = fc.dictionary(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.string() },
    ),
    fc.jsonValue(),
    { maxKeys: 5 },
  )
  const version = fc.constantFrom(...minors.map(minor => `v1.${minor}.0`))
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

  it('loads, merges, is judged and is shown without a throw that is not upstream’s, and without NaN', () => {
    fc.assert(
      fc.property(file, file, version, (raw, patch, kubeletVersion) => {
        const options = { kubeletVersion, operatingSystem: 'linux' } as const
        try {
          const merged = mergeKubeletConfigurations(
            loadConfigFile({ ...raw, ...kind }, options),
            [{ path: '/d', content: { ...patch, ...kind } }],
            kubeletVersion,
          )
          const shown = configzOf(merged, featuresOf(kubeletVersion))
          const shownTexts = [
            ...validationErrors(merged, kubeletVersion, {
              operatingSystem: 'linux',
              cgroupVersion: 1,
            }),
            JSON.stringify(shown),
          ].join('\n')
          expect(shownTexts).not.toMatch(/NaN|undefined/)
        } catch (error) {
          if (!(error instanceof LoadError)) throw error
        }
      }),
    )
  })

  it('is predicted where a variable of a unit has a toString of its own', () => {
    const files = [{ path: '', role: 'environment', content: { A: { toString: 0 } } }]
    const host = hostOf({ kubelet: { files, commandLine: [''] } })
    expect(predictNextStart(host, 'v1.32.0', 'linux').unknowns).not.toEqual([])
  })

  it('is predicted and explained without a throw', () => {
    const anyFile = fc.record({
      path: fc.string(),
      role: fc.constantFrom('config', 'drop-in', 'environment'),
      content: fc.oneof(file, fc.jsonValue()),
    })
    const host = fc.record({
      kubelet: fc.record({
        files: fc.array(anyFile),
        commandLine: fc.array(fc.oneof(fc.string(), fc.jsonValue())),
      }),
    })
    fc.assert(
      fc.property(
        host,
        fc.dictionary(fc.string(), fc.string()),
        version,
        (given, evictionHard, kubeletVersion) => {
          const parsed = hostOf(given)
          const { prediction } = predictNextStart(parsed, kubeletVersion, 'linux')
          expect(JSON.stringify(prediction)).not.toMatch(/NaN/)
          const input = {
            configuration: { evictionHard },
            kubeletVersion,
            operatingSystem: 'linux',
            amiFamily: 'AL2023',
            host: parsed,
            settings: prediction?.settings ?? null,
          } as const
          expect(Object.keys(thresholdOrigins(input).evictionHard)).toHaveLength(
            Object.keys(evictionHard).length,
          )
        },
      ),
    )
  })
})
