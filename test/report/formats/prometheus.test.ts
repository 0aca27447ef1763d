import parse from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { prometheus } from '#report/formats/prometheus.ts'
import { hostileReport } from '#test/hostile-report.ts'
import {
  auditedNode,
  GiB,
  morningReport,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const familiesOf = (report: ReturnType<typeof morningReport>) =>
  new Map(parse(prometheus.render(report)).map(({ name, metrics }) => [name, metrics]))

describe('Prometheus metrics', () => {
  const families = familiesOf(morningReport())
  const value = (name: string, labels: Record<string, string>) => {
    const found = families
      .get(name)
      ?.find(metric =>
        Object.entries(labels).every(([key, wanted]) => metric.labels?.[key] === wanted),
      )
    return found && Number(found.value)
  }

  it('count findings by severity, waived ones apart, and have a 0 where there are none', () => {
    expect(
      value('highwater_findings', { cluster: 'prod-eu', severity: 'high', state: 'open' }),
    ).toBe(3)
    expect(
      value('highwater_findings', { cluster: 'prod-eu', severity: 'low', state: 'open' }),
    ).toBe(0)
    expect(
      value('highwater_findings', { cluster: 'prod-eu', severity: 'low', state: 'waived' }),
    ).toBe(1)
    expect(value('highwater_rule_nodes', { rule: 'eviction-before-image-gc', state: 'open' })).toBe(
      37,
    )
  })

  it('tell grade and coverage, and give no grade where nothing was read', () => {
    expect(value('highwater_cluster_grade', { cluster: 'prod-eu', grade: 'D' })).toBe(1)
    const ungraded = families
      .get('highwater_cluster_grade')
      ?.filter(({ labels }) => labels?.cluster === 'prod-us')
    expect(ungraded?.map(metric => metric.value)).toEqual(['0', '0', '0', '0', '0'])
    expect(value('highwater_cluster_nodes', { cluster: 'staging', coverage: 'notRead' })).toBe(3)
    expect(value('highwater_not_audited', { cluster: 'staging' })).toBe(3)
    expect(value('highwater_undecided_rules', { cluster: 'staging' })).toBe(2)
  })

  it('have the headroom of the nearest node of a group, and count those of which it is not known', () => {
    const of = familiesOf(
      quietReport([
        auditedNode('a', sharedDisk(40, { capacityBytes: 100 * GiB })),
        auditedNode('b', sharedDisk(80, { capacityBytes: 100 * GiB })),
        unreadNode('c', [{ what: 'configz', message: 'HTTP 503' }]),
      ]),
    )
    const group = { cluster: 'prod-eu', kind: 'Nodegroup', group: 'general' }
    // 85: below 16 GiB, and there are 20.
    expect(of.get('highwater_group_image_gc_headroom_bytes')).toEqual([
      { value: expect.stringMatching(/^429496729\d$/), labels: group },
    ])
    const states = of
      .get('highwater_group_nodes')
      ?.map(metric => [metric.labels?.state, metric.value])
    expect(states).toEqual([
      ['known', '2'],
      ['unknown', '1'],
    ])
    const nodefs = of
      .get('highwater_group_eviction_headroom')
      ?.find(({ labels }) => labels?.signal === 'nodefs.available')
    expect(Number(nodefs?.value)).toBe(10 * GiB)
  })

  it('keep hostile names in their labels, one series for equal ones', () => {
    const text = prometheus.render(hostileReport())
    const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    const series = lines.map(line => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(series).size).toBe(series.length)
    expect(
      lines.filter(
        line => !/^highwater_\w+(\{(\w+="([^"\\\n]|\\["\\n])*",?)+\})? -?\d+(\.\d+)?$/u.test(line),
      ),
    ).toEqual([])
    expect(text).toContain('<script>alert(\\"x\\")</script>')
    // A cluster that cannot be told from another once its name is cut shares its series.
    const findings = parse(text).find(({ name }) => name === 'highwater_findings')
    const total = findings?.metrics.reduce((sum, metric) => sum + Number(metric.value), 0)
    expect(total).toBe(
      morningReport().document.findings.length + morningReport().document.waived.length,
    )
  })
})
