import { Agent, request } from 'node:https'
import { afterEach, describe, expect, it } from 'vitest'
import { type Lab, startLab } from '#lab/lab.ts'
import type { ClusterFaults, NodeFault } from '#lab/scenarios/scenario.ts'
import { describe as describeCluster, enterLab, get, nodes, scenario, token } from './support.ts'

let lab: Lab
afterEach(() => lab.close())

async function faulty(fault: NodeFault) {
  lab = await enterLab(scenario([{ name: 'c', nodes: nodes(0, fault) }]))
  const access = await describeCluster('c')
  const bearer = await token(lab, 'c')
  return (path: string) =>
    get(access, `/api/v1/nodes/ip-10-0-1-1.ec2.internal/proxy/${path}`, bearer)
}

describe('a kubelet', () => {
  it('that is down is a 503 Status of the API server', async () => {
    const read = await faulty({ kind: 'down' })
    const answer = await read('configz')
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({
      reason: 'ServiceUnavailable',
      message:
        'error trying to reach service: dial tcp 10.0.1.1:10250: connect: connection refused',
    })
  })

  it('that fails answers with its own text', async () => {
    const read = await faulty({ kind: 'status', status: 500, body: 'Internal Error: no stats\n' })
    const answer = await read('stats/summary')
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      500,
      'Internal Error: no stats\n',
      'text/plain; charset=utf-8',
    ])
  })

  it('with truncated JSON keeps the length it announced', async () => {
    const answer = await (await faulty({ kind: 'truncated' }))('configz')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-length']).toBe(String(answer.body.length))
    expect(() => answer.json).toThrow(SyntaxError)
  })

  it('that breaks off never sends the rest', async () => {
    const read = await faulty({ kind: 'broken' })
    await expect(read('stats/summary')).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('without debugging handlers has no configz, but stats', async () => {
    const read = await faulty({ kind: 'no-debugging-handlers' })
    const answer = await read('configz')
    expect([answer.status, answer.text]).toEqual([404, '404 page not found\n'])
    expect((await read('stats/summary')).status).toBe(200)
  })

  it('that hangs sends nothing until the lab closes', async () => {
    const read = await faulty({ kind: 'hanging' })
    const answer = read('configz').then(
      () => 'answered',
      () => 'closed',
    )
    while (!lab.requests().routes['kubernetes/c']?.configz)
      await new Promise(resolve => setImmediate(resolve))
    await lab.close()
    expect(await answer).toBe('closed')
  })

  it('that is slow answers all the same', async () => {
    const read = await faulty({ kind: 'slow', delayMs: 5 })
    expect((await read('configz')).json).toHaveProperty('kubeletconfig')
  })
})

describe('a cluster', () => {
  async function failing(faults: ClusterFaults) {
    lab = await enterLab(scenario([{ name: 'c', nodes: nodes(1), faults }]))
    const access = await describeCluster('c')
    const bearer = await token(lab, 'c')
    return (path: string) => get(access, path, bearer)
  }

  it.each<[string, ClusterFaults, string]>([
    ['whose port is closed', { endpoint: 'closed-port' }, 'ECONNREFUSED'],
    [
      'whose certificate is for another host',
      { certificate: 'other-host' },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'whose certificate is of another authority',
      { certificate: 'other-authority' },
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
  ])('%s fails at the connection', async (_, faults, code) => {
    await expect((await failing(faults))('/version')).rejects.toMatchObject({ code })
  })

  it('whose name does not resolve fails at the look-up', async () => {
    await expect((await failing({ endpoint: 'unresolvable' }))('/version')).rejects.toMatchObject({
      syscall: 'getaddrinfo',
    })
  })

  it('that is busy refuses the first requests with the time to wait, but not the kubelets', async () => {
    const read = await failing({ tooManyRequests: { first: 2, retryAfterSeconds: 3 } })
    expect((await read('/api/v1/nodes/ip-10-0-0-1.ec2.internal/proxy/configz')).status).toBe(200)
    const refused = await read('/api/v1/nodes')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3'])
    expect((await read('/version')).status).toBe(429)
    expect((await read('/api/v1/nodes')).status).toBe(200)
  })

  it('keeps connections alive, and the lab counts them', async () => {
    lab = await enterLab(scenario([{ name: 'c', nodes: nodes(1) }]))
    const { endpoint, ca } = await describeCluster('c')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const authorization = `Bearer ${await token(lab, 'c')}`
    for (let round = 0; round < 5; round += 1) {
      await new Promise<void>((resolve, reject) => {
        const sent = request(
          `${endpoint}/api/v1/nodes`,
          { ca, agent, headers: { authorization } },
          response => response.resume().on('end', resolve),
        )
        sent.on('error', reject)
        sent.end()
      })
    }
    agent.destroy()
    expect(lab.requests()).toMatchObject({
      connections: { 'kubernetes/c': 1 },
      routes: { 'kubernetes/c': { listNodes: 5 } },
    })
  })
})

describe('two scenarios', () => {
  it('with a cluster of the same name cannot share a lab', async () => {
    lab = await startLab(scenario([{ name: 'a' }]))
    await expect(
      startLab([scenario([{ name: 'a' }]), scenario([{ name: 'a' }])]),
    ).rejects.toThrowErrorMatchingSnapshot()
  })
})
