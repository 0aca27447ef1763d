/** What page and mail say of a plan that was made with the audit. */
import { describe, expect, it } from 'vitest'
import type { ReportedPlan } from '#model/plan.ts'
import { html } from '#report/formats/html.ts'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { planView } from '#report/parts/findings.ts'
import { morningReport } from '#test/report-builder.ts'

const { words } = english

const made: Extract<ReportedPlan, { state: 'made' }> = {
  state: 'made',
  id: 'ab'.repeat(8),
  digest: 'ab'.repeat(32),
  nodes: 31,
  waves: 4,
  never: 2,
  refused: 1,
  unchanged: 1200,
  command: `highwater approve plan.json --digest ${'ab'.repeat(32)} --by "YOUR NAME" --store s3://reports/eks`,
}

describe('a plan in a report', () => {
  it('has its counts, its digest and the line that approves it', () => {
    expect(planView(made, english)).toEqual({
      text: words.plan.made(31, 4, words.plan.beside(2, 1, 1200)),
      approval: { digest: made.digest, command: made.command },
    })
  })

  it.each<[string, ReportedPlan, string]>([
    [
      'that changes nothing',
      { ...made, nodes: 0, waves: 0 },
      words.plan.nothing(words.plan.beside(2, 1, 1200)),
    ],
    [
      'that could not be made',
      { state: 'failed', why: 'no time was left' },
      words.plan.failed('no time was left'),
    ],
  ])('%s has nothing to approve', (_, plan, text) => {
    expect(planView(plan, english)).toEqual({ text, approval: null })
  })

  it('stands in page and mail, and only where there is one', () => {
    const report = morningReport()
    const mail = renderMail({ ...report, plan: made }, [])
    const page = html.render({ ...report, plan: made })
    for (const text of [page, mail.html, mail.text])
      expect(text.replace(/\s+/g, ' ')).toContain(
        words.plan.made(31, 4, words.plan.beside(2, 1, 1200)),
      )
    expect(page).toContain('id="plan"')
    expect(page).toContain('--store s3://reports/eks')
    expect(mail.text.replace(/\s+/g, ' ')).toContain(made.command)
    expect(mail.html).toContain('--by &quot;YOUR NAME&quot; --store s3://reports/eks')
    const without = renderMail(report, [])
    for (const text of [html.render(report), without.html, without.text])
      expect(text).not.toMatch(/id="plan"|highwater approve/)
  })

  it('cannot be more than text', () => {
    const plan: ReportedPlan = { state: 'failed', why: `<script>x</script>${'long '.repeat(5000)}` }
    const report = morningReport()
    const page = html.render({ ...report, plan })
    expect(page).not.toContain('<script>x')
    expect(renderMail({ ...report, plan }, []).html).not.toContain('<script>x')
    const mail = (other: ReportedPlan) => renderMail({ ...report, plan: other }, []).html.length
    expect(mail(plan)).toBeLessThan(mail(made) + 2000)
  })
})
