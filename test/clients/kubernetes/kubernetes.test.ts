import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import {
  KubernetesClient,
  type KubernetesClientOptions,
  type KubernetesEndpoint,
} from '#clients/kubernetes/kubernetes.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function serve(
  handler: Handler,
  options: Partial<KubernetesClientOptions & KubernetesEndpoint> = {},
) {
  let requests = 0
  let connections = 0
  const server = http.createServer((request, response) => {
    requests += 1
    handler(request, response, requests)
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const endpoint: KubernetesEndpoint = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authorization: options.authorization ?? (async () => null),
  }
  const client = new KubernetesClient(endpoint, {
    pace: { requestsPerSecond: 1000, concurrency: 4 },
    backoffMs: 1,
    ...options,
  })
  cleanups.push(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, count: () => requests, connections: () => connections }
}

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

function endless(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  }
  response.on('drain', more)
  more()
}

const options = { signal: new AbortController().signal, timeoutMs: 2000 }

describe('getJson', () => {
  it('keeps its connections: many requests, no more connections than the concurrency', async () => {
    const { client, count, connections } = await serve((_, response) =>
      json(response, 200, { ok: true }),
    )
    await Promise.all(Array.from({ length: 60 }, () => client.getJson('/x', options)))
    expect(count()).toBe(60)
    expect(connections()).toBeLessThanOrEqual(4)
  })

  it('unpacks gzip', async () => {
    const { client } = await serve((_, response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ packed: true }))),
    )
    expect(await client.getJson('/x', options)).toEqual({ packed: true })
  })

  it.each([429, 500, 502, 503, 504])(
    'tries again after %i, and no more than three times',
    async status => {
      const recovering = await serve((_, response, count) =>
        json(response, count < 3 ? status : 200, { message: 'busy' }),
      )
      await recovering.client.getJson('/x', options)
      expect(recovering.count()).toBe(3)
      const failing = await serve((_, response) => json(response, status, { message: 'busy' }))
      await expect(failing.client.getJson('/x', options)).rejects.toMatchObject({
        status,
        message: expect.stringContaining('busy'),
      })
      expect(failing.count()).toBe(3)
    },
  )

  it.each([400, 403, 404])('does not try again after %i', async status => {
    const { client, count } = await serve((_, response) =>
      json(response, status, { message: 'no' }),
    )
    await expect(client.getJson('/x', options)).rejects.toMatchObject({ status })
    expect(count()).toBe(1)
  })

  it('waits as long as Retry-After says, and asks more slowly from then on', async () => {
    const times: number[] = []
    const { client } = await serve((_, response, count) => {
      times.push(performance.now())
      json(response, count === 1 ? 429 : 200, {}, count === 1 ? { 'retry-after': '1' } : {})
    })
    await client.getJson('/x', options)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990)
    expect(client.requestsPerSecond).toBeLessThan(600)
  })

  it('does not slow down for the 503 of one node behind the server', async () => {
    const { client } = await serve((_, response) =>
      json(response, 503, { message: 'error trying to reach service' }),
    )
    await expect(
      client.getJson('/x', { ...options, isProxied: true }),
    ).rejects.toThrowErrorMatchingSnapshot()
    expect(client.requestsPerSecond).toBe(1000)
  })

  it('renews its credentials once after a 401', async () => {
    const asked: boolean[] = []
    const authorization = async (renew: boolean) => {
      asked.push(renew)
      return renew ? 'Bearer new' : 'Bearer old'
    }
    const { client } = await serve(
      (request, response) =>
        json(response, request.headers.authorization === 'Bearer new' ? 200 : 401, { ok: true }),
      { authorization },
    )
    expect(await client.getJson('/x', options)).toEqual({ ok: true })
    expect(asked).toEqual([false, true])
  })

  it('says what to do about a 401 that stays', async () => {
    const { client } = await serve((_, response) =>
      json(response, 401, { message: 'Unauthorized' }),
    )
    await expect(client.getJson('/x', options)).rejects.toThrow('EKS access entry')
  })

  it('gives up on a server that does not answer, after the time-out', async () => {
    const { client, count } = await serve(() => undefined)
    await expect(client.getJson('/x', { ...options, timeoutMs: 50 })).rejects.toMatchObject({
      kind: 'timeout',
    })
    expect(count()).toBe(2)
  })

  it.each<[string, Handler, string]>([
    ['is no JSON', (_, response) => response.writeHead(200).end('{"items": ['), 'is no JSON'],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"items"')
        setTimeout(() => response.destroy(), 5)
      },
      'broke off',
    ],
  ])('fails when the body %s', async (_, handler, message) => {
    const { client, count } = await serve(handler)
    await expect(client.getJson('/x', options)).rejects.toThrow(message)
    expect(count()).toBe(3)
  })

  it.each<[string, Handler, RegExp]>([
    ['is longer', (_, response) => response.end(' '.repeat(300_000)), /larger than 262144 bytes/],
    [
      'is nested deeper',
      (_, response) => response.end('['.repeat(100_000)),
      /nested deeper than 32/,
    ],
    [
      'has more values',
      (_, response) => response.end(`{"a":[${'[],'.repeat(20_000)}0]}`),
      /more than 1000 values/,
    ],
    ['never ends', (_, response) => endless(response), /larger than 262144 bytes/],
  ])('refuses an answer that %s than its kind may be, once', async (_, handler, reason) => {
    const { client, count } = await serve(handler)
    const answer = client.getJson('/x', { ...options, kind: 'configz' })
    await expect(answer).rejects.toMatchObject({
      kind: 'too-large',
      message: expect.stringMatching(reason),
    })
    expect(count()).toBe(1)
  })

  it('refuses an answer that gzip packed far more than real ones', async () => {
    const { client } = await serve((_, response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(`{"a":"${'a'.repeat(4_000_000)}"}`)),
    )
    await expect(client.getJson('/x', { ...options, kind: 'page' })).rejects.toMatchObject({
      kind: 'too-large',
      message: expect.stringMatching(/times as long as its gzip/),
    })
  })

  it('reads no more of a refusal than its beginning', async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(403)
      endless(response)
    })
    await expect(client.getJson('/x', options)).rejects.toMatchObject({ kind: 'http', status: 403 })
  })

  it('holds large answers one after the other, and gives each its own time', async () => {
    let underWay = 0
    let most = 0
    const { client } = await serve(async (_, response) => {
      response.write(`{"a":"${'a'.repeat(3_000_000)}`)
      most = Math.max(most, ++underWay)
      await new Promise(resolve => setTimeout(resolve, 300))
      response.end(`${'a'.repeat(3_000_000)}"}`)
      underWay--
    })
    const large = { ...options, timeoutMs: 1_000, kind: 'page' as const }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => client.getJson('/x', { ...large, attempts: 1 })),
    )
    expect(answers.map(answer => Object.values(answer as object)[0].length)).toEqual(
      Array(4).fill(6_000_000),
    )
    expect(most).toBeGreaterThan(1)
  })

  it('stops at once when aborted, with the reason given', async () => {
    const { client } = await serve(() => undefined)
    const controller = new AbortController()
    const asked = client.getJson('/x', { ...options, signal: controller.signal })
    setTimeout(() => controller.abort(new Error('the deadline')), 20)
    await expect(asked).rejects.toThrow('the deadline')
  })

  it('says that nothing listens', async () => {
    const endpoint = { server: 'http://127.0.0.1:1', authorization: async () => null }
    const client = new KubernetesClient(endpoint, {
      pace: { requestsPerSecond: 1000, concurrency: 1 },
      backoffMs: 1,
    })
    await expect(client.getJson('/x', options)).rejects.toThrow(
      '127.0.0.1:1 refused the connection',
    )
  })

  const unpaced = { pace: { requestsPerSecond: 10_000, concurrency: 4 }, backoffMs: 1 }

  it('stops asking a server that stays away, and says so', async () => {
    const endpoint = { server: 'http://127.0.0.1:1', authorization: async () => null }
    const client = new KubernetesClient(endpoint, {
      ...unpaced,
      patienceMs: 0,
      probeEveryMs: 60_000,
    })
    const asked = await Promise.allSettled(
      Array.from({ length: 60 }, () => client.getJson('/x', { ...options, attempts: 1 })),
    )
    expect(asked.every(({ status }) => status === 'rejected')).toBe(true)
    await client.getJson('/x', options).catch(() => null)
    expect(
      await client.getJson('/x', options).then(String, (error: Error) => error.message),
    ).toContain('has stopped answering')
  })

  it('waits for a server that comes back', async () => {
    let isAway = true
    const { client, count } = await serve(
      (request, response) =>
        isAway ? request.socket.destroy() : json(response, 200, { ok: true }),
      { ...unpaced, patienceMs: 10_000, probeEveryMs: 20 },
    )
    const asked = Promise.all(
      Array.from({ length: 30 }, () =>
        client.getJson('/x', { ...options, attempts: 1 }).catch(() => 'lost'),
      ),
    )
    await asked
    expect(count()).toBeGreaterThanOrEqual(15)
    setTimeout(() => {
      isAway = false
    }, 30)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.getJson('/x', { ...options, attempts: 20 })),
    )
    expect(answers).toEqual(Array(20).fill({ ok: true }))
  })

  it('goes on asking a server that answers, however many nodes behind it are down', async () => {
    const { client, count } = await serve((_, response) =>
      json(response, 503, { message: 'error trying to reach service' }),
    )
    await Promise.allSettled(
      Array.from({ length: 40 }, () =>
        client.getJson('/x', { ...options, attempts: 1, isProxied: true }),
      ),
    )
    expect(count()).toBe(40)
  })

  it('folds and cuts what a node answers before it stands in a message', async () => {
    const { client } = await serve((_, response) =>
      response.writeHead(404).end(`\u001b[31m404\n${'x'.repeat(5000)}`),
    )
    const message = await client
      .getJson('/x', options)
      .then(String, (error: Error) => error.message)
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message.length).toBeLessThan(500)
  })
})

