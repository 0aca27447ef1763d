/** Mode kubelet: the same two answers from the kubelet's own port, with a token that may do nothing else. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { KubeletApi } from '#clients/kubernetes/kubernetes.ts'
import { kubeletAddress } from '#facts/kubelet/endpoints.ts'
import { createAuthority, issueServing } from '#lab/certificates.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import {
  type ClusterFaults,
  fixedNodes,
  type NodeFault,
  type NodeSource,
} from '#lab/scenarios/scenario.ts'
import { nodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

const role = 'arn:aws:iam::111122223333:role/highwater-kubelet'
const plain = auditorRights.filter(right => right !== 'get nodes/proxy')
const narrow = ['get nodes/configz', 'get nodes/stats']
const policy: Partial<Policy> = {
  modes: [{ match: {}, mode: 'kubelet' }],
  kubelet: { roleArn: role, useOwnToken: false },
}
/** For a kubelet that never answers. */
const shortTimeoutsMs = { ...defaultPolicy.timeoutsMs, configz: 400, summary: 400 }

interface World {
  nodes?: NodeSource
  access?: Record<string, readonly string[]>
  faults?: ClusterFaults
}

const labWith = ({
  nodes: source = nodes(2),
  access = { [labPrincipal]: plain, [role]: narrow },
  faults = {},
}: World = {}) =>
  labOf([
    scenario([{ name: 'c', nodes: source, access, faults, kubelets: true }], {
      roles: [{ arn: role }],
    }),
  ])

/** What each node could not tell. */
async function reasons(more: Partial<Policy> = {}) {
  const { nodes: audited } = await auditLive({ policy: { ...policy, ...more } })
  return audited.map(({ errors }) =>
    Object.fromEntries(errors.map(({ what, message }) => [what, message])),
  )
}

const oldNode = () => {
  const placement = inNodegroup('general', {
    family: 'AL2023',
    version: '1.32.9',
    instanceType: 'm6i.large',
    ip: '10.0.0.9',
  })
  return fixedNodes({
    [placement.name]: profiledNode({
      ...placement,
      nodefs: { capacityBytes: 2 ** 34, usedPercent: 40 },
      pods: [],
    }),
  })
}

// Only Linux answers for all of 127.0.0.0/8, where the lab's kubelets are.
describe.runIf(process.platform === 'linux')('mode kubelet', () => {
  it('reads whole nodes with the narrow rights, and nothing through the node proxy', async () => {
    const lab = await labWith()
    const { document } = await auditLive({ policy })
    expect(document.clusters[0]?.coverage).toMatchObject({ nodes: 2, read: 2 })
    expect(lab.requests().routes['kubelet/c']).toEqual({ configz: 2, 'stats/summary': 2 })
    expect(Object.keys(lab.requests().routes['kubernetes/c'] ?? {})).not.toContain('configz')
  })

  it('finds what mode proxy finds', async () => {
    await labWith({ access: { [labPrincipal]: auditorRights, [role]: narrow } })
    const [direct, proxied] = [await auditLive({ policy }), await auditLive()]
    const found = ({ document }: typeof direct) => ({
      findings: document.findings.map(({ id, evidence }) => ({ id, evidence })),
      outcomes: document.clusters.map(({ outcomes }) => outcomes),
    })
    expect(found(direct)).toEqual(found(proxied))
  })

  it('shows kubelets the token of the role, not the run’s own', async () => {
    await labWith({ access: { [labPrincipal]: [...plain, ...narrow], [role]: [] } })
    expect((await reasons())[0]?.configz).toContain('assumed-role/highwater-kubelet')
  })

  it('shows them the run’s own where the policy says so, and only there', async () => {
    await labWith({ access: { [labPrincipal]: [...plain, ...narrow] } })
    expect(await reasons({ kubelet: { roleArn: null, useOwnToken: true } })).toEqual([{}, {}])
    await expect(
      auditLive({ policy: { ...policy, kubelet: defaultPolicy.kubelet } }),
    ).rejects.toThrowErrorMatchingSnapshot()
  })

  it.each<[why: string, world: World, configz: RegExp, summary: RegExp]>([
    [
      'a role without the rights',
      { access: { [labPrincipal]: plain, [role]: [] } },
      /403.*\[configz proxy\].*Grant get nodes\/configz to the identity that kubelets see/,
      /403.*\[stats\].*Grant get nodes\/stats/,
    ],
    [
      'a role that the cluster does not know',
      { access: { [labPrincipal]: plain } },
      /401.*access entry.*clock/,
      /401.*access entry/,
    ],
    [
      'a kubelet before 1.33',
      { nodes: oldNode(), access: { [labPrincipal]: plain, [role]: ['get nodes/configz'] } },
      /403.*subresource=proxy.*v1\.32\.9.*needs the right get nodes\/proxy.*mode ssm/,
      /Grant get nodes\/stats/,
    ],
    [
      'certificates of another CA',
      { faults: { kubeletCertificate: 'other-authority' } },
      /not signed by the cluster's CA.*use mode proxy or ssm/,
      /CA/,
    ],
    [
      'certificates for another name',
      { faults: { kubeletCertificate: 'other-host' } },
      /is for another name/,
      /another name/,
    ],
  ])('%s', async (_, world, configz, summary) => {
    await labWith(world)
    for (const reason of await reasons())
      expect(reason).toEqual({
        configz: expect.stringMatching(configz),
        summary: expect.stringMatching(summary),
      })
  })

  it.each<[NodeFault, RegExp, RegExp | null]>([
    [{ kind: 'down' }, /refused the connection/, /refused/],
    [{ kind: 'hanging' }, /no answer.*within 0\.4 s.*security group/, /security group/],
    [{ kind: 'truncated' }, /no JSON/, /no JSON/],
    [{ kind: 'status', status: 500, body: 'Internal Error\n' }, /500: Internal Error/, /500/],
    [{ kind: 'no-debugging-handlers' }, /debugging handlers are off.*Mode ssm/, null],
  ])('%j', async (fault, configz, summary) => {
    await labWith({ nodes: nodes(0, fault) })
    const isSilent = fault.kind === 'hanging'
    expect(await reasons(isSilent ? { timeoutsMs: shortTimeoutsMs } : {})).toEqual([
      {
        configz: expect.stringMatching(configz),
        ...(summary && { summary: expect.stringMatching(summary) }),
      },
    ])
  })
})

