import { expect, it } from 'vitest'
import { keepInMemory } from '#base/keep.ts'
import type { NodeInput } from '#model/input/record.ts'
import { openLocalVolumes } from '#pipeline/audit/local-volumes.ts'
import { hostPathAt, localVolumesAt } from '#replay/ledger/pod-use.ts'

const pod = (namespace: string, path: string, name = 'a') => ({
  metadata: { namespace, name },
  spec: {
    volumes: [{ name: 'host', hostPath: { path } }],
    containers: [{ name: 'a', volumeMounts: [{ name: 'host', mountPath: '/host' }] }],
  },
})

it.each([
  ['/var/log/flb-storage', [['logging', '/var/log']], 'logging'],
  ['/var/log', [['logging', '/var/log/']], 'logging'],
  // kube-proxy mounts it on every node of EKS.
  [
    '/var/log/flb-storage',
    [
      ['kube-system', '/var/log'],
      ['logging', '/var/log'],
    ],
    'logging',
  ],
  ['/data', [['kube-system', '/data/local']], 'kube-system'],
  // auditd writes it, whoever mounts it.
  ['/var/log/audit', [['logging', '/var/log']], null],
  ['/var/log/audit', [['audit', '/var/log/audit']], 'audit'],
  // The folder of one log tells nothing of all logs.
  ['/var/log', [['kube-system', '/var/log/aws-routed-eni']], null],
  ['/opt', [['kube-system', '/opt/cni/bin']], null],
  [
    '/data',
    [
      ['a', '/data'],
      ['b', '/data'],
    ],
    null,
  ],
  // Each pod mounts another folder there: aws-node does on every node of EKS.
  [
    '/etc',
    [
      ['kube-system', '/etc/cni/net.d', 'aws-node'],
      ['kube-system', '/etc/gpu-manager/log', 'gpu-manager'],
    ],
    null,
  ],
  // None of several workloads that share a folder is blamed alone.
  [
    '/mnt/disks',
    [
      ['ci', '/mnt/disks/ssd0/docker', 'job-1'],
      ['ci', '/mnt/disks/ssd0/docker', 'job-2'],
    ],
    null,
  ],
  // The nearest folder around it says most.
  [
    '/data/loki/chunks',
    [
      ['a', '/data', 'prom'],
      ['b', '/data/loki', 'loki'],
      ['c', '/data/loki/chunks/0', 'reader'],
    ],
    'b',
  ],
  [
    '/data/loki',
    [
      ['a', '/data', 'prom'],
      ['kube-system', '/data/loki', 'loki'],
    ],
    'kube-system',
  ],
  // A folder there says less than the whole.
  [
    '/data',
    [
      ['a', '/data/part'],
      ['b', '/data'],
    ],
    'b',
  ],
])('%s, mounted by %j, is of %s', (folder, mounts, namespace) => {
  const found = hostPathAt(
    mounts.map(([namespace, path, name]) => pod(namespace!, path!, name)),
    folder,
  )
  const { owner } = found ?? {}
  expect(owner ? 'namespace' in owner && owner.namespace : null).toBe(namespace)
})

const folderOf = (claim: string) =>
  `/data/pvc-8f1c2a44-6c1e-4a6f-9d55-0d2f61a7b3c1_${claim.replace('/', '_')}`

it.each([
  ['the folder of a claim', folderOf('shop/db'), ['shop/db'], 'db'],
  ['a folder in it', `${folderOf('shop/db')}/base`, ['shop/db'], 'db'],
  ['the folder of several', '/data', ['shop/db', 'shop/mq'], null],
  ['a claim that no pod has here', '/srv/idle', [], null],
  ['a folder in that', '/srv/idle/base', [], null],
  ['a folder beside it', '/srv/other', undefined, null],
  ['another folder', '/data2', undefined, null],
  ['a folder of many owners', '/srv', undefined, null],
])('%s is a local volume', (_, folder, claims, owner) => {
  const claiming = (name: string) => ({
    metadata: { namespace: 'shop', name },
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }] },
  })
  const pods = ['db', 'mq', 'ebs'].map(claiming)
  const volumes = openLocalVolumes(keepInMemory)
  const paths = { db: folderOf('shop/db'), mq: folderOf('shop/mq'), idle: '/srv/idle' }
  const items = Object.entries(paths).map(([name, path]) => ({
    metadata: { name },
    spec: { local: { path }, claimRef: { namespace: 'shop', name } },
  }))
  volumes.take({ cluster: 'c', resource: 'persistentvolumes', items, errors: [] })
  const found = localVolumesAt(
    volumes.added({ cluster: 'c', pods } as unknown as NodeInput),
    folder,
  )
  expect(found?.claims).toEqual(claims)
  expect(found?.owner?.pod ?? null).toBe(owner)
})

const none = { ofClaims: new Map(), places: new Map(), released: new Map() }

it.each([
  [folderOf('shop/db'), undefined, { claims: [], owner: null }],
  [folderOf('shop/db'), none, null],
  ['/opt/local-path-provisioner', undefined, { claims: [], owner: null }],
  ['/opt/local-path-provisioner', none, null],
  ['/opt/other', undefined, null],
])('takes %s as a local volume by its name if none were read', (folder, localVolumes, found) => {
  const volumes = localVolumes && { localVolumes }
  expect(localVolumesAt({ pods: [], ...volumes }, folder)).toEqual(found)
})
