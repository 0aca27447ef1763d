/** The lab's access reviews, and its kubelets' own ports: who may ask what, in the words of the real ones. */
import { request } from 'node:https'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { labPrincipal } from '#lab/world.ts'
import type { KubernetesNode } from '#model/input/record.ts'
import {
  type ClusterAccess,
  describe as describeCluster,
  enterLab,
  get,
  nodes,
  scenario,
  token,
} from './support.ts'

let lab: Lab
afterEach(() => lab.close())

function post(
  { endpoint, ca }: ClusterAccess,
  body: string,
  bearer?: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    }
    const sent = request(`${endpoint}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, {
      method: 'POST',
      ca,
      agent: false,
      headers,
    })
    sent.on('error', reject)
    sent.on('response', response => {
      let text = ''
      response.on('data', chunk => (text += chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }),
      )
    })
    sent.end(body)
  })
}

const review = (resourceAttributes: object) =>
  JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  })

describe('a SelfSubjectAccessReview', () => {
  it.each([
    [{ verb: 'get', resource: 'nodes', subresource: 'proxy' }, true],
    [{ verb: 'get', resource: 'nodes' }, false],
    [{ verb: 'list', group: 'karpenter.sh', resource: 'nodepools' }, true],
    [{ verb: 'list', resource: 'nodepools' }, false],
    [{ verb: 'list', resource: 'secrets' }, false],
  ])('of %j: %s', async (attributes, allowed) => {
    lab = await enterLab(
      scenario([
        {
          name: 'c',
          access: { [labPrincipal]: ['get nodes/proxy', 'list nodepools.karpenter.sh'] },
        },
      ]),
    )
    const { status, json } = await post(
      await describeCluster('c'),
      review(attributes),
      await token(lab, 'c'),
    )
    expect(status).toBe(201)
    expect(json).toMatchObject({
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: attributes },
      status: { allowed },
    })
  })

  it('is for whom the API server knows, and of the form that it has', async () => {
    lab = await enterLab(scenario([{ name: 'c' }]))
    const [access, bearer] = [await describeCluster('c'), await token(lab, 'c')]
    expect((await post(access, review({ verb: 'list', resource: 'nodes' }))).status).toBe(403)
    expect((await post(access, review({ verb: 'list', resource: 'nodes' }), 'nobody')).status).toBe(
      401,
    )
    expect((await post(access, 'list nodes?', bearer)).status).toBe(400)
    expect((await post(access, '{}', bearer)).status).toBe(400)
    expect(
      await post(access, JSON.stringify({ ...JSON.parse(review({})), spec: {} }), bearer),
    ).toMatchObject({ status: 422, json: { reason: 'Invalid' } })
  })
})

// Only Linux answers for all of 127.0.0.0/8.
describe.runIf(process.platform === 'linux')('kubelets on their own ports', () => {
  async function kubelet(rights: readonly string[]) {
    lab = await enterLab(
      scenario([
        {
          name: 'c',
          nodes: nodes(2),
          kubelets: true,
          access: { [labPrincipal]: ['list nodes', ...rights] },
        },
      ]),
    )
    const [access, bearer] = [await describeCluster('c'), await token(lab, 'c')]
    const { items }: { items: KubernetesNode[] } = JSON.parse(
      (await get(access, '/api/v1/nodes', bearer)).text,
    )
    const places = items.map(({ status }) => {
      const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
      return `https://${address}:${status?.daemonEndpoints?.kubeletEndpoint?.Port}`
    })
    return {
      places,
      ask: (path: string, who?: string) =>
        get({ endpoint: places[0] ?? '', ca: access.ca }, path, who),
      bearer,
    }
  }

  it('are where the Node objects say, each at an address of its own, with the cluster’s certificate', async () => {
    const { places, ask, bearer } = await kubelet(['get nodes/configz', 'get nodes/stats'])
    expect(new Set(places.map(place => new URL(place).hostname)).size).toBe(2)
    expect((await ask('/configz', bearer)).json).toHaveProperty('kubeletconfig')
    expect((await ask('/stats/summary', bearer)).json).toHaveProperty('node')
    expect((await ask('/pods', bearer)).status).toBe(501)
  })

  it('take the wide right for configz, and for stats only their own', async () => {
    const { ask, bearer } = await kubelet(['get nodes/proxy'])
    expect((await ask('/configz', bearer)).status).toBe(200)
    const denied = await ask('/stats/summary', bearer)
    expect([denied.status, denied.text]).toEqual([
      403,
      `Forbidden (user=${labPrincipal}, verb=get, resource=nodes, subresource(s)=[stats])`,
    ])
  })

  it('know nobody without a good token', async () => {
    const { ask } = await kubelet([])
    expect((await ask('/configz')).status).toBe(401)
    expect(await ask('/configz', 'nobody')).toMatchObject({ status: 401, text: 'Unauthorized' })
  })
})
