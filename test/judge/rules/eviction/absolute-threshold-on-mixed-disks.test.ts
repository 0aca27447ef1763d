import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import type { CohortRule } from '#judge/rule.ts'
import { absoluteThresholdOnMixedDisks } from '#judge/rules/eviction/absolute-threshold-on-mixed-disks.ts'
import { cohortOutcomes, FactsOfNodes } from '#judge/run/cohorts.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (gib: number): NodeExample => ({
  configuration: { evictionHard: { 'nodefs.available': '10Gi' } },
  thresholds: [hard('nodefs.available', 10)],
  filesystems: {
    nodefs: {
      capacityBytes: gib * gibibyte,
      availableBytes: 0,
      usedPercent: 0,
      inodes: 1,
      inodesFree: 1,
    },
  },
})

itJudgesExamples(absoluteThresholdOnMixedDisks, {
  bad: [node(20), node(100)],
  good: [node(100), node(100)],
})

describe('absolute-threshold-on-mixed-disks', () => {
  const node = (bytes: number, value = '10Gi'): NodeExample => ({
    configuration: { evictionHard: { 'nodefs.available': value } },
    filesystems: {
      nodefs: { capacityBytes: bytes, availableBytes: 0, usedPercent: 0, inodes: 1, inodesFree: 1 },
    },
  })
  const states = (rule: CohortRule, ...examples: NodeExample[]) => {
    const cohorts = new FactsOfNodes(rule)
    examples.forEach((example, index) => {
      cohorts.take(exampleSubject(example, `node-${index}`))
    })
    return [...cohortOutcomes(rule, cohorts.members(), defaultPolicy)].map(
      ({ outcome }) => outcome.state,
    )
  }
  const rule = absoluteThresholdOnMixedDisks as CohortRule

  it('counts from twice the size on', () => {
    expect(states(rule, node(50 * gibibyte), node(100 * gibibyte))).toEqual(['fail', 'fail'])
    expect(states(rule, node(50 * gibibyte + 1), node(100 * gibibyte))).toEqual(['pass', 'pass'])
  })

  it.each([
    [20, 'medium'],
    [40, undefined],
  ])('is medium where it keeps much of the smallest disk: %d GiB', (gib, severity) => {
    const cohorts = new FactsOfNodes(rule)
    cohorts.take(exampleSubject(node(gib * gibibyte), 'small'))
    cohorts.take(exampleSubject(node(100 * gibibyte), 'large'))
    const [first] = [...cohortOutcomes(rule, cohorts.members(), defaultPolicy)]
    expect(first?.outcome.state === 'fail' && first.outcome.failing.severity).toBe(severity)
  })

  it('tells of hard and soft thresholds, both', () => {
    const both = (bytes: number): NodeExample => ({
      ...node(bytes, '5Gi'),
      configuration: {
        evictionHard: { 'nodefs.available': '5Gi' },
        evictionSoft: { 'nodefs.available': '8Gi' },
      },
    })
    const cohorts = new FactsOfNodes(rule)
    ;[20, 100].forEach((gib, index) => {
      cohorts.take(exampleSubject(both(gib * gibibyte), `node-${index}`))
    })
    for (const { outcome } of cohortOutcomes(rule, cohorts.members(), defaultPolicy)) {
      if (outcome.state !== 'fail') throw new Error(outcome.state)
      expect(outcome.failing.consequence).toContain('5Gi is 25 %')
      expect(outcome.failing.consequence).toContain('8Gi is 40 %')
      expect(outcome.failing.evidence).toHaveLength(6)
    }
  })

  it('leaves percentages alone, and quantities that follow the size', () => {
    expect(states(rule, node(20 * gibibyte, '10%'), node(100 * gibibyte, '10%'))).toEqual([
      'pass',
      'pass',
    ])
    expect(states(rule, node(20 * gibibyte, '2Gi'), node(100 * gibibyte, '10Gi'))).toEqual([
      'pass',
      'pass',
    ])
  })
})
