import { afterEach, describe, expect, it, vi } from 'vitest'
import { runtimeOf } from '#handlers/lambda.ts'

const parse = (text: string) =>
  runtimeOf({ awsRequestId: 'r', getRemainingTimeInMillis: () => 1000 }).parsePolicy(text, 'policy')
const text = 'modes: [{ mode: kubelet }]\nkubelet: { useOwnToken: true }\n'

afterEach(() => vi.unstubAllEnvs())

describe('a policy in the bucket', () => {
  it.each([undefined, '', 'no'])('cannot show the own token to kubelets (parameter %j)', value => {
    vi.stubEnv('HIGHWATER_SHOWS_OWN_TOKEN', value)
    expect(() => parse(text)).toThrow('showsOwnToken=yes')
    expect(parse('modes: []').kubelet.useOwnToken).toBe(false)
  })

  it('may where the stack lets it', () => {
    vi.stubEnv('HIGHWATER_SHOWS_OWN_TOKEN', 'yes')
    expect(parse(text).kubelet.useOwnToken).toBe(true)
  })
})
