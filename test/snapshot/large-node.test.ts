/** Ordinary nodes of the largest size keep every fact: redaction has a budget, and their text does not reach it. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { NodeRecord, SnapshotRecord } from '#model/input/record.ts'
import { prune } from '#snapshot/prune.ts'

const many = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index))
const hex = (index: number, length = 64) =>
  createHash('sha512').update(`${index}`).digest('hex').slice(0, length)
const uid = (index: number) => `${hex(index, 8)}-a1b2-4c3d-9e8f-${hex(index, 12)}`
const registry = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/team-a/shop_web'
const digest = (index: number) => `${registry}@sha256:${hex(index)}`
const tags = [
  (index: number) => `${registry}:${index}`,
  (index: number) => `${registry}:V1.${index}.0-SNAPSHOT`,
  (index: number) => `registry.example.com:5000/shop/Web-${index}`.toLowerCase(),
  (index: number) => `${registry}:build_${index}_feature-ABC-${index}`,
]
const imageOf = (index: number) => tags[index % tags.length]?.(index) ?? ''

const labels = (index: number) => ({
  'io.kubernetes.container.name': 'web_server',
  'io.kubernetes.pod.name': `web-${index}`,
  'io.kubernetes.pod.namespace': 'Team_A.1',
  'io.kubernetes.pod.uid': uid(index),
})

const runtime = {
  images: many(1_000, index => ({
    id: `sha256:${hex(index)}`,
    repoTags: tags.map(tag => tag(index)),
    repoDigests: [digest(index)],
    size: '1000',
  })),
  containers: many(2_000, index => ({
    id: hex(index),
    podSandboxId: hex(index + 9_000),
    metadata: { name: 'web', attempt: 1 },
    image: { image: `sha256:${hex(index)}` },
    imageRef: digest(index),
    imageId: `sha256:${hex(index)}`,
    state: index % 2 === 0 ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
    createdAt: '1700000000000000000',
    labels: labels(index),
  })),
  sandboxes: many(1_000, index => ({
    id: hex(index + 9_000),
    metadata: { name: `web-${index}`, uid: uid(index), namespace: 'default', attempt: 0 },
    state: index % 2 === 0 ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    createdAt: '1700000000000000000',
    labels: labels(index),
  })),
}

const logLines = many(
  40,
  index =>
    `2026-11-18T09:00:00.000000+0000 n kubelet[1]: I1118 09:00:00 eviction_manager.go:${index}] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"`,
)
const host = {
  schema: 'highwater.inspect/1',
  podLogDirectories: many(2_000, index => `team-a_web-${index}-7d9f8b6c5d-x2x4z_${uid(index)}`),
  logLines,
}

const failed = (index: number) =>
  `Back-off pulling image "${imageOf(index)}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${imageOf(index)}": not found`
const pods = many(250, index => ({
  metadata: { name: `web-${index}`, namespace: 'team-a', uid: uid(index), labels: labels(index) },
  spec: {
    nodeName: 'n',
    containers: many(4, part => ({ name: `c${part}`, image: imageOf(index) })),
    volumes: [
      { name: 'logs', hostPath: { path: `/var/log/Team_A/app_${index}`, type: 'Directory' } },
    ],
  },
  status: {
    phase: 'Running',
    containerStatuses: many(4, part => ({
      name: `c${part}`,
      image: imageOf(index),
      imageID: digest(index),
      containerID: `containerd://${hex(index * 4 + part)}`,
      state: { waiting: { reason: 'ImagePullBackOff', message: failed(index) } },
    })),
  },
}))

const node = {
  metadata: { name: 'n' },
  status: {
    conditions: [{ type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' }],
    images: many(1_000, index => ({
      names: [digest(index), ...tags.map(tag => tag(index))],
      sizeBytes: 1_000,
    })),
  },
}
const known = { images: many(1_000, index => ({ id: `sha256:${hex(index)}`, lastUsed: null })) }
const record = { kind: 'Node', cluster: 'c', node, runtime, host, pods, known } as NodeRecord

describe('a node with 2,000 containers, 1,000 images and 250 pods', () => {
  const kept = prune(record)

  it.each(['runtime', 'host', 'pods', 'node', 'known'] as const)('keeps its %s whole', part => {
    expect(kept[part]).toEqual(record[part])
    expect(kept.errors).toEqual([])
  })
})

it('keeps the messages of 500 events of 2,000 characters, as far as they are kept at all', () => {
  const messages = many(
    500,
    index => `${index} ${'The node was low on resource: memory. '.repeat(53)}`,
  )
  const events: SnapshotRecord = {
    ...{ kind: 'Objects', cluster: 'c', resource: 'events' },
    items: messages.map(message => ({ reason: 'Evicted', message })),
  }
  expect(prune(events)).toMatchObject({
    items: messages.map(message => ({ message: message.slice(0, 1_024) })),
  })
})

it('keeps a file of the longest content that the script prints', () => {
  const content = `KUBELET_EXTRA_ARGS=${'--v=2 '.repeat(40_000)}`
  const files = [{ path: '/etc/sysconfig/kubelet', role: 'environment', content }]
  expect(prune({ ...record, host: { ...host, kubelet: { files } } })).toMatchObject({
    host: { logLines, kubelet: { files: [{ content }] } },
  })
})

describe('a part with more text than is redacted is unread, with the reason', () => {
  const odd = (index: number) => `could not ${index} password is a`
  const cut = (what: string) => ({ errors: [{ what, reason: 'cut' }] })

  it('containers whose states can hold secrets', () => {
    const containers = many(50_000, index => ({ id: hex(index), state: odd(index) }))
    expect(prune({ ...record, runtime: { containers } })).toMatchObject({
      runtime: null,
      ...cut('runtime'),
    })
  })

  it('content of files', () => {
    const files = many(5, index => ({
      ...{ path: `/etc/${index}`, role: 'environment' },
      content: `KUBELET_EXTRA_ARGS=${index} ${'--v=2 '.repeat(40_000)}`,
    }))
    expect(prune({ ...record, host: { kubelet: { files } } })).toMatchObject({
      host: null,
      ...cut('host'),
    })
  })

  it('images of pods; but messages of pods cost only other messages', () => {
    const withImages = many(12_000, index => ({ spec: { containers: [{ image: odd(index) }] } }))
    expect(prune({ ...record, pods: withImages } as NodeRecord)).toMatchObject({
      pods: null,
      ...cut('pods'),
    })
    const message = (index: number) => `${index} ${'could not: token a b '.repeat(100)}`
    const noisy = many(1_000, index => ({ status: { message: message(index) } }))
    const read = prune({ ...record, pods: [...noisy, ...pods] } as NodeRecord)
    const factsOf = (value: unknown) =>
      JSON.stringify(value).replace(/"message":"(?:[^"\\]|\\.)*"/g, '')
    expect(factsOf(read.pods?.slice(1_000))).toEqual(factsOf(pods))
    expect(read.pods?.[999]).toEqual({ status: { message: '(removed)' } })
    expect(read.errors).toEqual([])
  })

  it('tags of nodegroups', () => {
    const nodegroups = many(40_000, index => ({ nodegroupName: 'a', status: odd(index) }))
    expect(prune({ kind: 'Cluster', cluster: 'c', nodegroups })).toMatchObject({
      nodegroups: null,
      ...cut('cluster'),
    })
  })
})
