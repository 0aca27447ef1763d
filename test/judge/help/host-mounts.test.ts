import { expect, it } from 'vitest'
import { writableMounts } from '#judge/help/host-mounts.ts'

const pod = (namespace: string, name: string, path: string, readOnly?: boolean) => ({
  metadata: { namespace, name },
  spec: {
    volumes: [{ name: 'host', hostPath: { path } }],
    containers: [
      {
        name: 'main',
        volumeMounts: [{ name: 'host', mountPath: '/x', ...(readOnly && { readOnly }) }],
      },
    ],
  },
})

it('names folders of the node that pods can fill', () => {
  const pods = [
    pod('etl', 'spark', '/tmp'),
    pod('etl', 'spark', '/tmp'),
    pod('logs', 'shipper', '/var/log', true),
    pod('kube-system', 'proxy', '/var/log'),
    pod('net', 'agent', '/var/run/agent.sock'),
    pod('storage', 'replica', '/data/replicas'),
  ]
  expect(writableMounts(pods)).toEqual([
    '/tmp (Pod etl/spark)',
    '/data/replicas (Pod storage/replica)',
  ])
  expect(writableMounts(null)).toEqual([])
})

it('names at most three', () => {
  const pods = ['/a', '/b', '/c', '/d'].map(path => pod('etl', 'spark', path))
  expect(writableMounts(pods)).toHaveLength(3)
})