describe('a server that repeats what was sent', () => {
  const token = 'opaque-0123/4567'
  const base64 = Buffer.from(`x${token}x`).toString('base64')
  const echo = `${token} ${encodeURIComponent(token)} ${base64} Authorization: Bearer ${token}`

  it.each([
    ['refuses', 403, { message: echo }],
    ['answers', 200, { items: [{ message: echo }] }],
  ])('and %s does not return it', async (_, status, body) => {
    const { client } = await serve((_, response) => json(response, status, body), {
      authorization: async () => `Bearer ${token}`,
    })
    const returned = await client
      .getJson('/x', options)
      .catch(error => ({ message: error.message, body: error.body }))
    const text = JSON.stringify(returned)
    expect(text).toContain('(removed)')
    for (const form of [token, encodeURIComponent(token), base64.slice(3, -4)])
      expect(text).not.toContain(form)
  })

  it('also gives back no basic credentials', async () => {
    const basic = Buffer.from('bob:hunter2hunter2').toString('base64')
    const { client } = await serve(
      (_, response) => json(response, 500, { message: `user bob:hunter2hunter2 by ${basic}` }),
      { authorization: async () => `Basic ${basic}`, attempts: 1 },
    )
    await expect(client.getJson('/x', options)).rejects.toThrow('user (removed) by (removed)')
  })
})

