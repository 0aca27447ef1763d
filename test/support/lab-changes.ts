/** Changes of the lab's nodes, as whoever applies a plan makes them: by the real SDK, SSM and the documents' own scripts. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { RunCommand } from '#clients/aws/run-command.ts'
import { SsmApi } from '#clients/aws/ssm.ts'
import { applyAgentVersion, applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import type { Lab } from '#lab/lab.ts'
import type { RemediationNode } from '#lab/scenarios/remediation.ts'
import type { Answer } from './changed-node.ts'

export const sha256 = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex')

type DocumentName = keyof typeof applyDocumentHashes

interface SendOptions {
  timeoutMs?: number
  /** Whoever asked is not there any more. */
  signal?: AbortSignal
}

function ssmOf({ environment }: Lab): SsmApi {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = environment
  const credentials = async () => ({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
  })
  return new SsmApi('us-east-1', credentials, { requestsPerSecond: 200, concurrency: 4 })
}

/** Of its agent; undefined: SSM does not know it. */
export async function pingStatusOf(
  lab: Lab,
  { instanceId }: Pick<RemediationNode, 'instanceId'>,
): Promise<string | undefined> {
  const ssm = ssmOf(lab)
  try {
    const [found] = await ssm.instances([instanceId], new AbortController().signal)
    return found?.pingStatus
  } finally {
    ssm.close()
  }
}

/** @throws Error that says in words why there is no answer */
export async function send(
  lab: Lab,
  { instanceId }: Pick<RemediationNode, 'instanceId'>,
  name: DocumentName,
  parameters: Readonly<Record<string, string>>,
  { timeoutMs = 50_000, signal = new AbortController().signal }: SendOptions = {},
): Promise<Answer> {
  const ssm = ssmOf(lab)
  try {
    const command = new RunCommand(ssm, {
      document: { name, version: '1', sha256: applyDocumentHashes[name] },
      stepName: name === 'Highwater-SyncFile' ? 'sync' : 'apply',
      parameters,
      comment: 'a test',
      output: null,
      timeoutMs,
      reach: { silentAfterMs: 15 * 60_000, agentVersion: applyAgentVersion },
      gatherMs: 1,
      pollMs: 20,
      signal,
    })
    const { stdout } = await command.ask(instanceId)
    return JSON.parse(stdout)
  } finally {
    ssm.close()
  }
}

/** A file of a node's root folder; null: it is not there. */
export function fileOf(
  lab: Lab,
  { instanceId }: Pick<RemediationNode, 'instanceId'>,
  path: string,
): string | null {
  const machine = lab.machineOf(instanceId)
  if (machine === null) throw new Error(`nothing has run on ${instanceId}`)
  try {
    return readFileSync(join(machine.root, path), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

export interface Change {
  document: DocumentName
  parameters: Record<string, string>
  path: string | null
  content: string
}

const run = 'run-of-a-test-1'
const common = (oldSha256: string, content: string, newSha256 = sha256(content)) => ({
  Action: 'apply',
  Run: run,
  OldSha256: oldSha256,
  NewSha256: newSha256,
  Content: gzipSync(content).toString('base64'),
})

const fields = (high: number, low: number) => ({
  imageGCHighThresholdPercent: high,
  imageGCLowThresholdPercent: low,
})
const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

/**
 * Image GC at these percentages, in the way of the node's group.
 * @param main the text of its main file, where that is what is changed
 */
export function imageGcAt(nodegroup: string, high: number, low: number, main = ''): Change {
  const document = 'Highwater-ApplyKubeletConfig'
  const file = (method: string, path: string, oldSha256: string, content: string): Change => ({
    document,
    path,
    content,
    parameters: { ...common(oldSha256, content), Method: method, Path: path, TimeoutSeconds: '60' },
  })
  const whole = () => `${JSON.stringify({ ...JSON.parse(main), ...fields(high, low) }, null, 4)}\n`
  switch (nodegroup) {
    case 'al2':
      return file(
        'kubelet-file',
        '/etc/kubernetes/kubelet/kubelet-config.json',
        sha256(main),
        whole(),
      )
    case 'al2023-plain':
      return file('kubelet-file', '/etc/kubernetes/kubelet/config.json', sha256(main), whole())
    case 'al2023-dropin':
      return file(
        'drop-in',
        '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf',
        'absent',
        `${JSON.stringify({ ...kind, ...fields(high, low) }, null, 2)}\n`,
      )
    case 'al2023':
      return file(
        'nodeadm',
        '/etc/eks/nodeadm.d/50-highwater.yaml',
        'absent',
        `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      imageGCHighThresholdPercent: ${high}\n      imageGCLowThresholdPercent: ${low}\n`,
      )
    default: {
      const percents = (high: number, low: number) => ({
        'image-gc-high-threshold-percent': String(high),
        'image-gc-low-threshold-percent': String(low),
      })
      const settings = JSON.stringify(percents(high, low))
      const content = `${JSON.stringify({ back: percents(85, 80), set: percents(high, low) })}\n`
      return {
        document: 'Highwater-ApplyBottlerocket',
        path: null,
        content,
        parameters: { ...common(sha256('{}'), content, sha256(settings)), TimeoutSeconds: '60' },
      }
    }
  }
}

/** Main configuration files of the kubelet, by nodegroup. */
export const mainFileOf: Readonly<Record<string, string>> = {
  al2: '/etc/kubernetes/kubelet/kubelet-config.json',
  al2023: '/etc/kubernetes/kubelet/config.json',
  'al2023-dropin': '/etc/kubernetes/kubelet/config.json',
  'al2023-plain': '/etc/kubernetes/kubelet/config.json',
}
