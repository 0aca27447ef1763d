/** The modes: the same fleet read through its API servers, by SSM, and by both. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { RunEnd } from '#clients/failure.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { ordinaryPods } from '#lab/nodes/pod-profile.ts'
import { GiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import {
  type AgentScenario,
  type ClusterScenario,
  fixedNodes,
  type LabNode,
  type Scenario,
} from '#lab/scenarios/scenario.ts'
import { scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import { everything, type NodeRecord, type ReadMode } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { AuditResult } from '#pipeline/audit/audit.ts'
import { kubeconfigFleet, liveFleet, savedFleet } from '#pipeline/audit/fleet.ts'
import { temporaryFolder } from '#test/cli.ts'
import {
  type Answer,
  type Change,
  inspectDocuments,
  inspected,
  printed,
  withAgents,
} from '#test/inspected.ts'
import { kubeconfigEndpoint } from '#test/kubeconfig-endpoint.ts'
import { auditLive, auditRecords, labOf, nodesWithDetails } from '#test/lab-audit.ts'

const timeoutsMs = { ...defaultPolicy.timeoutsMs, inspect: 5000 }
const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 500 }
const by = (mode: ReadMode): Partial<Policy> => ({ timeoutsMs, modes: [{ match: {}, mode }] })

async function auditedBy(mode: ReadMode, world: Scenario = incidents, access?: readonly string[]) {
  const clusters = withAgents(world).clusters.map(cluster =>
    access ? { ...cluster, access: { [labPrincipal]: access } } : cluster,
  )
  const lab = await labOf([{ ...world, clusters }], { documents: inspectDocuments })
  return { ...(await auditLive({ policy: by(mode) })), requests: lab.requests() }
}

const withoutProxy = auditorRights.filter(right => right !== 'get nodes/proxy')
/** Its kubelet does not run, which SSM does not mind; the others run where SSM has no agent. */
const apart = [
  'ip-10-0-1-41.ec2.internal',
  'i-68907e0cb1d826dd1',
  'ip-10-0-4-21.ec2.internal',
  'fargate-ip-10-0-4-11.ec2.internal',
]

/** The rules that are open on a node, with the reason. */
const openOf = ({ document }: AuditResult): Record<string, Record<string, string>> => {
  const open: Record<string, Record<string, string>> = {}
  for (const { rule, nodes, reason } of document.unknowns)
    for (const node of nodes.sample.filter(name => !apart.includes(name)))
      open[rule] = { ...open[rule], [node]: reason }
  return open
}
const failsOf = ({ document }: AuditResult) =>
  document.findings
    .flatMap(({ rule, nodes, confidence }) =>
      nodes.sample.map(node => ({ rule, node, confidence })),
    )
    .filter(({ node }) => !apart.includes(node))

