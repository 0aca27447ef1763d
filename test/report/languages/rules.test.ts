/** Where page and mail show the texts of rules, in every language. */
import { describe, expect, it } from 'vitest'
import type { Finding } from '#model/finding.ts'
import { languageIds } from '#model/language.ts'
import { renderPage } from '#report/compiled-templates.js'
import { languages } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { pageView } from '#report/page/view.ts'
import { firstAdvice } from '#report/parts/rule-words.ts'
import { finding, morningReport, withCauses } from '#test/report-builder.ts'

const translated = languageIds.filter(id => id !== 'en' && 'eviction-due' in languages[id].rules)
const decoded = (html: string) =>
  html
    .replace(/&#x(\w+);/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

describe.each(translated)('rules in %s', id => {
  const texts = languages[id].rules

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
    const advice = firstAdvice(finding('critical', { rule: 'eviction-due' }), languages[id])
    expect(decoded(html)).toContain(advice)
    expect(text.replace(/\s+/g, '')).toContain(advice.replace(/\s+/g, ''))
  })

  it('say the first sentence where there is no room for more', () => {
    const advice = firstAdvice(finding('critical', { rule: 'eviction-due' }), languages[id])
    const { fix } = texts['eviction-due']!
    expect(fix.split(/[.。]/)[0]).toBe(advice)
  })

  it('leave a rule that it does not know in English, and say so', () => {
    const report = morningReport()
    const findings = report.document.findings.map(
      (each): Finding => ({ ...each, rule: 'unheard-of' }),
    )
    const unknown = withCauses({ ...report, document: { ...report.document, findings } })
    const page = decoded(renderPage(pageView(unknown, languages[id])))
    expect(page).toContain(`<p class="advice" lang="en">${findings[0]!.docs.fix}</p>`)
    expect(page).toContain(`<dd lang="en">${findings.at(-1)!.docs.why}</dd>`)
    const { html } = renderMail(unknown, [], {
      owner: null,
      unsubscribe: [],
      language: languages[id],
    })
    expect(decoded(html)).toContain(findings[0]!.title)
  })
})
