import { expect, it } from 'vitest'
import { drainStep } from '#judge/help/deletion.ts'

const pod = (name: string, owner: string | null, more: object = {}, phase = 'Running') => ({
  metadata: {
    ...{ namespace: 'shop', name },
    ownerReferences: owner === null ? [] : [{ kind: owner, name: 'a', controller: true }],
  },
  spec: { volumes: [{ name: 'v', ...more }] },
  status: { phase },
})

it('names the pods that a drain ends for good, and those whose data it deletes', () => {
  const pods = [
    pod('bare', null),
    pod('cache', 'StatefulSet', { emptyDir: {} }),
    pod('fast', 'StatefulSet', { emptyDir: { medium: 'Memory' } }),
    pod('agent', 'DaemonSet', { emptyDir: {} }),
    pod('static', 'Node'),
    pod('ended', null, { emptyDir: {} }, 'Succeeded'),
  ]
  expect(drainStep({ pods })).toEqual({
    id: 'drain',
    lost: { pods: ['shop/bare'], data: ['shop/cache'] },
  })
  expect(drainStep({ pods: null })).toEqual({ id: 'drain' })
})

it('names one pod of each namespace first', () => {
  const bare = (namespace: string, name: string) => ({ metadata: { namespace, name } })
  const pods = [...['a', 'b', 'c', 'd'].map(name => bare('many', name)), bare('few', 'e')]
  expect(drainStep({ pods }).lost?.pods).toEqual(['many/a', 'few/e', 'many/b', 'many/c', 'many/d'])
})
