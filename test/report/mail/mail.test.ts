import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { Change, Ending } from '#model/delta.ts'
import { type FindingsDocument, type Severity, severities } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { AuditReport, Delivery, HiddenFinding, RunBefore } from '#model/report.ts'
import { renderMailHtml, renderMailText } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { mailChanges } from '#report/mail/changes.ts'
import { hasNews, renderMail, reportLink } from '#report/mail/mail.ts'
import { type MailView, mailView, usualSize } from '#report/mail/view.ts'
import { worstFirst } from '#report/parts/findings.ts'
import {
  adviceWith,
  assumptions,
  auditedNode,
  clusterResult,
  copyOf,
  deltaWith,
  everyString,
  finding,
  findingsDocument,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
  withCauses,
} from '#test/report-builder.ts'
import { isSlow } from '#test/slow.ts'
import { watched } from '#test/watched.ts'

const { words } = english

const morning = morningReport()
const link = 'https://reports.example.com/runs/2026-11-21T05-00-00Z/report.html'
const stored: Delivery = {
  channel: 's3',
  location: 's3://audits/runs/2026-11-21T05-00-00Z',
  link: null,
  error: null,
}
const linked: Delivery = { ...stored, link }
const down: Delivery = {
  channel: 's3',
  location: null,
  link: null,
  error: 'The bucket audits does not exist in eu-central-1. Create it, or name another one.',
}
const mail = renderMail(morning, [linked])
const toOwner = { language: english, owner: 'payments', unsubscribe: ['mailto:stop@example.com'] }
const endedBy = "run's deadline of 840 s"
const deadline = `not reached before the ${endedBy}`

