import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { compare } from '#test/real-kubelet/comparison.ts'
import { type RawRecording, recordingOf } from '#test/real-kubelet/recording.ts'

const run = promisify(execFile)
const minute = 60_000

/** Folder of the real lab's scripts: a control plane, kubelets and containerd on one Linux machine. */
const scripts = process.env.REAL_LAB ?? ''
const root =
  process.env.REAL_LAB_ROOT ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'highwater-real-lab')
const isPresent = existsSync(join(scripts, 'node.sh')) && existsSync(join(root, 'bin/kubelet'))
if (!isPresent) process.stdout.write('Skipped: REAL_LAB names no real lab with a built kubelet\n')

const node = 'n9'
const disk = join(root, 'nodes', node, 'disk')
const log = join(root, 'log', `kubelet-${node}.log`)
const bytesPerSecond = 4 * 2 ** 20
const recordedMs = 75_000

const script = (name: string, ...args: string[]) =>
  run(join(scripts, name), args, {
    env: { ...process.env, DISK_MIB: '1024', V: '5' },
    maxBuffer: 2 ** 26,
    timeout: 3 * minute,
  })

const overlay = `evictionHard: {memory.available: 10Mi, nodefs.available: 10%}
evictionPressureTransitionPeriod: 20s
`

/** A pod with an emptyDir of that size, which a node evicts first. */
async function startPod(name: string, size: string): Promise<void> {
  const image = '127.0.0.1:15000/workload:v1'
  const container = {
    name,
    image,
    args: ['disk', '/data/x', size],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  }
  const spec = {
    nodeName: node,
    containers: [container],
    volumes: [{ name: 'data', emptyDir: {} }],
    terminationGracePeriodSeconds: 5,
  }
  const overrides = JSON.stringify({ spec })
  await script('in', 'kubectl', 'run', name, `--image=${image}`, `--overrides=${overrides}`)
  await script('in', 'kubectl', 'wait', `pod/${name}`, '--for=condition=Ready', '--timeout=90s')
}

/** Lets other data grow on the disk, and samples it. */
async function fill(startMs: number): Promise<RawRecording['samples']> {
  const samples: RawRecording['samples'] = []
  for (;;) {
    const elapsedMs = Date.now() - startMs
    if (elapsedMs > recordedMs) return samples
    const length = Math.max(1, Math.floor((elapsedMs / 1000) * bytesPerSecond))
    await run('fallocate', ['-l', String(length), join(disk, 'filling')]).catch(() => undefined)
    const { bavail, bsize, ffree } = statfsSync(disk)
    const available = bavail * bsize
    samples.push([Date.now() / 1000, available, ffree, available, ffree, null])
    await sleep(250)
  }
}

describe.skipIf(!isPresent)('a real kubelet on a disk that fills', () => {
  afterAll(async () => {
    await script('in', 'kubectl', 'delete', 'pod', 'large', 'small', '--now', '--ignore-not-found')
    await script('node.sh', 'down', node)
  }, minute)

  it(
    'does what the timeline says, within its intervals',
    async () => {
      await script('in', 'kubectl', 'get', '--raw', '/readyz').catch(() => script('up.sh'))
      const folder = mkdtempSync(join(tmpdir(), 'highwater-'))
      const file = join(folder, 'overlay.yaml')
      writeFileSync(file, overlay)
      const kubeletStartedAt = new Date().toISOString()
      await script('node.sh', 'up', node, '9', file)
      await startPod('large', '150Mi')
      await startPod('small', '50Mi')
      // The kubelet measures volumes once a minute.
      await sleep(70_000)
      const { bavail, blocks, bsize } = statfsSync(disk)
      const length = Math.floor(bavail * bsize - 0.3 * blocks * bsize)
      await run('fallocate', ['-l', String(length), join(disk, 'other')])
      await sleep(11_000)
      const before = JSON.parse((await script('lab.py', 'snapshot', node)).stdout)
      const startMs = Date.now()
      const samples = await fill(startMs)
      const raw: RawRecording = {
        case: 'live',
        fillStartedAt: new Date(startMs).toISOString(),
        kubeletStartedAt,
        commandLine: ['kubelet'],
        fills: [{ filesystem: 'nodefs', resource: 'bytes', perSecond: bytesPerSecond }],
        recordedMs,
        before,
        samples,
      }
      const recording = recordingOf(raw, readFileSync(log, 'utf8'), 'live', undefined)
      writeFileSync(join(folder, 'recording.json'), JSON.stringify(recording))
      const { events, missing } = compare(recording)
      expect(events.map(({ observed }) => observed.event)).toContain('evict')
      expect(events.filter(({ isWithin }) => !isWithin)).toEqual([])
      expect(missing).toEqual([])
    },
    6 * minute,
  )
})
