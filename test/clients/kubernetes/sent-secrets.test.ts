import { describe, expect, it } from 'vitest'
import { SentSecrets } from '#clients/kubernetes/sent-secrets.ts'

/** Without repetition, as a token. */
const textOf = (length: number) =>
  Array.from({ length }, (_, at) => ((at * 7919 + 13) % 46_656).toString(36))
    .join('')
    .slice(0, length)

describe('SentSecrets', () => {
  it.each([6, 511, 512, 513, 1_500])(
    'removes a token of %i characters wherever it stands',
    length => {
      const token = textOf(length)
      const sent = new SentSecrets()
      sent.addAuthorization(`Bearer ${token}`)
      const forms = [token, Buffer.from(token).toString('hex')]
      for (const form of forms)
        for (let before = 0; before < 1_100; before += 7)
          for (const after of ['', '-'.repeat(600)])
            expect(sent.removeFrom(`${' '.repeat(before)}${form}${after}`)).toBe(
              `${' '.repeat(before)}(removed)${after}`,
            )
    },
  )

  it('leaves a text without the token as it is', () => {
    const sent = new SentSecrets()
    sent.addAuthorization(`Bearer ${textOf(1_500)}`)
    const text = `${textOf(1_499)}"`.repeat(2)
    expect(sent.removeFrom(text)).toBe(text)
  })
})
