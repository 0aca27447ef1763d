import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import { replayOf } from '#test/at-the-door.ts'

const second = 1000
const minute = 60 * second
const readAt = Date.parse('2026-11-21T12:00:00Z')
const time = (ms: number) => new Date(ms).toISOString()
const nanoseconds = (ms: number) => `${BigInt(ms) * 1_000_000n}`
const imageId = (name: string) => `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0')}`

interface Container {
  name: string
  pod: string
  image: string
  isRunning?: boolean
  createdMinutesAgo?: number
}

interface Given {
  containers: Container[]
  /** By name: the phase of the pod object, and whether its deletion is pending. No entry: no pod object. */
  pods?: Record<string, { phase: string; reason?: string; isDeleted?: boolean }>
  flags?: string[]
  /** By image, minutes before the reading. */
  lastUsed?: Record<string, number>
  /** Minutes before the reading. */
  started?: number
}

function record({ containers, pods = {}, flags = [], lastUsed = {}, started = 600 }: Given) {
  const images = [...new Set(containers.map(({ image }) => image))]
  const podNames = [...new Set(containers.map(({ pod }) => pod))]
  const created = (minutesAgo: number) => nanoseconds(readAt - minutesAgo * minute)
  return {
    kind: 'Node',
    cluster: 'prod',
    at: time(readAt),
    node: { metadata: { name: 'n' }, status: { nodeInfo: { kubeletVersion: 'v1.34.4' } } },
    configz: {
      kubeletconfig: {
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 80,
        imageMinimumGCAge: '2m0s',
        evictionHard: { 'nodefs.available': '1%' },
      },
    },
    summary: {
      node: {
        fs: { capacityBytes: 100_000, availableBytes: 10_000 },
        runtime: { imageFs: { capacityBytes: 100_000, availableBytes: 10_000 } },
      },
      pods: [],
    },
    pods: Object.entries(pods).map(([name, { phase, reason, isDeleted }]) => ({
      metadata: {
        name,
        namespace: 'default',
        uid: name,
        ...(isDeleted && { deletionTimestamp: time(readAt) }),
      },
      spec: { containers: [{ name: 'c' }] },
      status: { phase, reason },
    })),
    runtime: {
      images: images.map(name => ({ id: imageId(name), repoTags: [`${name}:v1`], size: '3000' })),
      containers: containers.map(({ name, pod, image, isRunning, createdMinutesAgo = 30 }) => ({
        id: name,
        podSandboxId: pod,
        metadata: { name: 'c' },
        imageRef: imageId(image),
        imageId: imageId(image),
        state: isRunning ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
        createdAt: created(createdMinutesAgo),
        labels: { 'io.kubernetes.pod.uid': pod, 'io.kubernetes.container.name': 'c' },
      })),
      sandboxes: podNames.map(pod => ({
        id: pod,
        metadata: { uid: pod, name: pod, namespace: 'default' },
        state: containers.some(container => container.pod === pod && container.isRunning)
          ? 'SANDBOX_READY'
          : 'SANDBOX_NOTREADY',
        createdAt: created(40),
      })),
    },
    host: { kubelet: { commandLine: ['kubelet', ...flags] }, podLogDirectories: [] },
    known: {
      kubeletStartedAt: time(readAt - started * minute),
      images: images.map(name => ({
        id: imageId(name),
        firstDetected: time(readAt - 300 * minute),
        lastUsed: time(readAt - (lastUsed[name] ?? 2) * minute),
      })),
    },
  } as unknown as NodeRecord
}

/** Images that image GC deletes and keeps, by their names, that long after the reading. */
function later(given: Given, afterMs: number) {
  const at = time(readAt + afterMs)
  const { imageGC } = replayOf(record(given), time(readAt), { at, changes: [], fills: [] })
  const nameOf = (id: string) => Buffer.from(id.slice(7).replace(/0+$/, ''), 'hex').toString()
  return {
    deletions: imageGC?.deletions?.map(({ image, certainty }) => `${nameOf(image)} ${certainty}`),
    kept: imageGC?.kept?.map(({ image, reason }) => `${nameOf(image)} ${reason}`),
  }
}

