/** Who reads which language, and what each gets. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type LanguageId, languageIds } from '#model/language.ts'
import { defaultPolicy, type ReportPolicy } from '#model/policy.ts'
import type { AuditRequest, Settings } from '#model/run.ts'
import { audiencesOf, publishReport } from '#pipeline/audit/publication.ts'
import { runChannels } from '#pipeline/service/run-channels.ts'
import { folder } from '#publish/channels/into-store.ts'
import type { MailChannel } from '#publish/publish.ts'
import { languages } from '#report/languages/language.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { morningReport } from '#test/report-builder.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

const payments = {
  name: 'payments',
  match: { cluster: 'prod-eu' },
  recipients: ['pay@example.com', 'kim@example.com'],
  onlyOnChange: false,
}
const policy = (more: Partial<ReportPolicy>): ReportPolicy => ({
  ...defaultPolicy.report,
  sender: 'highwater@example.com',
  recipients: ['team@example.com', 'kim@example.com', 'sato@example.com'],
  ...more,
})

function readersOf(report: ReportPolicy) {
  const context = { runId: 'r', region: 'eu-central-1', store: null, now: () => new Date(0) }
  const settings = {
    sender: null,
    recipients: [],
    topicArn: 'arn:aws:sns:eu-central-1:123456789012:t',
    eventBusArn: null,
    webhookUrl: null,
  } as unknown as Settings
  const ways = runChannels({ isMailed: true } as AuditRequest, settings, report, context)
  return audiencesOf(report, ways.readersOf).map(({ owner, language, isFirst, channels }) => ({
    who: owner?.name ?? 'all',
    language,
    isFirst,
    ways: channels.map(({ id }) => id),
  }))
}

describe('the languages of readers', () => {
  it('are one, where nothing else is said', () => {
    expect(readersOf(policy({}))).toEqual([
      { who: 'all', language: 'en', isFirst: true, ways: ['ses', 'sns'] },
    ])
  })

  it('are those of single recipients, of an owner and of the report, in this order; topic and webhook get the first', () => {
    const languages: Record<string, LanguageId> = {
      'kim@example.com': 'ko',
      'sato@example.com': 'ja',
    }
    expect(
      readersOf(policy({ language: 'zh', languages, owners: [{ ...payments, language: 'ja' }] })),
    ).toEqual([
      { who: 'all', language: 'zh', isFirst: true, ways: ['ses', 'sns'] },
      { who: 'all', language: 'ko', isFirst: false, ways: ['ses ko'] },
      { who: 'all', language: 'ja', isFirst: false, ways: ['ses ja'] },
      { who: 'payments', language: 'ja', isFirst: true, ways: ['ses payments'] },
      { who: 'payments', language: 'ko', isFirst: false, ways: ['ses payments ko'] },
    ])
  })

  it('keep the usual name of the mail where no recipient reads the first', () => {
    const languages: Record<string, LanguageId> = {
      'team@example.com': 'ko',
      'kim@example.com': 'ko',
      'sato@example.com': 'ko',
    }
    expect(readersOf(policy({ languages })).map(({ language, ways }) => [language, ways])).toEqual([
      ['en', ['sns']],
      ['ko', ['ses ko']],
    ])
  })
})

describe('a further language', () => {
  it('has a page and a mail of its own, and the mail leads to that page or carries it', async () => {
    const out = temporaryFolder()
    const sent: Record<string, { subject: string; attached: string[] }> = {}
    const way = (id: string): MailChannel => ({
      id,
      async send({ subject }, attachments) {
        sent[id] = {
          subject,
          attached: attachments.map(
            ({ body }) => /<html lang="[\w-]+">/.exec(body.toString())?.[0] ?? '',
          ),
        }
        return {
          channel: id,
          state: 'sent',
          location: '',
          link: null,
          error: null,
          messageId: '1',
          doubt: null,
        }
      },
    })
    const report = policy({ owners: [{ ...payments, language: 'ja' }] })
    const audiences = audiencesOf(report, owner =>
      owner === null
        ? [
            { language: 'en', channels: [way('all')] },
            { language: 'ko', channels: [way('all ko')] },
          ]
        : [{ language: 'ja', channels: [way('payments')] }],
    )
    const page = { name: 'report.html', contentType: 'text/html', body: '<html lang="en">' }
    const context = {
      channels: [folder(out)],
      audiences,
      unsubscribe: [],
      snapshotPath: null,
      hasPage: true,
      attach: 'report' as const,
      isPart: false,
    }
    await publishReport(morningReport(), [page], context)
    expect(readdirSync(out).sort()).toEqual(
      [
        'email.html',
        'email.ko.html',
        'email.ko.txt',
        'email.txt',
        'owners',
        'report.html',
        'report.ko.html',
      ].sort(),
    )
    const read = (name: string) => readFileSync(join(out, name), 'utf8')
    expect(read('report.ko.html')).toContain('<html lang="ko">')
    expect(read('email.ko.txt')).toContain('전체 보고서')
    expect(read('owners/payments/report.html')).toContain('<html lang="ja">')
    expect(sent['all ko']?.subject).toMatch(/^지금 노드 2개 축출 중: ip-10-0-1-10 \(/)
    expect(sent.all?.subject).toMatch(/^2 nodes evict now, first ip-10-0-1-10 \(/)
    expect(sent['all ko']?.attached).toEqual(['<html lang="ko">'])
  })
})

describe('highwater audit --language', () => {
  it.each(languageIds)('%s: page, mail and summary', async language => {
    const out = temporaryFolder()
    const { code, stdout } = await inProcess([
      'audit',
      '--snapshot',
      savedSnapshot([{ name: 'a' }]),
      '--out',
      out,
      '--language',
      language,
    ])
    // A language without translations shows English.
    const words: Partial<Record<LanguageId, RegExp>> = { ko: /보고서/, ja: /レポート/, zh: /报告/ }
    expect(code).toBe(0)
    expect(stdout).toMatch(words[language] ?? /Report: {3}/)
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain(
      `<html lang="${languages[language].tag}">`,
    )
    expect(readFileSync(join(out, 'email.txt'), 'utf8')).toMatch(words[language] ?? /VERDICT/)
    expect(JSON.parse(readFileSync(join(out, 'findings.json'), 'utf8')).schema).toBe(
      'highwater.findings/1',
    )
  })

  it('names those there are', async () => {
    const { code, stderr } = await inProcess(['audit', '--language', 'fr'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/en, ko, ja, zh/)
  })
})
