import { expect, it } from 'vitest'
import { defaultPolicy } from '#model/policy.ts'
import { openNodeLabels } from '#pipeline/audit/judge-records.ts'

const spot = { kind: 'NodePool' as const, namespace: null, name: 'spot' }
const lone = { kind: 'Node' as const, namespace: null, name: 'hybrid-1' }
const managed = { kind: 'Nodegroup' as const, namespace: null, name: 'general' }

function labelsWith(match: Record<string, string> | null) {
  const owner = {
    ...{ name: 'a', match: match === null ? {} : { labels: match } },
    ...{ recipients: ['a@example.com'], language: null, onlyOnChange: false },
  }
  const labels = openNodeLabels({
    ...defaultPolicy,
    report: { ...defaultPolicy.report, owners: [owner] },
  })
  labels.take('prod', spot, { team: 'data', zone: 'a', other: 'x' })
  labels.take('prod', spot, { team: 'data', zone: 'b' })
  labels.take('prod', lone, { team: 'web' })
  labels.take('prod', managed, { team: 'web' })
  return labels.list()
}

it('keeps the labels that an owner names and that all nodes of a nodepool have', () => {
  expect(labelsWith({ team: '*', zone: '*' })).toEqual([
    {
      ...{ cluster: 'prod', nodegroup: null, tags: {} },
      ...{ group: { kind: 'NodePool', name: 'spot' }, labels: { team: 'data' } },
    },
    {
      ...{ cluster: 'prod', nodegroup: null, tags: {} },
      ...{ group: { kind: 'Node', name: 'hybrid-1' }, labels: { team: 'web' } },
    },
  ])
})

it('keeps nothing if no owner names a label', () => {
  expect(labelsWith(null)).toEqual([])
})