const running = { name: 'web', pod: 'web', image: 'wis', isRunning: true }
const dead = { name: 'job', pod: 'job', image: 'jim' }
const web = { phase: 'Running' }

describe('container GC between the reading and --at', () => {
  it.each([
    { afterMs: 0, deletions: [], kept: ['jim in-use', 'wis in-use'] },
    { afterMs: 30 * second, deletions: ['jim possible'], kept: ['wis in-use'] },
    { afterMs: minute, deletions: ['jim certain'], kept: ['wis in-use'] },
    { afterMs: 60 * minute, deletions: ['jim certain'], kept: ['wis in-use'] },
  ])('the image of a deleted pod, $afterMs ms later: $deletions', ({ afterMs, ...expected }) => {
    const { deletions, kept } = later({ containers: [running, dead], pods: { web } }, afterMs)
    expect({ deletions, kept: kept?.toSorted() }).toEqual(expected)
  })

  it.each([
    { pod: { phase: 'Succeeded' }, isDeleted: false },
    { pod: { phase: 'Failed' }, isDeleted: false },
    { pod: { phase: 'Failed', reason: 'Evicted' }, isDeleted: true },
    { pod: { phase: 'Succeeded', isDeleted: true }, isDeleted: true },
    { pod: { phase: 'Running', isDeleted: true }, isDeleted: false },
  ])('the image of a pod in $pod is deleted: $isDeleted', ({ pod, isDeleted }) => {
    const { deletions } = later({ containers: [dead], pods: { job: pod } }, 10 * minute)
    expect(deletions).toEqual(isDeleted ? ['jim certain'] : [])
  })

  it('keeps the newest dead container of a name in a running pod, and its image', () => {
    const older = { name: 'c-1', pod: 'loop', image: 'old', createdMinutesAgo: 20 }
    const newest = { name: 'c-2', pod: 'loop', image: 'new', createdMinutesAgo: 10 }
    const containers = [older, newest, { name: 'c-3', pod: 'loop', image: 'run', isRunning: true }]
    const pods = { loop: web }
    expect(later({ containers, pods }, 2 * minute).deletions).toEqual(['old certain'])
    const flags = ['--maximum-dead-containers-per-container=0']
    const all = later({ containers, pods, flags }, 2 * minute).deletions
    expect(all?.toSorted()).toEqual(['new certain', 'old certain'])
    const two = ['--maximum-dead-containers-per-container=2']
    expect(later({ containers, pods, flags: two }, 2 * minute).deletions).toEqual([])
  })

  it.each([
    { afterMs: 10 * minute, deletions: [] },
    { afterMs: 30 * minute + 30 * second, deletions: ['jim possible'] },
    { afterMs: 31 * minute, deletions: ['jim certain'] },
  ])('waits for the minimum age, from creation: $afterMs ms later $deletions', expected => {
    const flags = ['--minimum-container-ttl-duration=1h']
    const { deletions } = later({ containers: [dead], flags }, expected.afterMs)
    expect(deletions).toEqual(expected.deletions)
  })

  it('an image that a running container uses too stays', () => {
    const containers = [running, { ...dead, image: 'wis' }]
    expect(later({ containers, pods: { web } }, 5 * minute)).toEqual({
      deletions: [],
      kept: ['wis in-use'],
    })
  })

  it('orders by the last use that was known, unless a detection came before the removal', () => {
    const containers = [dead, { name: 'b', pod: 'b', image: 'bad' }]
    const lastUsed = { jim: 4, bad: 3 }
    const rank = (started: number) =>
      replayOf(record({ containers, lastUsed, started }), time(readAt), {
        at: time(readAt + 10 * minute),
        changes: [],
        fills: [],
      }).imageGC?.deletions?.map(deletion => deletion.rank)
    // Detections run 5 minutes apart: here 2 min before the reading, there 30 s after it.
    expect(rank(602)).toEqual([0, 1])
    expect(rank(599.5)).toEqual([null, null])
  })
})
