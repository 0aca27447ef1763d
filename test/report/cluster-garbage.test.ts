/** What lies in the clusters, on the page and in the mail. */
import { describe, expect, it } from 'vitest'
import type { GarbageOverview } from '#model/cluster-garbage.ts'
import type { AuditReport } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { pageView } from '#report/page/view.ts'
import { garbageFindings, overviewOf } from '#test/garbage-builder.ts'
import { clusterResult, finding, quietReport } from '#test/report-builder.ts'

const { words } = english

const reportOf = (
  garbage: GarbageOverview[],
  overrides: Partial<AuditReport['document']> = {},
): AuditReport => {
  const coverage = {
    nodes: 0,
    read: 0,
    partlyRead: 0,
    notRead: 0,
    clusterGc: { lists: 16, read: 15 },
  }
  const clusters = garbage.map(({ cluster }) => clusterResult(cluster, { coverage }))
  return { ...quietReport([], { findings: garbageFindings, clusters, ...overrides }), garbage }
}
const viewOf = (report: AuditReport) => pageView(report, english).clusterGc
describe('the section of the page', () => {
  const { clusters, coverage } = viewOf(reportOf([overviewOf()]))
  const [cluster] = clusters

  it('says how far anybody looked, and what there is to clean up', () => {
    expect(coverage).toBe(words.garbage.coverage(1, null, 15, 16))
    expect(cluster?.about).toBe(
      words.list([words.garbage.toClean(1), words.garbage.cost('112'), words.garbage.notAllRead]),
    )
    expect(cluster?.clean).toBe(words.garbage.clean(['leases', 'Nodes']))
    expect(cluster?.gaps.rows).toEqual([
      words.garbage.gap('secrets: 403 Forbidden: cannot list', ['owners', 'finalizers']),
    ])
  })

  it('has a row of what costs, how old, whose, whether it goes, and where the page says how to end it', () => {
    expect(cluster?.rows[0]).toEqual({
      name: garbageFindings[0]?.docs.title,
      count: '14',
      age: '83\u00a0d',
      whose: words.list(['shop (9)', 'ci', words.andMore(3)]),
      size: '1.4\u00a0TiB, about 112\u00a0USD a month',
      fate: words.garbage.heads.never,
      isCalm: false,
      ...{
        severity: 'medium',
        severityWord: 'Medium',
        anchor: 'finding-g1',
        link: words.findingCount(2),
      },
    })
    expect(renderPage(pageView(reportOf([overviewOf()]), english))).toContain(
      `<a href="#finding-g1">${words.findingCount(2)}</a>`,
    )
  })

  it('notes the assumed prices, and only with costs', () => {
    expect(cluster?.notes).toEqual([words.garbage.assumedPrices])
    const [, failed] = overviewOf().rows
    expect(viewOf(reportOf([overviewOf({ rows: [failed!] })])).clusters[0]?.notes).toEqual([])
  })

  it('says of what is waived that it is', () => {
    const waived = garbageFindings.map(each => ({
      ...each,
      waived: { until: '2027-01-01', reason: 'known' },
    }))
    const view = viewOf(reportOf([overviewOf()], { findings: [], waived }))
    expect(view.clusters[0]?.rows[0]).toMatchObject({
      link: 'waived',
      anchor: 'waived',
      severity: null,
    })
    expect(view.clusters[0]?.about).toBe(
      `${words.garbage.nothingToClean}, ${words.garbage.notAllRead}`,
    )
  })

  it('has the cluster that costs most first, tables of the first few, and counts every other', () => {
    const many = Array.from({ length: 400 }, (_, index) =>
      overviewOf({ cluster: `c${index}`, gaps: [], rows: index === 7 ? overviewOf().rows : [] }),
    )
    const findings = [finding('high', { ...garbageFindings[0]!, cluster: 'c7' })]
    const view = viewOf(reportOf(many, { findings }))
    expect(view.clusters[0]).toMatchObject({ name: 'c7', isOpen: true })
    const left = Number(/^\d+/.exec(view.others.leftOut ?? '')?.[0])
    expect(view.clusters.length + view.others.rows.length + left).toBe(400)
    expect(view.others.rows[0]).toEqual({ name: 'c108', about: words.garbage.nothingToClean })
  })

  it('stops giving tables where they would make the page heavy', () => {
    const crowded = (count: number) =>
      viewOf(
        reportOf(
          Array.from({ length: count }, (_, index) =>
            overviewOf({ cluster: `c${index}`, rows: Array(30).fill(overviewOf().rows[0]) }),
          ),
        ),
      )
    expect([
      crowded(2).clusters.length,
      crowded(3).clusters.length,
      crowded(3).others.rows.length,
    ]).toEqual([2, 2, 1])
    const one = overviewOf({ rows: Array(150).fill(overviewOf().rows[0]) })
    expect(viewOf(reportOf([one])).clusters[0]?.rows).toHaveLength(150)
  })

  it('says what was not read', () => {
    const report = quietReport([])
    expect(viewOf(report)).toMatchObject({ clusters: [], coverage: words.garbage.notLooked })
  })

  it('shows names of many kinds as text, cut with a mark', () => {
    const harm = `<img src=x onerror=alert(1)>{{constructor}}\u202e${'x'.repeat(10_000)}`
    const [row, ...others] = overviewOf().rows
    const rows = [{ ...row!, namespaces: [{ name: harm, count: 3 }] }, ...others]
    const hostile = overviewOf({ cluster: harm, rows, gaps: [{ reason: harm, needs: ['owners'] }] })
    const report = reportOf([hostile], { findings: [{ ...garbageFindings[0]!, cluster: harm }] })
    const html = renderPage(pageView(report, english))
    expect(html).not.toContain('<img')
    expect(html).toContain(
      '&lt;img src&#x3D;x onerror&#x3D;alert(1)&gt;{{constructor}}&lt;U+202E&gt;',
    )
    expect(html).not.toContain('x'.repeat(1000))
    const { html: mail, text } = renderMail(report, [])
    expect(mail).not.toContain('<img')
    expect(`${mail}${text}`).not.toContain('x'.repeat(1000))
    expect(text).not.toContain('\u202e')
  })
})
