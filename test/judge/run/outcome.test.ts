import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { hardThresholds, nodeRule } from '#judge/rule.ts'
import { failingOf } from '#test/rule-outcome.ts'

const rule = nodeRule({
  ...{ id: 'toy', family: 'eviction', severity: 'medium', needs: [], cause: hardThresholds },
  ...{ title: 'A toy', why: '', fix: '', sources: [] },
  *judge() {
    const fix = { config: { evictionHard: { 'memory.available': '10Gi' } } }
    yield { consequence: '', evidence: [], fix }
  },
})

/** Of the 100 GiB, so many are left, and one pod uses most. */
function stepsWith(availableGib: number) {
  const metadata = { namespace: 'shop', name: 'api-1' }
  const ownerReferences = [{ kind: 'StatefulSet', name: 'api', controller: true }]
  const memory = {
    availableBytes: availableGib * gibibyte,
    capacityBytes: 100 * gibibyte,
    time: null,
  }
  const { steps } = failingOf(rule, {
    pods: [{ metadata: { ...metadata, ownerReferences }, status: { phase: 'Running' } }],
    summary: { pods: [{ podRef: metadata, memory: { workingSetBytes: 60 * gibibyte } }] },
    ...{ eviction: { signals: { 'memory.available': memory } }, thresholds: [] },
  })
  return steps?.map(({ id, bytes = 0 }) => [id, bytes / gibibyte])
}

it('makes room in memory before a threshold that would evict at once', () => {
  expect(stepsWith(7)).toEqual([
    ['delete-pod', 0],
    ['set-fields', 3],
    ['set-memory', 60],
  ])
  expect(stepsWith(10)).toBeUndefined()
})
