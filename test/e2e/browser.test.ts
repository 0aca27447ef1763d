/** The page in a real Chromium, where there is one: what it shows to whom, and what its script adds. */
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditReport } from '#model/report.ts'
import { renderIndex, renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { pageView } from '#report/page/view.ts'
import { listedRun, runsIndexView } from '#report/parts/trends.ts'
import { browserPath, openBrowser } from '#test/browser.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import {
  auditedNode,
  diskLedger,
  finding,
  lastRun,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  withCauses,
} from '#test/report-builder.ts'

const { words } = english

const morning = withWeek({ ...morningReport(), before: lastRun(), garbage: [overviewOf()] })

/** Opens everything that is closed at first, so that it can be seen, used and checked. */
const unfold = (page: Page) =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

const filterOf = (page: Page) => page.getByRole('search', { name: words.script.filterFindings })

describe.skipIf(browserPath === null)(
  `the page in a browser${browserPath === null ? ' (skipped: there is no Chromium)' : ''}`,
  { timeout: 120_000 },
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    }, 120_000)
    afterAll(() => browser?.close())

    async function violationsOf(page: Page): Promise<string[]> {
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string }[] }[]
      }>('axe.run(document)')
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)
    }

    /** What the browser complains of fails the test: a refused script among it. */
    async function open(
      report: AuditReport,
      hash = '',
      options: BrowserContextOptions = {},
    ): Promise<{ page: Page; complaints: string[] }> {
      const context = await browser.newContext({
        timezoneId: 'Asia/Seoul',
        locale: 'en-GB',
        ...options,
      })
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      // A busy machine takes long to open a page, and nothing else is wrong with it then.
      page.setDefaultNavigationTimeout(60_000)
      const complaints: string[] = []
      page.on('console', message => complaints.push(message.text()))
      page.on('pageerror', error => complaints.push(error.message))
      page.on(
        'request',
        request =>
          request.url().startsWith('https://report.example/') || complaints.push(request.url()),
      )
      await page.route('https://report.example/**', route =>
        route.fulfill({
          contentType: 'text/html; charset=utf-8',
          body: renderPage(pageView(report, english)),
        }),
      )
      await page.goto(`https://report.example/report.html${hash}`)
      return { page, complaints }
    }

    it.each([
      ['in the light', { colorScheme: 'light' }],
      ['in the dark', { colorScheme: 'dark' }],
      ['on a phone', { viewport: { width: 390, height: 844 } }],
      ['without script', { javaScriptEnabled: false }],
    ] as const)('makes no request, has no error and keeps to WCAG (axe) %s', async (_, options) => {
      const { page, complaints } = await open(morning, '', options)
      if (!('javaScriptEnabled' in options)) {
        await page.evaluate(axe.source)
        expect(await violationsOf(page)).toEqual([])
        await unfold(page)
        expect(await violationsOf(page)).toEqual([])
      } else {
        expect(await page.locator('.filter, button').count()).toBe(0)
        expect(await page.locator('#findings .finding').count()).toBe(8)
        await page.locator('#findings > summary').click()
        expect(await page.locator('#findings .finding:visible').count()).toBe(8)
      }
      const overflow = await page
        .evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        .catch(() => 0)
      expect(overflow).toBe(0)
      expect(complaints).toEqual([])
      await page.context().close()
    })

    it.each([
      ['at a desk', { viewport: { width: 1280, height: 800 } }],
      ['in the dark', { colorScheme: 'dark' }],
      ['on a phone', { viewport: { width: 390, height: 844 } }],
    ] as const)('finds nothing in the mail (axe) %s', async (_, options) => {
      const page = await browser.newPage(options)
      await page.setContent(renderMail(morning, []).html)
      await page.evaluate(axe.source)
      expect(await violationsOf(page)).toEqual([])
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow).toBe(0)
      await page.close()
    })

    it('finds nothing in the index of three runs (axe)', async () => {
      const runs = ['03', '02', '01'].map(day => ({
        ...listedRun(day, morning, english),
        at: `2026-09-${day}T05:00:00Z`,
      }))
      const page = await browser.newPage()
      await page.setContent(renderIndex(runsIndexView(runs, english)))
      expect(await page.locator('.plots svg').count()).toBe(2)
      await page.evaluate(axe.source)
      expect(await violationsOf(page)).toEqual([])
      await page.close()
    })

    it('finds the nodes of hundreds of groups by their group and by their name', async () => {
      const nodes = Array.from({ length: 700 }, (_, index) =>
        auditedNode(`ip-10-0-0-${index}.internal`, sharedDisk(20 + (index % 50)), {
          identity: { group: nodegroup(`workers-${index % 350}-x`) },
        }),
      )
      const { page, complaints } = await open(quietReport(nodes))
      await page.locator('#nodes > summary').click()
      const search = page
        .getByRole('search', { name: words.script.filterNodes })
        .getByLabel(words.script.searchNodes)
      const told = page.locator('#nodes output')
      expect(await told.textContent()).toBe(`700 of ${words.nodeCount(700)} on this page shown`)
      await search.fill('workers-300-x')
      expect(await told.textContent()).toBe(`2 of ${words.nodeCount(700)} on this page shown`)
      const rows = page.locator('#nodes tbody[id] tr:visible')
      expect(await rows.allTextContents()).toEqual([
        expect.stringContaining('Nodegroup workers-300-x'),
        expect.stringContaining('ip-10-0-0-300.internal'),
        expect.stringContaining('ip-10-0-0-650.internal'),
      ])
      expect(await page.locator('#nodes .group:visible').count()).toBe(1)
      await page.evaluate(axe.source)
      const violations = await page.evaluate<{ id: string }[]>(
        "axe.run('#nodes').then(({ violations }) => violations)",
      )
      expect(violations.map(({ id }) => id)).toEqual([])
      await search.fill('ip-10-0-0-50.')
      expect(await told.textContent()).toBe(`1 of ${words.nodeCount(700)} on this page shown`)
      expect(complaints).toEqual([])
      await page.context().close()
    })

    it.each(['#findings?text=%E0%A4%A', '#finding-%E0%A4'])(
      'passes over a link that was damaged on its way: %s',
      async hash => {
        const { page, complaints } = await open(morning, hash)
        expect(complaints).toEqual([])
        await unfold(page)
        await filterOf(page).locator('select[name=severity]').selectOption('high')
        expect(await page.locator('#findings output').textContent()).toBe(
          hash.includes('?') ? '0 of 8 shown' : '4 of 8 shown',
        )
        await page.context().close()
      },
    )

    it('prints findings of at least high and nodes that act, and a line of each other, without script too', async () => {
      const printed =
        '.finding:is(.critical, .high) .evidence, #nodes .bar:not(:has(.now.calm)) .ladder'
      const left = '.finding:not(.critical, .high) .evidence, #nodes .bar:has(.now.calm) .ladder'
      for (const javaScriptEnabled of [true, false]) {
        const { page } = await open(morning, '', { javaScriptEnabled })
        const [hidden, screenOnly] = [page.locator(printed), page.locator(left)]
        await expect.poll(() => hidden.count()).toBeGreaterThan(3)
        expect(await hidden.first().isVisible()).toBe(false)
        await page.emulateMedia({ media: 'print' })
        for (const each of await hidden.all()) expect(await each.isVisible()).toBe(true)
        expect(await screenOnly.count()).toBeGreaterThan(3)
        for (const each of await screenOnly.all()) expect(await each.isVisible()).toBe(false)
        for (const each of await page.locator('.finding > summary').all())
          expect(await each.isVisible()).toBe(true)
        await page.context().close()
      }
    })

    it('keeps each number in one line on a phone, and the nodes next to break on the paper', async () => {
      const held = (['images-in-use', 'journal', 'system', 'container-logs'] as const).map(
        (holder, index) => [holder, 2 ** 20, 2 ** 30 + index] as const,
      )
      const [name] = morning.nodes.map(({ identity }) => identity.name)
      const withLedger = morning.nodes.map(node =>
        node.identity.name === name
          ? { ...node, details: () => ({ ...node.details(), ledger: diskLedger(...held) }) }
          : node,
      )
      const on = { cluster: morning.nodes[0]!.cluster, nodes: { count: 1, sample: [name!] } }
      const { document } = morning
      const findings = [finding('high', on), ...document.findings]
      const report = { ...morning, nodes: withLedger, document: { ...document, findings } }
      const { page } = await open(withCauses(report), '', { viewport: { width: 390, height: 844 } })
      await unfold(page)
      const lines = `[...document.querySelectorAll('td.number')].map(cell => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
      })`
      const counted = await page.evaluate<number[]>(lines)
      expect(counted.length).toBeGreaterThan(3)
      expect(Math.max(...counted)).toBe(1)
      // The printable width of A4 at 96 pixels an inch.
      await page.setViewportSize({ width: 703, height: 1000 })
      await page.emulateMedia({ media: 'print' })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(703)
      await page.context().close()
    })

    it.each([
      [1280, 800, ['.verdict h1', '#first .ladder', '#first .answers', 'figure.strip .ladder']],
      [390, 844, ['.verdict h1', '#first .ladder', '#first .answers']],
    ])(
      'shows node, bar and what to do on the first screen of %i x %i',
      async (width, height, parts) => {
        const { page } = await open(morning, '', { viewport: { width, height } })
        for (const part of parts) {
          const box = await page.locator(part).first().boundingBox()
          expect({ part, isSeen: box !== null && box.y + box.height <= height }).toEqual({
            part,
            isSeen: true,
          })
        }
        await page.context().close()
      },
    )

    it('copies the command of a cause', async () => {
      const { page } = await open(morning)
      const command = page.locator('.command .copied').first()
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await command.getByRole('button').click()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        await command.locator('code').textContent(),
      )
      await page.context().close()
    })

    it('follows a link to a text with a percent sign', async () => {
      const { page } = await open(morning, '#findings?text=%2541')
      expect(await filterOf(page).getByLabel('Search').inputValue()).toBe('%41')
      await page.context().close()
    })

    it.each([
      ['Asia/Seoul', /2026-11-21 07:00 UTC \(16:00 (?:GMT\+9|KST)\)/],
      ['America/Los_Angeles', /2026-11-21 07:00 UTC \(20 Nov 2026, 23:00 (?:GMT-8|PST)\)/],
    ])('shows times in the zone of a reader in %s, beside UTC', async (timezoneId, shown) => {
      const { page } = await open(morning, '', { timezoneId })
      expect(await page.locator('.moment').textContent()).toMatch(shown)
      await page.context().close()
    })

    it('filters findings, says how many are shown, and keeps that in the address', async () => {
      const { page } = await open(morning, '#findings')
      const shown = page.locator('#findings .finding:visible')
      await filterOf(page).locator('select[name=severity]').selectOption('high')
      expect(await shown.count()).toBe(4)
      expect(await page.locator('#findings output').textContent()).toBe('4 of 8 shown')
      await filterOf(page).getByLabel('Search').fill('imagefs batch')
      expect(await shown.count()).toBe(2)
      const hash = new URL(page.url()).hash
      expect(hash).toBe('#findings?text=imagefs+batch&severity=high')
      await page.context().close()
      const again = await open(morning, hash)
      expect(await again.page.locator('#findings .finding:visible').count()).toBe(2)
      await filterOf(again.page).getByRole('button', { name: 'Clear' }).click()
      await expect.poll(() => again.page.locator('#findings .finding:visible').count()).toBe(8)
      await again.page.context().close()
    })

    it('orders findings otherwise, and back', async () => {
      const { page } = await open(morning, '#findings')
      const first = page.locator('#findings .finding').first().locator('.title')
      await filterOf(page).locator('select[name=sort]').selectOption('cluster')
      expect(await page.locator('#findings .finding').last().getAttribute('data-cluster')).toBe(
        'staging',
      )
      await filterOf(page).locator('select[name=sort]').selectOption('nodes')
      expect(await first.textContent()).toContain('Pods are evicted before')
      await filterOf(page).locator('select[name=sort]').selectOption('')
      expect(await first.textContent()).toContain('The kubelet is evicting pods now')
      await page.context().close()
    })

    it('finds a node among all, in pictures and tables', async () => {
      const nodes = Array.from({ length: 60 }, (_, index) =>
        auditedNode(`ip-10-0-0-${index}`, sharedDisk(30 + index)),
      )
      const { page } = await open(quietReport(nodes))
      await page.locator('#nodes > summary').click()
      await page.getByLabel(words.script.searchNodes).fill('IP-10-0-0-7')
      expect(await page.locator('#nodes .node-rows tbody tr:visible').allTextContents()).toEqual([
        expect.stringContaining('ip-10-0-0-7'),
      ])
      expect(await page.locator('#nodes output').textContent()).toBe(
        '1 of 60 nodes on this page shown',
      )
      await page.context().close()
    })

    it('sorts a table by its numbers, with the keyboard, and says how', async () => {
      const nodes = [95, 9, 100, 40, 50, 60, 70, 80].map(used =>
        auditedNode(`n${used}`, sharedDisk(used, { evictionHard: {} })),
      )
      const { page } = await open(quietReport(nodes))
      await page.locator('#nodes > summary').click()
      await page.locator('.node-rows summary').click()
      const header = page.getByRole('columnheader', { name: words.fleet.columns.imageDisk })
      await header.getByRole('button').focus()
      await page.keyboard.press('Enter')
      expect(await header.getAttribute('aria-sort')).toBe('ascending')
      const column = async () =>
        (await page.locator('.node-rows tbody tr td:nth-child(3)').allTextContents()).map(text =>
          Number.parseFloat(text),
        )
      const values = await column()
      expect(values.length).toBeGreaterThan(3)
      expect(values).toEqual(values.toSorted((a, b) => a - b))
      await page.keyboard.press('Enter')
      expect(await column()).toEqual(values.toReversed())
      await page.context().close()
    })

    it('copies a fix as it stands', async () => {
      const fix = {
        config: { imageGCHighThresholdPercent: 70 },
        durable: [],
        commands: ['kubectl get nodes'],
      }
      const { page } = await open(quietReport([], { findings: [finding('high', { fix })] }), '', {
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      await unfold(page)
      await page.locator('#findings').getByRole('button', { name: 'Copy' }).first().click()
      await expect.poll(() => page.locator('#findings .copy').first().textContent()).toBe('Copied')
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        'imageGCHighThresholdPercent: 70',
      )
      await page.context().close()
    })

    it('opens what a link leads to, folded or filtered away', async () => {
      const { page } = await open(morning, '#rule-peer-drift')
      expect(
        await page
          .locator('#rule-peer-drift')
          .evaluate(element => (element as unknown as { open: boolean }).open),
      ).toBe(true)
      await unfold(page)
      await filterOf(page).locator('select[name=severity]').selectOption('low')
      await page.goto(`${page.url().split('#')[0]}#finding-a1`)
      await expect.poll(() => page.locator('#finding-a1').isVisible()).toBe(true)
      await page.context().close()
    })

    it('shows hostile text as text: nothing of it runs, and nothing is asked for', async () => {
      const evil = `<script>document.title='x'</script><img src=https://evil.example/x onerror="document.title='x'">"'{{title}} \u202e\u05d0\u05d1 😀${'x'.repeat(10_000)}`
      const findings = [
        finding('high', { title: evil, cluster: evil, consequence: evil, rule: evil, id: evil }),
        finding('low', { cluster: evil }),
      ]
      const { page, complaints } = await open(
        quietReport([auditedNode(evil, sharedDisk(91), { cluster: evil })], { findings }),
      )
      expect(await page.title()).not.toBe('x')
      expect(await page.locator('#findings .finding .title').first().textContent()).toContain(
        `<script>document.title='x'</script>`,
      )
      await unfold(page)
      await filterOf(page).locator('select[name=cluster]').selectOption({ index: 1 })
      expect(complaints).toEqual([])
      await page.context().close()
    })
  },
)
