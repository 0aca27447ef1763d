import { describe, expect, it } from 'vitest'
import { postJson } from '#clients/send/webhook.ts'
import { webhookServer } from '#test/webhook-server.ts'

const quick = { backoffMs: 1 }
const failing = (url: string, options: Parameters<typeof postJson>[2] = quick): Promise<Error> =>
  postJson(url, { text: 'two' }, options).then(
    () => new Error('it was taken'),
    (error: Error) => error,
  )

describe('a webhook', () => {
  it('gets one POST of JSON', async () => {
    const { url, bodies } = await webhookServer()
    await postJson(url, { text: 'grün' })
    expect(bodies).toEqual(['{"text":"grün"}'])
  })

  it.each([429, 503])('that says %i is asked again', async status => {
    const { url, bodies } = await webhookServer([{ status }, { status }, { status: 200 }])
    await postJson(url, { text: 'two' }, quick)
    expect(bodies).toHaveLength(3)
  })

  it('that never takes it is asked three times', async () => {
    const { url, bodies } = await webhookServer([{ status: 429, body: 'slow down' }])
    expect((await failing(url)).message).toMatch(
      /^the webhook at localhost:\d+ answered 429 \(slow down\)$/,
    )
    expect(bodies).toHaveLength(3)
  })

  it.each<[number, RegExp]>([
    [
      404,
      /answered 404 \(no_service\): the address is not, or no longer, one that takes messages\. Make a new one there/,
    ],
    [500, /answered 500 \(no_service\)$/],
    [302, /answered 302 \(no_service\): it leads elsewhere, which is not followed/],
  ])('that says %i is asked once, and the reason says what to do', async (status, message) => {
    const { url, bodies } = await webhookServer([
      { status, body: 'no_service', headers: { location: 'http://127.0.0.1:1/' } },
    ])
    expect((await failing(url)).message).toMatch(message)
    expect(bodies).toHaveLength(1)
  })

  it('with an untrusted certificate gets nothing', async () => {
    const { url, bodies } = await webhookServer(undefined, false)
    expect((await failing(url)).message).toMatch(
      /^the webhook: TLS with localhost:\d+ failed \(\w+\): its certificate is not trusted here\. Nothing was sent$/,
    )
    expect(bodies).toEqual([])
  })

  it('is never named by its address, whatever it or the network says', async () => {
    const { url } = await webhookServer([
      { status: 500, body: 'POST /services/T0/s3cret-path failed\r\nbad' },
    ])
    const errors = [
      await failing(url),
      await failing('https://127.0.0.1:1/s3cret'),
      await failing('https://lab.invalid/s3cret'),
    ]
    for (const { message, cause } of errors)
      expect(`${message} ${JSON.stringify(cause)}`).not.toContain('s3cret')
    expect(errors[1]?.message).toMatch(/127\.0\.0\.1:1 refused the connection/)
    expect(errors[2]?.message).toMatch(/the name lab\.invalid does not resolve/)
  })

  it('whose secret is in its query is not named by it, in whatever form the answer repeats it', async () => {
    const { url } = await webhookServer([
      {
        status: 404,
        body: 'no key=K%2FEYSECRET&token=TOKENSECRET, K/EYSECRET, TOKENSECRET, VE9LRU5TRUNSRVQ, s3cret-path',
      },
    ])
    const address = new URL(url)
    address.search = '?key=K%2FEYSECRET&token=TOKENSECRET'
    const { message } = await failing(address.href)
    expect(message).toMatch(/answered 404/)
    for (const part of ['EYSECRET', 'TOKENSECRET', 'VE9LRU5TRUNSRVQ', 's3cret'])
      expect(message).not.toContain(part)
  })

  it('may answer without end', async () => {
    const { url } = await webhookServer([{ status: 400, body: 'x'.repeat(1_000_000) }])
    expect((await failing(url)).message.length).toBeLessThan(300)
  })

  it('ends with the signal', async () => {
    const { url, bodies } = await webhookServer()
    expect(
      (await failing(url, { signal: AbortSignal.abort(new Error('the run is over')) })).message,
    ).toBe('the run is over')
    expect(bodies).toEqual([])
  })
})
