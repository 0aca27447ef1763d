import { logRotationDrift } from '#judge/rules/logs/log-rotation-drift.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const directives = (rotate: number, maxsize: string) => ({
  patterns: ['/var/log/app/*.log'],
  daily: true,
  rotate,
  maxsize,
})

const node = (rotate: number, maxsize: string): NodeExample => ({
  host: { logrotate: [{ path: '/etc/logrotate.d/app', directives: directives(rotate, maxsize) }] },
})

itJudgesExamples(logRotationDrift, {
  bad: [node(5, '100M'), node(5, '104857600'), node(50, '1G')],
  good: [node(5, '100M'), node(5, '104857600'), node(5, '102400k')],
})
