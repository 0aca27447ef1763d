import { expect, it } from 'vitest'
import { inputOf } from '#test/at-the-door.ts'

it.each([
  ['dial tcp 10.0.1.2:10250: connect: connection refused', { isKubeletDown: true }],
  ['connect ECONNREFUSED 127.0.0.1:6443', {}],
  ['dial tcp 10.0.1.2:10250: i/o timeout', { reason: 'unreachable' }],
  ['dial tcp [fd00::7]:10250: connect: no route to host', { reason: 'unreachable' }],
  // The connection stood: the kubelet is slow.
  ['read tcp 10.0.0.9:41234->10.0.1.2:10250: i/o timeout', {}],
])('%s', (message, found) => {
  const error = { what: 'summary' as const, message: `HTTP 503: ${message}` }
  const record = {
    kind: 'Node',
    cluster: 'prod',
    node: { metadata: { name: 'a' } },
    errors: [error],
  }
  expect(inputOf(record).errors).toEqual([{ ...error, ...found }])
})

it('names the controller of a pod that owns others', () => {
  const reference = (kind: string, name: string) => ({ kind, name, uid: name, controller: true })
  const pod = (name: string, owner: object, namespace = 'data') => ({
    metadata: { namespace, name, uid: name, ownerReferences: [owner] },
  })
  const record = {
    ...{ kind: 'Node', cluster: 'prod', node: { metadata: { name: 'a' } } },
    pods: [
      pod('exec-1', reference('Pod', 'driver')),
      pod('driver', reference('SparkApplication', 'agg')),
      pod('elsewhere', reference('Pod', 'not-here')),
      pod('circle', reference('Pod', 'circle')),
      pod('stranger', reference('Pod', 'driver'), 'other'),
    ],
  }
  const owners = inputOf(record).pods?.map(({ metadata }) => metadata?.ownerReferences?.[0]?.name)
  expect(owners).toEqual(['agg', 'agg', 'not-here', 'circle', 'driver'])
})
