/** The Grafana dashboard asks for metrics and labels that the Prometheus format writes. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { expect, it } from 'vitest'
import { prometheus } from '#report/formats/prometheus.ts'
import { morningReport } from '#test/report-builder.ts'

interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string; legendFormat: string }[]
}
const { panels }: { panels: Panel[] } = JSON.parse(
  readFileSync('docs/run/grafana/highwater.json', 'utf8'),
)
const metrics = new Map(
  prometheus
    .render(morningReport())
    .split('\n')
    .flatMap(line => {
      const [, name, labels = ''] = /^(highwater_\w+)(?:\{(.*)\})? /.exec(line) ?? []
      if (name === undefined) return []
      return [[name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label))]]
    }),
)

/** Names of one kind in an expression, and what its grammar could not read. */
function named(expression: string, kind: string): string[] {
  const found: string[] = []
  parser.parse(expression).iterate({
    enter: ({ name, type, from, to }) => {
      if (type.isError || name === kind) found.push(expression.slice(from, to))
    },
  })
  return found
}

it.each(panels.map(({ title, targets }) => [title, targets] as const))(
  'panel "%s" asks for metrics and labels that exist',
  (_, targets) => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr, legendFormat } of targets) {
      const [metric = ''] = named(expr, 'Identifier').filter(name => metrics.has(name))
      expect(named(expr, 'Identifier')).toEqual([metric])
      const known = [...(metrics.get(metric) ?? [])]
      const wanted = [...named(expr, 'LabelName'), ...(legendFormat.match(/(?<=\{\{)\w+/g) ?? [])]
      expect(known).toEqual(expect.arrayContaining(wanted))
    }
  },
)

it('has no panels that overlap', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
})
