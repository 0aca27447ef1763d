/** What Bottlerocket makes of its settings, and the configuration assumed for a node that reports only those. */
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { bottlerocketFileOf } from '#replay/configuration/configuration-on-disk.ts'
import { replayOf as replay } from '#test/at-the-door.ts'

const takenAt = '2026-11-21T00:00:00Z'
const written = (settings: RawObject, version = 'v1.34.1') =>
  bottlerocketFileOf(settings, version, 4)

describe('the file that Bottlerocket writes', () => {
  it('says without settings what the template says by itself', () => {
    expect(written({})).toEqual({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      maxPods: 110,
      podPidsLimit: 1_048_576,
      serializeImagePulls: false,
      cpuCFSQuota: true,
      cpuManagerPolicy: 'none',
      kubeReserved: { cpu: '80m', 'ephemeral-storage': '1Gi' },
      kubeReservedCgroup: '/runtime',
      featureGates: { DynamicResourceAllocation: true, MutableCSINodeAllocatableCount: true },
    })
  })

  it.each<[string, RawObject, RawObject]>([
    [
      'percentages are texts there, and 0 is one',
      { 'image-gc-high-threshold-percent': '85', 'image-gc-low-threshold-percent': '0' },
      { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 0 },
    ],
    [
      'a map takes all of the kubelet’s own away',
      { 'eviction-hard': { 'memory.available': '15%' } },
      { evictionHard: { 'memory.available': '15%' } },
    ],
    [
      'the zeros that mean something stay',
      { 'registry-qps': 0, 'container-log-max-files': 0 },
      { registryPullQPS: 0, containerLogMaxFiles: 0 },
    ],
    ['what is off stays off', { 'cpu-cfs-quota-enforced': false }, { cpuCFSQuota: false }],
    [
      'memory is reserved by max-pods',
      { 'max-pods': 58 },
      { maxPods: 58, kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' } },
    ],
    [
      'what is reserved by a setting counts, and for the rest the template',
      { 'max-pods': 58, 'kube-reserved': { memory: '2Gi', cpu: '' } },
      { kubeReserved: { cpu: '80m', memory: '2Gi', 'ephemeral-storage': '1Gi' } },
    ],
    [
      'a reservation for the system has its cgroup',
      { 'system-reserved': { memory: '100Mi' } },
      {
        systemReserved: { memory: '100Mi' },
        systemReservedCgroup: '/system',
        kubeReservedCgroup: '/runtime',
      },
    ],
    [
      'the memory manager has its policy beside memory that is reserved for it',
      {
        'memory-manager-policy': 'Static',
        'memory-manager-reserved-memory': {
          '0': { enabled: true, memory: '1100Mi' },
          '1': { enabled: false },
        },
      },
      {
        memoryManagerPolicy: 'Static',
        reservedMemory: [{ numaNode: 0, limits: { memory: '1100Mi' } }],
      },
    ],
  ])('%s', (_, settings, fields) => {
    expect(written(settings)).toMatchObject(fields)
  })

  it.each<[string, RawObject, string[]]>([
    ['an empty map', { 'eviction-hard': {} }, ['evictionHard']],
    [
      'a 0 that the template does not ask for',
      { 'eviction-max-pod-grace-period': 0 },
      ['evictionMaxPodGracePeriod'],
    ],
    [
      'a cgroup, beside reserved CPUs',
      { 'reserved-cpus': '0-1', 'system-reserved': { cpu: '10m' } },
      ['kubeReservedCgroup', 'systemReservedCgroup'],
    ],
    [
      'the memory manager’s policy alone',
      { 'memory-manager-policy': 'Static' },
      ['memoryManagerPolicy', 'reservedMemory'],
    ],
    [
      'what is no setting of it',
      { 'cluster-name': 'prod', evictionHard: {} },
      ['cluster-name', 'evictionHard', 'clusterName'],
    ],
  ])('does not say %s', (_, settings, fields) => {
    for (const field of fields) expect(written(settings)).not.toHaveProperty([field])
  })

  it.each([
    ['v1.29.9', { ImageMaximumGCAge: true }, undefined],
    ['v1.32.9', undefined, undefined],
    ['v1.33.1', { DynamicResourceAllocation: true }, undefined],
    ['v1.35.1', { DynamicResourceAllocation: true, MutableCSINodeAllocatableCount: true }, false],
    ['v1.37.0', { DynamicResourceAllocation: true, MutableCSINodeAllocatableCount: true }, false],
  ])('differs by the minor: %s', (version, featureGates, failCgroupV1) => {
    const { featureGates: gates, failCgroupV1: fails } = written({}, version)
    expect([gates, fails]).toEqual([featureGates, failCgroupV1])
  })
})

const record = (
  settings: RawObject | null,
  {
    cpu = '4',
    version = 'v1.34.1',
    ...more
  }: { cpu?: string; version?: string } & Partial<NodeRecord> = {},
): NodeRecord => ({
  kind: 'Node',
  cluster: 'prod',
  mode: 'ssm',
  node: {
    metadata: { name: 'n' },
    status: {
      capacity: { cpu },
      nodeInfo: {
        kubeletVersion: version,
        operatingSystem: 'linux',
        containerRuntimeVersion: 'containerd://2.1.5',
      },
    },
  },
  pods: [],
  host: {
    schema: 'highwater.host/1',
    bottlerocket: { ...(settings && { kubernetes: settings }) },
    unread: [
      {
        what: 'kubelet files',
        why: 'the control container sees no files and no processes of the host',
      },
    ],
  },
  ...more,
})

describe('a node that reports only its settings', () => {
  it('is taken to run with what they come to, as on disk', () => {
    const { configurationOnDisk, imageGC, eviction, unknowns } = replay(
      record({
        'eviction-hard': { 'memory.available': '15%' },
        'image-gc-high-threshold-percent': '70',
        'image-gc-low-threshold-percent': '60',
      }),
      takenAt,
    )
    expect(configurationOnDisk).toMatchObject({
      evictionHard: { 'memory.available': '15%' },
      imageGCHighThresholdPercent: 70,
      evictionPressureTransitionPeriod: '5m0s',
      imageMinimumGCAge: '2m0s',
    })
    expect(eviction?.thresholds.map(({ signal }) => signal)).toEqual([
      'memory.available',
      'allocatableMemory.available',
    ])
    // Its disks are unread.
    expect(imageGC).toMatchObject({
      highThresholdPercent: 70,
      lowThresholdPercent: 60,
      triggered: null,
    })
    expect(unknowns).toContainEqual({
      what: 'configuration',
      effect: expect.stringMatching(/what Bottlerocket's template makes/),
    })
  })

  it('has the kubelet’s own thresholds where no setting takes their place', () => {
    const { configurationOnDisk } = replay(record({ 'max-pods': 29 }), takenAt)
    expect(configurationOnDisk?.evictionHard).toMatchObject({
      'imagefs.available': '15%',
      'nodefs.available': '10%',
    })
  })

  it.each<[string, NodeRecord, RegExp]>([
    [
      'a kubelet would not start with them',
      record({ 'image-gc-high-threshold-percent': '50', 'image-gc-low-threshold-percent': '50' }),
      /was started with others/,
    ],
    [
      'a value is none that the kubelet could decode',
      record({ 'max-pods': 'many' }),
      /would not start with them/,
    ],
    ['its number of cores is unknown', record({}, { cpu: 'some' }), /how many cores the node has/],
    ['they were not read', record(null), /no main configuration file/],
  ])('is not made up where %s', (_, given, reason) => {
    const prediction = replay(given, takenAt)
    expect(prediction).not.toHaveProperty('configurationOnDisk')
    expect(prediction.unknowns.find(({ what }) => what === 'configuration.files')?.effect).toMatch(
      reason,
    )
  })

  it('stands back behind configz', () => {
    const configz = {
      kubeletconfig: { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
    }
    const given = record({ 'image-gc-high-threshold-percent': '70' }, { configz })
    expect(replay(given, takenAt)).not.toHaveProperty('configurationOnDisk')
    expect(replay(given, takenAt).unknowns.map(({ what }) => what)).not.toContain('configuration')
  })
})
