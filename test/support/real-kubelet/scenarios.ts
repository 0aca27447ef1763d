/** Courses that a node of the real lab is put through. */

const registry = '127.0.0.1:15000'

export interface ScenarioPod {
  name: string
  image: string
  /** Arguments of the lab's program; the words `disk` and `inodes` fill the emptyDir `/filled`. */
  args: string[]
  requests?: Record<string, string>
  /** `past`: deleted before the reading. `finished`: ends, and stays in the API. */
  stays: 'running' | 'past' | 'finished'
}

export interface Scenario {
  name: string
  /** In words, for the table. */
  course: string
  /** Number of the node. */
  index: number
  /** Fields of the KubeletConfiguration. */
  configuration: Record<string, unknown>
  /** Variables of `node.sh`: sizes of the disks. */
  disks: Record<string, string>
  pods: ScenarioPod[]
  /** From the start of the kubelet to the reading. */
  readAfterMs: number
  /** What is available of bytes and inodes at the reading; other data takes the rest. */
  availablePercent: { imagefs?: number; nodefs?: number; inodes?: number }
  fills: { filesystem?: 'nodefs' | 'imagefs'; resource: Resource; perSecond: number }[]
  recordedMs: number
}

type Resource = 'bytes' | 'inodes' | 'memory'

const MiB = 2 ** 20
const pause = ['pause']

const pod = (
  name: string,
  image: string,
  args = pause,
  stays: ScenarioPod['stays'] = 'running',
  requests?: Record<string, string>,
): ScenarioPod => ({
  name,
  image: `${registry}/${image}`,
  args,
  stays,
  ...(requests && { requests }),
})

const past = (...images: string[]) =>
  images.map((image, index) => pod(`past-${index}`, image, pause, 'past'))

const withData = (name: string, size: string, requests?: Record<string, string>) =>
  pod(name, 'workload:v1', ['disk', '/filled/x', size], 'running', requests)

const withMemory = (name: string, size: string, requests?: Record<string, string>) =>
  pod(name, 'workload:v1', ['mem', size], 'running', requests)

const withFiles = (name: string, count: number) =>
  pod(name, 'workload:v1', ['inodes', '/filled/x', String(count)])

const hard = (signals: Record<string, string>) => ({
  evictionHard: { 'memory.available': '10Mi', ...signals },
  evictionPressureTransitionPeriod: '20s',
})

const podMemoryMiB = 740

/** @param memoryBytes of the machine */
export const scenariosFor = (memoryBytes: number): Scenario[] => [
  {
    name: 'single-disk-later',
    course: 'one disk fills at 3 MiB/s; image GC, then eviction',
    index: 2,
    configuration: hard({ 'nodefs.available': '10%' }),
    disks: { DISK_MIB: '2048' },
    pods: [
      ...past('app/a:v1', 'app/b:v1', 'lone/d:v1', 'lone/e:v1'),
      pod('keep', 'app/c:v1'),
      withData('large', '250Mi'),
      withData('middle', '120Mi'),
      withData('small', '60Mi', { 'ephemeral-storage': '50Mi' }),
    ],
    readAfterMs: 200_000,
    availablePercent: { imagefs: 25 },
    fills: [{ filesystem: 'nodefs', resource: 'bytes', perSecond: 3 * MiB }],
    recordedMs: 420_000,
  },
  {
    name: 'two-disks-faster',
    course: 'the disk of the kubelet fills at 2 MiB/s, the image disk at 1 MiB/s',
    index: 3,
    configuration: hard({ 'nodefs.available': '15%', 'imagefs.available': '5%' }),
    disks: { DISK_MIB: '2048', NODEFS_MIB: '1024', SPLIT: '1' },
    pods: [
      ...past('app/a:v1', 'lone/d:v1', 'lone/e:v1'),
      pod('keep', 'app/c:v1'),
      withData('large', '200Mi'),
      withData('small', '100Mi'),
    ],
    readAfterMs: 200_000,
    availablePercent: { imagefs: 18, nodefs: 30 },
    fills: [
      { filesystem: 'nodefs', resource: 'bytes', perSecond: 2 * MiB },
      { filesystem: 'imagefs', resource: 'bytes', perSecond: MiB },
    ],
    recordedMs: 240_000,
  },
  {
    name: 'inodes-faster',
    course: 'files are made at 80 inodes/s, on a node whose images were never listed',
    index: 4,
    configuration: hard({ 'nodefs.available': '5%', 'nodefs.inodesFree': '10%' }),
    disks: { DISK_MIB: '1024', INODES: '25000' },
    pods: [
      ...past('lone/d:v1'),
      withFiles('large', 3000),
      withFiles('middle', 1500),
      withFiles('small', 800),
    ],
    readAfterMs: 120_000,
    availablePercent: { inodes: 20 },
    fills: [{ filesystem: 'nodefs', resource: 'inodes', perSecond: 80 }],
    recordedMs: 110_000,
  },
  {
    name: 'image-ages-first-round',
    course:
      'imageMaximumGCAge 2m; images of deleted pods and of a finished pod, at the first round',
    index: 5,
    configuration: {
      ...hard({ 'nodefs.available': '10%' }),
      imageMinimumGCAge: '1m',
      imageMaximumGCAge: '2m',
    },
    disks: { DISK_MIB: '2048' },
    pods: [
      ...past('app/a:v1', 'lone/d:v1'),
      pod('keep', 'app/c:v1'),
      pod('job', 'lone/e:v1', ['exit', '0'], 'finished'),
    ],
    readAfterMs: 200_000,
    availablePercent: {},
    fills: [{ filesystem: 'nodefs', resource: 'bytes', perSecond: MiB / 4 }],
    recordedMs: 140_000,
  },
  {
    name: 'dead-containers',
    course:
      'pressure removes the containers of finished pods, then their images, and evicts no pod',
    index: 6,
    configuration: {
      ...hard({ 'nodefs.available': '10%' }),
      imageMinimumGCAge: '20s',
      imageGCHighThresholdPercent: 99,
      imageGCLowThresholdPercent: 98,
    },
    disks: { DISK_MIB: '1024' },
    pods: [
      pod('job-b', 'app/b:v1', ['exit', '0'], 'finished'),
      pod('job-d', 'lone/d:v1', ['exit', '0'], 'finished'),
      withData('large', '150Mi'),
    ],
    readAfterMs: 320_000,
    availablePercent: { imagefs: 16 },
    fills: [{ filesystem: 'nodefs', resource: 'bytes', perSecond: MiB }],
    recordedMs: 140_000,
  },
  {
    name: 'memory-priorities',
    course: 'memory of pods grows by 6 MiB/s; requests and BestEffort',
    index: 7,
    configuration: {
      ...hard({ 'memory.available': '100Mi' }),
      kubeReserved: { memory: `${Math.floor(memoryBytes / MiB) - podMemoryMiB}Mi` },
    },
    disks: { DISK_MIB: '1024' },
    pods: [
      withMemory('large', '150Mi', { memory: '200Mi' }),
      withMemory('middle', '70Mi', { memory: '20Mi' }),
      withMemory('small', '30Mi'),
    ],
    readAfterMs: 60_000,
    availablePercent: {},
    fills: [{ resource: 'memory', perSecond: 6 * MiB }],
    recordedMs: 85_000,
  },
]
