/** The lab's own kubelet: what it makes of its files, and what it does not take. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkConfiguration } from '#lab/machines/programs/check-configuration.ts'
import { readConfiguration } from '#lab/machines/programs/read-configuration.ts'
import { upstreamDefaults } from '#lab/nodes/configz.ts'
import { ageMsOf } from '#lab/nodes/node-object.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { requiredPods } from '#lab/scenarios/required-pods.ts'
import { temporaryFolder } from '#test/cli.ts'

const place = {
  family: 'AL2',
  version: '1.32.9',
  instanceType: 'm5.large',
  ip: '10.0.0.1',
} as const
const profile = {
  ...inNodegroup('al2', place),
  nodefs: { capacityBytes: 20 * 2 ** 30, usedPercent: 40 },
  pods: requiredPods('a', 0),
}
const defaults = upstreamDefaults(profile)
const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }

/** What a kubelet runs with that finds these files; text is written as it is. */
function started(
  main: object | string,
  dropIns: Record<string, object | string> = {},
  flags: string[] = [],
) {
  const root = temporaryFolder()
  const files = {
    '/etc/kubelet.json': main,
    ...Object.fromEntries(
      Object.entries(dropIns).map(([name, text]) => [`/etc/kubelet.d/${name}`, text]),
    ),
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(
      join(root, path),
      typeof content === 'string' ? content : JSON.stringify({ ...kind, ...content }),
    )
  }
  const folder = Object.keys(dropIns).length > 0 ? ['--config-dir=/etc/kubelet.d'] : []
  const installed = {
    unit: 'kubelet.service',
    command: [],
    environment: [],
    version: place.version,
    cgroup: '',
    defaults,
  }
  const configuration = readConfiguration(
    root,
    ['kubelet', '--config=/etc/kubelet.json', ...folder, ...flags],
    installed,
  )
  checkConfiguration(configuration)
  return configuration
}

describe("the lab's kubelet", () => {
  it('runs with its defaults where its file says nothing', () => {
    expect(started({})).toEqual(defaults)
  })

  it('takes a map as all there is of it, a struct field by field, and zero for nothing said', () => {
    expect(
      started({
        evictionHard: { 'memory.available': '200Mi' },
        authentication: { anonymous: { enabled: true } },
        imageMinimumGCAge: '0s',
        maxPods: 0,
      }),
    ).toEqual({
      ...defaults,
      evictionHard: { 'memory.available': '200Mi' },
      authentication: { ...Object(defaults.authentication), anonymous: { enabled: true } },
    })
  })

  it('merges drop-ins by their names, with flags over all of them', () => {
    const dropIns = {
      '20-second.conf': {
        imageGCHighThresholdPercent: 71,
        evictionHard: { 'nodefs.available': '12%', 'memory.available': null },
      },
      '10-first.conf': { imageGCHighThresholdPercent: 72, imageGCLowThresholdPercent: 51 },
      'read-me.txt': 'no configuration',
    }
    expect(
      started({ evictionHard: { 'memory.available': '1Gi' } }, dropIns, [
        '--max-pods=20',
        '--image-gc-low-threshold=52',
      ]),
    ).toMatchObject({
      imageGCHighThresholdPercent: 71,
      imageGCLowThresholdPercent: 52,
      maxPods: 20,
      evictionHard: { 'nodefs.available': '12%' },
    })
  })

  it('drops what its minor does not know, and writes durations as Go does', () => {
    expect(
      started({
        mergeDefaultEvictionSettings: true,
        imageGcHighThreshold: 3,
        imageMaximumGCAge: '90m',
      }),
    ).toEqual({ ...defaults, imageMaximumGCAge: '1h30m0s' })
  })

  it.each<[string, object | string, RegExp]>([
    [
      'no JSON',
      '{"kind": "Kubelet',
      /failed to load kubelet config file, path: \/etc\/kubelet.json/,
    ],
    ['no YAML', 'kind: [', /failed to load kubelet config file/],
    ['an empty file', '', /it holds no object/],
    ['another kind', { kind: 'NodeConfig' }, /no kind "NodeConfig" is registered/],
    [
      'a text for a number',
      { imageGCHighThresholdPercent: '70' },
      /cannot unmarshal string into Go struct field KubeletConfiguration.imageGCHighThresholdPercent/,
    ],
    ['a fraction for a number', { maxPods: 1.5 }, /cannot unmarshal number/],
    [
      'a number for a duration',
      { imageMinimumGCAge: 120 },
      /cannot unmarshal number .* type Duration/,
    ],
    ['a duration without a unit', { imageMaximumGCAge: '5' }, /missing unit/],
    ['a list for a map', { evictionHard: [] }, /cannot unmarshal array/],
    [
      'a number for a threshold',
      { evictionHard: { 'memory.available': 5 } },
      /cannot unmarshal number/,
    ],
    ['a text for a struct', { authentication: 'none' }, /type KubeletAuthentication/],
    ['a percentage over 100', { imageGCHighThresholdPercent: 101 }, /must be between 0 and 100/],
    [
      'low above high',
      { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 70 },
      /must be less than/,
    ],
    [
      'low as high',
      { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 70 },
      /must be less than/,
    ],
    [
      'high below the default of low',
      { imageGCHighThresholdPercent: 70 },
      /imageGCLowThresholdPercent 80 must be less/,
    ],
    [
      'a maximum age below the minimum',
      { imageMaximumGCAge: '1m' },
      /must be greater than imageMinimumGCAge/,
    ],
    [
      'an unknown signal',
      { evictionHard: { 'nodefs.free': '5%' } },
      /unsupported eviction signal nodefs.free/,
    ],
    [
      'a threshold of 100 %',
      { evictionHard: { 'nodefs.available': '100%' } },
      /must be >= 0% and < 100%/,
    ],
    [
      'a threshold that is no quantity',
      { evictionHard: { 'memory.available': '5 GB' } },
      /positive quantity/,
    ],
    [
      'a soft threshold without its grace period',
      { evictionSoft: { 'memory.available': '1Gi' } },
      /grace period must be specified/,
    ],
    [
      'a reservation of something else',
      { kubeReserved: { storage: '1Gi' } },
      /cannot reserve "storage"/,
    ],
    [
      'a negative reservation',
      { systemReserved: { memory: '-1Gi' } },
      /failed to parse quantity "-1Gi"/,
    ],
    ['one log file', { containerLogMaxFiles: 1 }, /must be > 1/],
    ['no log worker', { containerLogMaxWorkers: 0 }, /containerLogMaxWorkers/],
    [
      'logs looked at too often',
      { containerLogMonitorInterval: '1s' },
      /greater than or equal to 3s/,
    ],
    [
      'a lease of no time',
      { nodeLeaseDurationSeconds: -1 },
      /nodeLeaseDurationSeconds -1 must not be less than 1/,
    ],
  ])('does not start with %s', (_, main, why) => {
    expect(() => started(main)).toThrow(why)
  })

  it('does not start with a drop-in that is none, a folder that is not there, or a flag without a number', () => {
    expect(() => started({}, { '10-a.conf': '{}' })).toThrowErrorMatchingSnapshot()
    expect(() => started({}, {}, ['--config-dir=/etc/elsewhere'])).toThrowErrorMatchingSnapshot()
    expect(() => started({}, {}, ['--max-pods=many'])).toThrow(/invalid argument "many"/)
  })
})

