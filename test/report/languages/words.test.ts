/** Every sentence of page, mail and summary is a message of the catalogue. */
import { describe, expect, it } from 'vitest'
import { summaryText } from '#cli/summary.ts'
import type { AuditReport, Delivery } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { renderMail } from '#report/mail/mail.ts'
import { pageView } from '#report/page/view.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import { withWeek } from '#test/remembered-week.ts'
import { lastRun, morningReport, quietReport } from '#test/report-builder.ts'
import { marked, unmarked } from './marked.ts'

/** Names and texts of the world: what is no number becomes a word that is none. */
const foreign = new Set([
  'title',
  'consequence',
  'what',
  'value',
  'why',
  'fix',
  'sources',
  'reason',
  'message',
  'name',
  'sample',
  'snippet',
  'command',
  'place',
  'cluster',
  'error',
  'location',
  'family',
  'namespace',
  'rule',
  'rules',
  'account',
  'region',
  'instanceType',
  'eviction',
  'imageGC',
  'node',
  'resource',
  'inputErrors',
])
function strange<T>(value: T, key = ''): T {
  // Its texts are all enumerations.
  if (key === 'growth') return value
  if (typeof value === 'string')
    return (foreign.has(key) && !/^[\d.%]+\w*$/.test(value) ? `Zz${value.length}` : value) as T
  if (typeof value === 'function') return (() => strange(value())) as T
  if (Array.isArray(value)) return value.map(item => strange(item, key)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      strange(item, Number.isNaN(Number(name)) ? name : key),
    ]),
  ) as T
}

const morning = morningReport()
const plan = {
  state: 'made',
  id: 'Zz',
  nodes: 12,
  waves: 3,
  never: 1,
  refused: 2,
  unchanged: 9,
  digest: 'Zz',
  command: 'Zz',
} as const
const ended = [
  {
    ...lastRun().delta.findings.find(({ change }) => change === 'fixed')!,
    severity: 'high',
    since: '2026-11-01',
    lastSeen: '2026-11-20',
    ended: 'gone',
    on: '2026-11-21',
  } as const,
]
const reports: Record<string, AuditReport> = {
  morning: strange(
    withWeek({ ...morning, before: { ...lastRun(), ended }, plan, garbage: [overviewOf()] }),
  ),
  first: strange(morning),
  quiet: strange(quietReport([])),
}
const deliveries: Delivery[] = strange([
  { channel: 's3', location: 's3://audits', link: null, error: null },
  { channel: 'folder', location: null, link: null, error: 'The disk is full.' },
])

/** Field names, units and proper names, which no language translates. */
const terms =
  /\b(?:policy alertPercent|DiskPressure|(?:nodefs|imagefs|containerfs|memory|pid|allocatableMemory)\.(?:available|inodesFree)|imageGC\w+|KubeletConfiguration|evictionHard|Nodegroup|NodePool|Cluster|Node|nodefs = imagefs|nodefs|imagefs|managed-nodegroup|karpenter|AL2023|AL2|Windows|highwater explain|highwater|UTC|[KMGT]iB|\d+[KMG]i|fargate|other|nodeadm|eksctl|nodegroup|nodepool|inode|B|min|h|d|s|v\d[\d.]*|get nodes\/proxy|mode proxy|proxy|report\.html|[Zz]z\d*|S3|[A-F])\b/g
const strangeWords = (pieces: string[]) =>
  pieces.map(piece => piece.replace(terms, '').trim()).filter(piece => /[a-z]{2}/i.test(piece))

const decoded = (html: string) =>
  html
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

/** Texts, and the attributes that are read out or shown. */
function shownTexts(html: string): string[] {
  const body = html.replace(/<(script|style)>[\s\S]*?<\/\1>|<!--[\s\S]*?-->|<!doctype[^>]*>/gi, '')
  const attributes = [
    ...body.matchAll(/\s(?:aria-label|title|alt|data-label|placeholder)="([^"]*)"/g),
  ].map(([, text]) => text!)
  return [...body.split(/<[^>]*>/), ...attributes].map(decoded).filter(text => text.trim() !== '')
}

describe('with every message marked', () => {
  it.each(Object.entries(reports))('the page has no text of its own: %s', (_, report) => {
    const texts = shownTexts(renderPage(pageView(report, marked)))
    expect(texts.length).toBeGreaterThan(50)
    expect(strangeWords(texts.flatMap(unmarked))).toEqual([])
  })

  it.each(Object.entries(reports))(
    'the mail has none, in both parts, its subject and its brief: %s',
    (_, report) => {
      for (const [sent, owner] of [
        [deliveries, 'Zz'],
        [[], null],
      ] as const) {
        const { html, text, subject, brief } = renderMail(report, [...sent], {
          owner,
          unsubscribe: ['Zz'],
          language: marked,
        })
        expect(strangeWords(shownTexts(html).flatMap(unmarked))).toEqual([])
        for (const part of [text, brief]) expect(strangeWords(unmarked(part))).toEqual([])
        expect(unmarked(subject).length).toBeGreaterThan(0)
      }
    },
  )

  it.each(Object.entries(reports))('the summary has none: %s', (_, report) => {
    const ruleErrors = [{ rule: 'Zz', cluster: 'Zz', node: 'Zz', message: 'Zz' }]
    const options = { hasColour: false, language: marked }
    for (const isVerbose of [true, false])
      expect(
        strangeWords(unmarked(summaryText({ report, ruleErrors }, { ...options, isVerbose }))),
      ).toEqual([])
  })
})
