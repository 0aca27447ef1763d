import { expect, it } from 'vitest'
import { moreFormats } from '#model/format-id.ts'
import { formatsWith } from '#report/formats/index.ts'
import { renderMail } from '#report/mail/mail.ts'
import { hostileReport } from '#test/hostile-report.ts'

/** Characters that hide or turn text. */
const misleading = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066\u2067\ufeff]/
const report = hostileReport('\u2066')
/** `findings.json` has the names as they are. */
const shown = formatsWith(moreFormats).filter(({ id }) => id !== 'json')

it.each(shown)('$name shows characters that are not seen', ({ render }) => {
  expect(misleading.test(String(render(report)))).toBe(false)
})

it('a mail, a message and an event show them, too', () => {
  const { document } = report
  const delta = { ...document.delta, new: document.findings.map(({ id }) => id) }
  const mail = renderMail({ ...report, document: { ...document, delta } }, [])
  expect(mail.events.length).toBeGreaterThan(0)
  for (const text of Object.values(mail)) expect(misleading.test(JSON.stringify(text))).toBe(false)
})
