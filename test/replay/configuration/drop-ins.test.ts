import { describe, expect, it } from 'vitest'
import { mergePatch, type RawObject } from '#base/raw-object.ts'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { loadConfigFile } from '#replay/configuration/configuration-file.ts'
import { mergeKubeletConfigurations } from '#replay/configuration/start-settings.ts'

const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

function merged(minor: number, main: RawObject, ...dropIns: RawObject[]) {
  const kubeletVersion = `v1.${minor}.0`
  const options = { kubeletVersion, operatingSystem: 'linux' } as const
  const files = dropIns.map((content, index) => ({
    path: `/d/${index}.conf`,
    content: { ...kind, ...content },
  }))
  return mergeKubeletConfigurations(loadConfigFile(main, options), files, kubeletVersion)
}

const signals = (map: Record<string, string> | null) => Object.keys(map ?? {}).length
const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]

describe('mergeKubeletConfigurations', () => {
  it.each(minors)(
    'trap 16: in 1.%i a drop-in keeps the other default thresholds, the main file does not',
    minor => {
      const one = { evictionHard: { 'memory.available': '500Mi' } }
      expect(merged(minor, {}, one).evictionHard).toEqual({
        ...evictionHardDefaults(`v1.${minor}.0`, 'linux'),
        'memory.available': '500Mi',
      })
      expect(signals(merged(minor, one).evictionHard)).toBe(1)
    },
  )

  it.each(minors)('in 1.%i mergeDefaultEvictionSettings of a drop-in merges nothing', minor => {
    expect(
      signals(
        merged(minor, { evictionHard: {} }, { mergeDefaultEvictionSettings: true }).evictionHard,
      ),
    ).toBe(0)
  })

  it.each(minors)(
    'in 1.%i a field that the drop-in does not name is as the main file says',
    minor => {
      expect(merged(minor, { maxPods: 29, failSwapOn: false }, {})).toMatchObject({
        maxPods: 29,
        failSwapOn: false,
      })
    },
  )

  it.each(minors)('in 1.%i a drop-in of false or 0 says nothing, stays, or is unset', minor => {
    const { failSwapOn, evictionPressureTransitionPeriod, maxPods } = merged(
      minor,
      { maxPods: 29, evictionPressureTransitionPeriod: '1m' },
      { failSwapOn: false, evictionPressureTransitionPeriod: '0s', maxPods: 0 },
    )
    const minutes = Number(evictionPressureTransitionPeriod) / 60e9
    expect([failSwapOn, minutes, maxPods]).toEqual(minor < 32 ? [false, 0, 0] : [false, 5, 110])
  })

  it.each(minors)('in 1.%i null says nothing, or removes', minor => {
    const { maxPods, evictionHard } = merged(
      minor,
      { maxPods: 29 },
      { maxPods: null, evictionHard: null },
    )
    expect(maxPods).toBe(minor >= 32 ? 110 : 29)
    const until31 = minor < 30 ? 4 : 5
    expect(signals(evictionHard)).toBe(minor >= 32 ? 0 : until31)
  })

  it.each(minors)('in 1.%i a list is replaced, an empty map changes nothing', minor => {
    const main = { clusterDNS: ['1.1.1.1', '2.2.2.2'], kubeReserved: { cpu: '1' } }
    expect(merged(minor, main, { clusterDNS: ['3.3.3.3'], kubeReserved: {} })).toMatchObject({
      clusterDNS: ['3.3.3.3'],
      kubeReserved: { cpu: '1' },
    })
  })

  it.each(minors)(
    'in 1.%i an empty list of enforcements is taken for none at all once drop-ins are merged',
    minor => {
      expect(merged(minor, { enforceNodeAllocatable: [] }).enforceNodeAllocatable).toEqual(
        minor >= 32 ? ['pods'] : [],
      )
    },
  )

  it('has no effect on resolvConf from 1.29 to 1.31', () => {
    expect(
      minors.filter(minor => merged(minor, {}, { resolvConf: '/r' }).resolvConf !== '/r'),
    ).toEqual([29, 30, 31])
  })

  it('does not mind the case of names', () => {
    expect(
      minors.filter(
        minor =>
          merged(minor, {}, { evictionsoft: { 'memory.available': '1Gi' } }).evictionSoft === null,
      ),
    ).toEqual([])
  })

  it.each([
    [31, 'failed to unmarshal merged JSON into kubelet configuration: '],
    [32, 'failed to unmarshal merged JSON into kubelet configuration: '],
  ])('1.%i names the file or the merge that does not load', (minor, prefix) => {
    const field = minor === 31 ? 'IPTablesDropBit' : 'iptablesDropBit'
    expect(() => merged(minor, {}, { iptablesDropBit: 'x' })).toThrow(
      `${prefix}json: cannot unmarshal string into Go struct field KubeletConfiguration.${field} of type int32`,
    )
  })

  it('asks for the very kind from 1.32 on, for any before', () => {
    const other = { apiVersion: 'kubelet.config.k8s.io/v1' }
    expect(() => merged(31, {}, other)).not.toThrow()
    expect(() => merged(32, {}, other)).toThrowErrorMatchingSnapshot()
    expect(() => merged(31, {}, { kind: null })).toThrowErrorMatchingSnapshot()
  })
})

describe('mergePatch', () => {
  it.each<[RawObject, RawObject, RawObject]>([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1 }, { a: null }, {}],
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{ a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    [{ a: [1, 2] }, { a: [null] }, { a: [null] }],
    [{}, { a: { b: null } }, { a: {} }],
    [{}, { a: [null, { b: null, c: { d: null } }] }, { a: [null, { c: {} }] }],
  ])('%j with %j is %j', (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result)
  })

  it('takes an object for a value that lies deeper than any field', () => {
    const at = (depth: number, value: unknown): RawObject => ({
      a: depth > 1 ? at(depth - 1, value) : value,
    })
    expect(mergePatch(at(7, { b: 1 }), at(7, { c: 2 }))).toEqual(at(7, { b: 1, c: 2 }))
    expect(mergePatch(at(8, { b: 1 }), at(8, { c: 2 }))).toEqual(at(8, { c: 2 }))
  })

  it('keeps a name of the language itself a name', () => {
    const patch = JSON.parse('{"__proto__":{"a":1}}') as RawObject
    expect(Object.keys(mergePatch({}, patch))).toEqual(['__proto__'])
  })
})
