import { gunzipSync } from 'node:zlib'
import { KubeConfig } from '@kubernetes/client-node'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { labPrincipal } from '#lab/world.ts'
import { describe as describeCluster, enterLab, get, nodes, scenario, token } from './support.ts'

let lab: Lab
afterEach(() => lab.close())

/** A GET with a good token. */
async function reader(cluster: string) {
  const access = await describeCluster(cluster)
  const bearer = await token(lab, cluster)
  return (path: string, headers?: Record<string, string>) => get(access, path, bearer, headers)
}

interface List {
  kind: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: { metadata: { name: string; namespace?: string } }[]
}

const list = (answer: { json: unknown }) => answer.json as List
const namesOf = (answer: { json: unknown }) => list(answer).items.map(item => item.metadata.name)

describe('lists', () => {
  it('come in pages, with what remains, and together are everything once', async () => {
    lab = await enterLab(fleet({ nodes: 25 }))
    const read = await reader('fleet')
    const first = await read('/api/v1/nodes?limit=10')
    expect(list(first)).toMatchObject({ kind: 'NodeList', metadata: { remainingItemCount: 15 } })
    const second = await read(`/api/v1/nodes?limit=10&continue=${list(first).metadata.continue}`)
    expect(list(second).metadata.remainingItemCount).toBe(5)
    const last = await read(`/api/v1/nodes?limit=10&continue=${list(second).metadata.continue}`)
    expect(list(last).metadata).toEqual({ resourceVersion: list(first).metadata.resourceVersion })
    const all = [first, second, last].flatMap(namesOf)
    expect(all).toEqual([...new Set(all)].sort())
    expect(all).toHaveLength(25)
  })

  it('come whole from the watch cache, whatever the limit', async () => {
    lab = await enterLab(fleet({ nodes: 25 }))
    const read = await reader('fleet')
    const answer = await read('/api/v1/nodes?limit=10&resourceVersion=0')
    expect(namesOf(answer)).toHaveLength(25)
    expect(list(answer).metadata.continue).toBeUndefined()
  })

  it('of pods hold those of one node when asked, without a count of what remains', async () => {
    lab = await enterLab(incidents)
    const read = await reader('incidents')
    const answer = await read(
      '/api/v1/pods?fieldSelector=spec.nodeName%3Dip-10-0-1-11.ec2.internal&limit=2',
    )
    expect(list(answer)).toMatchObject({
      kind: 'PodList',
      items: [{ spec: { nodeName: 'ip-10-0-1-11.ec2.internal' } }, {}],
    })
    expect(list(answer).metadata.continue).toMatch(/./)
    expect(list(answer).metadata.remainingItemCount).toBeUndefined()
    const shop = list(await read('/api/v1/namespaces/shop/pods'))
    expect(new Set(shop.items.map(item => item.metadata.namespace))).toEqual(new Set(['shop']))
    expect(namesOf(await read('/api/v1/pods?fieldSelector=spec.nodeName%3Dnobody'))).toEqual([])
  })

  it('of all pods are sorted by namespace and name', async () => {
    lab = await enterLab(incidents)
    const items = list(await (await reader('incidents'))('/api/v1/pods')).items.map(
      ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    )
    expect(items).toEqual([...items].sort())
    expect(items.length).toBeGreaterThan(60)
  })

  it('expire with a token to go on, inconsistently', async () => {
    lab = await enterLab(scenario([{ name: 'c', nodes: nodes(6) }]))
    const read = await reader('c')
    const first = list(await read('/api/v1/nodes?limit=2'))
    lab.expireContinueTokens('c')
    const gone = await read(`/api/v1/nodes?limit=2&continue=${first.metadata.continue}`)
    expect(gone.status).toBe(410)
    expect(gone.json).toMatchObject({
      kind: 'Status',
      reason: 'Expired',
      code: 410,
      metadata: { continue: expect.any(String) },
    })
    const next = await read(`/api/v1/nodes?limit=2&continue=${list(gone).metadata.continue}`)
    expect(next.status).toBe(200)
    expect(namesOf(next)).toEqual(['ip-10-0-0-3.ec2.internal', 'ip-10-0-0-4.ec2.internal'])
    expect(Number(list(next).metadata.resourceVersion)).toBeGreaterThan(
      Number(first.metadata.resourceVersion),
    )
    expect(
      (await read(`/api/v1/nodes?limit=2&continue=${list(next).metadata.continue}`)).status,
    ).toBe(200)
  })

  it('expire by themselves after so many pages', async () => {
    lab = await enterLab(
      scenario([{ name: 'c', nodes: nodes(6), faults: { continueExpiresAfterPages: 2 } }]),
    )
    const read = await reader('c')
    const statuses: number[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const answer = await read(`/api/v1/nodes?limit=1${next && `&continue=${next}`}`)
      statuses.push(answer.status)
      next = list(answer).metadata.continue
    }
    expect(statuses).toEqual([200, 200, 410, 200, 200, 410, 200, 200])
  })

  it('are compressed above 128 KB for who takes gzip', async () => {
    lab = await enterLab(fleet({ nodes: 60 }))
    const read = await reader('fleet')
    const packed = await read('/api/v1/nodes', { 'accept-encoding': 'gzip' })
    const plain = await read('/api/v1/nodes')
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true)
    expect(plain.body.length).toBeGreaterThan(128 * 1024)
    expect(
      (await read('/api/v1/nodes?limit=2', { 'accept-encoding': 'gzip' })).headers[
        'content-encoding'
      ],
    ).toBeUndefined()
  })

  it.each([
    ['a limit that is no number', '/api/v1/nodes?limit=x', 400],
    ['a token that is none', '/api/v1/nodes?continue=x', 400],
    ['a revision of the past', '/api/v1/nodes?resourceVersion=7', 501],
    ['a parameter that it does not know', '/api/v1/nodes?watch=true', 501],
    [
      'a selector that it does not know',
      '/api/v1/pods?fieldSelector=spec.schedulerName%3Dmine',
      501,
    ],
    ['a resource that it does not know', '/api/v1/services', 501],
    ['Secrets, which the lab does not have', '/api/v1/secrets', 501],
    ['another way to write a path', '/api/v1/nodes/x/proxy/stats%2Fsummary', 501],
  ])('answer %s with a Status', async (_, path, code) => {
    lab = await enterLab(scenario([{ name: 'c' }]))
    const answer = await (await reader('c'))(path)
    expect(answer.status).toBe(code)
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code })
  })
})