describe('mode ssm', () => {
  it('asks no kubelet through the API server, and reads every node that SSM reaches', async () => {
    const { document, nodes, requests } = await auditedBy('ssm', incidents, withoutProxy)
    const asked = Object.entries(requests.routes).flatMap(([api, routes]) =>
      api.startsWith('kubernetes/') ? Object.keys(routes) : [],
    )
    expect(asked).not.toContain('configz')
    expect(asked).not.toContain('stats/summary')
    expect(requests.routes.ssm).toMatchObject({
      DescribeDocument: 2,
      DescribeInstanceInformation: 2,
      SendCommand: 2,
    })
    expect(document.clusters[0]).toMatchObject({
      name: 'incidents',
      coverage: { nodes: 13, read: 13 },
    })
    expect(new Set(nodes.map(({ mode }) => mode))).toEqual(new Set(['ssm']))
  })

  it('leaves open, of what the API server would tell, only what needs memory, processes and what pods use', async () => {
    const [proxied, inspected] = [openOf(await auditedBy('proxy')), openOf(await auditedBy('ssm'))]
    const became = Object.keys(inspected).filter(rule =>
      Object.keys(inspected[rule]!).some(node => !proxied[rule]?.[node]),
    )
    expect(became.toSorted()).toEqual([
      // What is left in mounted claims, which only the kubelet measures.
      'claim-nearly-full',
      // Pods are ranked by what they use of memory and disk, which only the kubelet measures.
      'local-storage-limit-exceeded',
      // What each container wrote: the ten largest logs of a node are known, its containers' are not.
      'log-retention-too-short',
      'log-rotation-overshoot',
      // The memory of the daemons.
      'missing-system-reserved',
      'pods-without-ephemeral-requests-first',
      'reservation-without-eviction',
      'reserved-below-real-usage',
      // How many processes run.
      'unwatched-pids',
      // What pods and images give back.
      'useless-eviction',
    ])
    for (const [rule, nodes] of Object.entries(inspected))
      for (const reason of Object.values(nodes))
        if (became.includes(rule)) expect(reason).toMatch(/mode ssm does not read/)
    // And what nobody but the node can tell is told.
    const known = Object.keys(proxied).filter(rule => inspected[rule] === undefined)
    expect(known).toEqual(
      expect.arrayContaining([
        'container-gc-flags-off-default',
        'dead-container-pile',
        'invalid-kubelet-configuration',
        'unpinned-sandbox-image',
      ]),
    )
  })

  it('finds the same, but nothing that rests on a configuration on disk is certain, and its evidence says where that stands', async () => {
    const [proxied, { document, ...rest }] = [await auditedBy('proxy'), await auditedBy('ssm')]
    const inspected = failsOf({ document, ...rest })
    const open = openOf({ document, ...rest })
    for (const { rule, node } of failsOf(proxied))
      expect(
        inspected.some(other => other.rule === rule && other.node === node) ||
          open[rule]?.[node] !== undefined,
        `${rule} ${node}`,
      ).toBe(true)
    const resting = document.findings.filter(
      ({ rule }) => rule === 'eviction-before-image-gc' || rule === 'peer-drift',
    )
    expect(resting.length).toBeGreaterThan(2)
    for (const { confidence, evidence } of resting) {
      expect(confidence).not.toBe('certain')
      expect(evidence.some(({ what }) => what.startsWith('on disk '))).toBe(true)
      expect(evidence.some(({ what }) => what.startsWith('configz '))).toBe(false)
    }
  })

  it('sees the file of a kubelet that does not start any more', async () => {
    const { document } = await auditedBy('ssm')
    const found = document.findings.find(({ rule }) => rule === 'invalid-kubelet-configuration')
    expect(found).toMatchObject({
      confidence: 'certain',
      nodes: { sample: ['ip-10-0-1-41.ec2.internal'] },
    })
    const open = document.unknowns.find(
      ({ rule, nodes }) =>
        rule === 'image-gc-due' && nodes.sample[0] === 'ip-10-0-1-41.ec2.internal',
    )
    expect(open?.reason).toMatch(/was started with others/)
  })

  it('names the nodes that SSM cannot reach by their kind, and does not ask for them', async () => {
    const { nodes, requests } = await auditedBy('ssm')
    const reasonOf = (name: string) =>
      nodes
        .find(({ identity }) => identity.name === name)
        ?.errors.find(({ what }) => what === 'host')?.message
    expect(reasonOf('i-68907e0cb1d826dd1')).toMatch(/EKS Auto Mode/)
    expect(reasonOf('ip-10-0-4-21.ec2.internal')).toMatch(/a Windows node/)
    expect(reasonOf('fargate-ip-10-0-4-11.ec2.internal')).toMatch(/a Fargate node/)
    // Two documents each.
    expect(requests.routes.ssm?.GetCommandInvocation).toBe(26)
  })
})

