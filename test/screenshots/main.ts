/**
 * `npm run screenshots -- [--out DIR] [--demo DIR] [--docs] [--sizes]`: pictures of the demo's page and e-mail (desk, phone, dark, paper), and their
 * sizes with everything closed. `--docs` writes those of docs/, the sample report and mail, and the recording of a terminal. It fails if a size is over its bound. Without Chromium on this machine it makes nothing.
 */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { pageView } from '#report/page/view.ts'
import { browserPath, openBrowser } from '#test/browser.ts'
import { garbageFindings, overviewOf } from '#test/garbage-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import { endedOf, lastRun, morningReport, withCauses } from '#test/report-builder.ts'
import { terminalSvg } from './terminal.ts'

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
      if (look === 'desk') await page.pdf({ ...paper, path: join(folder, `${name}.pdf`) })
      await context.close()
    }
  }
}

/** Screens of a size that a reader scrolls through, at most. */
const bounds = {
  page: { desk: 6, phone: 12 },
  fleet: { desk: 8, phone: 16 },
  mail: { desk: 3, phone: 3 },
  fleetMail: { desk: 3, phone: 3 },
  secondMail: { desk: 3, phone: 3 },
  thirdMail: { desk: 3, phone: 3 },
  unreadMail: { desk: 3, phone: 3 },
  thirdPage: { desk: 6, phone: 12 },
}
const screens = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
/** What the first screen of the page shows to its end: bar, answers and all nodes; on a phone bar and answers. */
const onFirstScreen = { desk: 'figure.strip', phone: '.answers' }
const mailLimitBytes = 60_000
/** Sheets of A4 that the page takes. */
const mostSheets = 18
const paper = { format: 'A4', margin: { top: '14mm', bottom: '14mm', left: '12mm', right: '12mm' } }

type Sized = keyof typeof bounds

/** @returns what is over its bound */
async function measure(browser: Browser, sources: Record<Sized, string>): Promise<string[]> {
  const over: string[] = []
  for (const [name, bound] of Object.entries(bounds) as [Sized, (typeof bounds)[Sized]][]) {
    const isMail = /mail$/i.test(name)
    for (const [screen, viewport] of Object.entries(screens)) {
      const context = await browser.newContext({ viewport })
      const page = await context.newPage()
      await page.goto(pathToFileURL(sources[name]).href)
      const pixels = await page.evaluate<number>('document.documentElement.scrollHeight')
      const most = bound[screen as keyof typeof screens]
      const size = `${name} at ${viewport.width} x ${viewport.height}: ${Math.round(pixels)} pixels, ${(pixels / viewport.height).toFixed(2)} of ${most} screens`
      process.stdout.write(`${size}\n`)
      if (pixels > most * viewport.height) over.push(size)
      if (name === 'page') {
        const box = await page
          .locator(onFirstScreen[screen as keyof typeof screens])
          .first()
          .boundingBox()
        const first = `first screen at ${viewport.width} x ${viewport.height}: ${Math.round(box!.y + box!.height)} of ${viewport.height} pixels`
        process.stdout.write(`${first}\n`)
        if (box!.y + box!.height > viewport.height) over.push(first)
      }
      if (name.endsWith('age') && screen === 'desk') {
        const pdf = (await page.pdf(paper)).toString('latin1')
        const sheets = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0
        const printed = `${name} on paper: ${sheets} of ${mostSheets} sheets`
        process.stdout.write(`${printed}\n`)
        if (sheets > mostSheets) over.push(printed)
      }
      await context.close()
    }
    if (!isMail) continue
    const { size } = statSync(sources[name])
    process.stdout.write(`${name}: ${size} of ${mailLimitBytes} bytes\n`)
    if (size > mailLimitBytes) over.push(`${name}: ${size} bytes`)
  }
  return over
}

const fleetClusters = 32

