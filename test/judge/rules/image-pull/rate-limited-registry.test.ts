import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pod = (image: string) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: [{ name: 'web', image }] },
})

itJudgesExamples(rateLimitedRegistry, {
  bad: { pods: [pod('redis:7.4')] },
  good: { pods: [pod('public.ecr.aws/docker/library/redis:7.4')] },
})