describe.each(['ssm', 'both'] as const)('a snapshot of mode %s', mode => {
  it('is judged as the live fleet was, and says how it was read', async () => {
    const snapshotPath = join(temporaryFolder(), 'snapshot.ndjson')
    await labOf([withAgents(incidents)], { documents: inspectDocuments })
    const live = await auditLive({ policy: by(mode), snapshotPath })
    const saved = await auditRecords(savedFleet(snapshotPath, everything), { policy: by(mode) })
    expect(JSON.stringify(saved.document)).toBe(JSON.stringify(live.document))
    expect(nodesWithDetails(saved)).toEqual(nodesWithDetails(live))
    expect(new Set(saved.nodes.map(node => node.mode))).toEqual(new Set([mode]))
  })
})

describe('mode both', () => {
  it('reads what both read: more is certain, and nothing is open that one of them tells', async () => {
    const [proxied, both] = [await auditedBy('proxy'), await auditedBy('both')]
    const [before, after] = [openOf(proxied), openOf(both)]
    for (const rule of Object.keys(after)) expect(Object.keys(before)).toContain(rule)
    for (const rule of [
      'dead-container-pile',
      'unpinned-sandbox-image',
      'invalid-kubelet-configuration',
    ])
      expect({ [rule]: after[rule] }).toEqual({ [rule]: undefined })
    const confidence = (result: AuditResult) =>
      failsOf(result).find(
        ({ rule, node }) =>
          rule === 'eviction-before-image-gc' && node === 'ip-10-0-1-64.ec2.internal',
      )?.confidence
    // Whether images share the disk of nodefs is likely by its size, and certain by its device.
    expect([confidence(proxied), confidence(both)]).toEqual(['likely', 'certain'])
  })

  it('does not take for a defect what a kind of node cannot tell', async () => {
    const { document } = await auditedBy('both')
    const unread = document.findings.filter(({ rule }) => rule === 'unread-node')
    expect(unread.map(({ nodes, severity }) => [nodes.sample[0], severity]).toSorted()).toEqual([
      ['i-68907e0cb1d826dd1', 'info'],
      ['ip-10-0-1-41.ec2.internal', 'critical'],
      ['ip-10-0-4-21.ec2.internal', 'info'],
    ])
  })
})

const ipOf = (index: number) => `10.9.${Math.trunc(index / 250)}.${(index % 250) + 1}`
const plain = (index: number, more: Partial<NodeProfile> = {}): LabNode =>
  profiledNode({
    ...inNodegroup('workers', {
      family: 'AL2023',
      version: '1.34.1',
      instanceType: 'm5.large',
      ip: ipOf(index),
    }),
    nodefs: { capacityBytes: 100 * GiB, usedPercent: 40 },
    pods: ordinaryPods(ipOf(index)),
    ...more,
  })
const fleetOf = (nodes: LabNode[]): Partial<ClusterScenario> => ({
  nodes: fixedNodes(
    Object.fromEntries(
      nodes.map(node => [node.node('2026-11-21T00:00:00Z').metadata?.name ?? '', node]),
    ),
  ),
})

async function recordsOf(
  policy: Partial<Policy>,
  signal = new AbortController().signal,
): Promise<NodeRecord[]> {
  const options = {
    policy: { ...defaultPolicy, pace, timeoutsMs, ...policy },
    selection: everything,
    signal,
  }
  const records = await Array.fromAsync(liveFleet(options))
  return records.filter(record => record.kind === 'Node')
}

/** One node, and another beside it that is well. */
async function oneOf(
  change: Change,
  agent: Partial<AgentScenario> = {},
  policy: Partial<Policy> = by('ssm'),
  world: Partial<Scenario> = {},
) {
  const nodes = [inspected(plain(0), change, agent), inspected(plain(1))]
  await labOf([scenario([fleetOf(nodes)], world)], { documents: inspectDocuments })
  // Records come as they complete, so the slower node may be the last.
  const records = new Map(
    (await recordsOf(policy)).map(record => [record.node.metadata?.name, record]),
  )
  const [first, second] = nodes.map(({ node }) =>
    records.get(node('2026-11-21T00:00:00Z').metadata?.name),
  )
  return { first: first!, second: second! }
}