describe('events', () => {
  const selected = async (selector: string) => {
    const answer = await (await reader('incidents'))(
      `/api/v1/events?fieldSelector=${encodeURIComponent(selector)}`,
    )
    const { items, metadata } = answer.json as unknown as {
      items: { reason: string; type: string }[]
      metadata: object
    }
    return {
      reasons: new Set(items.map(({ reason }) => reason)),
      types: new Set(items.map(({ type }) => type)),
      metadata,
    }
  }

  it('are selected by the fields that events have, together and by their opposite', async () => {
    lab = await enterLab(incidents)
    expect((await selected('involvedObject.kind=Node,type=Warning')).reasons).toEqual(
      new Set([
        'EvictionThresholdMet',
        'FreeDiskSpaceFailed',
        'ImageGCFailed',
        'InvalidDiskCapacity',
      ]),
    )
    expect((await selected('reason==Evicted')).types).toEqual(new Set(['Warning']))
    const rest = await selected('reason!=Evicted,reason!=Started')
    expect([...rest.reasons]).toEqual(expect.arrayContaining(['Scheduled', 'BackOff']))
    expect(rest.reasons.has('Evicted') || rest.reasons.has('Started')).toBe(false)
    expect((await selected('involvedObject.name=nobody')).reasons.size).toBe(0)
  })

  it('come in pages, and of one namespace', async () => {
    lab = await enterLab(incidents)
    const read = await reader('incidents')
    const first = list(await read('/api/v1/events?limit=5&fieldSelector=type%3DNormal'))
    expect(first.items).toHaveLength(5)
    expect(first.metadata).toMatchObject({ continue: expect.any(String) })
    expect(first.metadata.remainingItemCount).toBeUndefined()
    const shop = list(await read('/api/v1/namespaces/batch/events'))
    expect(new Set(shop.items.map(item => item.metadata.namespace))).toEqual(new Set(['batch']))
  })

  it.each([
    ['a field that they cannot be selected by', 'message=x', 'field label not supported: message'],
    ['what is no selector', 'reason', "invalid selector: 'reason'; can't understand 'reason'"],
  ])('refuse %s', async (_, selector, message) => {
    lab = await enterLab(incidents)
    const answer = await (await reader('incidents'))(
      `/api/v1/events?fieldSelector=${encodeURIComponent(selector)}`,
    )
    expect(answer.json).toMatchObject({ kind: 'Status', code: 400, message })
  })
})

