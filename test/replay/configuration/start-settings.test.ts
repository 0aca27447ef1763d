import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { StartSettings } from '#model/prediction.ts'
import { predictNextStart } from '#replay/configuration/next-start.ts'

const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const path = '/etc/kubernetes/kubelet/config.json'
const main = (content: object) => ({ path, role: 'config', content: { ...kind, ...content } })
const dropIn = (name: string, content: object) => ({
  path: `${path}.d/${name}`,
  role: 'drop-in',
  content: { ...kind, ...content },
})
const line = (...flags: string[]) => ['/usr/bin/kubelet', `--config=${path}`, ...flags]
const folder = `--config-dir=${path}.d`

function settingsOf(
  files: object[],
  commandLine: string[] = [],
  version = 'v1.34.4',
): StartSettings {
  const settings = predictNextStart({ kubelet: { files, commandLine } }, version, 'linux')
    .prediction?.settings
  if (!settings) throw new Error('nothing was predicted')
  return settings
}
const where = (settings: StartSettings, field: string) =>
  settings.said[field]?.map(({ by, where, value }) => [by, where, value])

describe('what is said of a field', () => {
  it('is listed file by file, and then by the flag', () => {
    const files = [
      dropIn('40-nodeadm.conf', { maxPods: 30 }),
      main({ maxPods: 29 }),
      dropIn('90.conf', { maxPods: 31 }),
    ]
    const settings = settingsOf(files, line(folder, '--max-pods=32'))
    expect(where(settings, 'maxPods')).toEqual([
      ['file', path, 29],
      ['drop-in', `${path}.d/40-nodeadm.conf`, 30],
      ['drop-in', `${path}.d/90.conf`, 31],
      ['flag', '--max-pods', 32],
    ])
    expect(settings.configuration.maxPods).toBe(32)
    expect(settings.withoutFlags.maxPods).toBe(31)
  })

  it('is listed for each key of a map; null and the flag remove keys', () => {
    const files = [
      main({ evictionHard: { 'memory.available': '100Mi', 'pid.available': '5%' } }),
      dropIn('90.conf', { evictionHard: null }),
    ]
    const settings = settingsOf(files, line(folder, '--eviction-hard=pid.available<10%'))
    expect(where(settings, 'evictionHard.memory.available')).toEqual([
      ['file', path, '100Mi'],
      ['drop-in', `${path}.d/90.conf`, null],
      ['flag', '--eviction-hard', null],
    ])
    expect(where(settings, 'evictionHard.pid.available')?.at(-1)).toEqual([
      'flag',
      '--eviction-hard',
      '10%',
    ])
    expect(settings.configuration.evictionHard).toEqual({ 'pid.available': '10%' })
  })

  it('of feature gates is merged with the flag', () => {
    const settings = settingsOf(
      [main({ featureGates: { NodeSwap: true } })],
      line('--feature-gates=SidecarContainers=true'),
    )
    expect(where(settings, 'featureGates.NodeSwap')).toEqual([['file', path, true]])
    expect(settings.configuration.featureGates).toEqual({ NodeSwap: true, SidecarContainers: true })
  })

  it('by a flag shows durations as Go prints them', () => {
    const settings = settingsOf([main({})], line('--minimum-image-ttl-duration=600s'))
    expect(where(settings, 'imageMinimumGCAge')).toEqual([
      ['flag', '--minimum-image-ttl-duration', '10m0s'],
    ])
  })
})

describe('a file that is reported as ignored', () => {
  const ignored = { ...dropIn('90.conf', { maxPods: 31 }), role: 'ignored' }
  it.each([
    ['in a folder that the kubelet is not given', ignored, line(), 'folder'],
    ['under another name', { ...ignored, path: `${path}.d/90.yaml` }, line(folder), 'name'],
  ])('%s is known by what it says', (_, file, commandLine, why) => {
    const settings = settingsOf([main({}), file], commandLine)
    expect(settings.unread).toEqual([{ path: file.path, why, values: { maxPods: 31 } }])
    expect(settings.said).not.toHaveProperty('maxPods')
  })
  it('is nothing if the start of the kubelet is unknown', () => {
    expect(settingsOf([main({}), ignored]).unread).toEqual([])
  })
})

describe('keys that the kubelet drops in silence', () => {
  it.each([
    ['imageGCHighTresholdPercent', 'misspelt', 'imageGCHighThresholdPercent'],
    ['imageGcHighThresholdPercent', 'case', 'imageGCHighThresholdPercent'],
    ['imageGCHighThreshold', 'misspelt', 'imageGCHighThresholdPercent'],
    ['somethingElseAltogether', 'unknown', null],
  ])('%s is %s', (key, why, field) => {
    expect(settingsOf([main({ [key]: 70 })]).ignored).toEqual([
      { file: path, key, value: 70, field, why },
    ])
  })

  it('are fields of a later minor, too', () => {
    const files = [main({ mergeDefaultEvictionSettings: true })]
    expect(settingsOf(files, [], 'v1.32.0').ignored).toMatchObject([
      { why: 'minor', field: 'mergeDefaultEvictionSettings' },
    ])
    expect(settingsOf(files, [], 'v1.33.0').ignored).toEqual([])
  })

  it('are not its kind, nor comments', () => {
    expect(settingsOf([main({ _comment: 'ours', '//': 'x' })]).ignored).toEqual([])
  })
})