/** What a reader of the HTML sees, in one line. */
const seen = (html: string) =>
  html
    .replace(/<(style|head)>[\s\S]*?<\/\1>|<!--[\s\S]*?-->/g, '')
    .replace(/<div aria-hidden[^>]*>[^<]*<\/div>/, '')
    .replace(/<\/?(?:span|b)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&#x([0-9A-F]+);/gi, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
const flat = (text: string) => text.replace(/\s+/g, ' ')

function cutShort(): AuditReport {
  const report = copyOf(morning)
  const late = Array.from({ length: 12 }, (_, index) => ({
    cluster: 'staging',
    node: `late-${index}`,
    cause: 'sources' as const,
    reason: `configz: ${deadline}; summary: ${deadline}`,
    endedBy,
  }))
  report.document.notAudited.push(...late, {
    cluster: 'prod-ap',
    node: null,
    cause: 'nodes',
    reason: `nodes: the list of nodes could not be read to its end: ${deadline}`,
    endedBy,
  })
  report.nodes.find(({ coverage }) => coverage === 'partlyRead')!.errors = [
    { what: 'summary', message: deadline, endedBy },
  ]
  return report
}

/** Of a hostile report: more than any list of the mail shows. */
const crowd = isSlow
  ? { nodes: 5000, findings: 300, clusters: 200 }
  : { nodes: 150, findings: 60, clusters: 40 }

/** Every string of a report as somebody hostile would write it. */
function hostileReport(text: string): AuditReport {
  const kept =
    /^(critical|high|medium|low|info|certain|likely|possible|read|partlyRead|notRead|Nodegroup|nodeadm)$/
  const findings = Array.from({ length: crowd.findings }, (_, index) =>
    finding((['critical', 'high', 'low'] as Severity[])[index % 3]!, {
      nodes: { count: crowd.nodes, sample: Array(20).fill(text) },
      fix: {
        config: Object.fromEntries(
          Array.from({ length: 30 }, (_, key) => [`${text}${key}`, { [text]: text }]),
        ),
        durable: [{ target: 'nodeadm', snippet: text }],
      },
      steps: adviceWith(text),
      since: text,
    }),
  )
  const nodes = Array.from({ length: crowd.nodes }, (_, index) =>
    unreadNode(`n${index}`, [{ what: 'configz', message: text }]),
  )
  const document = findingsDocument({
    clusters: Array.from({ length: crowd.clusters }, () => clusterResult(text)),
    findings,
    waived: findings,
    notAudited: Array.from({ length: crowd.nodes }, (_, index) => ({
      cluster: text,
      node: index % 2 === 0 ? null : `${index}${text}`,
      cause: 'sources',
      reason: `${index}${text}`,
    })),
  })
  const replaced = everyString({ document, nodes }, value =>
    kept.test(value) ? value : text,
  ) as Pick<AuditReport, 'document' | 'nodes'>
  // Kinds of causes and steps are enumerations.
  replaced.document.findings.forEach((found, index) => {
    Object.assign(found, { cause: document.findings[index]!.cause, steps: adviceWith(text) })
  })
  replaced.document.notAudited.forEach((entry, index) => {
    entry.reason = `${index}${text}`
  })
  return withCauses({ ...replaced, alertPercent: 80, assumptions })
}

it('shows no command in place of one that is too long for a mail', () => {
  const long = `aws ssm start-session --parameters ${'du '.repeat(200)}`
  const node = auditedNode('ip-10-0-1-17', sharedDisk(50))
  const report = withCauses({
    ...quietReport([node]),
    document: findingsDocument({
      findings: [
        finding('high', {
          cluster: node.cluster,
          nodes: { count: 1, sample: [node.identity.name] },
          steps: adviceWith(long),
        }),
      ],
    }),
  })
  const view = mailView(report, [], usualSize, { owner: null, unsubscribe: [], language: english })
  const [card] = view.causes?.cards ?? []
  expect(card?.commands).toEqual([])
  expect(card?.step).toContain(words.mail.inReport(''))
})

it('names waivers that need care, the first three', () => {
  const waiverNotices = (['ends-soon', 'no-cluster', 'idle', 'expired'] as const).map(state => ({
    rule: 'peer-drift',
    match: { cluster: 'prod' },
    until: '2026-11-25',
    state,
  }))
  const document = { ...morning.document, waiverNotices }
  const { text, html } = renderMail({ ...morning, document }, [linked])
  const notices = waiverNotices.map(({ state }) =>
    words.waived.notices[state]('peer-drift, cluster prod', '2026-11-25'),
  )
  for (const [index, notice] of notices.entries()) {
    expect(text.replace(/\s+/g, ' ').includes(notice)).toBe(index < 3)
    expect(html.includes(notice)).toBe(index < 3)
  }
})

describe('the mail of a morning', () => {
  const shown = flat(mail.text)
  it('says what was not audited, equal reasons together', () => {
    expect(shown).toContain(
      `${words.mail.headings.notAudited} ${words.verdict.notAudited(3, 1)} - ${words.notAudited.cluster('prod-us')} The API server of prod-us did not answer`,
    )
    const report = cutShort()
    const refused = { cluster: 'staging', node: 'a', cause: 'sources' as const, reason: 'refused' }
    report.document.notAudited = [...report.document.notAudited, refused]
    const late = flat(renderMail(report, []).text)
    expect(late).toContain(
      `- 12 nodes of staging: late-0, late-1 and 10 more configz: ${deadline}; summary: ${deadline}`,
    )
    expect(late).toContain(words.notAudited.more(1, 1))
    expect(late).not.toContain('fargate-ip')
  })
  it('says where the report is', () => {
    expect(shown).toContain(
      `Open the report: ${link} All runs: https://reports.example.com/index.html - S3: s3://audits/runs/2026-11-21T05-00-00Z`,
    )
    expect(shown).not.toContain('attached')
  })
  it('is the same bytes for the same report, in whatever order it lists things', () => {
    const again = copyOf(morning)
    again.nodes.reverse()
    again.document.findings.reverse()
    again.document.notAudited.reverse()
    expect(renderMail(again, [linked])).toEqual(mail)
  })
  it('has no line of more than 78 columns but for a name', () => {
    // A command stays on one line, so that it can be copied.
    for (const line of renderMail(cutShort(), [down]).text.split('\n'))
      if (/\S .*\S/.test(line.trim()) && !/^ {6}(?:kubectl|aws|highwater) /.test(line))
        expect(line.length).toBeLessThanOrEqual(78)
  })
  it('renders where nothing may be compiled at run time', () => {
    const script = `
      const { renderMail } = await import('#report/mail/mail.ts')
      const { morningReport } = await import('./test/support/report-builder.ts')
      process.stdout.write(renderMail(morningReport(), ${JSON.stringify([linked])}).html)`
    const options = [
      '--disallow-code-generation-from-strings',
      '--input-type=module',
      '--eval',
      script,
    ]
    expect(execFileSync(process.execPath, options, { encoding: 'utf8' })).toBe(mail.html)
  })
})

describe('what happened since the last run', () => {
  type Happened = NonNullable<AuditReport['nodes'][0]['happened']>
  const mailOf = (...happened: Happened) => mailOfNode(0, happened)
  const mailOfNode = (at: number, happened: Happened) => {
    const report = morningReport()
    const nodes = report.nodes.map((node, index) => ({
      ...node,
      happened: index === at ? happened : [],
    }))
    const { text } = renderMail({ ...report, nodes }, [linked])
    return text.replaceAll('\u00a0', ' ').replace(/\s+/g, ' ')
  }
  const at = morning.document.run.takenAt
  const evicted = (name: string) =>
    ({ at, what: 'evicted', subject: `shop/${name}`, message: 'low' }) as const
  const condition = (status?: 'True' | 'False') =>
    ({ at, what: 'condition', subject: 'DiskPressure', message: '', status }) as const

  it('names a pod, and its node if the verdict does not begin with it', () => {
    const { cluster, identity } = morning.nodes[2]!
    const node = `${cluster}/${identity.name}`
    const both = [evicted('web'), evicted('cart')]
    expect(mailOf(evicted('web'))).toContain('1 pod evicted on 1 node (shop/web)')
    expect(mailOf(...both)).toContain('2 pods evicted on 1 node (one is shop/web)')
    expect(mailOfNode(2, both)).toContain(`2 pods evicted on 1 node (one is shop/web on ${node})`)
    expect(mailOfNode(2, both.slice(1))).toContain(`1 node (shop/cart on ${node})`)
    const refused = { ...evicted('api'), what: 'refused' } as const
    expect(mailOf(refused)).toContain('1 pod refused by 1 node (shop/api)')
    expect(mailOf(evicted('web'), refused)).toContain('), 1 pod refused by 1 node')
  })

  it.each([
    ['True', 'began'],
    ['False', 'ended'],
    [undefined, 'changed'],
  ] as const)('says of a condition that is now %s that it %s', (status, word) => {
    expect(mailOf(condition(status))).toContain(`DiskPressure ${word} at`)
  })
})

describe('the mail of a second morning', () => {
  const [, early] = morning.document.findings.toSorted(worstFirst)
  const change = (what: Change, ...why: string[]) => ({ change: what, why })
  const ended = (id: string, how: Ending, more: Partial<PastFinding> = {}): PastFinding => ({
    id,
    rule: 'image-gc-dead',
    cluster: 'staging',
    subject: nodegroup('edge'),
    title: `Image GC is dead (${id})`,
    severity: 'high',
    since: '2026-11-01',
    lastSeen: '2026-11-20',
    ended: how,
    on: '2026-11-21',
    ...more,
  })
  const second = (
    before: Partial<RunBefore>,
    delta: Partial<FindingsDocument['delta']> = {},
  ): AuditReport => ({
    ...morning,
    document: {
      ...morning.document,
      delta: { new: [], resolved: [], worse: [], regressed: [], ...delta },
    },
    before: {
      takenAt: '2026-11-20T05:00:00Z',
      delta: deltaWith([]),
      ended: [],
      readAgain: [],
      hidden: [],
      absent: [],
      returned: [],
      unread: [],
      ...before,
    },
  })

  const hidden = (id: string, more: Partial<HiddenFinding> = {}): HiddenFinding => ({
    id,
    rule: 'eviction-due',
    cluster: 'staging',
    subject: nodegroup('edge'),
    title: `Pods are evicted (${id})`,
    severity: 'critical',
    nodes: { count: 1, sample: ['ip-10-0-9-9'] },
    since: '2026-11-01',
    lastSeen: '2026-11-20',
    isNew: true,
    why: ['unknown now of ip-10-0-9-9 (configz: HTTP 503)'],
    ...more,
  })
  const viewOf = (report: AuditReport) =>
    mailView(report, [linked], usualSize, { owner: null, unsubscribe: [], language: english })

  it('names findings that could not be checked: those of the last run first, worst first', () => {
    const report = second({
      hidden: [
        hidden('a', { severity: 'low' }),
        hidden('b'),
        hidden('c', { isNew: false, severity: 'high' }),
        hidden('d', { isNew: false, severity: 'info' }),
      ],
    })
    const { hidden: view } = viewOf(report)
    expect(view!.list.map(({ severity, title }) => [severity, title])).toEqual([
      ['critical', 'Pods are evicted (b)'],
      ['low', 'Pods are evicted (a)'],
      ['high', 'Pods are evicted (c)'],
    ])
    expect(view!.title).toBe(words.changes.hidden(4))
    expect(view!.leftOut).toBe(words.changes.moreHidden(1, ['1 info']))
    expect(view!.list[0]!.why).toMatchSnapshot()
    expect(viewOf(second({})).hidden).toBeNull()
  })
  it('shows fewer findings and causes after a run that lost much, and still counts them', () => {
    const why = ['unknown now of ip-10-0-9-9 (SSM SendCommand to 30 instances failed)']
    const lost = second({ hidden: [...'abcdefghijklmn'].map(id => hidden(id, { why })) })
    const { text, brief } = renderMail(lost, [linked])
    const named = (shown: string) => shown.match(/Pods are evicted \(\w\)/g)?.length
    expect(named(text)).toBe(1)
    expect(text).toContain(words.changes.hidden(14))
    expect(flat(text)).toContain('and 13 more findings: 13 critical.')
    // Messengers have limits of their own.
    expect(named(brief)).toBe(3)
  })
  it('has no news of findings that could not be checked before, either', () => {
    const still = second({ hidden: [hidden('a', { isNew: false })] })
    expect(hasNews(still, [stored])).toBe(false)
    expect(viewOf(still).verdict.change).toBe(words.changes.nothing('2026-11-20 05:00 UTC'))
    expect(viewOf(still).hidden!.list).toHaveLength(1)
  })
  it('names what ended, worst first, and how, and counts the rest', () => {
    const report = second({
      ended: [
        ended('b', 'replaced'),
        ended('a', 'fixed'),
        ended('c', 'gone', { severity: 'critical' }),
        ended('d', 'moved', { severity: 'low' }),
      ],
    })
    const { ended: view, verdict } = viewOf(report)
    expect(view!.list.map(({ title, how }) => [title, how])).toEqual([
      ['Image GC is dead (c)', words.returned.endings.gone],
      ['Image GC is dead (a)', words.returned.endings.fixed],
      ['Image GC is dead (b)', words.returned.endings.replaced],
    ])
    expect(view!.leftOut).toBe(words.changes.moreEnded(1))
    const { counts } = words.changes
    expect(verdict.change).toBe(
      words.changes.some('2026-11-20 05:00 UTC', [
        counts.moved(1),
        counts.resolved(2),
        counts.gone(1),
      ]),
    )
    expect(viewOf(second({})).ended).toBeNull()
  })
  it('tells moved, unclear and waived findings apart', () => {
    const [, , unwatched] = morning.document.findings.toSorted(worstFirst)
    const [waived] = morning.document.waived
    const report = second({
      delta: deltaWith([
        [waived!.id, change('waivedSince', 'waived until 2026-12-31: known')],
        [early!.id, change('moved', 'started on 1 node: a')],
        [unwatched!.id, change('cannotTell', 'open before on 1 node')],
      ]),
    })
    const { listed, counts } = mailChanges(report, english)
    expect(
      listed
        .filter(({ kind }) => kind !== 'unchanged')
        .map(({ finding, kind, why }) => [finding.id, kind, why]),
    ).toEqual([
      [early!.id, 'moved', ['started on 1 node: a']],
      [unwatched!.id, 'cannotTell', ['open before on 1 node']],
      [waived!.id, 'waivedSince', ['waived until 2026-12-31: known']],
    ])
    const countWords = words.changes.counts
    expect(counts).toEqual([
      countWords.cannotTell(1, 0),
      countWords.moved(1),
      countWords.waivedSince(1),
    ])
    const labels = viewOf(report).causes!.cards.map(({ label }) => label)
    expect(labels).toContain(words.changes.labels.moved)
  })
  it('says in its subject what changed', () => {
    const before = { delta: deltaWith([[early!.id, change('new')]]) }
    const report = second(before)
    const { subject } = viewOf(report)
    const { counts } = mailChanges(report, english)
    expect(counts).toEqual([words.changes.counts.new(1)])
    for (const part of [words.subject.evicting(2, 'ip-10-0-1-10', 'prod-eu'), counts[0]!])
      expect(subject).toContain(part)
    expect(viewOf(second({})).subject).toBe(
      '2 nodes evict now, first ip-10-0-1-10 (prod-eu); no change - highwater 2026-11-21',
    )
  })
  it('puts subject, change, causes, endings and link into its brief, in this order', () => {
    const report = second({
      delta: deltaWith([[early!.id, change('new')]]),
      ended: [ended('a', 'fixed')],
      hidden: [hidden('h')],
    })
    const { brief, subject } = renderMail(report, [linked])
    const view = viewOf(report)
    const parts = [
      subject,
      view.verdict.change!,
      ...view.causes!.cards.map(({ title }) => title),
      'Pods are evicted (h)',
      'Image GC is dead (a)',
      link,
    ]
    const places = parts.map(part => brief.indexOf(part))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    const evil = renderMail(hostileReport('x'.repeat(10_000)), [linked]).brief
    expect(evil.length).toBeLessThanOrEqual(3000)
    expect(evil.endsWith(link)).toBe(true)
  })
  it('says which clusters are not in it, and what stood there', () => {
    const names = ['b', 'c', 'd'].map(cluster => ({ cluster, severities: [], isNew: true }))
    const away = second({
      absent: [{ cluster: 'prod-us', severities: ['high', 'critical'], isNew: false }, ...names],
    })
    expect(flat(renderMail(away, [linked]).text)).toContain(
      `UTC: ${words.changes.counts.absent(3)}. ${words.changes.absent(['prod-us', 'b', 'c'], 1, 2, ['1 critical', '1 high'])}`,
    )
    const chosen = second({ absent: [{ cluster: 'prod-us', severities: ['high'], isNew: false }] })
    expect(hasNews(chosen, [stored])).toBe(false)
    expect(flat(renderMail(chosen, [linked]).text)).toContain(
      `UTC. ${words.changes.absent(['prod-us'], 0, 1, ['1 high'])}`,
    )
  })

  it.each<[string, AuditReport, Delivery[], boolean]>([
    ['nothing changed', second({}), [stored], false],
    ['there is no run before', morning, [stored], true],
    [
      'something is new',
      second({ delta: deltaWith([[early!.id, change('new')]]) }),
      [stored],
      true,
    ],
    ['something ended', second({ ended: [ended('a', 'gone')] }), [stored], true],
    [
      'a node came that was not read',
      second({ unread: [{ cluster: 'staging', node: 'x', hasCome: true }] }),
      [stored],
      true,
    ],
    [
      'a finding was waived',
      second({ delta: deltaWith([[morning.document.waived[0]!.id, change('waivedSince')]]) }),
      [stored],
      true,
    ],
    [
      'a finding moved',
      second({ delta: deltaWith([[early!.id, change('moved')]]) }),
      [stored],
      true,
    ],
    ['a finding can no longer be checked', second({ hidden: [hidden('a')] }), [stored], true],
    [
      'less was read',
      second({ unread: [{ cluster: 'staging', node: null, hasCome: false }] }),
      [stored],
      true,
    ],
    ['a channel failed', second({}), [down], true],
    [
      'a plan could not be made',
      { ...second({}), plan: { state: 'failed', why: 'x' } },
      [stored],
      true,
    ],
    [
      `the ${words.terminal.input('is')} broken`,
      {
        ...second({}),
        document: { ...second({}).document, run: { ...morning.document.run, inputErrors: ['x'] } },
      },
      [],
      true,
    ],
  ])('has news or not: %s', (_, report, deliveries, news) =>
    expect(hasNews(report, deliveries)).toBe(news),
  )
})

describe('a run that was cut short', () => {
  const report = cutShort()
  const { subject, html, text } = renderMail(report, [stored])
  const said = words.cutShort.text(
    [words.cutShort.unread(12), words.cutShort.partly(1), words.cutShort.clusters(1)],
    endedBy,
  )

  it('says so first, everywhere', () => {
    expect(subject).toMatch(/^Cut short\. 2 nodes evict now, first ip-10-0-1-10 \(prod-eu\)/)
    expect(flat(text)).toContain(`UTC THIS RUN WAS CUT SHORT ${said} VERDICT`)
    expect(seen(html)).toContain(`UTC This run was cut short ${said} `)
    expect(seen(html).indexOf(said)).toBeLessThan(
      seen(html).indexOf(`${words.thresholds.row('Critical', 2)} evict now`),
    )
  })
  it('says so although every node was at least partly read', () => {
    const node = auditedNode('n1', sharedDisk(50), {
      coverage: 'partlyRead',
      errors: [{ what: 'summary', message: 'aborted', endedBy: 'run was interrupted' }],
    })
    expect(flat(renderMail(quietReport([node]), []).text)).toContain(
      `${words.mail.headings.cutShort} ${words.cutShort.partly(1)}: not reached before the run was interrupted.`,
    )
  })
  it('is no run whose nodes failed by themselves', () => {
    const node = unreadNode('n1', [{ what: 'configz', message: 'context deadline exceeded' }])
    const quiet = quietReport([node], {
      notAudited: [
        {
          cluster: 'prod-eu',
          node: 'n1',
          cause: 'sources',
          reason: 'configz: context deadline exceeded',
        },
      ],
    })
    expect(renderMail(quiet, []).text).not.toMatch(/cut short/i)
    expect(mail.text).not.toMatch(/cut short/i)
  })
})

describe('where the report is', () => {
  it('is in the mail itself without a link', () => {
    expect(flat(renderMail(morning, [stored]).text)).toContain(
      `${words.report.attached(true)} - S3: s3://audits`,
    )
    expect(flat(renderMail(morning, []).text)).toContain(words.report.attached(false))
  })
  it('names every channel that failed, and why, and says at the top that there is one', () => {
    const deliveries: Delivery[] = [
      down,
      { channel: 'folder', location: '/var/reports', link: null, error: null },
      { channel: 'sns', location: null, link: null, error: null },
    ]
    const { html, text } = renderMail(morning, deliveries)
    for (const shown of [flat(text), seen(html)]) {
      expect(shown).toContain(words.report.undelivered(['S3', 'sns']))
      expect(shown).toContain(`Not delivered: S3 ${down.error}`)
      expect(shown).toContain(`${words.report.notDelivered('sns')} ${words.report.failed}`)
      expect(shown).toContain('Folder: /var/reports')
      expect(shown).not.toContain('No store keeps it')
    }
  })
  it('counts channels beyond six', () => {
    const { text } = renderMail(morning, Array(9).fill(down))
    expect(text.match(/Not delivered: S3\n/g)).toHaveLength(6)
    expect(text).toContain(words.report.moreChannels(3))
  })
  it.each([
    [link, link],
    ['http://reports.example.com/a?b=1&c="2"', 'http://reports.example.com/a?b=1&c=%222%22'],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['file:///etc/passwd', null],
    ['//reports.example.com', null],
    ['https://user:secret@reports.example.com/', null],
    [`https://reports.example.com/${'x'.repeat(1000)}`, null],
    ['', null],
  ])('is linked by %s as %s', (given, accepted) => {
    const deliveries = [down, { ...stored, link: given }]
    expect(reportLink(deliveries)).toBe(accepted)
    const { html } = renderMail(morning, deliveries)
    const addresses = [...html.matchAll(/\shref="([^"]*)"/g)].map(([, address]) => seen(address!))
    const runs = accepted && new URL('../../index.html', accepted).href
    expect(new Set(addresses)).toEqual(new Set(accepted === null ? [] : [accepted, runs]))
  })
})

describe('the subject', () => {
  const subject = (overrides: Parameters<typeof findingsDocument>[0]) =>
    renderMail({ ...quietReport([]), document: findingsDocument(overrides) }, []).subject
  const clusters = ['a', 'b', 'c'].map(name => clusterResult(name))
  const unread = clusterResult('a', {
    grade: null,
    coverage: { nodes: 7, read: 0, partlyRead: 0, notRead: 7 },
  })

  it.each([
    [{ findings: [finding('high')] }, 'High: 1 high in prod-eu - highwater 2026-11-21'],
    [
      { clusters, findings: [finding('info', { cluster: 'b' })] },
      'Info: 1 info in b - highwater 2026-11-21',
    ],
    [
      {
        clusters,
        findings: clusters.flatMap(({ name }) =>
          Array.from({ length: 500 }, () => finding('low', { cluster: name })),
        ),
      },
      `Low: 1,500 low in ${words.clusterCount(3)} - highwater 2026-11-21`,
    ],
    [
      { findings: [finding('high', { cluster: 'x'.repeat(41) })] },
      `High: 1 high in ${words.clusterCount(1)} - highwater 2026-11-21`,
    ],
    [
      { findings: [finding('high', { cluster: 'a\r\nBcc: x@example.com\u0000\u2028y' })] },
      'High: 1 high in a Bcc: x@example.com y - highwater 2026-11-21',
    ],
    [
      {},
      `${words.verdict.nothingFound}: ${words.verdict.scope(1, 1, 1, 0)} - highwater 2026-11-21`,
    ],
    [
      { clusters: [unread] },
      `${words.verdict.nothingRead}: ${words.verdict.scope(1, 0, 7, 0)} - highwater 2026-11-21`,
    ],
  ])('carries the verdict: %#', (overrides, expected) => expect(subject(overrides)).toBe(expected))

  it('has no day where none is known', () => {
    expect(subject({ run: { ...findingsDocument().run, takenAt: 'soon' } })).toMatch(
      /read - highwater$/,
    )
  })
  it('names fewer counts where it would lose its day', () => {
    const findings = severities.flatMap(severity =>
      Array.from({ length: 1000 }, () => finding(severity, { cluster: 'x'.repeat(40) })),
    )
    const counted = '1,000 critical and more'
    expect(subject({ findings })).toBe(
      `Critical: ${counted} in ${'x'.repeat(40)} - highwater 2026-11-21`,
    )
  })
  it('is one line of at most 120 characters, whatever the input', () => {
    const late = { cluster: 'a', node: 'n', cause: 'sources' as const, reason: deadline, endedBy }
    const huge = clusterResult('a', {
      coverage: { nodes: 1e21, read: 1e21, partlyRead: 1e20, notRead: 1e20 },
    })
    for (const overrides of [
      { clusters: Array(1500).fill(huge), notAudited: [late] },
      { findings: [finding('low', { cluster: 'ü\n'.repeat(20) })] },
    ]) {
      expect(subject(overrides).length).toBeLessThanOrEqual(120)
      expect(subject(overrides)).not.toMatch(/\p{Cc}/u)
    }
  })
})

describe('text from outside', () => {
  const hostile = `<script>alert('1')</script>"><img src=x onerror=alert(1)> <a href=//evil.example>x</a> {{constructor}}\r\n\r\nVERDICT\u202e\u0000\u001b[31m`
  const evil = renderMail(hostileReport(hostile), [
    { channel: hostile, location: hostile, link: hostile, error: hostile },
  ])

  it('is shown as text', () => {
    expect(evil.html).not.toMatch(
      /<(script|img|link|iframe|object|embed|svg|form|input|button|base)\b|\u202e/i,
    )
    expect(evil.html).not.toMatch(/<[^>]*\s(?:src|srcset|background|action|on\w+)\s*=/i)
    expect(evil.html).not.toMatch(/\shref=/)
    expect(evil.html).toContain('&lt;script&gt;alert(&#x27;1&#x27;)')
    // In text there is nothing to escape.
    expect(evil.text).toContain(`<script>alert('1')</script>"><img src=x`)
    expect(evil.text).not.toMatch(/&\w+;/)
  })
  it('is one line in the text, which cannot begin a section of its own', () => {
    expect(`${evil.text}${evil.subject}`).not.toMatch(/(?!\n)\p{Cc}|\u202e/u)
    expect(evil.text.match(/^\S.*/gm)).toEqual([
      'highwater',
      words.mail.snapshot('unknown'),
      'VERDICT',
      words.mail.headings.causes,
      words.mail.headings.report,
      words.mail.headings.notAudited,
      '--',
      expect.stringMatching(/^highwater <script>/),
      ...evil.text.slice(evil.text.indexOf('\n--\n')).match(/^\S.*/gm)!.slice(2),
    ])
  })
  it.each(
    Object.entries({
      "'": "'",
      line: '\n',
      ...(isSlow && {
        letter: 'x',
        wide: '\u8a9e',
        astral: '\u{1f4a5}',
        direction: '\u202e',
        '&': '&',
      }),
    }),
  )(
    `of 10,000 times %s in ${crowd.nodes} nodes and ${crowd.findings} findings gives a mail below 60 KB that says what was cut`,
    (_, character) => {
      const text = character.repeat(Math.ceil(10_000 / character.length))
      const deliveries = Array<Delivery>(20).fill({
        channel: text,
        location: text,
        link: `https://a.example/${"'&".repeat(480)}`,
        error: text,
      })
      const { html, text: plain, subject } = renderMail(hostileReport(text), deliveries)
      expect(Buffer.byteLength(html)).toBeLessThan(60_000)
      expect(Buffer.byteLength(plain)).toBeLessThan(60_000)
      expect(subject.length).toBeLessThanOrEqual(120)
      for (const shown of [seen(html), flat(plain)]) {
        expect(shown).toMatch(/… \(cut: 10,0\d\d characters in all\)/)
        const counts = [2, 5].map(named => crowd.nodes - named)
        expect(counts.some(rest => shown.includes(words.notAudited.more(rest, rest)))).toBe(true)
      }
    },
  )
  it('keeps all its room in an ordinary fleet', () => {
    expect(Buffer.byteLength(mail.html)).toBeLessThan(30_000)
    expect(mail.html).not.toContain('(cut: ')
  })
})

describe('a mail that stands alone', () => {
  it('makes no request and runs nothing', () => {
    expect(mail.html).not.toMatch(
      /<(script|link|iframe|object|embed|img|svg|base|form|input|button)\b/i,
    )
    expect(mail.html).not.toMatch(/\s(?:src|srcset|background|action|on\w+)\s*=|@import|url\(/i)
    expect(mail.html.match(/<style/g)).toHaveLength(1)
  })
  it('closes every element it opens', () => {
    const open: string[] = []
    for (const [, slash, name] of mail.html
      .replace(/<style>[\s\S]*?<\/style>|<!--[\s\S]*?-->/g, '')
      .matchAll(/<(\/?)([a-z!][\w-]*)\b[^>]*>/gi)) {
      if (slash) expect(open.pop()).toBe(name)
      else if (!/^(?:meta|br|!doctype)$/i.test(name!)) open.push(name!)
    }
    expect(open).toEqual([])
  })
  it('gives each text its own colour, so that it reads without the style sheet', () => {
    for (const [element] of mail.html
      .replace(/<div aria-hidden[^>]*>/, '')
      .matchAll(/<(?:p|h[1-6]|pre|a)\b[^>]*>(?!\s*<(?:span|a) class)/g))
      expect(element).toMatch(/;?color:#/)
  })
})

describe('the two parts', () => {
  /** What only one of them has: looks, and what the mail program shows beside the mail. */
  const isLooks = (path: string) => /\.(severity|tone|kind|glyph|subject|preview|brief)$/.test(path)
  function facts(value: unknown, path = ''): string[] {
    if (typeof value === 'string') return isLooks(path) ? [] : [value]
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([key, item]) =>
      key === 'words' ? [] : facts(item, `${path}.${key}`),
    )
  }

  it.each(
    Object.entries({
      morning: [morning, [linked, down]],
      cutShort: [cutShort(), Array(9).fill(stored)],
      quiet: [quietReport([]), [stored]],
      hostile: [hostileReport('a"<b>&\'c\n'), [down]],
    } as Record<string, [AuditReport, Delivery[]]>),
  )('say the same: %s', (_, [report, deliveries]) => {
    const { html, text } = renderMail(report, deliveries, toOwner, [usualSize])
    const said = facts(mailView(report, deliveries, usualSize, toOwner))
    expect(said.length).toBeGreaterThan(5)
    for (const fact of said) {
      // Its title is written in the text's own template.
      if (fact !== words.cutShort.title) expect(flat(text)).toContain(flat(fact).trim())
      expect(seen(html)).toContain(flat(fact).trim())
    }
  })
})

describe('the variables of the templates', () => {
  it.each(
    Object.entries({
      morning: [morning, [linked]],
      cutShort: [cutShort(), Array(9).fill(down)],
      quiet: [quietReport([]), []],
    } as Record<string, [AuditReport, Delivery[]]>),
  )('are all in the view: %s', (_, [report, deliveries]) => {
    const view = mailView(report, deliveries, usualSize, toOwner)
    expect(renderMailHtml(watched(view))).toBe(renderMailHtml(view))
    expect(renderMailText(watched(view))).toBe(renderMailText(view))
  })
  it('fail loudly when one is missing', () => {
    const { footer: _, ...view } = mailView(morning, [], usualSize, toOwner)
    expect(() => renderMailHtml(view as MailView)).toThrow('"footer" not defined')
    expect(() => renderMailText(view as MailView)).toThrow('"footer" not defined')
  })
})

it('counts findings without an owner, with their first places', () => {
  const ownerless = Array.from({ length: 5 }, (_, index) =>
    finding('low', { id: `o${index}`, cluster: 'prod', subject: nodegroup(`group-${index}`) }),
  )
  const { text } = renderMail({ ...quietReport([]), ownerless }, [])
  const places = ['prod/group-0', 'prod/group-1', 'prod/group-2', '…']
  expect(text.replace(/\s+/g, ' ')).toContain(english.words.waived.ownerless(5, places))
})

describe('the picture', () => {
  const { picture } = mailView(morning, [], usualSize, toOwner)

  it('has cells over the whole width, and a row for each mark, in whole percents', () => {
    const sum = (parts: { width: number }[]) => parts.reduce((all, { width }) => all + width, 0)
    expect(sum(picture!.cells)).toBe(100)
    expect(picture!.rows.length).toBeGreaterThan(1)
    for (const { span, end, after, rest } of picture!.rows) {
      expect(span + after.length).toBe(picture!.rows.length)
      expect(end + sum(after) + rest).toBe(100)
    }
    expect(mail.html).not.toMatch(/<(?:img|svg)\b/)
  })
  it('is left out if no node is near eviction', () =>
    expect(mailView(quietReport([]), [], usualSize, toOwner).picture).toBeNull())
})
