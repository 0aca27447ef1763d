import { expect, it } from 'vitest'
import { inputOf } from '#test/at-the-door.ts'

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
