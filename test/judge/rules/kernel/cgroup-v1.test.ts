import { describe, expect, it } from 'vitest'
import { cgroupV1 } from '#judge/rules/kernel/cgroup-v1.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(cgroupV1, {
  bad: { identity: { kubeletVersion: 'v1.35.0' }, host: { kernel: { cgroupVersion: 1 } } },
  good: { identity: { kubeletVersion: 'v1.35.0' }, host: { kernel: { cgroupVersion: 2 } } },
})

describe('cgroup-v1', () => {
  const example = (
    kubeletVersion: string | null,
    cgroupVersion: number | undefined,
    failCgroupV1?: boolean,
  ): NodeExample => ({
    identity: { kubeletVersion },
    host: { kernel: { cgroupVersion } },
    configuration: failCgroupV1 === undefined ? {} : { failCgroupV1 },
  })

  it.each([
    ['v1.34.9', 1, 'notApplicable'],
    ['v1.35.0', 1, 'fail'],
    ['v1.35.0', 2, 'pass'],
    ['v1.35.0', undefined, 'unknown'],
    [null, 1, 'unknown'],
  ] as const)('%s on cgroup v%s: %s', (version, cgroups, expected) => {
    expect(state(cgroupV1, example(version, cgroups))).toBe(expected)
  })

  it('is medium where failCgroupV1 is false, and unknown where the node was not read', () => {
    expect(failingOf(cgroupV1, example('v1.35.0', 1, false)).severity).toBe('medium')
    expect(failingOf(cgroupV1, example('v1.35.0', 1, true)).severity).toBe('high')
    expect(state(cgroupV1, { identity: { kubeletVersion: 'v1.35.0' } })).toBe('unknown')
  })
})
