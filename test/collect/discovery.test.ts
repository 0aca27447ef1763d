/** Discovery as an API server answers it whose groups do not all answer. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { KubernetesClient } from '#clients/kubernetes.ts'
import { discovery } from '#collect/collectors/discovery.ts'
import { serverVersion } from '#collect/collectors/server-version.ts'
import { sweepCollectorsOf } from '#collect/collectors/sweep.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { type StubAnswer, startStub } from '#test/http-stub.ts'

const json = (body: object, status = 200): StubAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const version = (groupVersion: string) => ({ groupVersion, version: groupVersion.split('/')[1] })
const pods = { name: 'pods', namespaced: true, kind: 'Pod', verbs: ['list'] }

async function discovered(answers: Record<string, StubAnswer>) {
  const stub = await startStub(({ url }) => answers[url] ?? json({}, 404))
  const kubernetes = new KubernetesClient(
    { server: stub.url, authorization: async () => null },
    { pace: defaultPolicy.pace, backoffMs: 1 },
  )
  onTestFinished(async () => {
    kubernetes.close()
    await stub.close()
  })
  const timeoutsMs = { ...defaultPolicy.timeoutsMs, list: 300 }
  const context = {
    kubernetes,
    timeoutsMs,
    signal: new AbortController().signal,
    nodesWithPods: new Set<string>(),
    aws: null,
  }
  const pages: RawObject[][] = []
  let error: unknown = null
  try {
    for await (const page of discovery.collect(context)) pages.push(page)
  } catch (thrown) {
    error = thrown
  }
  return { pages, error, requests: stub.requests, context }
}

const core = {
  '/api/v1': json({ groupVersion: 'v1', resources: [pods, { ...pods, name: 'pods/log' }] }),
}

describe('discovery', () => {
  it('has of each group the preferred version first, and of subresources nothing', async () => {
    const groups = [
      {
        name: 'a',
        preferredVersion: version('a/v2'),
        versions: [version('a/v1'), version('a/v2')],
      },
    ]
    const { pages, error } = await discovered({
      ...core,
      '/apis': json({ groups }),
      '/apis/a/v1': json({ resources: [] }),
      '/apis/a/v2': json({ resources: [] }),
    })
    expect(error).toBeNull()
    expect(pages).toEqual([
      [{ groupVersion: 'v1', resources: [pods] }],
      [
        { groupVersion: 'a/v2', resources: [] },
        { groupVersion: 'a/v1', resources: [] },
      ],
    ])
  })

  it.each([
    ['is unavailable', json({ message: 'unavailable' }, 503)],
    ['is gone', json({ message: 'gone' }, 404)],
    ['hangs', 'hang' as const],
  ])('goes on where a group %s, and says so', { timeout: 30_000 }, async (_, answer) => {
    const groups = ['a', 'b'].map(name => ({ name, versions: [version(`${name}/v1`)] }))
    const { pages, error } = await discovered({
      ...core,
      '/apis': json({ groups }),
      '/apis/a/v1': answer,
      '/apis/b/v1': json({ resources: [] }),
    })
    expect(error).toBeNull()
    expect(pages.slice(1)).toEqual([
      [{ groupVersion: 'a/v1' }],
      [{ groupVersion: 'b/v1', resources: [] }],
    ])
  })

  it('fails where it is refused', async () => {
    const { pages, error } = await discovered({
      ...core,
      '/apis': json({ message: 'forbidden' }, 403),
    })
    expect(pages).toHaveLength(1)
    expect(String(error)).toContain('403')
  })
})

describe('a sweep', () => {
  const policy = {
    ...defaultPolicy,
    clusterGarbage: { ...defaultPolicy.clusterGarbage, sweep: ['*'] },
  }
  const stored = { namespaced: true, kind: 'Site', verbs: ['delete', 'list'] }
  const lists = (...resources: RawObject[]) => [
    { groupVersion: 'web.example.com/v2', resources },
    { groupVersion: 'web.example.com/v1', resources },
  ]

  it('asks once for what can be listed and deleted, in the preferred version, and for no content', async () => {
    const [sites, ...others] = sweepCollectorsOf(
      policy,
      lists({ ...stored, name: 'sites' }, { ...stored, name: 'views', verbs: ['list'] }),
    )
    expect(others).toEqual([])
    const { context, requests } = await discovered({
      '/apis/web.example.com/v2/sites?limit=500': json({ items: [{ metadata: { name: 'x' } }] }),
    })
    expect(await Array.fromAsync(sites?.collect(context) ?? [])).toEqual([[]])
    const asked = requests.filter(({ url }) => url.includes('sites'))
    expect(asked.map(({ headers }) => headers.accept)).toEqual([
      expect.stringContaining('as=PartialObjectMetadataList'),
    ])
  })

  it('takes a kind that has just gone for one of which there are none, and passes on what is refused', async () => {
    const [sites] = sweepCollectorsOf(policy, lists({ ...stored, name: 'sites' }))
    const gone = await discovered({})
    expect(await Array.fromAsync(sites?.collect(gone.context) ?? [])).toEqual([])
    const refused = await discovered({
      '/apis/web.example.com/v2/sites?limit=500': json({ message: 'no' }, 403),
    })
    await expect(Array.fromAsync(sites?.collect(refused.context) ?? [])).rejects.toThrow('403')
  })

  it('ends a list of too many pages, and says so', { timeout: 60_000 }, async () => {
    const [sites] = sweepCollectorsOf(
      { ...policy, pace: { ...policy.pace, requestsPerSecond: 10_000 } },
      lists({ ...stored, name: 'sites' }),
    )
    const stub = await startStub(() => json({ metadata: { continue: 'more' }, items: [] }))
    const pace = { ...defaultPolicy.pace, requestsPerSecond: 10_000 }
    const kubernetes = new KubernetesClient(
      { server: stub.url, authorization: async () => null },
      { pace },
    )
    onTestFinished(async () => {
      kubernetes.close()
      await stub.close()
    })
    const { context } = await discovered({})
    await expect(Array.fromAsync(sites?.collect({ ...context, kubernetes }) ?? [])).rejects.toThrow(
      'only its first 400 pages',
    )
    expect(stub.requests).toHaveLength(400)
  })
})

it('the version is asked of the API server itself', async () => {
  const { context, requests } = await discovered({
    ...core,
    '/apis': json({ groups: [] }),
    '/version': json({ gitVersion: 'v1.36.0' }),
  })
  expect(await Array.fromAsync(serverVersion.collect(context))).toEqual([
    [{ gitVersion: 'v1.36.0' }],
  ])
  expect(requests.at(-1)?.url).toBe('/version')
})
