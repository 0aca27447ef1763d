/** Lab nodes whose agents answer the inspect documents as a sound node of theirs would: from the same bodies that the lab's API shows. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { AgentScenario, LabNode, NodeSource, Scenario } from '#lab/scenarios/scenario.ts'
import { contentOf, documents } from '#remediate/scripts/documents.ts'

/** The documents as this version deploys them. */
export const inspectDocuments = documents.map(document => ({
  name: document.name,
  content: contentOf(document),
}))

export interface Answer {
  schema: string
  instanceId: string
  nodeName: string
  at: string
  host: RawObject
  runtime: RawObject | null
  configz: RawObject | null
}

export const kubeletFile = '/etc/kubernetes/kubelet/config.json'

/** What the script would print on such a node, without what nothing here asks for. */
function answerOf(node: LabNode, instanceId: string, at: string): Answer {
  const object = node.node(at)
  const configuration = objectAt(node.configz(at), 'kubeletconfig')
  const summary = objectAt(node.summary(at), 'node')
  const [fs, imageFs] = [objectAt(summary, 'fs'), objectAt(objectAt(summary, 'runtime'), 'imageFs')]
  const isShared =
    fs.capacityBytes === imageFs.capacityBytes && fs.availableBytes === imageFs.availableBytes
  const filesystem = (
    role: string,
    { capacityBytes, availableBytes, inodes, inodesFree }: RawObject,
    device: string,
    mount: string,
  ) => ({ ...{ role, device, mount, capacityBytes, availableBytes, inodes, inodesFree } })
  const pause = 'localhost/kubernetes/pause:latest'
  const statuses = node.podKeys().flatMap((_, index) => {
    const pod = node.pod(index, at)
    return (pod.status?.containerStatuses ?? []).map(status => ({ pod, status }))
  })
  const imageIds = new Map(
    (object.status?.images ?? []).flatMap(({ names = [] }) =>
      names.map(name => [name, `sha256:${digest(names.join())}`] as const),
    ),
  )
  return {
    schema: 'highwater.inspect/1',
    instanceId,
    nodeName: object.metadata?.name ?? '',
    at: `${at.slice(0, 19)}Z`,
    host: {
      schema: 'highwater.host/1',
      kubelet: {
        startedAt: '2026-11-01T00:00:00Z',
        commandLine: ['/usr/bin/kubelet', `--config=${kubeletFile}`],
        files: [
          {
            path: kubeletFile,
            role: 'config',
            content: {
              kind: 'KubeletConfiguration',
              apiVersion: 'kubelet.config.k8s.io/v1beta1',
              ...configuration,
            },
          },
        ],
      },
      filesystems: [
        filesystem('nodefs', fs, '/dev/nvme0n1p1', '/'),
        filesystem(
          'imagefs',
          imageFs,
          isShared ? '/dev/nvme0n1p1' : '/dev/nvme1n1',
          isShared ? '/' : '/var/lib/containerd',
        ),
      ],
      containerd: { sandboxImage: pause, snapshotter: 'overlayfs', mirrors: [] },
      kernel: {
        release: object.status?.nodeInfo?.kernelVersion,
        cmdline: 'ro quiet',
        cgroupVersion: 2,
        memoryCgroups: 300,
      },
      podLogDirectories: [],
      unread: [],
    },
    runtime: {
      images: [
        ...(object.status?.images ?? []).map(({ names = [], sizeBytes }) => ({
          id: `sha256:${digest(names.join())}`,
          repoTags: names.filter(name => !name.includes('@')),
          repoDigests: names.filter(name => name.includes('@')),
          size: String(sizeBytes),
          pinned: false,
        })),
        {
          id: `sha256:${digest(pause)}`,
          repoTags: [pause],
          repoDigests: [],
          size: '300000',
          pinned: true,
        },
      ],
      containers: statuses.map(({ pod, status: { name, image, containerID = '', state } }) => ({
        id: String(containerID).replace(/^.*:\/\//, '') || digest(`${pod.metadata?.uid}/${name}`),
        podSandboxId: digest(`${pod.metadata?.uid}`),
        metadata: { name, attempt: 0 },
        image: { image },
        imageRef: imageIds.get(`${image}`) ?? '',
        state: state?.running ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
        createdAt: '1793000000000000000',
        labels: {
          'io.kubernetes.container.name': name,
          'io.kubernetes.pod.name': pod.metadata?.name,
          'io.kubernetes.pod.namespace': pod.metadata?.namespace,
          'io.kubernetes.pod.uid': pod.metadata?.uid,
        },
      })),
      sandboxes: [],
    },
    configz: null,
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const objectAt = (parent: RawObject, key: string): RawObject => {
  const value = parent[key]
  return isRawObject(value) ? value : {}
}

/** As the script prints it: packed where it would not fit. */
export function printed(answer: Answer): string {
  const text = JSON.stringify(answer)
  if (text.length < 20_000) return text
  const bytes = Buffer.from(text)
  const head = {
    schema: answer.schema,
    encoding: 'gzip+base64',
    bytes: bytes.length,
    sha256: digest(text),
  }
  return JSON.stringify({ ...head, data: gzipSync(bytes).toString('base64') })
}

export type Change = (answer: Answer) => Answer | string

/** The node with an agent that answers so; text is printed as it is. */
export function inspected(
  node: LabNode,
  change: Change = answer => answer,
  agent: Partial<AgentScenario> = {},
): LabNode {
  return {
    ...node,
    agent: {
      run: async (_, { AWS_SSM_INSTANCE_ID = '' }) => {
        const answer = change(answerOf(node, AWS_SSM_INSTANCE_ID, new Date().toISOString()))
        return {
          stdout: typeof answer === 'string' ? answer : printed(answer),
          stderr: '',
          exitCode: 0,
        }
      },
      ...agent,
    },
  }
}

/** Every node of the scenario with a sound agent. */
export const withAgents = (scenario: Scenario, change?: Change): Scenario => ({
  ...scenario,
  clusters: scenario.clusters.map(cluster => ({
    ...cluster,
    nodes: inspectedSource(cluster.nodes, change),
  })),
})

const inspectedSource = (nodes: NodeSource, change?: Change): NodeSource => ({
  names: () => nodes.names(),
  node: name => {
    const node = nodes.node(name)
    return node && inspected(node, change)
  },
})
