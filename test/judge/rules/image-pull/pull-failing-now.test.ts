import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pod = (state: object) => ({
  metadata: { namespace: 'shop', name: 'web' },
  status: { containerStatuses: [{ name: 'web', image: 'shop/web:1', state }] },
})

itJudgesExamples(pullFailingNow, {
  bad: {
    pods: [
      pod({
        waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop/web:1"' },
      }),
    ],
  },
  good: { pods: [pod({ waiting: { reason: 'ContainerCreating' } })] },
})
