import { foreignCleaner } from '#judge/rules/image-gc/foreign-cleaner.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pod = (image: string, path?: string): NodeExample => ({
  pods: [
    {
      metadata: { namespace: 'ops', name: 'nightly' },
      spec: {
        containers: [{ name: 'main', image }],
        volumes: path === undefined ? [] : [{ name: 'socket', hostPath: { path } }],
      },
    },
  ],
})

itJudgesExamples(foreignCleaner, {
  bad: pod('ghcr.io/eraser-dev/remover:v1.4.1'),
  good: pod('ghcr.io/shop/web:1', '/run/containerd/containerd.sock'),
})
