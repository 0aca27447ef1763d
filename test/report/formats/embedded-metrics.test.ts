import { describe, expect, it } from 'vitest'
import { embeddedMetrics } from '#report/formats/embedded-metrics.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { clusterResult, findingsDocument, morningReport } from '#test/report-builder.ts'

const errors = schemaErrors(schemaFile('embedded-metric-format.json'))
const linesOf = (report: ReturnType<typeof morningReport>) =>
  embeddedMetrics
    .render(report)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

describe('CloudWatch embedded metrics', () => {
  it.each([
    ['a morning', morningReport()],
    ['hostile names', hostileReport()],
  ])('are lines that CloudWatch takes: %s', (_, report) => {
    for (const line of linesOf(report)) {
      expect(errors(line)).toEqual([])
      const [{ Dimensions, Metrics }] = line._aws.CloudWatchMetrics
      for (const name of Dimensions.flat()) expect(line[name]).toMatch(/^[\x20-\x7e]{1,1024}$/)
      for (const { Name } of Metrics) expect(Number.isInteger(line[Name])).toBe(true)
      expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(256 * 1024)
    }
  })

  it('count by cluster and severity, never by node', () => {
    const lines = linesOf(morningReport())
    expect(lines).toHaveLength(3 * 6)
    const of = (Cluster: string, Severity?: string) =>
      lines.find(line => line.Cluster === Cluster && line.Severity === Severity)
    expect(of('prod-eu', 'high').Findings).toBe(3)
    expect(of('prod-eu', 'info').Findings).toBe(0)
    expect(of('staging')).toMatchObject({
      NodesRead: 1,
      NodesPartlyRead: 1,
      NodesNotRead: 3,
      NotAudited: 3,
      RulesUndecided: 2,
    })
    expect(of('prod-eu').FindingsWaived).toBe(1)
  })

  it('are shared by clusters that only other characters tell apart', () => {
    const coverage = { nodes: 2, read: 2, partlyRead: 0, notRead: 0 }
    const document = findingsDocument({
      clusters: [clusterResult('운영', { coverage }), clusterResult('개발', { coverage })],
    })
    expect(linesOf({ ...morningReport(), document })[0]).toMatchObject({
      Cluster: '??',
      NodesRead: 4,
    })
  })
})