const reasons = ({ errors }: NodeRecord) =>
  Object.fromEntries((errors ?? []).map(({ what, message }) => [what, message]))

describe('an answer that cannot be used', () => {
  it.each<[string, Change, RegExp, Partial<AgentScenario>?]>([
    ['cut off', answer => printed(answer).slice(0, 900), /breaks off or is damaged/],
    ['garbage', () => '\u0000\u0001ELF not an answer', /it is no JSON/],
    ['nothing at all', () => '', /it is empty/],
    [
      'of another node',
      answer => ({ ...answer, instanceId: 'i-0123456789abcdef0' }),
      /it comes from "i-0123456789abcdef0", not from i-/,
    ],
    [
      'for another node',
      answer => ({ ...answer, nodeName: 'ip-10-9-9-9' }),
      /says that it is the node "ip-10-9-9-9", not /,
    ],
    [
      'of another version',
      answer => ({ ...answer, schema: 'highwater.inspect/9' }),
      /schema "highwater.inspect\/9"/,
    ],
    [
      'of a script that was killed',
      answer => answer,
      /breaks off.*exit code 137/,
      { fault: { kind: 'killed', afterCharacters: 500 } },
    ],
    [
      'too late',
      answer => answer,
      /still ran when the time was up/,
      { fault: { kind: 'stuck', status: 'InProgress' } },
    ],
    [
      'of an agent that was lost',
      answer => answer,
      /lost the connection/,
      { pingStatus: 'ConnectionLost' },
    ],
  ])(
    '%s: is a reason, and takes nothing of the node or of its neighbour away',
    async (_, change, reason, agent) => {
      const isStuck = agent?.fault?.kind === 'stuck'
      const { first, second } = await oneOf(change, agent, {
        ...by('ssm'),
        ...(isStuck && { timeoutsMs: { ...timeoutsMs, inspect: 400 } }),
      })
      expect(first.host ?? null).toBe(null)
      expect(first.runtime ?? null).toBe(null)
      expect(reasons(first)).toEqual({
        host: expect.stringMatching(reason),
        runtime: expect.stringMatching(reason),
      })
      expect(first.pods?.length).toBeGreaterThan(0)
      expect({
        errors: second.errors,
        host: isRawObject(second.host),
        runtime: isRawObject(second.runtime),
      }).toEqual({ errors: [], host: true, runtime: true })
    },
  )

  it('costs in mode both only what SSM would have read', async () => {
    const { first } = await oneOf(() => 'garbage', {}, by('both'))
    expect(first.configz).toMatchObject({ kubeletconfig: { evictionHard: expect.any(Object) } })
    expect(first.summary).toMatchObject({
      node: { nodeName: first.node.metadata?.name, fs: expect.any(Object) },
    })
    expect(Object.keys(reasons(first)).toSorted()).toEqual(['host', 'runtime'])
  })

  it('that only says why it is empty, says that', async () => {
    const host = {
      schema: 'highwater.host/1',
      unread: [{ what: 'host', why: 'the program awk is not on this node' }],
    }
    const { first } = await oneOf(answer => ({ ...answer, host, runtime: null }))
    expect(reasons(first)).toEqual({
      host: expect.stringMatching(/awk is not/),
      runtime: expect.stringMatching(/awk is not/),
    })
  })

  it('without a runtime is a host all the same', async () => {
    const unread = [{ what: 'runtime.images', why: 'crictl did not answer within 8 seconds' }]
    const { first } = await oneOf(answer => ({
      ...answer,
      runtime: null,
      host: { ...answer.host, unread },
    }))
    expect(reasons(first)).toEqual({
      runtime: 'runtime.images: crictl did not answer within 8 seconds',
    })
    expect(isRawObject(first.host)).toBe(true)
  })
})

