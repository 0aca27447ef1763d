import { deadRegistry } from '#judge/rules/image-pull/dead-registry.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pod = (image: string) => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { containers: [{ name: 'web', image }] },
})

itJudgesExamples(deadRegistry, {
  bad: { pods: [pod('docker.pkg.github.com/shop/web/web:1')] },
  good: { pods: [pod('ghcr.io/shop/web:1')] },
})
