import { describe, expect, it } from 'vitest'
import { evictionHardDefaults } from '#facts/kubelet/fields.ts'
import {
  type ThresholdOriginsInput,
  thresholdOrigins,
} from '#replay/configuration/configuration-on-disk.ts'
import { predictNextStart } from '#replay/configuration/next-start.ts'

const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const main = (content: object) => ({
  path: '/k.json',
  role: 'config',
  content: { ...kind, ...content },
})
const dropIn = (name: string, content: object) => ({
  path: `/d/${name}.conf`,
  role: 'drop-in',
  content: { ...kind, ...content },
})
const defaults = evictionHardDefaults('v1.34.0', 'linux')
const ami = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' }

const origins = ({ host = null, ...input }: Partial<ThresholdOriginsInput>) =>
  thresholdOrigins({
    configuration: {},
    kubeletVersion: 'v1.34.0',
    operatingSystem: 'linux',
    amiFamily: 'other',
    host,
    settings: predictNextStart(host, 'v1.34.0', 'linux').prediction?.settings ?? null,
    ...input,
  })

/** With the files and flags that made the running configuration. */
const originsFrom = (
  files: object[],
  evictionHard: Record<string, string>,
  more: Partial<ThresholdOriginsInput> = {},
  flags: string[] = [],
) =>
  origins({
    configuration: { evictionHard },
    host: { kubelet: { files, commandLine: ['kubelet', ...flags] } },
    ...more,
  })

const sources = (of: Record<string, { source: string; certainty: string }>) =>
  Object.fromEntries(
    Object.entries(of).map(([signal, { source, certainty }]) => [signal, `${certainty} ${source}`]),
  )

describe('without the files', () => {
  it('takes the whole map of defaults for upstream defaults, likely', () => {
    expect(
      new Set(
        Object.values(sources(origins({ configuration: { evictionHard: defaults } }).evictionHard)),
      ),
    ).toEqual(new Set(['likely upstream default']))
  })

  it('takes what differs from the default as configured', () => {
    const { evictionHard } = origins({
      configuration: {
        evictionHard: { ...defaults, 'nodefs.available': '5%', 'pid.available': '9%' },
      },
    })
    expect(sources(evictionHard)).toMatchObject({
      'nodefs.available': 'certain configured',
      'pid.available': 'certain configured',
      'memory.available': 'likely upstream default',
    })
  })

  it('knows that defaults do not stand in a map that lacks some of them', () => {
    const { evictionHard, lost } = origins({
      configuration: { evictionHard: { 'nodefs.available': '10%' } },
    })
    expect(sources(evictionHard)).toEqual({ 'nodefs.available': 'certain configured' })
    expect(lost.map(({ signal }) => signal)).toEqual([
      'memory.available',
      'nodefs.inodesFree',
      'imagefs.available',
      'imagefs.inodesFree',
    ])
    expect(lost[0]).toEqual({
      signal: 'memory.available',
      value: '100Mi',
      by: { source: 'configured', certainty: 'likely', path: null },
    })
  })

  it('unless they are merged', () => {
    const configuration = {
      evictionHard: { 'nodefs.available': '10%' },
      mergeDefaultEvictionSettings: true,
    }
    expect(sources(origins({ configuration }).evictionHard)).toEqual({
      'nodefs.available': 'likely upstream default',
    })
  })

  it.each(['AL2', 'AL2023'] as const)(
    'takes the map of %s for its AMI default, which loses the others',
    amiFamily => {
      const { evictionHard, lost } = origins({
        configuration: { evictionHard: { ...ami, 'imagefs.available': '15%' } },
        amiFamily,
      })
      expect(sources(evictionHard)).toEqual({
        'memory.available': 'likely AMI default',
        'nodefs.available': 'likely AMI default',
        'nodefs.inodesFree': 'likely AMI default',
        'imagefs.available': 'certain configured',
      })
      expect(lost).toEqual([
        {
          signal: 'imagefs.inodesFree',
          value: '5%',
          by: { source: 'AMI default', certainty: 'likely', path: null },
        },
      ])
    },
  )

  it('takes no part of that map for it', () => {
    const { evictionHard } = origins({
      configuration: { evictionHard: { 'nodefs.available': '10%' } },
      amiFamily: 'AL2023',
    })
    expect(sources(evictionHard)).toEqual({ 'nodefs.available': 'certain configured' })
  })

  it('knows no family, and no default for soft thresholds', () => {
    const { evictionSoft, evictionHard } = origins({
      configuration: { evictionHard: ami, evictionSoft: defaults },
      amiFamily: null,
    })
    expect(new Set(Object.values(sources({ ...evictionHard, ...evictionSoft })))).toEqual(
      new Set(['certain configured']),
    )
  })

  it('loses nothing that is there but off', () => {
    expect(
      origins({ configuration: { evictionHard: { ...defaults, 'imagefs.available': '0%' } } }).lost,
    ).toEqual([])
  })

  it('trap 17: loses every default where nothing is shown', () => {
    expect(origins({}).lost).toHaveLength(5)
  })
})

