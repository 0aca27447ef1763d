import { containerGcFlagsOffDefault } from '#judge/rules/container-gc/container-gc-flags-off-default.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const host = (...args: string[]) => ({
  host: { kubelet: { commandLine: ['/usr/bin/kubelet', ...args] } },
})

itJudgesExamples(containerGcFlagsOffDefault, {
  bad: host('--maximum-dead-containers-per-container=10'),
  good: host('--maximum-dead-containers=-1'),
})
