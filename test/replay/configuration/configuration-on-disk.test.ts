import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { replayOf as replay } from '#test/at-the-door.ts'

const takenAt = '2026-11-21T00:00:00Z'
const gibibyte = 1024 ** 3
const path = '/etc/kubernetes/kubelet/config.json'
const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
const main = (content: unknown) => ({ path, role: 'config', content })
const dropIn = (name: string, content: RawObject | null) => ({
  path: `${path}.d/${name}`,
  role: 'drop-in',
  content: content && { ...kind, ...content },
})
const disk = {
  capacityBytes: 100 * gibibyte,
  availableBytes: 12 * gibibyte,
  inodes: 1000,
  inodesFree: 900,
}

const host = (files: object[], flags: string[] | null = [], more: RawObject = {}): RawObject => ({
  kubelet: {
    files,
    ...(flags && { commandLine: ['/usr/bin/kubelet', `--config=${path}`, ...flags] }),
  },
  filesystems: ['nodefs', 'imagefs'].map(role => ({
    role,
    device: '/dev/nvme0n1p1',
    mount: '/',
    ...disk,
  })),
  ...more,
})
const record = (more: Partial<NodeRecord>, version = 'v1.34.1'): NodeRecord => ({
  kind: 'Node',
  cluster: 'prod',
  mode: 'ssm',
  node: {
    metadata: { name: 'n' },
    status: {
      nodeInfo: {
        kubeletVersion: version,
        operatingSystem: 'linux',
        containerRuntimeVersion: 'containerd://2.1.5',
      },
    },
  },
  pods: [],
  ...more,
})
const unknownsOf = (given: Partial<NodeRecord>) =>
  Object.fromEntries(
    replay(record(given), takenAt).unknowns.map(({ what, effect }) => [what, effect]),
  )

describe('a configuration that was not seen running', () => {
  it('is what file, drop-ins and flags come to, as this minor merges them', () => {
    const files = [
      main({ evictionHard: { 'nodefs.available': '10%' }, imageGCHighThresholdPercent: 90 }),
      dropIn('40-nodeadm.conf', {
        evictionHard: { 'memory.available': '200Mi' },
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 60,
      }),
    ]
    const prediction = replay(
      record({ host: host(files, [`--config-dir=${path}.d`, '--image-gc-high-threshold=75']) }),
      takenAt,
    )
    expect(prediction.configurationOnDisk).toMatchObject({
      evictionHard: { 'nodefs.available': '10%', 'memory.available': '200Mi' },
      imageGCHighThresholdPercent: 75,
      imageGCLowThresholdPercent: 60,
    })
    expect(prediction.imageGC).toMatchObject({
      highThresholdPercent: 75,
      triggered: true,
      usagePercent: 88,
    })
    expect(prediction.unknowns).toContainEqual({
      what: 'configuration',
      effect:
        'as on disk: whether the kubelet was restarted since its files were written is not known',
    })
  })

  it('stands back behind configz, whatever that says', () => {
    const running = { kubeletconfig: { imageGCHighThresholdPercent: 85 } }
    const prediction = replay(
      record({ configz: running, host: host([main({ imageGCHighThresholdPercent: 70 })]) }),
      takenAt,
    )
    expect(prediction.imageGC?.highThresholdPercent).toBe(85)
    expect(prediction).not.toHaveProperty('configurationOnDisk')
  })

  it.each<[string, RawObject, RegExp]>([
    ['no file was read', host([]), /no main configuration file of the kubelet was read/],
    ['a file could not be parsed', host([main('a: [')]), /fields of .* could not be read/],
    [
      'a drop-in has no fields',
      host([main({}), dropIn('50-team.conf', null)], [`--config-dir=${path}.d`]),
      /fields of .*50-team.conf could not be read/,
    ],
    [
      'a kubelet would not start with it',
      host([main({ imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 })]),
      /was started with others/,
    ],
    ['the flags are not known', host([main({})], null), /flags of the kubelet were not read/],
    [
      'a folder was not read',
      host([main({})], [], {
        unread: [{ what: `drop-ins in ${path}.d`, why: 'more than 50 files lie there' }],
      }),
      /drop-ins in .*more than 50 files/,
    ],
  ])('is not made up where %s', (_, hostFacts, reason) => {
    const prediction = replay(record({ host: hostFacts }), takenAt)
    expect(prediction).toMatchObject({ imageGC: null, eviction: null })
    expect(prediction).not.toHaveProperty('configurationOnDisk')
    expect(unknownsOf({ host: hostFacts })['configuration.files']).toMatch(reason)
  })

  it('does not wait for environment files: what they would add now, the flags that run do not have', () => {
    const hostFacts = host([main({ imageGCHighThresholdPercent: 95 })], [], {
      unread: [
        { what: 'kubelet environment /etc/eks/kubelet/environment', why: 'it cannot be read' },
      ],
    })
    expect(replay(record({ host: hostFacts }), takenAt).configurationOnDisk).toMatchObject({
      imageGCHighThresholdPercent: 95,
    })
  })

  it.each([
    "the kubelet's start",
    'the start of the process',
    'logrotate file /etc/logrotate.d/kubelet',
    'containerd file /etc/containerd/config.toml',
  ])('does not wait for %s', what => {
    const hostFacts = host([main({ imageGCHighThresholdPercent: 95 })], [], {
      unread: [{ what, why: 'it cannot be read' }],
    })
    expect(replay(record({ host: hostFacts }), takenAt).configurationOnDisk).toMatchObject({
      imageGCHighThresholdPercent: 95,
    })
  })

  it('can be asked for other values, as what runs can', () => {
    const asked = {
      at: null,
      fills: [],
      changes: [{ path: ['imageGCHighThresholdPercent'], value: 95 }],
    }
    expect(replay(record({ host: host([main({})]) }), takenAt, asked).imageGC).toMatchObject({
      highThresholdPercent: 95,
      triggered: false,
    })
  })
})