describe('with the files', () => {
  it('finds the defaults of a file that sets none', () => {
    const { evictionHard, lost } = originsFrom([main({})], defaults)
    expect(new Set(Object.values(sources(evictionHard)))).toEqual(
      new Set(['certain upstream default']),
    )
    expect(evictionHard['nodefs.available']?.path).toBeNull()
    expect(lost).toEqual([])
  })

  it('finds the file that set a threshold, and with it lost the others', () => {
    const { evictionHard, lost } = originsFrom(
      [main({ evictionHard: { 'nodefs.available': '5%' } })],
      { 'nodefs.available': '5%' },
    )
    expect(evictionHard).toEqual({
      'nodefs.available': { source: 'file', certainty: 'certain', path: '/k.json' },
    })
    expect(lost).toHaveLength(4)
    expect(lost[0]?.by).toEqual({ source: 'file', certainty: 'certain', path: '/k.json' })
  })

  it('finds what the AMI wrote into it', () => {
    const { evictionHard, lost } = originsFrom(
      [main({ evictionHard: { ...ami, 'pid.available': '5%' } })],
      { ...ami, 'pid.available': '5%' },
      { amiFamily: 'AL2023' },
    )
    expect(sources(evictionHard)).toMatchObject({
      'nodefs.available': 'likely AMI default',
      'pid.available': 'certain file',
    })
    expect(lost[0]?.by).toEqual({ source: 'AMI default', certainty: 'likely', path: '/k.json' })
  })

  it('finds the last drop-in that names a threshold, even with the same value', () => {
    const files = [
      main({ evictionHard: ami }),
      dropIn('10', { evictionHard: { 'nodefs.available': '7%' } }),
      dropIn('20', { evictionHard: { 'nodefs.available': '7%', 'imagefs.available': '9%' } }),
      dropIn('30', {}),
    ]
    const { evictionHard, lost } = originsFrom(
      files,
      { ...ami, 'nodefs.available': '7%', 'imagefs.available': '9%' },
      { amiFamily: 'AL2023' },
    )
    expect(evictionHard).toMatchObject({
      'memory.available': { source: 'AMI default', path: '/k.json' },
      'nodefs.available': { source: 'drop-in', certainty: 'certain', path: '/d/20.conf' },
      'imagefs.available': { source: 'drop-in', path: '/d/20.conf' },
    })
    expect(lost.map(({ by }) => by.source)).toEqual(['AMI default'])
  })

  it('finds the drop-in that removed thresholds', () => {
    const { lost } = originsFrom(
      [main({}), dropIn('10', { evictionHard: null }), dropIn('20', {})],
      {},
    )
    expect(new Set(lost.map(({ by }) => by.path))).toEqual(new Set(['/d/10.conf']))
  })

  it('trap 16: finds the flag that replaced the map', () => {
    const flags = ['--eviction-hard=nodefs.available<7%', '--eviction-soft=memory.available<1Gi']
    const configuration = {
      evictionHard: { 'nodefs.available': '7%' },
      evictionSoft: { 'memory.available': '1Gi' },
    }
    const { evictionHard, evictionSoft, lost } = originsFrom(
      [main({ evictionSoft: { 'nodefs.available': '9%' } })],
      {},
      { configuration },
      flags,
    )
    expect(sources(evictionHard)).toEqual({ 'nodefs.available': 'certain flag' })
    expect(sources(evictionSoft)).toEqual({ 'memory.available': 'certain flag' })
    expect(new Set(lost.map(({ by }) => by.source))).toEqual(new Set(['flag']))
  })

  it('trap 17: finds that there is no file, and so no default', () => {
    expect(originsFrom([], {}).lost.map(({ by }) => `${by.certainty} ${by.source}`)).toEqual(
      Array(5).fill('certain no file'),
    )
  })

  it('finds soft thresholds in files', () => {
    const configuration = {
      evictionHard: defaults,
      evictionSoft: { 'memory.available': '1Gi', 'nodefs.available': '20%' },
    }
    const files = [
      main({ evictionSoft: { 'memory.available': '1Gi' } }),
      dropIn('10', { evictionSoft: { 'nodefs.available': '20%' } }),
    ]
    expect(sources(originsFrom(files, {}, { configuration }).evictionSoft)).toEqual({
      'memory.available': 'certain file',
      'nodefs.available': 'certain drop-in',
    })
  })
})