describe('the end of the run', () => {
  it('is the reason of nodes that were asked and had not answered', async () => {
    const controller = new AbortController()
    const interrupts = inspected(plain(0), answer => {
      controller.abort(new RunEnd('run was interrupted'))
      return answer
    })
    await labOf([scenario([fleetOf([interrupts])])], { documents: inspectDocuments })
    const [record] = await recordsOf(by('ssm'), controller.signal)
    expect(reasons(record!).host).toBe('not reached before the run was interrupted')
    expect(record!.errors).toContainEqual(
      expect.objectContaining({ endedBy: 'run was interrupted' }),
    )
    expect(record?.pods?.length).toBeGreaterThan(0)
  })
})

describe('the running configuration', () => {
  const running = (answer: Answer, imageGCHighThresholdPercent: number): RawObject => {
    const kubelet = answer.host.kubelet as { files: { content: RawObject }[] }
    return { kubeletconfig: { ...kubelet.files[0]?.content, imageGCHighThresholdPercent } }
  }

  it('is what root read on the node, where it could', async () => {
    const { first, second } = await oneOf(answer => ({ ...answer, configz: running(answer, 77) }))
    expect(first.configz).toMatchObject({ kubeletconfig: { imageGCHighThresholdPercent: 77 } })
    expect(second.configz ?? null).toBe(null)
  })

  it('is what the API server tells, where it is asked', async () => {
    const { first } = await oneOf(
      answer => ({ ...answer, configz: running(answer, 77) }),
      {},
      by('both'),
    )
    expect(first.configz).not.toMatchObject({ kubeletconfig: { imageGCHighThresholdPercent: 77 } })
  })
})

describe('the document', () => {
  const world = async (
    documents: { name: string; content: string }[],
    more: Partial<Scenario> = {},
  ) => {
    const lab = await labOf([scenario([fleetOf([inspected(plain(0))])], more)], { documents })
    const [record] = await recordsOf(by('ssm'))
    return { reason: reasons(record!).host, requests: lab.requests().routes.ssm ?? {} }
  }

  it.each<[string, { name: string; content: string }[], RegExp]>([
    ['is not there', [], /no SSM document Highwater-Inspect in us-east-1: deploy the stack there/],
    [
      'is another version’s',
      inspectDocuments.map(document => ({
        ...document,
        content: document.content.replace('Changes nothing', 'Changes something'),
      })),
      /Highwater-Inspect in us-east-1 is not the one of this version: deploy the stack again/,
    ],
  ])('%s: nothing is sent', async (_, documents, reason) => {
    const { reason: said, requests } = await world(documents)
    expect(said).toMatch(reason)
    expect(requests).toEqual({ DescribeDocument: 2 })
  })

  it('of Bottlerocket is another one', async () => {
    const node = inspected(plain(0, { family: 'Bottlerocket' }))
    const lab = await labOf([scenario([fleetOf([node, inspected(plain(1))])])], {
      documents: inspectDocuments.filter(({ name }) => !name.includes('Bottlerocket')),
    })
    const [bottlerocket, other] = await recordsOf(by('ssm'))
    expect(reasons(bottlerocket!).host).toMatch(/SSM document Highwater-InspectBottlerocket/)
    expect(reasons(other!)).toEqual({})
    expect(lab.requests().routes.ssm).toMatchObject({ DescribeDocument: 3, SendCommand: 2 })
  })

  it.each([
    'ssm:DescribeDocument',
    'ssm:DescribeInstanceInformation',
    'ssm:SendCommand',
    'ssm:ListCommandInvocations',
    'ssm:GetCommandInvocation',
  ])('without %s the missing right is named', async right => {
    const { reason } = await world(inspectDocuments, { ssm: { denied: [right] } })
    expect(reason).toMatch(new RegExp(`not allowed .*${right}.*Grant`))
  })
})