describe('PodDisruptionBudgets', () => {
  it('are discovered and listed, in every cluster', async () => {
    lab = await enterLab(
      scenario([
        { name: 'c', disruptionBudgets: [{ metadata: { namespace: 'shop', name: 'web' } }] },
      ]),
    )
    const read = await reader('c')
    expect((await read('/apis')).json).toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ name: 'policy' })]),
    })
    expect((await read('/apis/policy')).json).toMatchObject({ kind: 'APIGroup', name: 'policy' })
    expect((await read('/apis/policy/v1')).json).toMatchObject({
      resources: [{ name: 'poddisruptionbudgets', namespaced: true }],
    })
    expect((await read('/apis/policy/v1/poddisruptionbudgets')).json).toMatchObject({
      kind: 'PodDisruptionBudgetList',
      apiVersion: 'policy/v1',
      items: [{ kind: 'PodDisruptionBudget', metadata: { namespace: 'shop', name: 'web' } }],
    })
  })

  it('are refused to who has no right to list them', async () => {
    lab = await enterLab(scenario([{ name: 'c', access: { [labPrincipal]: ['list nodes'] } }]))
    expect((await (await reader('c'))('/apis/policy/v1/poddisruptionbudgets')).json).toMatchObject({
      kind: 'Status',
      code: 403,
    })
  })
})

describe('custom resources', () => {
  it('are discovered and listed where they are installed', async () => {
    lab = await enterLab(incidents)
    const read = await reader('incidents')
    const { groups } = (await read('/apis')).json as unknown as { groups: { name: string }[] }
    expect(groups.map(({ name }) => name).filter(name => name.includes('karpenter'))).toEqual([
      'karpenter.sh',
      'karpenter.k8s.aws',
    ])
    expect((await read('/apis/karpenter.sh')).json).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'karpenter.sh/v1' },
    })
    expect((await read('/apis/karpenter.sh/v1')).json).toMatchObject({
      resources: [{ name: 'nodepools', kind: 'NodePool' }],
    })
    expect((await read('/apis/karpenter.k8s.aws/v1/ec2nodeclasses')).json).toMatchObject({
      kind: 'EC2NodeClassList',
      apiVersion: 'karpenter.k8s.aws/v1',
      items: [
        { kind: 'EC2NodeClass', apiVersion: 'karpenter.k8s.aws/v1', metadata: { name: 'burst' } },
      ],
    })
  })

  it('are missing if not installed, or in versions that are not served', async () => {
    lab = await enterLab(incidents)
    const read = await reader('incidents')
    for (const path of [
      '/apis/eks.amazonaws.com',
      '/apis/eks.amazonaws.com/v1/nodeclasses',
      '/apis/karpenter.sh/v1beta1/nodepools',
    ])
      expect(await read(path)).toMatchObject({ status: 404, text: '404 page not found\n' })
  })

  it('are refused by missing rights before they are looked up', async () => {
    lab = await enterLab(scenario([{ name: 'c', access: { [labPrincipal]: ['list nodes'] } }]))
    expect((await (await reader('c'))('/apis/karpenter.sh/v1/nodepools')).json).toMatchObject({
      code: 403,
      message:
        'nodepools.karpenter.sh is forbidden: User "arn:aws:iam::111122223333:user/highwater" cannot list resource "nodepools" in API group "karpenter.sh" at the cluster scope',
    })
  })
})

