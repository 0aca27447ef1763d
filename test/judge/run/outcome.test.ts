import { expect, it } from 'vitest'
import { hardThresholds, nodeRule } from '#judge/rule.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject } from '#test/example.ts'
import { GiB } from '#test/rules/filling-disk.ts'

/** Sets a threshold of 10 GiB where so many are left, and one pod uses most. */
function stepsWith(availableGib: number) {
  const metadata = { namespace: 'shop', name: 'api-1' }
  const ownerReferences = [{ kind: 'StatefulSet', name: 'api', controller: true }]
  const memory = { availableBytes: availableGib * GiB, capacityBytes: 100 * GiB, time: null }
  const subject = exampleSubject({
    pods: [{ metadata: { ...metadata, ownerReferences }, status: { phase: 'Running' } }],
    summary: { pods: [{ podRef: metadata, memory: { workingSetBytes: 60 * GiB } }] },
    ...{ eviction: { signals: { 'memory.available': memory } }, thresholds: [] },
  })
  const rule = nodeRule({
    ...{ id: 'toy', family: 'eviction', severity: 'medium', needs: [], cause: hardThresholds },
    ...{ title: 'A toy', why: '', fix: '', sources: [] },
    *judge() {
      const fix = { config: { evictionHard: { 'memory.available': '10Gi' } } }
      yield { consequence: '', evidence: [], fix }
    },
  })
  const outcome = outcomeOf(rule, subject, defaultPolicy)
  if (outcome.state !== 'fail') throw new Error(outcome.state)
  return outcome.failing.steps?.map(({ id, bytes = 0 }) => [id, bytes / GiB])
}

it('makes room in memory before a threshold that would evict at once', () => {
  expect(stepsWith(7)).toEqual([
    ['delete-pod', 0],
    ['set-fields', 3],
    ['set-memory', 60],
  ])
  expect(stepsWith(10)).toBeUndefined()
})
