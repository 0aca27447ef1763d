/** The page on paper, in a real Chromium where there is one: what is not printed is counted, by the numbers that the style sheet goes by. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditReport } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/view.ts'
import { browserPath, openBrowser } from '#test/browser.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import {
  auditedNode,
  clusterResult,
  finding,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
} from '#test/report-builder.ts'

const { words } = english

function crowded(): AuditReport {
  const nodes = Array.from({ length: 30 }, (_, index) =>
    auditedNode(`n${index}`, sharedDisk(40 + index), {
      identity: { group: nodegroup(`g${index % 6}`) },
    }),
  )
  const unknown = {
    rule: 'r',
    cluster: 'prod-eu',
    subject: nodegroup('g1'),
    nodes: { count: 1, sample: ['n1'] },
    reason: 'not read',
  }
  return quietReport(nodes, {
    clusters: Array.from({ length: 40 }, (_, index) => clusterResult(`c${index}`)),
    findings: Array.from({ length: 200 }, (_, index) =>
      finding('high', { rule: `rule-${index % 7}` }),
    ),
    waived: Array.from({ length: 25 }, () =>
      finding('low', { waived: { until: '2027-01-01', reason: 'known' } }),
    ),
    unknowns: Array.from({ length: 200 }, () => unknown),
    notAudited: Array.from({ length: 25 }, (_, index) => ({
      cluster: 'prod-eu',
      node: `lost-${index}`,
      cause: 'sources',
      reason: '503',
    })),
  })
}

describe('what is printed', () => {
  it('has no note where nothing is left out', () => {
    expect(pageView(quietReport([]), english).paper).toEqual({
      ...{ clusters: null, findings: null, garbage: null, thresholds: null, nodes: null },
      ...{ waived: null, unknowns: null, notAudited: null, rules: null },
    })
  })
})

describe.skipIf(browserPath === null)('a printed page', { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(report: AuditReport, media: 'print' | 'screen'): Promise<Page> {
    const page = await browser.newPage()
    await page.emulateMedia({ media })
    await page.setContent(renderPage(pageView(report, english)))
    return page
  }

  it('shows as much as its notes say', async () => {
    const page = await open(crowded(), 'print')
    const visible = (selector: string) => page.locator(`${selector} >> visible=true`).count()
    const note = async (section: string) =>
      (await page.locator(`${section} .on-paper`).allTextContents()).join(' ')
    expect(await visible('.cluster')).toBe(24)
    expect(await page.locator('main > .on-paper').textContent()).toBe(
      'On paper: 24 of 40 clusters; the others on the page.',
    )
    // Of 50 cards and 150 rows.
    expect([
      await visible('#findings .consequence'),
      await visible('#findings .finding h3'),
    ]).toEqual([10, 50])
    expect(await visible('#findings tbody tr')).toBe(30)
    expect(await note('#findings')).toContain(
      '40 findings after the first 10 in short. 120 more rows only there.',
    )
    expect(await visible('#nodes .node')).toBe(3)
    expect(await note('#nodes')).toBe(
      'On paper: Of the first 3 groups the node nearest to eviction; 27 nodes only on the page.',
    )
    for (const [section, all, noun] of [
      ['#waived', 25, 'waived findings'],
      ['#unknowns', 200, 'questions'],
      ['#not-audited', 25, 'entries'],
    ]) {
      expect(await visible(`${section} tbody tr`)).toBe(10)
      expect(await note(`${section}`)).toBe(
        `On paper: 10 of ${all} ${noun}; the others on the page.`,
      )
    }
    expect([await visible('#rules details'), await note('#rules')]).toEqual([
      0,
      words.paper.rules(8),
    ])
    await page.close()
  })

  it('counts the tables that are folded', async () => {
    const page = await open(
      {
        ...morningReport(),
        garbage: Array.from({ length: 5 }, (_, index) => overviewOf({ cluster: `c${index}` })),
      },
      'print',
    )
    const folded = await page.locator('#thresholds .cohort:not([open])').count()
    expect(folded).toBeGreaterThan(0)
    expect(await page.locator('#thresholds .on-paper').textContent()).toContain(
      `${folded} more table`,
    )
    expect(await page.locator('#cluster-gc .on-paper').textContent()).toContain(
      '2 more tables to unfold on the page',
    )
    expect(await page.locator('#cluster-gc .garbage >> visible=true').count()).toBe(3)
    await page.close()
  })

  it('leaves nothing out on a screen, and no note', async () => {
    const page = await open(crowded(), 'screen')
    expect(await page.locator('.on-paper >> visible=true').count()).toBe(0)
    expect(await page.locator('#unknowns tbody tr >> visible=true').count()).toBe(200)
    await page.close()
  })
})