describe('rights', () => {
  it.each([
    [
      ['list nodes'],
      '/api/v1/nodes',
      '/api/v1/nodes/n',
      'nodes "n" is forbidden: User "arn:aws:iam::111122223333:user/highwater" cannot get resource "nodes" in API group "" at the cluster scope',
    ],
    [
      ['get nodes', 'list nodes'],
      '/api/v1/nodes',
      '/api/v1/nodes/n/proxy/configz',
      'nodes "n" is forbidden: User "arn:aws:iam::111122223333:user/highwater" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
    ],
    [
      ['list pods'],
      '/api/v1/pods',
      '/api/v1/nodes',
      'nodes is forbidden: User "arn:aws:iam::111122223333:user/highwater" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      ['list nodes'],
      '/api/v1/nodes',
      '/api/v1/namespaces/shop/pods',
      'pods is forbidden: User "arn:aws:iam::111122223333:user/highwater" cannot list resource "pods" in API group "" in the namespace "shop"',
    ],
  ])('with %j go as far as granted', async (rights, allowed, denied, message) => {
    lab = await enterLab(scenario([{ name: 'c', access: { [labPrincipal]: rights } }]))
    const read = await reader('c')
    expect((await read(allowed)).status).toBe(200)
    const answer = await read(denied)
    expect(answer.status).toBe(403)
    expect(answer.json).toMatchObject({ kind: 'Status', reason: 'Forbidden', message })
  })
})

describe('the recorded node', () => {
  it('answers as the real one did, by name and through its kubelet', async () => {
    lab = await enterLab(recorded)
    const read = await reader('recorded')
    const name = 'ip-10-99-0-62.ec2.internal'
    expect((await read(`/api/v1/nodes/${name}`)).json).toMatchObject({
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name },
    })
    expect((await read(`/api/v1/nodes/${name}/proxy/configz`)).json).toMatchObject({
      kubeletconfig: { maxPods: 29 },
    })
    expect((await read(`/api/v1/nodes/${name}/proxy/stats/summary`)).json).toMatchObject({
      node: { nodeName: name },
    })
    expect(namesOf(await read(`/api/v1/pods?fieldSelector=spec.nodeName=${name}`))).toHaveLength(6)
    expect((await read('/api/v1/nodes/nobody')).json).toMatchObject({
      code: 404,
      message: 'nodes "nobody" not found',
      details: { name: 'nobody', kind: 'nodes' },
    })
    expect((await read('/api/v1/nodes/nobody/proxy/configz')).status).toBe(404)
  })
})

describe('the kubeconfig', () => {
  it('has a context for each cluster with an endpoint, and its user may look around', async () => {
    lab = await enterLab([recorded, scenario([{ name: 'new', status: 'CREATING' }])])
    const config = new KubeConfig()
    config.loadFromString(lab.kubeconfig)
    expect(config.getContexts().map(({ name }) => name)).toEqual(['recorded'])
    const { server, caData } = config.getCurrentCluster()!
    const access = { endpoint: server, ca: Buffer.from(caData!, 'base64').toString() }
    expect(
      namesOf(await get(access, '/api/v1/nodes', config.getCurrentUser()!.token)),
    ).toHaveLength(2)
    for (const path of ['/api', '/apis', '/api/v1'])
      expect((await get(access, path, config.getCurrentUser()!.token)).status).toBe(200)
  })
})
