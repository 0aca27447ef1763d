import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRawObject } from '#base/raw-object.ts'
import { valueMistakes } from '#facts/kubelet/configuration-values.ts'
import { configurationDefaults, evictionHardDefaults, fieldsOf } from '#facts/kubelet/fields.ts'
import { validateKubeletConfiguration } from '#test/verdict.ts'

const placesOf = (field: string, value: unknown) =>
  valueMistakes(field, value).map(({ path }) => path.join('.'))

describe('valueMistakes', () => {
  it.each([
    ['imageGCHighThresholdPercent', '70', 'a whole number'],
    ['imageGCHighThresholdPercent', 70.5, 'a whole number'],
    ['imageGCHighThresholdPercent', [1], 'a whole number'],
    ['imageGCHighThresholdPercent', 101, 'a number from 0 to 100'],
    ['imageGCLowThresholdPercent', -1, 'a number from 0 to 100'],
    ['maxPods', 'x', 'a whole number'],
    ['maxPods', -1, 'a number from 0'],
    ['containerLogMaxFiles', 1, 'a number from 2'],
    ['containerLogMaxSize', '1.5', 'a whole quantity of bytes like 10Mi'],
    ['containerLogMonitorInterval', '2s', 'a duration of 3s or more'],
    ['imageMaximumGCAge', '7d', 'a duration like 2m0s'],
    ['imageMaximumGCAge', 60, 'a duration like 2m0s'],
    ['serializeImagePulls', 'false', 'true or false'],
    ['cpuManagerPolicy', 'Static', 'one of none, static'],
    ['reservedSystemCPUs', 'all', 'CPUs like 0-1,4'],
    ['evictionHard', '10%', 'a map'],
    ['enforceNodeAllocatable', 'pods', 'a list'],
    ['imageGcHighThresholdPercent', 70, 'a KubeletConfiguration field'],
  ])('%s: %j should be %s', (field, value, wanted) => {
    expect(valueMistakes(field, value)).toEqual([{ path: [field], wanted }])
  })

  it.each([
    ['evictionHard', { nope: '3', 'memory.available': '5%' }, 'nope', 'an eviction signal'],
    ['evictionHard', { 'memory.available': 3 }, 'memory.available', 'text'],
    [
      'evictionHard',
      { 'memory.available': '101%' },
      'memory.available',
      'a percentage up to 100%, or a quantity above 0',
    ],
    [
      'evictionSoft',
      { 'memory.available': '0' },
      'memory.available',
      'a percentage up to 100%, or a quantity above 0',
    ],
    [
      'evictionSoftGracePeriod',
      { 'memory.available': '-1s' },
      'memory.available',
      'a duration that is not negative',
    ],
    [
      'evictionMinimumReclaim',
      { 'nodefs.available': '0%' },
      'nodefs.available',
      'a percentage above 0%, or a quantity that is not negative',
    ],
    ['kubeReserved', { memory: '1GB' }, 'memory', 'a quantity that is not negative'],
    [
      'kubeReserved',
      { disk: '1Gi' },
      'disk',
      'a resource that can be reserved (cpu, memory, ephemeral-storage, pid)',
    ],
    ['featureGates', { Bogus: true }, 'Bogus', 'a feature gate of a kubelet'],
    ['featureGates', { AllAlpha: 'yes' }, 'AllAlpha', 'true or false'],
    ['enforceNodeAllocatable', ['pods', 'pods'], '1', 'each value once'],
    [
      'memorySwap',
      { swapBehaviour: 'LimitedSwap' },
      'swapBehaviour',
      'a field of MemorySwapConfiguration',
    ],
  ])('of %s %j names %s', (field, value, key, wanted) => {
    expect(valueMistakes(field, value)).toEqual([{ path: [field, key], wanted }])
  })

  it.each(['1.29', '1.33', '1.37'])('takes every default of kubelet %s, and null', minor => {
    const evictionHard = evictionHardDefaults(`v${minor}.0`, 'linux')
    for (const [field, value] of Object.entries({ ...configurationDefaults, evictionHard }))
      expect(placesOf(field, value)).toEqual([])
    for (const field of Object.keys(fieldsOf('KubeletConfiguration')))
      expect(placesOf(field, null)).toEqual([])
  })

  it('takes nothing with which a kubelet would not start', () => {
    const amount = fc.constantFrom(
      '10%',
      '0%',
      '0.0%',
      '100%',
      '101%',
      '-1',
      '0',
      '1Gi',
      '1.5',
      '1e3',
      '5m0s',
      '-1s',
      'x',
      '',
      '1m',
    )
    const map = fc.dictionary(
      fc.constantFrom('memory.available', 'nodefs.inodesFree', 'memory', 'cpu', 'nope'),
      amount,
      { maxKeys: 2 },
    )
    const number = fc.oneof(fc.integer({ min: -2, max: 110 }), fc.constantFrom('70', 2.5, null))
    const pairs = fc.oneof(
      fc.tuple(
        fc.constantFrom(
          'containerLogMaxFiles',
          'containerLogMaxWorkers',
          'maxPods',
          'nodeStatusMaxImages',
          'registryBurst',
        ),
        number,
      ),
      fc.tuple(
        fc.constantFrom(
          'evictionHard',
          'evictionMinimumReclaim',
          'kubeReserved',
          'evictionSoftGracePeriod',
        ),
        map,
      ),
      fc.tuple(
        fc.constantFrom(
          'containerLogMaxSize',
          'containerLogMonitorInterval',
          'imageMinimumGCAge',
          'shutdownGracePeriod',
        ),
        amount,
      ),
      fc.tuple(
        fc.constantFrom('enforceNodeAllocatable'),
        fc.array(fc.constantFrom('pods', 'none', 'x'), { maxLength: 2 }),
      ),
    )
    fc.assert(
      fc.property(pairs, ([field, value]) => {
        // Several entries can be at odds though each of them is right.
        if (valueMistakes(field, value).length > 0 || (Array.isArray(value) && value.length > 1))
          return
        const { loadError, errors, startup } = validateKubeletConfiguration(
          withoutNulls({ [field]: value }),
          'v1.34.2',
        )
        expect(
          [loadError, errors, ...Object.values(startup ?? {})]
            .flat()
            .filter(error => error !== null),
        ).toEqual([])
      }),
    )
  })
})

const withoutNulls = (raw: Record<string, unknown>) => ({
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  ...Object.fromEntries(
    Object.entries(raw).filter(([, value]) => isRawObject(value) || value !== null),
  ),
})
