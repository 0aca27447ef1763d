/** A node of the real lab: it is started, put into a scenario, read once, filled, and recorded. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { firstLogLineMs, type RawRecording, type Recording, recordingOf } from './recording.ts'
import type { Scenario, ScenarioPod } from './scenarios.ts'

const run = promisify(execFile)
const minute = 60_000

export interface RealLab {
  /** Folder of its scripts. */
  scripts: string
  /** Folder of its state. */
  root: string
}

/** Disks that a scenario fills, with the files that fill them. */
interface Place {
  folder: string
  resource: 'bytes' | 'inodes'
  perSecond: number
}

export async function startLab({ scripts }: RealLab): Promise<void> {
  await run(join(scripts, 'in'), ['kubectl', 'get', '--raw', '/readyz']).catch(() =>
    run(join(scripts, 'up.sh'), []),
  )
}

export async function record(scenario: Scenario, lab: RealLab): Promise<Recording> {
  const node = `n${scenario.index}`
  const script = scriptsOf(lab, scenario)
  const log = join(lab.root, 'log', `kubelet-${node}.log`)
  try {
    const startMs = await startNode(scenario, node, lab, script, log)
    await startPods(scenario, node, lab, script)
    await sleep(Math.max(0, startMs + scenario.readAfterMs - settleMs - Date.now()))
    takeSpace(scenario, foldersOf(node, lab, scenario))
    await sleep(settleMs)
    const before: RawRecording['before'] = JSON.parse(
      (await script('lab.py', 'snapshot', node)).stdout,
    )
    const samples = await fill(scenario, node, lab, Date.parse(before.at))
    const raw: RawRecording = {
      case: scenario.name,
      kubeletStartedAt: new Date(startMs).toISOString(),
      commandLine: ['kubelet'],
      fills: scenario.fills,
      recordedMs: scenario.recordedMs,
      before,
      samples,
    }
    return recordingOf(raw, readFileSync(log, 'utf8'), scenario.course, undefined)
  } finally {
    await script('in', 'kubectl', 'delete', 'pod', '-l', `node=${node}`, '--now', '--wait=false')
    await script('node.sh', 'down', node)
  }
}

/** The kubelet measures its disks every 10 to 15 s. */
const settleMs = 20_000

type Script = (name: string, ...args: string[]) => Promise<{ stdout: string }>

const scriptsOf =
  ({ scripts }: RealLab, { disks }: Scenario): Script =>
  (name, ...args) =>
    run(join(scripts, name), args, {
      env: { ...process.env, V: '5', ...disks },
      maxBuffer: 2 ** 26,
      timeout: 3 * minute,
    })

/** When its kubelet started. */
async function startNode(
  { configuration, index }: Scenario,
  node: string,
  { root }: RealLab,
  script: Script,
  log: string,
): Promise<number> {
  await script('node.sh', 'down', node)
  rmSync(log, { force: true })
  const overlay = join(root, 'run', `overlay-${node}.yaml`)
  const lines = Object.entries(configuration).map(
    ([field, value]) => `${field}: ${JSON.stringify(value)}\n`,
  )
  writeFileSync(overlay, lines.join(''))
  await script('node.sh', 'up', node, String(index), overlay)
  await script('in', 'kubectl', 'wait', `node/${node}`, '--for=create', '--timeout=60s')
  await script('in', 'kubectl', 'wait', `node/${node}`, '--for=condition=Ready', '--timeout=90s')
  return firstLogLineMs(readFileSync(log, 'utf8'), new Date().getUTCFullYear())
}

async function startPods(
  { pods }: Scenario,
  node: string,
  { root }: RealLab,
  script: Script,
): Promise<void> {
  const file = join(root, 'run', `pods-${node}.json`)
  const items = pods.map(pod => manifestOf(pod, node))
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await script('in', 'kubectl', 'create', '-f', file)
  const wait = (stays: ScenarioPod['stays'], condition: string) =>
    pods.some(pod => pod.stays === stays)
      ? script('in', 'kubectl', 'wait', 'pod', ...of(stays), `--for=${condition}`, '--timeout=120s')
      : undefined
  const of = (stays: ScenarioPod['stays']) => ['-l', `node=${node},stays=${stays}`]
  await wait('running', 'condition=Ready')
  await wait('past', 'condition=Ready')
  await wait('finished', 'jsonpath={.status.phase}=Succeeded')
  await script('in', 'kubectl', 'delete', 'pod', ...of('past'), '--now', '--ignore-not-found')
}