describe('an answer that is too long for SSM', () => {
  const inspectOutput = { bucket: 'highwater-lab', prefix: 'nodes' }
  /** Random text, which does not pack well. */
  const padding = randomBytes(40_000).toString('hex')
  const long: Change = answer => printed(Object.assign({}, answer, { padding }))

  it('is cut off, and not used', async () => {
    const { first } = await oneOf(long)
    expect(reasons(first).host).toMatch(/breaks off or is damaged/)
  })

  it.each(['nodes', 'nodes/', 'a/b', ''])(
    'is read whole from S3, under the prefix %j',
    async prefix => {
      const { first, second } = await oneOf(
        long,
        {},
        { ...by('ssm'), inspectOutput: { ...inspectOutput, prefix } },
      )
      expect([reasons(first), reasons(second)]).toEqual([{}, {}])
      expect(isRawObject(first.host)).toBe(true)
    },
  )

  it.each<[string, Partial<Scenario>, Partial<Policy>, RegExp]>([
    [
      'the instance may not write there',
      { s3: { buckets: [] } },
      { inspectOutput },
      /there is no bucket highwater-lab/,
    ],
    [
      'nobody may read it',
      { s3: { denied: ['s3:GetObject'] } },
      { inspectOutput },
      /not allowed .*s3:GetObject/,
    ],
  ])('names what is wrong with S3: %s', async (_, world, policy, reason) => {
    const { first, second } = await oneOf(long, {}, { ...by('ssm'), ...policy }, world)
    expect(reasons(first).host).toMatch(reason)
    // What fits needs no S3.
    expect(reasons(second)).toEqual({})
  })
})

describe('many nodes', () => {
  it('go out in full batches, two of them under way', async () => {
    const nodes = Array.from({ length: 120 }, (_, index) => inspected(plain(index, { pods: [] })))
    const lab = await labOf([scenario([fleetOf(nodes)])], { documents: inspectDocuments })
    const records = await recordsOf(by('ssm'))
    expect(records.filter(({ host }) => isRawObject(host)).length).toBe(120)
    expect(lab.requests().routes.ssm).toMatchObject({
      DescribeDocument: 2,
      SendCommand: 6,
      GetCommandInvocation: 240,
    })
  })
})

describe('the policy', () => {
  it('says for each cluster how it is read: the first match wins', async () => {
    const clusters = ['edge-1', 'edge-2', 'main'].map((name, index) => ({
      name,
      ...fleetOf([inspected(plain(index))]),
    }))
    await labOf([scenario(clusters)], { documents: inspectDocuments })
    const modes: Policy['modes'] = [
      { match: { cluster: 'edge-2' }, mode: 'both' },
      { match: { cluster: 'edge-*' }, mode: 'ssm' },
    ]
    const records = await recordsOf({ modes })
    expect(Object.fromEntries(records.map(({ cluster, mode }) => [cluster, mode]))).toEqual({
      'edge-1': 'ssm',
      'edge-2': 'both',
      main: 'proxy',
    })
    const read = Object.fromEntries(
      records.map(({ cluster, summary, host }) => [
        cluster,
        [isRawObject(summary), isRawObject(host)],
      ]),
    )
    expect(read).toEqual({ 'edge-1': [false, true], 'edge-2': [true, true], main: [true, false] })
  })

  it('reads clusters of a kubeconfig by SSM in the region that is given, or says that it does not know one', async () => {
    const lab = await labOf([scenario([fleetOf([inspected(plain(0))])])], {
      documents: inspectDocuments,
    })
    const file = join(temporaryFolder(), 'config')
    writeFileSync(file, lab.kubeconfig)
    const endpoint = await kubeconfigEndpoint(file, null)
    const read = async () => {
      const options = {
        policy: { ...defaultPolicy, pace, ...by('ssm') },
        selection: everything,
        signal: new AbortController().signal,
      }
      const records = await Array.fromAsync(kubeconfigFleet([endpoint], options))
      return reasons(records.find(record => record.kind === 'Node')!)
    }
    expect(await read()).toEqual({})
    delete process.env.AWS_REGION
    delete process.env.AWS_DEFAULT_REGION
    expect((await read()).host).toMatch(/give --region, or set/)
  })
})
