import { cgroupV1 } from '#judge/rules/kernel/cgroup-v1.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(cgroupV1, {
  bad: { identity: { kubeletVersion: 'v1.35.0' }, host: { kernel: { cgroupVersion: 1 } } },
  good: { identity: { kubeletVersion: 'v1.35.0' }, host: { kernel: { cgroupVersion: 2 } } },
})