describe('a kubelet without debugging handlers', () => {
  it('is a state of the node through the proxy, too', async () => {
    await labOf([scenario([{ name: 'c', nodes: nodes(0, { kind: 'no-debugging-handlers' }) }])])
    expect(await reasons({ modes: [] })).toEqual([
      { configz: expect.stringMatching(/debugging handlers are off/) },
    ])
  })
})

describe('the address of a kubelet', () => {
  const status = {
    addresses: [
      { type: 'ExternalIP', address: '3.4.5.6' },
      { type: 'InternalIP', address: 'fd00::5' },
      { type: 'InternalIP', address: '10.0.0.5' },
      { type: 'Hostname', address: 'ip-10-0-0-5' },
      { type: 'InternalDNS', address: 'ip-10-0-0-5.ec2.internal' },
    ],
  }

  it('is the first internal one, never the public one; its certificate may be for any internal name', () => {
    expect(kubeletAddress({ metadata: { name: 'n' }, status })).toEqual({
      ip: 'fd00::5',
      port: 10_250,
      names: ['fd00::5', '10.0.0.5', 'ip-10-0-0-5', 'ip-10-0-0-5.ec2.internal', 'n'],
    })
  })

  it('is where the node says that it listens', () => {
    expect(
      kubeletAddress({
        status: { ...status, daemonEndpoints: { kubeletEndpoint: { Port: 10_350 } } },
      }).port,
    ).toBe(10_350)
  })

  it('may be missing: said, and nothing is asked', async () => {
    const address = kubeletAddress({ metadata: { name: 'n' } })
    const authorization = vi.fn(async () => null)
    const api = new KubeletApi({ ca: '', authorization }, defaultPolicy.pace)
    const options = { signal: new AbortController().signal, timeoutMs: 1000 }
    await expect(api.getUnparsed(address, '/configz', options)).rejects.toThrow('no InternalIP')
    expect(authorization).not.toHaveBeenCalled()
  })

  it('may be of IPv6; a token goes only to whoever has the certificate', async () => {
    const authority = createAuthority('kubernetes')
    const { keyPem, certificatePem } = issueServing(authority, { dns: ['node-a'], ip: [] })
    const seen: (string | undefined)[] = []
    const server = createServer({ key: keyPem, cert: certificatePem }, (request, response) => {
      seen.push(request.headers.authorization)
      response.end('{"kubeletconfig":{}}')
    })
    onTestFinished(() => void server.close())
    const port = await new Promise<number>(resolve =>
      server.listen(0, '::1', () => resolve((server.address() as AddressInfo).port)),
    )
    const api = new KubeletApi(
      { ca: authority.certificatePem, authorization: async () => 'Bearer t' },
      defaultPolicy.pace,
    )
    const options = { signal: new AbortController().signal, timeoutMs: 2000 }
    const parse = await api.getUnparsed(
      { ip: '::1', port, names: ['::1', 'node-a'] },
      '/configz',
      options,
    )
    expect(parse()).toEqual({ kubeletconfig: {} })
    await expect(
      api.getUnparsed({ ip: '::1', port, names: ['::1', 'node-b'] }, '/configz', options),
    ).rejects.toThrow('another name')
    expect(seen).toEqual(['Bearer t'])
  })
})