describe('a node whose kubelet was started anew', () => {
  const start = {
    number: 2,
    atMs: Date.parse('2026-11-21T02:00:00Z'),
    isUp: true,
    isHealthy: true,
    why: null,
    downSinceMs: null,
    configuration: defaults,
  }
  /** Of each pod, whether it is ready and its container started, so long after the start. */
  const shown = (afterMs: number, more: Partial<NodeProfile> = {}) => {
    const node = profiledNode({ ...profile, ...more }).asStarted?.(start, start.atMs + afterMs)
    return node?.podKeys().map((_, index) => {
      const { status } = node.pod(index, '2026-11-21T02:00:00Z')
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      return [ready?.status, status?.containerStatuses?.[0]?.started, ready?.lastTransitionTime]
    })
  }

  const down = {
    ...start,
    isUp: false,
    isHealthy: false,
    why: 'it exits',
    downSinceMs: start.atMs,
    configuration: null,
  }
  it.each([
    ['is not Ready at once', start, 999, 'False', '2026-11-21T02:00:00Z', '2026-11-21T02:00:00Z'],
    [
      'is Ready when the runtime was checked',
      start,
      1000,
      'True',
      '2026-11-21T02:00:01Z',
      '2026-11-21T02:00:01Z',
    ],
    [
      'is Ready until its lease ends',
      down,
      2999,
      'True',
      `${new Date(Date.parse('2026-11-21T02:00:00Z') - ageMsOf(profile)).toISOString().slice(0, 19)}Z`,
      '2026-11-21T02:00:00Z',
    ],
    [
      'is Unknown when it was not heard of',
      down,
      3000,
      'Unknown',
      '2026-11-21T02:00:03Z',
      '2026-11-21T02:00:00Z',
    ],
  ])('%s', (_, last, afterMs, status, lastTransitionTime, lastHeartbeatTime) => {
    const node = profiledNode(profile).asStarted?.(last, start.atMs + afterMs)
    const conditions = node?.node('2026-11-21T02:00:00Z').status?.conditions
    expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status,
      lastTransitionTime,
      lastHeartbeatTime,
    })
  })

  it('tells in its statistics since when it runs', () => {
    const { node } = (profiledNode(profile)
      .asStarted?.(start, start.atMs)
      ?.summary('2026-11-21T02:00:00Z') ?? {}) as {
      node: { systemContainers: { name: string; startTime: string }[] }
    }
    const since = node.systemContainers.map(({ name, startTime }) => [name, startTime])
    expect(since).toEqual([
      ['kubelet', '2026-11-21T02:00:00Z'],
      ['runtime', '2026-11-20T20:00:00Z'],
      ['pods', '2026-11-20T20:00:00Z'],
    ])
  })

  it.each([
    [0, ['False', true, '2026-11-21T02:00:00Z'], ['False', false, '2026-11-21T02:00:00Z']],
    [1999, ['False', true, '2026-11-21T02:00:00Z'], ['False', false, '2026-11-21T02:00:00Z']],
    [2000, ['True', true, '2026-11-21T02:00:02Z'], ['False', true, '2026-11-21T02:00:00Z']],
    [3000, ['True', true, '2026-11-21T02:00:02Z'], ['True', true, '2026-11-21T02:00:03Z']],
  ])(
    'has no pod that is ready until each has been probed: %i ms after',
    (afterMs, probed, probedTwice) => {
      expect(shown(afterMs)).toEqual([probed, probedTwice])
    },
  )

  it('leaves them what they were from the minor on that keeps their status', () => {
    // No node of the lab runs it yet.
    const version = '1.35.0' as '1.34.0'
    expect(shown(0, { version })).toEqual(
      Array.from({ length: 2 }, () => ['True', true, '2026-11-20T20:00:00Z']),
    )
  })
})
