/** What rules say of themselves, in every language: whole, of what the English text says now, and where page and mail show it. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import type { Finding } from '#model/finding.ts'
import { languageIds } from '#model/language.ts'
import { renderPage } from '#report/compiled-templates.js'
import { languages } from '#report/languages/index.ts'
import { renderMail } from '#report/mail.ts'
import { pageView } from '#report/view.ts'
import { changesOf } from '#report/views/what-to-change.ts'
import {
  auditedNode,
  finding,
  morningReport,
  quietReport,
  sharedDisk,
} from '#test/report-builder.ts'

const translated = languageIds.filter(id => id !== 'en')
const scripts = {
  ko: /\p{Script=Hangul}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  zh: /\p{Script=Han}/u,
}
const ruleSources = globSync('src/judge/rules/**/*.ts')
  .map(file => readFileSync(file, 'utf8'))
  .join('\n')

/** Field names, quantities, paths and versions: no language has others. Plurals of kinds are English. */
const fieldTerms = (text: string) =>
  (text.match(/[\w.\-/*]*(?:[a-z][A-Z]|\d|\w\.\w|\/\w)[\w.\-/*%=]*/g) ?? []).map(term =>
    term.replace(/[.,]+$/, '').replace(/(?<=[A-Z]\w+)s$/, ''),
  )

it('is of the English text as it is now', async () => {
  const seen = rules
    .map(
      ({ id, docs: { title, why, fix } }) =>
        `${id} ${createHash('sha256')
          .update(JSON.stringify([title, why, fix]))
          .digest('hex')
          .slice(0, 8)}`,
    )
    .toSorted()
  await expect(
    `${seen.join('\n')}\n`,
    'A rule says another thing in English: say it in src/report/languages/rules/ too, in each language, then: vitest run test/report/languages -u',
  ).toMatchFileSnapshot('translated-rules.txt')
})

const decoded = (html: string) =>
  html
    .replace(/&#x(\w+);/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

describe.each(translated)('rules in %s', id => {
  const texts = languages[id].rules

  it('are those that there are', () => {
    expect(Object.keys(texts).toSorted()).toEqual(rules.map(rule => rule.id).toSorted())
    for (const text of Object.values(texts))
      for (const english of Object.keys(text!.titles ?? {})) expect(ruleSources).toContain(english)
  })

  it('say it in its own script, and name what the English text names', () => {
    const lost = rules.flatMap(({ id: rule, docs }) =>
      (['title', 'why', 'fix'] as const).flatMap(part => {
        const text = texts[rule]?.[part] ?? ''
        const missing =
          part === 'title' ? [] : fieldTerms(docs[part]).filter(term => !text.includes(term))
        return scripts[id].test(text) && missing.length === 0 ? [] : [[rule, part, text, missing]]
      }),
    )
    expect(lost).toEqual([])
  })

  it('are shown so on page and mail', () => {
    const report = morningReport()
    const { why, fix } = texts['eviction-due']!
    const page = decoded(renderPage(pageView(report, languages[id])))
    for (const text of [why, fix]) expect(page).toContain(`<dd>${text}</dd>`)
    expect(page).toContain(`<p class="advice">${fix}</p>`)
    const { html, text } = renderMail(report, [], {
      owner: null,
      unsubscribe: [],
      language: languages[id],
    })
    expect(decoded(html)).toContain(`</b> ${fix}</p>`)
    expect(text.replace(/\s+/g, '')).toContain(fix.replace(/\s+/g, ''))
  })

  it('say the first sentence where there is no room for more', () => {
    const node = auditedNode('a', sharedDisk(60))
    const evicts = finding('critical', {
      rule: 'eviction-due',
      nodes: { count: 1, sample: ['a'] },
      fix: { config: {}, durable: [], commands: [] },
    })
    const change = changesOf(
      quietReport([node], { findings: [evicts] }),
      () => null,
      languages[id],
    )(node)!.text
    const { fix } = texts['eviction-due']!
    expect(fix.split(/[.。]/)[0]).toBe(change)
  })

  it('leave a rule that it does not know in English, and say so', () => {
    const report = morningReport()
    const findings = report.document.findings.map(
      (each): Finding => ({ ...each, rule: 'unheard-of' }),
    )
    const unknown = { ...report, document: { ...report.document, findings } }
    const page = decoded(renderPage(pageView(unknown, languages[id])))
    expect(page).toContain(`<p class="advice" lang="en">${findings[0]!.docs.fix}</p>`)
    expect(page).toContain(`<dd lang="en">${findings.at(-1)!.docs.why}</dd>`)
    const { html } = renderMail(unknown, [], {
      owner: null,
      unsubscribe: [],
      language: languages[id],
    })
    expect(decoded(html)).toContain(`<span lang="en">${findings[0]!.docs.fix}</span>`)
  })
})
