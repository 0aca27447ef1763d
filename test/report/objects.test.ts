/** Findings on a cluster's own objects: they stand on no node, and no page says that they stand on none of many. */
import { describe, expect, it } from 'vitest'
import { renderReport } from '#report/format.ts'
import { csv } from '#report/formats/csv.ts'
import { formats } from '#report/formats/index.ts'
import { junit } from '#report/formats/junit.ts'
import { markdown } from '#report/formats/markdown.ts'
import { sarif } from '#report/formats/sarif.ts'
import { renderMail } from '#report/mail/mail.ts'
import { adviceWith, auditedNode, finding, quietReport, sharedDisk } from '#test/report-builder.ts'

const command = 'kubectl delete pods -n shop cart-0'
const report = quietReport([auditedNode('a', sharedDisk(40))], {
  findings: [
    finding('medium', {
      rule: 'failed-pods',
      family: 'cluster-gc',
      subject: { kind: 'Namespace', namespace: null, name: 'shop' },
      nodes: { count: 0, sample: [] },
      steps: adviceWith(command),
    }),
  ],
  unknowns: [
    {
      ...{
        rule: 'job-without-ttl',
        cluster: 'prod-eu',
        subject: { kind: 'Cluster', namespace: null, name: 'prod-eu' },
      },
      ...{ nodes: { count: 0, sample: [] }, reason: 'jobs.batch: 403' },
    },
  ],
})

describe('a finding on objects', () => {
  const page = renderReport(report, formats).find(({ name }) => name === 'report.html')?.body ?? ''
  const mail = renderMail(report, [])

  it.each([
    ['the page', page],
    ['the mail', mail.html],
    ['the mail as text', mail.text],
  ])('%s names its namespace, and no nodes', (_, text) => {
    expect(text).toContain('Namespace shop')
    expect(text).not.toMatch(/\b0 nodes|<span><\/span>/)
  })

  it.each([sarif, junit, markdown])('$id names no nodes if there are none', format => {
    const text = format.render(report)
    expect(text).toContain('Namespace/shop')
    expect(text).not.toMatch(/\b0.nodes|\(\)|, \n/)
    const onNodes = format.render(
      quietReport([auditedNode('a', sharedDisk(40))], { findings: [finding('medium', {})] }),
    )
    expect(onNodes).toMatch(/\d.nodes?: \w/)
  })

  it('its unknown outcome is in the formats that list unknown outcomes, and only there', () => {
    const listsUnknown = [sarif, junit, markdown, csv].filter(format =>
      format.render(report).includes('jobs.batch: 403'),
    )
    expect(listsUnknown.map(({ id }) => id)).toEqual(['markdown', 'csv'])
  })

  it('has its command on the page', () => {
    expect(page).toContain(command)
  })
})
