/** Findings on a cluster's own objects: they stand on no node, and no page says that they stand on none of many. */
import { describe, expect, it } from 'vitest'
import { formats } from '#report/formats/index.ts'
import { renderMail } from '#report/mail.ts'
import { renderReport } from '#report/report.ts'
import { auditedNode, finding, quietReport, sharedDisk } from '#test/report-builder.ts'

const command = 'kubectl delete pods -n shop cart-0'
const report = quietReport([auditedNode('a', sharedDisk(40))], {
  findings: [
    finding('medium', {
      rule: 'failed-pods',
      family: 'cluster-gc',
      subject: { kind: 'Namespace', namespace: null, name: 'shop' },
      nodes: { count: 0, sample: [] },
      fix: { config: {}, durable: [], commands: [command] },
    }),
  ],
})

describe('a finding on objects', () => {
  const page = renderReport(report, formats).files.find(({ name }) => name === 'report.html')?.body ?? ''
  const mail = renderMail(report, [])

  it.each([
    ['the page', page],
    ['the mail', mail.html],
    ['the mail as text', mail.text],
  ])('%s names its namespace, and no nodes', (_, text) => {
    expect(text).toContain('Namespace shop')
    expect(text).not.toMatch(/\b0 nodes|<span><\/span>/)
  })

  it('has its command on the page', () => {
    expect(page).toContain(command)
  })
})
