/** The real lab: a control plane, kubelets and containerd on one Linux machine. `REAL_LAB` is the folder of its scripts. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startLab } from './real-node.ts'

export const run = promisify(execFile)
export const minute = 60_000

const scripts = process.env.REAL_LAB ?? ''
export const labRoot =
  process.env.REAL_LAB_ROOT ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'highwater-real-lab')

export function isLabPresent(): boolean {
  const isPresent = existsSync(join(scripts, 'node.sh')) && existsSync(join(labRoot, 'bin/kubelet'))
  if (!isPresent) process.stdout.write('Skipped: REAL_LAB names no real lab with a built kubelet\n')
  return isPresent
}

/** @param input for its standard input */
export function script(name: string, args: readonly string[], input?: string) {
  const running = run(join(scripts, name), args, {
    env: { ...process.env, DISK_MIB: '1024', V: '5' },
    maxBuffer: 2 ** 26,
    timeout: 3 * minute,
  })
  if (input !== undefined) running.child.stdin?.end(input)
  return running
}

export const kubectl = (...args: string[]) => script('in', ['kubectl', ...args])

export async function startNode(node: string, overlay: string): Promise<void> {
  await startLab({ scripts, root: labRoot })
  const file = join(mkdtempSync(join(tmpdir(), 'highwater-')), 'overlay.yaml')
  writeFileSync(file, overlay)
  await script('node.sh', ['up', node, node.slice(1), file])
}

/** A pod with an emptyDir at /data. @param args of the lab's workload program */
export async function startPod(node: string, name: string, args: readonly string[]): Promise<void> {
  const image = '127.0.0.1:15000/workload:v1'
  const volumeMounts = [{ name: 'data', mountPath: '/data' }]
  const spec = {
    nodeName: node,
    containers: [{ name, image, args, volumeMounts }],
    volumes: [{ name: 'data', emptyDir: {} }],
    terminationGracePeriodSeconds: 5,
  }
  const overrides = JSON.stringify({ spec })
  await kubectl('run', name, `--image=${image}`, `--overrides=${overrides}`)
  await kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=90s')
}

export async function removeNode(node: string, ...pods: string[]): Promise<void> {
  await kubectl('delete', 'pod', ...pods, '--now', '--ignore-not-found')
  await script('node.sh', ['down', node])
}