describe('names of fields in another case', () => {
  const field = 'imageGCHighThresholdPercent'
  const small = 'imageGcHighThresholdPercent'
  const capital = 'ImageGCHighThresholdPercent'

  it.each<[string, string, RawObject, number, boolean]>([
    ['1.29 minds no case', 'v1.29.9', { [small]: 70 }, 70, true],
    ['1.31 has Go names itself', 'v1.31.9', { [capital]: 70 }, 70, true],
    ['1.34 minds no case', 'v1.34.4', { [small]: 70 }, 70, true],
    [
      'of two names the one that sorts last wins',
      'v1.34.4',
      { [field]: 60, [small]: 70 },
      70,
      true,
    ],
    ['in 1.34 the true name stands after a capital', 'v1.34.4', { [capital]: 70 }, 85, false],
  ])('%s', (_, version, content, comesTo, isSaid) => {
    const settings = settingsOf([main({}), dropIn('90.conf', content)], line(folder), version)
    expect(settings.configuration.imageGCHighThresholdPercent).toBe(comesTo)
    expect(settings.ignored.length).toBe(isSaid ? 0 : 1)
    expect(where(settings, field)?.at(-1)).toEqual(
      isSaid ? ['drop-in', `${path}.d/90.conf`, 70] : undefined,
    )
  })

  it('act with a capital, too, if no file sets the field', () => {
    const soft = {
      EvictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
    }
    expect(settingsOf([main({}), dropIn('90.conf', soft)], line(folder)).ignored).toEqual([])
    const named = dropIn('95.conf', { evictionSoft: { 'memory.available': '2Gi' } })
    expect(
      settingsOf([main({}), dropIn('90.conf', soft), named], line(folder)).ignored,
    ).toMatchObject([{ why: 'case' }])
  })

  it('are said after all true names, whatever the file', () => {
    const settings = settingsOf(
      [main({}), dropIn('40.conf', { [small]: 70 }), dropIn('90.conf', { [field]: 60 })],
      line(folder),
    )
    expect(where(settings, field)?.map(([, , value]) => value)).toEqual([60, 70])
    expect(settings.configuration.imageGCHighThresholdPercent).toBe(70)
  })
})

describe('files that the kubelet does not read', () => {
  const stray = {
    maxPods: 20,
    evictionHard: { 'memory.available': '1Gi' },
    imageMinimumGCAge: null,
  }
  const values = { maxPods: 20, 'evictionHard.memory.available': '1Gi' }

  it.each<[string, object[], string[], string, string]>([
    ['another name', [dropIn('90.yaml', stray)], line(folder), 'v1.34.4', 'name'],
    ['no folder', [dropIn('90.conf', stray)], line(), 'v1.34.4', 'folder'],
    [
      'another folder',
      [dropIn('90.conf', stray)],
      line('--config-dir=/etc/other'),
      'v1.34.4',
      'folder',
    ],
    [
      'a folder that begins alike',
      [dropIn('90.conf', stray)],
      line(`--config-dir=${path}.`),
      'v1.34.4',
      'folder',
    ],
  ])('%s', (_, files, commandLine, version, why) => {
    const settings = settingsOf([main({ maxPods: 29 }), ...files], commandLine, version)
    expect(settings.unread).toEqual([
      { path: expect.stringContaining(`${path}.d/90`), why, values },
    ])
    expect(settings.configuration.maxPods).toBe(29)
  })

  it('are read where the command line does not even name the main file, or the folder ends in a slash', () => {
    const files = [main({ maxPods: 29 }), dropIn('90.conf', { maxPods: 20 })]
    for (const commandLine of [[], ['kubelet'], line(`${folder}/`)])
      expect(settingsOf(files, commandLine).configuration.maxPods).toBe(20)
  })

  it('may be another main file than the one that --config names', () => {
    const other = {
      path: '/etc/kubernetes/kubelet/kubelet-config.json',
      role: 'config',
      content: { ...kind, maxPods: 20 },
    }
    const settings = settingsOf([other, main({ maxPods: 29 })], line())
    expect(settings.configuration.maxPods).toBe(29)
    expect(settings.unread).toEqual([{ path: other.path, why: 'other', values: { maxPods: 20 } }])
  })
})

it('says whether the command line is known', () => {
  expect(settingsOf([main({})]).isCommandLineKnown).toBe(false)
  expect(settingsOf([main({})], line()).isCommandLineKnown).toBe(true)
})

describe('drop-ins with more names than real ones have', () => {
  const file = (index: number) => `${10 + index}.conf`

  it('are listed up to forty ignored names of a node', () => {
    const files = Array.from({ length: 3 }, (_, index) =>
      dropIn(
        file(index),
        Object.fromEntries(Array.from({ length: 30 }, (_, key) => [`foreign${index}x${key}`, 1])),
      ),
    )
    expect(settingsOf([main({}), ...files], line(folder)).ignored).toHaveLength(40)
  })

  it('are not loaded again for each name in another case', () => {
    const gates = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`Gate${key}`, 1]))
    const files = (many: object) =>
      Array.from({ length: 30 }, (_, index) =>
        dropIn(file(index), { MAXPODS: 40 + index, maxPods: 30, ...many }),
      )
    const few = settingsOf([main({}), ...files({})].slice(0, 3), line(folder))
    expect(few.ignored.map(({ key, why }) => [key, why])).toContainEqual(['MAXPODS', 'case'])
    // Whether the names take effect is then not decided, so nothing is said of them.
    const many = settingsOf([main({}), ...files(gates)], line(folder))
    expect(many.ignored.filter(({ why }) => why === 'case')).toEqual([])
  })
})
