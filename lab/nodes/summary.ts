/** A full `/stats/summary` of a profile. Upstream: pkg/kubelet/server/stats/summary.go, k8s.io/kubelet/pkg/apis/stats/v1alpha1. */
import type { RawObject } from '#base/raw-object.ts'
import { imagesBytes } from './images.ts'
import { minorOf } from './minors.ts'
import { podStart, podUid } from './pod-object.ts'
import type { ContainerProfile, PodProfile } from './pod-profile.ts'
import { availableBytes, type Disk, MiB, memoryCapacityBytes, type NodeProfile } from './profile.ts'
import { podsMemoryLimitBytes } from './resources.ts'

const quietDaemonsMiB = { kubelet: 118, runtime: 164 }
const otherMiB = 210
const maxPids = 4_194_304
/** xfs makes inodes as it needs them: about one for 2 KiB at most. */
const bytesPerInode = 2048

export interface Filesystem {
  capacityBytes: number
  availableBytes: number
  inodes?: number
  inodesFree?: number
}

interface Scene {
  /** When the statistics were taken. */
  time: string
  startTime: string
  hasInodes: boolean
  hasPsi: boolean
  nodefs: Filesystem
  imagefs: Filesystem
}

export function summaryOf(profile: NodeProfile, at: string): RawObject {
  const scene = sceneOf(profile, at)
  const running = profile.pods.filter(pod => pod.phase === 'Running')
  const podsMiB = sum(running.flatMap(pod => pod.containers.map(container => container.memoryMiB)))
  const capacityBytes = memoryCapacityBytes(profile)
  const daemonsMiB = profile.daemonsMiB ?? quietDaemonsMiB
  const containers: [name: string, usedMiB: number, limitBytes: number][] =
    profile.family === 'Windows'
      ? [['pods', podsMiB, podsMemoryLimitBytes(profile)]]
      : [
          ['kubelet', daemonsMiB.kubelet, capacityBytes],
          ['runtime', daemonsMiB.runtime, capacityBytes],
          ['pods', podsMiB, podsMemoryLimitBytes(profile)],
        ]
  const imageFs = filesystem(scene, scene.imagefs, imagesBytes(profile))
  return {
    node: {
      nodeName: profile.name,
      systemContainers: containers.map(([name, usedMiB, limitBytes]) => ({
        name,
        startTime:
          name === 'kubelet' && profile.started
            ? timeOf(profile.started.start.atMs)
            : scene.startTime,
        ...usage(scene, usedMiB, limitBytes),
      })),
      startTime: scene.startTime,
      ...usage(scene, podsMiB + daemonsMiB.kubelet + daemonsMiB.runtime + otherMiB, capacityBytes),
      network: network(scene, 48_211_904_113),
      fs: filesystem(scene, scene.nodefs, scene.nodefs.capacityBytes - scene.nodefs.availableBytes),
      runtime: { imageFs, containerFs: imageFs },
      rlimit: { time: scene.time, maxpid: maxPids, curproc: 180 + 24 * running.length },
      swap: { time: scene.time, swapAvailableBytes: 0, swapUsageBytes: 0 },
    },
    pods: running.map(pod => podStats(pod, scene)),
  }
}

export function filesystemsOf(profile: NodeProfile): { nodefs: Filesystem; imagefs: Filesystem } {
  const hasInodes = profile.family !== 'Windows'
  const nodefs = measured(profile.nodefs, hasInodes)
  return { nodefs, imagefs: profile.imagefs ? measured(profile.imagefs, hasInodes) : nodefs }
}

function sceneOf(profile: NodeProfile, at: string): Scene {
  const hasInodes = profile.family !== 'Windows'
  return {
    time: timeOf(
      profile.started
        ? Math.max(profile.started.start.atMs, profile.started.nowMs - 4000)
        : Date.parse(at) - 4000,
    ),
    startTime: podStart(at),
    hasInodes,
    hasPsi: hasInodes && minorOf(profile).hasPsi,
    ...filesystemsOf(profile),
  }
}

