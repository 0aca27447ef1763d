import { describe, expect, it } from 'vitest'
import { apiResources } from '#model/api-resources.ts'

const jobs = { name: 'jobs', namespaced: true, kind: 'Job', verbs: ['delete', 'list'] }

describe('apiResources', () => {
  it('are of every version of every group, without subresources, and by what cannot be read nothing is lost', () => {
    const pods = { name: 'pods', namespaced: true, kind: 'Pod' }
    const odd = [7, null, { name: 'x' }, { kind: 'X' }, { name: 'jobs/status', kind: 'Job' }]
    expect(
      apiResources([
        null,
        { groupVersion: 'v1', resources: [pods] },
        { groupVersion: 'batch/v1', resources: [...odd, jobs] },
        { groupVersion: 'batch/v1beta1', resources: [{ ...jobs, verbs: ['list', 1] }] },
      ]),
    ).toEqual({
      served: [
        {
          resource: 'pods',
          plural: 'pods',
          apiVersion: 'v1',
          kind: 'Pod',
          isNamespaced: true,
          verbs: [],
        },
        {
          resource: 'jobs.batch',
          plural: 'jobs',
          apiVersion: 'batch/v1',
          kind: 'Job',
          isNamespaced: true,
          verbs: ['delete', 'list'],
        },
        {
          resource: 'jobs.batch',
          plural: 'jobs',
          apiVersion: 'batch/v1beta1',
          kind: 'Job',
          isNamespaced: true,
          verbs: ['list'],
        },
      ],
      unanswered: new Set(),
    })
  })

  it.each([[{ groupVersion: 'a/v1' }], [{ groupVersion: 'a/v1', resources: null }]])(
    'of %j nothing is known',
    list => {
      expect(apiResources([list])).toEqual({ served: [], unanswered: new Set(['a/v1']) })
    },
  )
})
