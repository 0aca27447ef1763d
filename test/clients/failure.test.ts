import { describe, expect, it } from 'vitest'
import { oneLine, readErrorOf } from '#clients/failure.ts'
import { failedAnswer } from '#clients/kubernetes/kubernetes-answer.ts'

it.each([
  ['dial tcp 10.0.1.2:10250: connect: connection refused', { isKubeletDown: true }],
  ['connect ECONNREFUSED 127.0.0.1:6443', {}],
  ['dial tcp 10.0.1.2:10250: i/o timeout', { reason: 'unreachable' }],
  ['dial tcp [fd00::7]:10250: connect: no route to host', { reason: 'unreachable' }],
  // The connection stood: the kubelet is slow.
  ['read tcp 10.0.0.9:41234->10.0.1.2:10250: i/o timeout', {}],
])('a proxied request that failed by %s', (cause, found) => {
  const bytes = Buffer.from(`error trying to reach service: ${cause}`)
  const answer = { status: 503, retryAfter: undefined, bytes, hint: undefined }
  const failure = failedAnswer({ method: 'GET', path: '/' }, answer, text => text)
  const { message } = failure
  expect(readErrorOf('summary', failure)).toEqual({ what: 'summary', message, ...found })
})

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
