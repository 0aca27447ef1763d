import { expect, it } from 'vitest'
import { hostPathOwner } from '#replay/ledger/pod-use.ts'

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
  const owner = hostPathOwner(
    mounts.map(([namespace, path, name]) => pod(namespace!, path!, name)),
    folder,
  )
  expect(owner === null ? null : 'namespace' in owner && owner.namespace).toBe(namespace)
})
