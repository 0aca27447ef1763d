import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const template = { id: 'lt-1', name: 'web', version: '4' }

const declares = (source: string) => ({
  nodegroups: [
    { nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', launchTemplate: template },
  ],
  launchTemplates: [
    {
      launchTemplateId: 'lt-1',
      launchTemplateName: 'web',
      versionNumber: 4,
      kubelet: { config: {}, flags: ['--image-gc-high-threshold=70'], source },
    },
  ],
})

const runsWith = (high: number): NodeExample => ({
  configuration: { imageGCHighThresholdPercent: high },
})

itJudgesExamples(lostOnTheWay, {
  bad: { ...runsWith(85), ...declares('bootstrap') },
  good: { ...runsWith(70), ...declares('nodeadm') },
})