const manifestOf = ({ name, image, args, requests, stays }: ScenarioPod, node: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${node}-${name}`, labels: { node, stays } },
  spec: {
    nodeName: node,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: stays === 'finished' ? 'Never' : 'Always',
    terminationGracePeriodSeconds: 5,
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'c',
        image,
        args,
        imagePullPolicy: 'IfNotPresent',
        ...(requests && { resources: { requests } }),
        volumeMounts: [{ name: 'data', mountPath: '/filled' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
})

function foldersOf(node: string, { root }: RealLab, { disks }: Scenario) {
  const imagefs = join(root, 'nodes', node, 'disk')
  return { imagefs, nodefs: disks.SPLIT ? join(root, 'nodes', node, 'nodefs') : imagefs }
}

type Folders = ReturnType<typeof foldersOf>

/** Other data, until only the stated part is available. */
function takeSpace({ availablePercent }: Scenario, folders: Folders): void {
  for (const name of ['imagefs', 'nodefs'] as const) {
    const percent = availablePercent[name]
    if (percent === undefined) continue
    const { bavail, blocks, bsize } = statfsSync(folders[name])
    writeBytes(
      join(folders[name], 'other'),
      Math.floor((bavail - (percent / 100) * blocks) * bsize),
    )
  }
  const { inodes } = availablePercent
  if (inodes === undefined) return
  const { files, ffree } = statfsSync(folders.nodefs)
  makeFiles(join(folders.nodefs, 'other-files'), 0, ffree - Math.ceil((inodes / 100) * files))
}

function writeBytes(file: string, length: number): void {
  const block = Buffer.alloc(2 ** 20)
  for (let left = length; left > 0; left -= block.length)
    writeFileSync(file, block.subarray(0, Math.min(left, block.length)), { flag: 'a' })
}

function makeFiles(folder: string, from: number, to: number): void {
  mkdirSync(folder, { recursive: true })
  for (let index = from; index < to; index++) writeFileSync(join(folder, String(index)), '')
}

/** Lets the resources shrink at a steady rate, and samples the disks. */
async function fill(
  scenario: Scenario,
  node: string,
  lab: RealLab,
  startMs: number,
): Promise<RawRecording['samples']> {
  const folders = foldersOf(node, lab, scenario)
  const done = scenario.fills.map(() => 0)
  const samples: RawRecording['samples'] = []
  for (;;) {
    const elapsedMs = Date.now() - startMs
    if (elapsedMs > scenario.recordedMs) break
    for (const [index, { filesystem, resource, perSecond }] of scenario.fills.entries()) {
      const from = done[index] ?? 0
      const to = Math.floor((elapsedMs / 1000) * perSecond)
      done[index] = to
      if (resource === 'memory') await takeMemory(node, to - from)
      else takeDisk({ folder: folders[filesystem ?? 'nodefs'], resource, perSecond }, from, to)
    }
    const [image, kubelet] = [statfsSync(folders.imagefs), statfsSync(folders.nodefs)]
    samples.push([
      Date.now() / 1000,
      image.bavail * image.bsize,
      image.ffree,
      kubelet.bavail * kubelet.bsize,
      kubelet.ffree,
      null,
    ])
    await sleep(500)
  }
  rmSync(memoryFile(node), { force: true })
  return samples
}

/** A full disk stays full. */
function takeDisk({ folder, resource }: Place, from: number, to: number): void {
  try {
    if (resource === 'bytes') writeBytes(join(folder, 'filling'), to - from)
    else makeFiles(join(folder, 'filling-files'), from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

const memoryFile = (node: string) => `/dev/shm/real-lab-${node}`

/** Pages of a file in memory belong to the cgroup of the process that writes them: that of all pods. */
const takeMemory = (node: string, bytes: number) =>
  run('sh', [
    '-c',
    'echo $$ >"$1/cgroup.procs" && head -c "$2" /dev/zero >>"$3"',
    'sh',
    `/sys/fs/cgroup/memory/real-lab-${node}/kubepods`,
    String(bytes),
    memoryFile(node),
  ])
