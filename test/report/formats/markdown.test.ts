import { marked } from 'marked'
import { describe, expect, it } from 'vitest'
import { severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { markdown } from '#report/formats/markdown.ts'
import { hostileReport } from '#test/hostile-report.ts'
import {
  clusterResult,
  finding,
  findingsDocument,
  morningReport,
  nodegroup,
} from '#test/report-builder.ts'

const html = (report: AuditReport) =>
  marked.parse(markdown.render(report), { async: false, gfm: true })
const bytes = (text: string) => Buffer.byteLength(text)
const morning = morningReport()

describe('Markdown', () => {
  it('says what counts first, and names what is waived, unknown and not audited', () => {
    const text = html(morning)
    expect(text).toMatch(/^<h2>highwater: 8.findings, 1 critical, 4 high, 2 medium, 1 low<\/h2>/)
    expect(text).toContain('<td>1 of 5, 1 partly</td>')
    for (const { title } of morning.document.findings)
      expect(text).toContain(title.replaceAll('"', '&quot;'))
    for (const part of ['Not audited: 4', 'Waived: 1', 'Undecided: 2'])
      expect(text).toContain(`<summary>${part}</summary>`)
    expect(text).toContain('The builders are meant to run full.')
  })

  it('makes nothing of hostile texts but text: no element, link, image, mention or reference', () => {
    const report = hostileReport()
    const text = html(report)
    const elements = new Set([...text.matchAll(/<([a-z]\w*)/g)].map(([, name]) => name))
    expect(
      elements.difference(
        new Set([
          'h2',
          'strong',
          'h3',
          'p',
          'table',
          'thead',
          'tbody',
          'tr',
          'th',
          'td',
          'details',
          'summary',
          'ul',
          'li',
          'br',
        ]),
      ),
    ).toEqual(new Set())
    expect(text).toContain(
      '=cmd()|&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;{{ .Values.x }}&lt;U+202E&gt;🎉',
    )
    expect(text).not.toMatch(/@\w/)
    expect(text).not.toMatch(/#\d/)
    expect([...text.matchAll(/<td>/g)]).toHaveLength(report.document.clusters.length * 4)
    expect(text).toMatch(/… \(cut: 10,\d{3} characters in all\)/)
  })

  it.each([3, 3_000])(
    'never grows over what GitHub takes, and counts what it left out: %i findings',
    count => {
      const findings = Array.from({ length: count }, (_, index) =>
        finding(severities[index % severities.length]!, {
          subject: nodegroup(`group-${index}`),
          consequence: 'c'.repeat(900),
        }),
      )
      const clusters = Array.from({ length: 400 }, (_, index) =>
        clusterResult(`${'c'.repeat(90)}-${index}`),
      )
      const text = markdown.render({
        ...morning,
        document: findingsDocument({
          findings,
          clusters,
          waived: findings,
          unknowns: morning.document.unknowns,
        }),
      })
      expect(bytes(text)).toBeLessThanOrEqual(65_536)
      const shown = [...text.matchAll(/^### /gm)].length
      const [, more = '0'] = /\*\*([\d,]+).more findings\*\*/.exec(text) ?? []
      expect(shown).toBeGreaterThan(0)
      expect(shown + Number(more.replace(',', ''))).toBe(count)
      const listed = [...text.matchAll(/^\| c{90}/gm)].length
      expect(listed + Number(/and ([\d,]+).more clusters/.exec(text)?.[1])).toBe(400)
      expect(text).toContain(`Waived: ${count}`)
      expect([...text.matchAll(/<details>/g)]).toHaveLength(
        [...text.matchAll(/<\/details>/g)].length,
      )
    },
  )
})
