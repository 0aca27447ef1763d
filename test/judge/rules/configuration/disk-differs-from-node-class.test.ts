import { diskDiffersFromNodeClass } from '#judge/rules/configuration/disk-differs-from-node-class.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const declares = (diskSize: number) => ({
  nodegroups: [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize }],
})

itJudgesExamples(diskDiffersFromNodeClass, { bad: declares(200), good: declares(100) })
