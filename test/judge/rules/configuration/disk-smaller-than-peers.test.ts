import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import type { CohortRule } from '#judge/rule.ts'
import { diskSmallerThanPeers } from '#judge/rules/configuration/disk-smaller-than-peers.ts'
import { cohortOutcomes, FactsOfNodes } from '#judge/run/cohorts.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (gib: number, freeShare: number): NodeExample => ({
  identity: { instanceId: 'i-0a1b2c3d4e5f60718' },
  filesystems: {
    nodefs: {
      ...{ capacityBytes: gib * gibibyte, availableBytes: freeShare * gib * gibibyte },
      ...{ usedPercent: 100 * (1 - freeShare), inodes: 1, inodesFree: 1 },
    },
  },
})

itJudgesExamples(diskSmallerThanPeers, {
  bad: [node(20, 0.1), node(100, 0.7), node(100, 0.7)],
  good: [node(20, 0.6), node(100, 0.7), node(100, 0.7)],
})

describe('disk-smaller-than-peers', () => {
  const rule = diskSmallerThanPeers as CohortRule
  function outcomesOf(...examples: NodeExample[]) {
    const cohorts = new FactsOfNodes(rule)
    examples.forEach((example, index) => {
      cohorts.take(exampleSubject(example, `node-${index}`))
    })
    return [...cohortOutcomes(rule, cohorts.members(), defaultPolicy)].map(({ outcome }) => outcome)
  }
  const peers = [node(100, 0.7), node(100, 0.7)]

  it('names the size of the peers as the step', () => {
    const [small, ...others] = outcomesOf(node(20, 0.1), ...peers)
    if (small?.state !== 'fail') throw new Error(small?.state)
    expect(small.failing.consequence).toContain(
      '20.0 GiB; the median of the larger ones is 100.0 GiB',
    )
    expect(small.failing.steps?.[0]).toMatchObject({ id: 'larger-disk', bytes: 100 * gibibyte })
    expect(others.map(({ state }) => state)).toEqual(['pass', 'pass'])
  })

  it('names the NodeClass of Auto Mode', () => {
    const identity = { ...node(1, 1).identity, owner: 'auto-mode' as const }
    const examples = [node(20, 0.1), ...peers].map(one => ({ ...one, identity }))
    const [small] = outcomesOf(...examples)
    if (small?.state !== 'fail') throw new Error(small?.state)
    expect(small.failing.steps?.[0]).toMatchObject({ place: 'NodeClass' })
  })

  it.each([
    ['of about the same size', [node(90, 0.1), ...peers]],
    [
      'of other instance types',
      [{ ...node(20, 0.1), identity: { ...node(1, 1).identity, instanceType: 'm5d.large' } }],
    ],
    [
      'that image GC still keeps free',
      [{ ...node(20, 0.18), imageGC: { highThresholdPercent: 85 } }, ...peers],
    ],
    ['of no known machine', [{ ...node(20, 0.1), identity: { instanceId: null } }, ...peers]],
    ['larger than most', [node(200, 0.1), ...peers]],
  ])('passes disks %s', (_, examples) => {
    const states = outcomesOf(...examples, ...peers).map(({ state }) => state)
    expect(states).not.toContain('fail')
  })
})
