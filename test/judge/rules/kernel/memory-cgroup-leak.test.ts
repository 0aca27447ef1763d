import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(memoryCgroupLeak, {
  bad: {
    host: {
      kernel: {
        release: '4.14.355-275.572.amzn2.x86_64',
        cmdline: 'ro quiet',
        cgroupVersion: 1,
        memoryCgroups: 900,
      },
    },
  },
  good: {
    host: {
      kernel: {
        release: '6.1.115-126.197.amzn2023.x86_64',
        cmdline: 'ro quiet',
        cgroupVersion: 2,
        memoryCgroups: 400,
      },
    },
  },
})