/** The demo's clusters, copied under new names until there are 32, audited from a snapshot. */
function fleetOf(demo: string): { fleet: string; fleetMail: string } {
  const lines = gunzipSync(readFileSync(join(demo, 'snapshot.ndjson.gz')))
    .toString()
    .trim()
    .split('\n')
  const [head = '', ...records] = lines
  const clusters = new Set(records.map(line => JSON.parse(line).cluster as string))
  const copies = Array.from({ length: Math.ceil(fleetClusters / clusters.size) }, (_, copy) =>
    records.map(line => {
      const record = JSON.parse(line)
      return JSON.stringify({ ...record, cluster: `${record.cluster}-${copy + 1}` })
    }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'highwater-fleet-'))
  const snapshot = join(folder, 'fleet.ndjson')
  writeFileSync(snapshot, [head, ...copies.flat(), ''].join('\n'))
  execFileSync(
    process.execPath,
    [
      'bin/highwater.mjs',
      'audit',
      '--snapshot',
      snapshot,
      '--out',
      folder,
      '--fail-on-unread',
      'none',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  return { fleet: join(folder, 'report.html'), fleetMail: join(folder, 'email.html') }
}

/** Those that docs/ keeps, each below 200 KB: `--docs` makes only them. */
const kept = [
  {
    file: 'docs/page.png',
    source: 'page',
    look: 'desk',
    section: 'body',
    viewport: { width: 1180, height: 800 },
  },
  {
    file: 'docs/page-dark.png',
    source: 'page',
    look: 'dark',
    section: 'body',
    viewport: { width: 1180, height: 800 },
  },
  {
    file: 'docs/page-phone.png',
    source: 'page',
    look: 'phone',
    section: 'body',
    viewport: { width: 390, height: 844 },
  },
  {
    file: 'docs/page-print.png',
    source: 'page',
    look: 'desk',
    section: 'body',
    viewport: { width: 718, height: 1000 },
    media: 'print',
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
  for (const { file, source, look, section, viewport, ...rest } of kept) {
    const context = await browser.newContext({
      ...looks[look],
      viewport,
      deviceScaleFactor: 1,
      timezoneId: 'Europe/Berlin',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    await page.goto(pathToFileURL(sources[source]).href)
    if ('media' in rest) await page.emulateMedia({ media: rest.media })
    await page
      .locator(section)
      .evaluate(element => (element as unknown as { scrollIntoView(): void }).scrollIntoView())
    await page.screenshot({ path: file })
    await context.close()
  }
}

const typed = [
  'highwater audit --snapshot highwater-out/snapshot.ndjson.gz --quiet',
  'highwater audit --snapshot highwater-out/snapshot.ndjson.gz --cluster incidents -o table',
]
const shownLines = 14

/** The demo's report and mail, which open in a browser, and a recording of a terminal. */
function keepSamples({ page, mail }: { page: string; mail: string }, folder: string): void {
  mkdirSync('docs/sample', { recursive: true })
  copyFileSync(page, 'docs/sample/report.html')
  copyFileSync(mail, 'docs/sample/email.html')
  const demo = dirname(page)
  const commands = typed.map(command => {
    const args = command.replace('highwater-out', demo).split(' ').slice(1)
    const output = execFileSync(process.execPath, ['bin/highwater.mjs', ...args, '--out', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const lines = String(output)
      .replaceAll(folder, '/home/ada/highwater-out')
      .replaceAll(demo, 'highwater-out')
      .trim()
      .split('\n')
    return { command, output: lines.slice(0, shownLines).join('\n') }
  })
  writeFileSync('docs/terminal.svg', terminalSvg(commands))
}

/** Of the demo's later mornings, which say what happened since the one before. */
function laterMornings() {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-mornings-'))
  const [secondMail, thirdMail] = ['1', '2', '3']
    .map(morning => {
      execFileSync(
        process.execPath,
        ['bin/highwater.mjs', 'demo', '--morning', morning, '--out', folder],
        { stdio: 'ignore' },
      )
      const mail = join(folder, `email-${morning}.html`)
      copyFileSync(join(folder, 'email.html'), mail)
      return mail
    })
    .slice(1) as [string, string]
  return { secondMail, thirdMail, thirdPage: join(folder, 'report.html') }
}

/** The mail after a run that read most nodes in part only, which it says of each finding. */
function unreadMail(folder: string): string {
  const report = withCauses(morningReport())
  const lost =
    'not known now of ip-10-0-1-41.ec2.internal (SSM SendCommand to 30 instances: broken)'
  const hidden = report.document.findings.map(each => ({
    ...each,
    ...{ since: '2026-11-19', lastSeen: '2026-11-20', isNew: true, why: [lost, lost] },
  }))
  const file = join(folder, 'unread.html')
  const before = { ...lastRun(), hidden, ended: endedOf('fixed') }
  writeFileSync(file, renderMail(withWeek({ ...report, before }), []).html)
  return file
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
  options: {
    out: { type: 'string' },
    demo: { type: 'string' },
    docs: { type: 'boolean' },
    sizes: { type: 'boolean' },
  },
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
    const fleet = fleetOf(dirname(sources.page))
    const over = await measure(browser, {
      ...sources,
      ...fleet,
      ...laterMornings(),
      unreadMail: unreadMail(folder),
    })
    if (over.length > 0) throw new Error(`Over the bound: ${over.join('; ')}`)
    if (values.docs) {
      await keepPictures(browser, sources)
      keepSamples(sources, folder)
    }
    if (!values.docs && !values.sizes) await takePictures(browser, sources, folder)
  } finally {
    await browser.close()
  }
  process.stdout.write(`${folder}\n`)
}