describe('files that do not explain what runs', () => {
  const files = [main({ evictionHard: { 'nodefs.available': '5%' } })]

  it('were changed since the start where a threshold has another value, or is not in them', () => {
    expect(sources(originsFrom(files, { 'nodefs.available': '7%' }).evictionHard)).toEqual({
      'nodefs.available': 'certain earlier files',
    })
    expect(sources(originsFrom(files, { 'memory.available': '1Gi' }).evictionHard)).toEqual({
      'memory.available': 'certain earlier files',
    })
    const host = { kubelet: { files } }
    const configuration = { evictionHard: { 'nodefs.available': '7%' } }
    expect(sources(origins({ configuration, host }).evictionHard)).toEqual({
      'nodefs.available': 'likely earlier files',
    })
  })

  it('have not lost a default that they come to', () => {
    const { 'nodefs.inodesFree': gone, ...runs } = ami
    const { lost } = originsFrom([main({ evictionHard: ami })], runs, { amiFamily: 'AL2023' })
    const byOf = (signal: string) => lost.find(one => one.signal === signal)?.by
    expect(gone).toBe('5%')
    expect(byOf('nodefs.inodesFree')).toEqual({
      source: 'earlier files',
      certainty: 'certain',
      path: null,
    })
    expect(byOf('imagefs.available')).toMatchObject({ source: 'AMI default', path: '/k.json' })
  })

  it.each([
    ['have no content', [{ ...main({}), content: null }]],
    ['are without a main file', [dropIn('10', {})]],
    ['have a drop-in that could not be read', [main({}), { ...dropIn('10', {}), content: 'x: y' }]],
    ['do not load', [main({ maxPods: 'many' })]],
  ])('%s', (_, unreadable) => {
    const host = { kubelet: { files: unreadable } }
    expect(
      sources(origins({ configuration: { evictionHard: defaults }, host }).evictionHard)[
        'nodefs.available'
      ],
    ).toBe('likely upstream default')
  })

  it('are beside flags that cannot be parsed', () => {
    expect(
      sources(originsFrom(files, { 'nodefs.available': '5%' }, {}, ['--max-pods=x']).evictionHard),
    ).toEqual({ 'nodefs.available': 'certain configured' })
  })

  it('are only likely if something was not read, or flags are missing', () => {
    const kubelet = { files, commandLine: ['kubelet'] }
    const certaintyWith = (host: object) =>
      origins({
        configuration: { evictionHard: { 'nodefs.available': '5%' } },
        host: host as never,
      }).evictionHard['nodefs.available']?.certainty
    expect(certaintyWith({ kubelet })).toBe('certain')
    expect(certaintyWith({ kubelet, unread: [{ what: 'kubelet drop-ins', why: 'denied' }] })).toBe(
      'likely',
    )
    expect(certaintyWith({ kubelet: { files } })).toBe('likely')
  })
})

describe('many drop-ins', () => {
  const evictionHard = { 'memory.available': '7%' }
  const files = (length: number, content: object) => [
    main({}),
    ...Array.from({ length }, (_, index) => dropIn(`${100 + index}`, content)),
    dropIn('900', { evictionHard }),
  ]
  const sourcesOf = (length: number, content: object) =>
    sources(originsFrom(files(length, content), evictionHard).evictionHard)

  it('that name no threshold are passed over', () => {
    expect(sourcesOf(40, { maxPods: 30 })).toEqual({ 'memory.available': 'certain drop-in' })
  })

  it('that each name a threshold explain it', () => {
    expect(sourcesOf(40, { evictionHard })).toEqual({ 'memory.available': 'certain drop-in' })
  })
})