describe('a node without statistics of its kubelet', () => {
  const files = [
    main({
      evictionHard: {
        'nodefs.available': '15%',
        'memory.available': '100Mi',
        'pid.available': '10%',
      },
    }),
  ]

  it('has its disks by its own measure, with certainty of how they lie', () => {
    const { filesystems, eviction } = replay(record({ host: host(files) }), takenAt)
    expect(filesystems).toMatchObject({
      layout: 'shared',
      layoutCertainty: 'certain',
      nodefs: { usedPercent: 88 },
    })
    const met = Object.fromEntries(
      eviction?.thresholds.map(({ signal, met }) => [signal, met]) ?? [],
    )
    expect(met).toMatchObject({
      'nodefs.available': true,
      'memory.available': null,
      'pid.available': null,
    })
    expect(eviction).toMatchObject({ conditions: ['DiskPressure'], victims: null, rankings: null })
  })

  it('says what it cannot know', () => {
    expect(unknownsOf({ host: host(files) })).toMatchObject({
      summary: 'what memory, processes and pods use is not known',
    })
    expect(unknownsOf({ host: host(files, [], { filesystems: [] }) })).toMatchObject({
      summary: 'nothing is known of how full the node is',
    })
    const onlyNodefs = { filesystems: [{ role: 'nodefs', device: '/dev/a', mount: '/', ...disk }] }
    expect(unknownsOf({ host: host(files, [], onlyNodefs) })).toMatchObject({
      'host.filesystems imagefs': 'how full imagefs is is not known',
    })
  })

  it('has less than nothing left where root used what is reserved for it', () => {
    const filesystems = ['nodefs', 'imagefs'].map(role => ({
      role,
      device: '/dev/a',
      mount: '/',
      ...disk,
      availableBytes: -gibibyte,
    }))
    const { filesystems: found, eviction } = replay(
      record({ host: host(files, [], { filesystems }) }),
      takenAt,
    )
    expect(found.nodefs).toMatchObject({ availableBytes: -gibibyte, usedPercent: 101 })
    expect(eviction?.thresholds.find(({ signal }) => signal === 'nodefs.available')?.met).toBe(true)
  })
})