describe('list', () => {
  const item = (uid: string) => ({ metadata: { uid } })
  async function uids(client: KubernetesClient): Promise<string[]> {
    const found: string[] = []
    for await (const page of client.list('/api/v1/nodes', {}, options))
      found.push(...page.items.map(({ metadata }) => (metadata as { uid: string }).uid))
    return found
  }
  const token = (request: IncomingMessage) =>
    new URL(request.url ?? '', 'http://x').searchParams.get('continue')

  it('follows continue tokens, and reports what remains', async () => {
    const { client } = await serve((request, response) =>
      token(request) === null
        ? json(response, 200, {
            metadata: { continue: 'page2', remainingItemCount: 1 },
            items: [item('a'), item('b')],
          })
        : json(response, 200, { metadata: {}, items: [item('c')] }),
    )
    const remaining: (number | null)[] = []
    for await (const page of client.list('/api/v1/nodes', {}, options))
      remaining.push(page.remaining)
    expect(remaining).toEqual([1, 0])
    expect(await uids(client)).toEqual(['a', 'b', 'c'])
  })

  it('goes on with the token that an expired one is answered with', async () => {
    const { client } = await serve((request, response) => {
      const asked = token(request)
      if (asked === null) json(response, 200, { metadata: { continue: 'old' }, items: [item('a')] })
      else if (asked === 'old')
        json(response, 410, {
          message: 'expired',
          reason: 'Expired',
          metadata: { continue: 'inconsistent' },
        })
      else json(response, 200, { metadata: {}, items: [item('b')] })
    })
    expect(await uids(client)).toEqual(['a', 'b'])
  })

  it('starts anew where no token is offered, without what was already seen', async () => {
    const { client } = await serve((request, response, count) => {
      const asked = token(request)
      if (asked === null)
        json(response, 200, {
          metadata: { continue: `after ${count}` },
          items: [item('a'), item('b')],
        })
      else if (asked === 'after 1')
        json(response, 410, { message: 'expired', reason: 'Expired', metadata: {} })
      else json(response, 200, { metadata: {}, items: [item('b'), item('c')] })
    })
    expect(await uids(client)).toEqual(['a', 'b', 'c'])
  })

  it('gives up on a list that expires again and again', async () => {
    const { client } = await serve((request, response) =>
      token(request) === null
        ? json(response, 200, { metadata: { continue: 'x' }, items: [] })
        : json(response, 410, { message: 'expired' }),
    )
    await expect(uids(client)).rejects.toMatchObject({ status: 410 })
  })

  it('asks one list at a time', async () => {
    let open = 0
    let most = 0
    const { client } = await serve((_, response) => {
      open += 1
      most = Math.max(most, open)
      setTimeout(() => {
        open -= 1
        json(response, 200, { items: [] })
      }, 5)
    })
    await Promise.all([uids(client), uids(client), uids(client)])
    expect(most).toBe(1)
  })

  it('takes a list of metadata without items, which says null', async () => {
    const { client } = await serve((_, response) =>
      json(response, 200, { kind: 'PartialObjectMetadataList', metadata: {}, items: null }),
    )
    expect(await uids(client)).toEqual([])
  })

  it('refuses null where it is no list', async () => {
    const { client } = await serve((_, response) =>
      json(response, 200, { kind: 'Status', items: null }),
    )
    await expect(uids(client)).rejects.toThrow('is no list')
  })

  it('refuses an answer that is no list', async () => {
    const { client } = await serve((_, response) => json(response, 200, { kind: 'Status' }))
    await expect(uids(client)).rejects.toThrow('is no list')
  })
})
