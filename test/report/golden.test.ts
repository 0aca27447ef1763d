/**
 * The wording of page, mail and terminal, in one golden file each, with whitespace normalised.
 * A change of wording: `npx vitest run test/report/golden.test.ts -u`, then read the difference.
 */

import { expect, it } from 'vitest'
import { summaryText } from '#cli/summary.ts'
import { holders } from '#facts/holders.ts'
import type { RemediationNotices, ReportedRun } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { usualSize } from '#report/mail/view.ts'
import { pageView } from '#report/page/view.ts'
import { storyOf } from '#report/terminal/story.ts'
import { hard, soft } from '#test/example.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import { buildNode } from '#test/node-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import { lastRun, morningReport } from '#test/report-builder.ts'

const ended = {
  ...lastRun().delta.findings.find(({ change }) => change === 'fixed')!,
  severity: 'high',
  since: '2026-11-01',
  lastSeen: '2026-11-20',
  ended: 'gone',
  on: '2026-11-21',
} as const
const report = withWeek({
  ...morningReport(),
  before: { ...lastRun(), ended: [ended] },
  garbage: [overviewOf()],
})
const plan = {
  state: 'made',
  id: 'plan-1',
  nodes: 12,
  waves: 3,
  never: 1,
  refused: 2,
  unchanged: 9,
  digest: 'sha256:0123',
  command: 'highwater approve plan.json',
} as const

const run: ReportedRun = {
  ...{ run: '0123456789abcdef', clusters: ['prod-eu'] },
  ...{ state: 'done', planned: 12, changed: 11, failed: 1, rolledBack: 0 },
  approvedBy: ['Ada Lovelace (arn:aws:iam::111122223333:user/ada)'],
  startedAt: '2026-11-21T04:00:00Z',
  endedAt: '2026-11-21T04:25:00Z',
  at: '2026-11-21T04:25:00Z',
  place: 's3://audits/remediation/runs/0123456789abcdef/report.json',
}
const notices: RemediationNotices = {
  runs: [
    run,
    {
      ...{ ...run, run: 'fedcba9876543210', state: 'paused', endedAt: null },
      ...{ approvedBy: ['policy (arn:aws:iam::111122223333:user/ada)'], changed: 3, failed: 0 },
    },
  ],
  refused: ['remediate refused s3://audits/remediation/runs/x/run.json: it has no valid seal'],
}

/** One line for each text of the page. */
const textsOf = (html: string) =>
  html
    .replace(/<(style|script|head)>[\s\S]*?<\/\1>|<!--[\s\S]*?-->/g, '')
    .replace(/<\/?(?:span|b|bdi|tspan|time|abbr|code)\b[^>]*>/g, '')
    .split(/<[^>]*>/)
    .map(text => text.replaceAll('&nbsp;', ' ').replace(/\s+/g, ' ').trim())
    .filter(text => text !== '')
    .join('\n')

it('the page', async () => {
  const page = renderPage(pageView({ ...report, plan, notices }, english))
  await expect(`${textsOf(page)}\n`).toMatchFileSnapshot('golden/page.txt')
})

it('the mail', async () => {
  const deliveries = [
    { channel: 's3', location: 's3://audits', link: 'https://reports.example.com/', error: null },
    { channel: 'folder', location: null, link: null, error: 'The disk is full.' },
  ]
  const options = { language: english, owner: 'payments', unsubscribe: ['mailto:stop@example.com'] }
  const whole = [usualSize]
  const { subject, text, brief } = renderMail(
    { ...report, plan, notices },
    deliveries,
    options,
    whole,
  )
  await expect(`${subject}\n\n${text}\n${brief}\n`).toMatchFileSnapshot('golden/mail.txt')
})

it('the terminal', async () => {
  const ruleErrors = [{ rule: 'peer-drift', cluster: 'prod-eu', node: 'n1', message: 'boom' }]
  const summary = summaryText({ report, ruleErrors }, { hasColour: false, language: english })
  const { prediction } = buildNode()
  const pods = ['a', 'b'].map((name, rank) => ({
    namespace: 'x',
    name,
    rank,
    qos: '',
    priority: 0,
    usage: 1,
    request: 0,
    reason: `reason ${name}`,
  }))
  const evicting = {
    ...prediction,
    eviction: {
      ...prediction.eviction!,
      thresholds: [hard('nodefs.available', 10, 9), soft('memory.available', 1, 90_000)],
      conditions: ['DiskPressure' as const],
      actsOn: ['nodefs.available' as const],
      nodeReclaim: ['containers' as const, 'images' as const],
      victims: [
        { namespace: 'x', name: 'a', certainty: 'certain' as const },
        { namespace: 'x', name: 'b', certainty: 'possible' as const },
      ],
      rankings: [{ signal: 'nodefs.available' as const, pods }],
    },
  }
  const stories = [prediction, { ...prediction, imageGC: null, eviction: null }, evicting].map(
    one => storyOf(one, null, text => text, holders),
  )
  await expect([summary, ...stories].join('\n')).toMatchFileSnapshot('golden/terminal.txt')
})
