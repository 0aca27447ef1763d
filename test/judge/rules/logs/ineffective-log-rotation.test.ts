import { ineffectiveLogRotation } from '#judge/rules/logs/ineffective-log-rotation.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const node = (pattern: string): NodeExample => ({
  node: { status: { nodeInfo: { containerRuntimeVersion: 'containerd://1.7.27' } } },
  host: {
    logrotate: [
      {
        path: '/etc/logrotate.d/app',
        directives: { patterns: [pattern], daily: true, rotate: 5, maxsize: '100M' },
      },
    ],
    logrotateRuns: { by: 'timer', schedule: '*-*-* 00:00:00' },
  },
})

itJudgesExamples(ineffectiveLogRotation, {
  bad: node('/var/lib/docker/containers/*/*.log'),
  good: node('/var/log/app/*.log'),
})