/** About one inode for 40 KiB. */
export const inodesOf = (usedBytes: number) => Math.trunc(usedBytes / 40_960)

function measured(disk: Disk, hasInodes: boolean): Filesystem {
  const inodes = Math.trunc(disk.capacityBytes / bytesPerInode)
  const bytes = { capacityBytes: disk.capacityBytes, availableBytes: availableBytes(disk) }
  return hasInodes
    ? { ...bytes, inodes, inodesFree: inodes - Math.trunc((inodes * disk.usedPercent) / 1000) }
    : bytes
}

function podStats(pod: PodProfile, scene: Scene): RawObject {
  const memoryMiB = sum(pod.containers.map(container => container.memoryMiB))
  const ownMiB =
    sum(pod.containers.map(({ rootfsMiB, logsMiB }) => rootfsMiB + logsMiB)) +
    (pod.emptyDir?.usedMiB ?? 0)
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: podUid(pod) },
    startTime: scene.startTime,
    containers: pod.containers.map(container => containerStats(container, scene)),
    ...usage(scene, memoryMiB + 1, null),
    network: network(scene, 81_204_113),
    ...(pod.emptyDir && {
      volume: [
        { ...filesystem(scene, scene.nodefs, pod.emptyDir.usedMiB * MiB), name: pod.emptyDir.name },
      ],
    }),
    'ephemeral-storage': filesystem(scene, scene.nodefs, ownMiB * MiB),
    process_stats: { process_count: 1 + pod.containers.length },
    swap: { time: scene.time, swapUsageBytes: 0 },
  }
}

const containerStats = (
  { name, memoryMiB, rootfsMiB, logsMiB, limits }: ContainerProfile,
  scene: Scene,
): RawObject => ({
  name,
  startTime: scene.startTime,
  ...usage(
    scene,
    memoryMiB,
    limits?.memory === undefined ? null : parseInt(limits.memory, 10) * MiB,
  ),
  rootfs: filesystem(scene, scene.imagefs, rootfsMiB * MiB),
  logs: filesystem(scene, scene.nodefs, logsMiB * MiB),
  swap: { time: scene.time, swapUsageBytes: 0 },
})

/** cpu and memory, and io where the kernel counts pressure. `limitBytes` null: unlimited, so nothing is called available. */
function usage({ time, hasPsi }: Scene, usedMiB: number, limitBytes: number | null): RawObject {
  const workingSetBytes = usedMiB * MiB
  const psi = hasPsi && {
    psi: {
      full: { total: 0, avg10: 0, avg60: 0, avg300: 0 },
      some: { total: 0, avg10: 0, avg60: 0, avg300: 0 },
    },
  }
  return {
    cpu: {
      time,
      usageNanoCores: usedMiB * 61_003,
      usageCoreNanoSeconds: usedMiB * 1_311_204_177,
      ...psi,
    },
    memory: {
      time,
      ...(limitBytes !== null && { availableBytes: limitBytes - workingSetBytes }),
      usageBytes: Math.trunc(workingSetBytes * 1.25),
      workingSetBytes,
      rssBytes: Math.trunc(workingSetBytes * 0.75),
      pageFaults: usedMiB * 911,
      majorPageFaults: 0,
      ...psi,
    },
    ...(hasPsi && { io: { time, ...psi } }),
  }
}

const filesystem = (
  { time }: Scene,
  { capacityBytes, availableBytes, inodes, inodesFree }: Filesystem,
  usedBytes: number,
): RawObject => ({
  time,
  availableBytes,
  capacityBytes,
  usedBytes,
  ...(inodes !== undefined &&
    inodesFree !== undefined && { inodesFree, inodes, inodesUsed: inodesOf(usedBytes) }),
})

function network({ time }: Scene, rxBytes: number): RawObject {
  const counters = {
    name: 'eth0',
    rxBytes,
    rxErrors: 0,
    txBytes: Math.trunc(rxBytes / 3),
    txErrors: 0,
  }
  return { time, ...counters, interfaces: [counters] }
}

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
