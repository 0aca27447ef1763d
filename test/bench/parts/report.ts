/** How long the page of a large fleet takes to make, how heavy it is, and how soon a browser shows and filters it, where there is one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { rules } from '#judge/rules/index.ts'
import type { AuditReport } from '#model/report.ts'
import { html } from '#report/formats/html.ts'
import { renderMail } from '#report/mail/mail.ts'
import { browserPath, openBrowser } from '#test/browser.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  finding,
  GiB,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'
import type { Part } from '../main.ts'
import { measured, type Row } from '../measure.ts'

const runs = 5
const manyFindings = 60_000
const manyGroups = 350

export const reportPart: Part = {
  name: 'report',
  nodes: 5000,
  targets: ([page, mail]) => {
    if (page === undefined || mail === undefined) return []
    const otherwise = 'each node has a row of its own; next: shorter rows'
    return [
      {
        what: 'page of 5,000 nodes below 1.5 MB',
        figure: `${(page.bodyBytes / 1e6).toFixed(2)} MB`,
        isMet: page.bodyBytes < 1.5e6,
        otherwise,
      },
      {
        what: 'and made within 2 s',
        figure: `${(page.wallMs / 1000).toFixed(2)} s`,
        isMet: page.wallMs < 2_000,
        otherwise,
      },
      {
        what: 'mail of 5,000 nodes in 32 clusters below 60 KB',
        figure: `${(mail.bodyBytes / 1000).toFixed(1)} KB`,
        isMet: mail.bodyBytes < 60_000,
        otherwise: 'each cause and each node has its lines; next: fewer nodes under the report',
      },
    ]
  },

  async run(nodes, say) {
    const usual = fleetReport(nodes, 900)
    const crowded = fleetReport(nodes, manyFindings)
    const manyGrouped = fleetReport(nodes, 900, manyGroups)
    const rows = [
      sizeRow(`page of ${nodes} nodes and 900 findings`, nodes, () => html.render(usual)),
      mailRow(nodes),
      sizeRow(`page of ${nodes} nodes and ${manyFindings} findings`, nodes, () =>
        html.render(crowded),
      ),
      sizeRow(`page of ${nodes} nodes in ${manyGroups} groups`, nodes, () =>
        html.render(manyGrouped),
      ),
    ]
    if (browserPath === null) {
      say(
        'There is no Chromium here, so nothing is measured in one: install it, or name it in CHROMIUM.',
      )
      return rows
    }
    return [...rows, ...(await browserRows(nodes, html.render(usual)))]
  },
}

function sizeRow(name: string, nodes: number, render: () => string): Row {
  let body = ''
  const row = measured(name, nodes, runs, () => {
    body = render()
  })
  return { ...row, bodyBytes: Buffer.byteLength(body) }
}

/** One group of nodes in each of 32 clusters. */
function mailRow(count: number): Row {
  const report = fleetReport(count, 900, 32)
  const nodes = report.nodes.map((node, index) => ({ ...node, cluster: `cluster-${index % 32}` }))
  const name = `mail of ${count} nodes in 32 clusters`
  return sizeRow(name, count, () => renderMail({ ...report, nodes }, []).html)
}

/** By default groups of 200 nodes; every hundredth node could not be read. A week is remembered of them. */
function fleetReport(
  count: number,
  findingCount: number,
  groups = Math.ceil(count / 200),
): AuditReport {
  const nodes = Array.from({ length: count }, (_, index) => {
    const name = `ip-10-${(index >> 8) & 255}-${index & 255}-17.eu-central-1.compute.internal`
    const identity = { group: nodegroup(`group-${index % groups}`) }
    if (index % 100 === 7)
      return unreadNode(
        name,
        [
          {
            what: 'configz',
            message: '503 Service Unavailable: dial tcp 10.8.3.77:10250: connection refused',
          },
        ],
        { identity },
      )
    const isSplit = index % 3 === 0
    const prediction = isSplit
      ? dedicatedDisks(
          filesystem(20 * GiB, (1 + (index % 17)) * GiB),
          filesystem(200 * GiB, (20 + (index % 170)) * GiB),
        )
      : sharedDisk(20 + ((index * 7) % 71))
    return auditedNode(name, prediction, { identity })
  })
  const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
  const findings = Array.from({ length: findingCount }, (_, index) =>
    finding(severities[index % severities.length]!, {
      rule: `rule-${index % 60}`,
      subject: nodegroup(`group-${index}`),
      cluster: `cluster-${index % 40}`,
      nodes: {
        count: 200,
        sample: nodes
          .slice(index % count, (index % count) + 20)
          .map(({ identity }) => identity.name),
      },
    }),
  )
  const [row] = overviewOf().rows
  const garbage = Array.from({ length: 40 }, (_, index) =>
    overviewOf({
      cluster: `cluster-${index}`,
      rows: rules.flatMap(({ id, family }) =>
        family === 'cluster-gc' ? [{ ...row!, rule: id }] : [],
      ),
    }),
  )
  return withWeek({ ...quietReport(nodes, { findings }), garbage })
}

async function browserRows(nodes: number, html: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const file = join(folder, 'report.html')
  writeFileSync(file, html)
  const browser = await openBrowser()
  try {
    const painted: number[] = []
    const filtered: number[] = []
    for (let run = 0; run < runs; run++) {
      const page = await browser.newPage()
      await page.goto(pathToFileURL(file).href)
      painted.push(await firstPaintMs(page))
      filtered.push(await filterMs(page))
      await page.close()
    }
    return [
      browserRow('Chromium: first content of that page', nodes, painted, html),
      browserRow('Chromium: filter its nodes', nodes, filtered, html),
    ]
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true })
  }
}

const firstPaintMs = (page: Page) =>
  page.evaluate<number>(`new Promise(resolve => {
    const seen = () => performance.getEntriesByName('first-contentful-paint')[0]
    const look = () => (seen() ? resolve(seen().startTime) : requestAnimationFrame(look))
    look()
  })`)

/** From the key to the next frame: three searches, the slowest of them. */
const filterMs = (page: Page) =>
  page.evaluate<number>(`(async () => {
    const field = document.querySelector('#nodes input')
    let slowest = 0
    for (const text of ['1', 'ip-10-3', 'group-7']) {
      field.value = text
      const startMs = performance.now()
      field.dispatchEvent(new Event('input', { bubbles: true }))
      document.body.getBoundingClientRect()
      slowest = Math.max(slowest, performance.now() - startMs)
      await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
    }
    return slowest
  })()`)

function browserRow(name: string, nodes: number, samples: number[], html: string): Row {
  const wallMs = samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN
  return {
    name,
    nodes,
    runs: samples.length,
    wallMs,
    cpuMs: 0,
    peakRssBytes: 0,
    requests: 0,
    bodyBytes: Buffer.byteLength(html),
  }
}
