import { describe, expect, it } from 'vitest'
import { oneLine } from '#clients/failure.ts'

describe('oneLine redacts before it cuts', () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'

  it('leaves no part of a secret, wherever the text is cut', () => {
    for (let before = 8192 - secret.length - 2; before <= 8193; before++) {
      // White space is folded, so the end of what is read may come to stand at the beginning.
      const shown = oneLine(`it failed:${' '.repeat(before - 10)}${secret} and more`, 300)
      expect(shown).not.toMatch(/ghp|abcdef/)
      expect(shown).toMatch(/^it failed:/)
    }
  })

  it('cuts a text of one word', () => {
    expect(oneLine('x'.repeat(20_000), 10)).toBe(`${'x'.repeat(10)}…`)
  })
})
