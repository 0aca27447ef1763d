import { requiredImageAtRisk } from '#judge/rules/image-gc/required-image-at-risk.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const agent = 'registry.example.com/agent:1'

const example = (reason: 'in-use' | 'not-needed') => ({
  pods: [
    {
      metadata: {
        namespace: 'ops',
        name: 'agent-x',
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent' }],
      },
      spec: { containers: [{ name: 'agent', image: agent }] },
    },
  ],
  imageGC: { deletions: [], kept: [{ image: 'sha256:a9e47', reason }] },
  runtime: { images: [{ id: 'sha256:a9e47', repoTags: [agent], repoDigests: [] }] },
})

itJudgesExamples(requiredImageAtRisk, { bad: example('not-needed'), good: example('in-use') })
