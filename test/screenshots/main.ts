/**
 * `npm run screenshots -- [--out DIR] [--demo DIR] [--docs]`: the page and the e-mail of the demo as people see them: desk, phone, dark, on paper. Looking at them
 * is what they are for. With no Chromium on this machine it says so and makes nothing.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/view.ts'
import { browserPath, openBrowser } from '#test/browser.ts'
import { garbageFindings, overviewOf } from '#test/garbage-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import { lastRun, morningReport } from '#test/report-builder.ts'

const looks: Record<string, BrowserContextOptions> = {
  desk: { viewport: { width: 1280, height: 1000 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 1000 }, colorScheme: 'dark' },
  phone: {
    viewport: { width: 390, height: 844 },
    colorScheme: 'light',
    deviceScaleFactor: 2,
    isMobile: true,
  },
}

async function takePictures(
  browser: Browser,
  sources: Record<string, string>,
  folder: string,
): Promise<void> {
  for (const [name, file] of Object.entries(sources)) {
    const address = pathToFileURL(file).href
    for (const [look, options] of Object.entries(looks)) {
      const context = await browser.newContext({
        ...options,
        timezoneId: 'Europe/Berlin',
        locale: 'en-GB',
      })
      const page = await context.newPage()
      await page.goto(address)
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) })
      await page.screenshot({
        path: join(folder, `${name}-${look}-whole.png`),
        fullPage: true,
        scale: 'css',
      })
      for (const section of await page.locator('main > section[id], main > details[id]').all()) {
        const id = await section.getAttribute('id')
        const box = await section.boundingBox()
        if (box === null || box.height > 6000) continue
        await section.screenshot({ path: join(folder, `${name}-${look}-${id}.png`), scale: 'css' })
      }
      if (look === 'desk')
        await page.pdf({
          path: join(folder, `${name}.pdf`),
          format: 'A4',
          margin: { top: '14mm', bottom: '14mm', left: '12mm', right: '12mm' },
        })
      await context.close()
    }
  }
}

/** Screens that a reader scrolls through with everything closed. */
async function measure(browser: Browser, sources: Record<string, string>): Promise<void> {
  for (const [name, file] of Object.entries(sources))
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      const context = await browser.newContext({ viewport: { width, height } })
      const page = await context.newPage()
      await page.goto(pathToFileURL(file).href)
      const pixels = await page.evaluate<number>('document.documentElement.scrollHeight')
      const report = page.getByRole('heading', { name: english.words.report.title })
      const until = name === 'mail' ? ((await report.boundingBox())?.y ?? null) : null
      process.stdout.write(
        `${name} at ${width} x ${height}: ${pixels} pixels, ${(pixels / height).toFixed(2)} screens${until === null ? '' : `, ${(until / height).toFixed(2)} before the whole report`}\n`,
      )
      await context.close()
    }
}

/** Those that docs/ keeps, each below 200 KB: `--docs` makes only them. */
const kept = [
  {
    file: 'docs/page.png',
    source: 'page',
    look: 'desk',
    section: '#outlook',
    viewport: { width: 1180, height: 700 },
  },
  {
    file: 'docs/page-dark.png',
    source: 'morning',
    look: 'dark',
    section: 'body',
    viewport: { width: 1180, height: 900 },
  },
  {
    file: 'docs/mail-phone.png',
    source: 'mail',
    look: 'phone',
    section: 'body',
    viewport: { width: 390, height: 844 },
  },
] as const

async function keepPictures(
  browser: Browser,
  sources: Record<(typeof kept)[number]['source'], string>,
): Promise<void> {
  for (const { file, source, look, section, viewport } of kept) {
    const context = await browser.newContext({
      ...looks[look],
      viewport,
      deviceScaleFactor: 1,
      timezoneId: 'Europe/Berlin',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    await page.goto(pathToFileURL(sources[source]).href)
    await page
      .locator(section)
      .evaluate(element => (element as unknown as { scrollIntoView(): void }).scrollIntoView())
    await page.screenshot({ path: file })
    await context.close()
  }
}

/** The demo's world as a run of it leaves it, and a morning that was made up to have something of everything. */
function sourcesOf(
  demo: string | undefined,
  folder: string,
): { page: string; mail: string; morning: string } {
  const made = demo ?? mkdtempSync(join(tmpdir(), 'highwater-demo-'))
  if (demo === undefined)
    execFileSync(process.execPath, ['bin/highwater.mjs', 'demo', '--out', made], {
      stdio: 'inherit',
    })
  const morning = join(folder, 'morning.html')
  const report = morningReport()
  report.document.findings.push(...garbageFindings)
  writeFileSync(
    morning,
    renderPage(
      pageView(withWeek({ ...report, before: lastRun(), garbage: [overviewOf()] }), english),
    ),
  )
  const sources = { page: join(made, 'report.html'), mail: join(made, 'email.html'), morning }
  for (const file of Object.values(sources))
    if (!existsSync(file)) throw new Error(`${file} is not there: did the demo run?`)
  return sources
}

const { values } = parseArgs({
  options: { out: { type: 'string' }, demo: { type: 'string' }, docs: { type: 'boolean' } },
})
if (browserPath === null) {
  process.stderr.write(
    'No pictures: there is no Chromium here. Install one, or name it in CHROMIUM.\n',
  )
} else {
  const folder = resolve(values.out ?? 'highwater-out/screenshots')
  mkdirSync(folder, { recursive: true })
  const browser = await openBrowser()
  try {
    const sources = sourcesOf(values.demo, folder)
    await measure(browser, sources)
    await (values.docs ? keepPictures(browser, sources) : takePictures(browser, sources, folder))
  } finally {
    await browser.close()
  }
  process.stdout.write(`${folder}\n`)
}
