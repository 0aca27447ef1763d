import { describe, expect, it } from 'vitest'
import { OperatorError } from '#base/operator-error.ts'
import type { RawObject } from '#base/raw-object.ts'
import { everything, type NodeRecord } from '#model/input/record.ts'
import type { Plan, PlanStep } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { verifyNode } from '#pipeline/remediation/run/verify.ts'
import { changedSince } from '#remediate/plan/approve.ts'
import { canonicalJson, digestOf } from '#remediate/plan/canonical.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { verifyBack } from '#remediate/verify/verify.ts'
import { inputOf } from '#test/at-the-door.ts'
import {
  type FleetNode,
  fleetNode,
  hashOf,
  idleImage,
  readyPod,
  snapshotOf,
} from '#test/plan-fleet.ts'

const agent = 'quay.io/platform/agent:1'
const source = 'mirror.corp.example:5000/platform/agent'
const pinned = hashOf(`${agent} pinned\n`)
const unpinned = hashOf(`${agent} unpinned\n`)
const one = `sha256:${'1'.repeat(64)}`
const two = `sha256:${'2'.repeat(64)}`
const policy = {
  requiredImages: ['*/platform/*'],
  requiredImageSources: { 'quay.io/platform/agent:*': source },
}

const byDigest = {
  ...policy,
  requiredImageSources: { 'quay.io/platform/agent:*': `${source}:1@${one}` },
}

/** The image lies there, unused and not pinned. */
const atRisk = (node: FleetNode = {}): NodeRecord =>
  fleetNode({ images: [idleImage(agent, 1)], ...node })
/** A pod waits for the image. */
const waiting = (image = agent, node: FleetNode = {}): NodeRecord => {
  const pod = readyPod('web', 'web')
  const state = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } }
  const status = { ...pod.status, containerStatuses: [{ name: 'app', image, ready: false, state }] }
  return fleetNode({ pods: [{ ...pod, status }] as NonNullable<NodeRecord['pods']>, ...node })
}

async function plan(
  nodes: NodeRecord[],
  changed: Partial<Policy> = policy,
  rules = ['required-image-at-risk'],
): Promise<Plan> {
  const request = {
    rules,
    findings: [],
    changes: [],
    allowActAtOnce: false,
    version: '0.0.0',
    selection: everything,
  }
  const { plan } = await makePlan(snapshotOf(nodes), {
    ...request,
    policy: { ...defaultPolicy, ...changed },
  })
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return plan
}
const whyRefused = async (node: NodeRecord, changed?: Partial<Policy>, rules?: string[]) => {
  const { steps, refused } = await plan([node], changed, rules)
  expect(steps).toEqual([])
  return refused[0]?.why
}

describe('an image that may be deleted', () => {
  it('is pinned under the name that pods use, and nothing restarts', async () => {
    const { steps, cohorts, refused } = await plan([atRisk({ name: 'a' }), atRisk({ name: 'b' })])
    expect(refused).toEqual([])
    const step = {
      method: 'pull-image',
      path: agent,
      oldSha256: unpinned,
      newSha256: pinned,
      lastsUntil: 'replacement',
    }
    expect(steps).toMatchObject([
      {
        node: 'a',
        ...step,
        content: `{"name":"${agent}","pinned":true,"source":"${source}:1"}`,
        expect: [{ field: agent, value: 'pinned' }],
        expectBack: [{ field: agent, value: 'unpinned' }],
      },
      { node: 'b', ...step },
    ])
    expect(steps[0]?.after).toEqual(steps[0]?.before)
    expect(cohorts).toMatchObject([
      {
        fields: {},
        image: { name: agent, source: `${source}:1` },
        findings: [expect.any(String)],
        blast: { pods: 0, notReadyPods: 0, text: 'Nothing restarts, and no pod notices.' },
      },
    ])
    expect(cohorts[0]?.effect.text).toContain(`${agent} is pinned on 2 nodes`)
    expect(cohorts[0]?.effect.text).not.toContain('pulled')
    expect(cohorts[0]?.durable).toMatchObject([
      { snippet: expect.stringContaining(`ctr -n k8s.io images tag ${source}:1 ${agent}`) },
    ])
  })

  it('is one of several: a node has one step, and the others are for the next plan', async () => {
    const images = [idleImage(agent, 1), idleImage('quay.io/platform/other:2', 1)]
    const sources = {
      'quay.io/platform/*': 'mirror.corp.example/other',
      'quay.io/platform/agent:1': `${source}:1`,
    }
    const { steps, later } = await plan([atRisk({ images })], {
      ...policy,
      requiredImageSources: sources,
    })
    expect(steps.map(({ path }) => path)).toEqual([agent])
    expect(later).toMatchObject([
      { why: expect.stringMatching(/^quay\.io\/platform\/other:2 is otherwise than wanted/) },
    ])
  })

  it('is the sandbox image, where that is what is not pinned', async () => {
    const pause = '602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10'
    const node = fleetNode({ images: [idleImage(pause, 0.001)] })
    const record = { ...node, host: { ...node.host, containerd: { sandboxImage: pause } } }
    const sources = { requiredImageSources: { '*/eks/pause:*': 'mirror.corp.example/eks/pause' } }
    const { steps } = await plan([record], sources, ['unpinned-sandbox-image'])
    expect(steps).toMatchObject([
      {
        path: pause,
        oldSha256: hashOf(`${pause} unpinned\n`),
        newSha256: hashOf(`${pause} pinned\n`),
      },
    ])
  })

  it('is no part of a plan of all findings where the policy names no source', async () => {
    const { steps, refused } = await plan([atRisk()], { requiredImages: ['*/platform/*'] }, [])
    expect([...steps, ...refused].filter(one => JSON.stringify(one).includes(agent))).toEqual([])
  })
})

/** A node that still holds the image, with the digest that its runtime shows. */
const holder = (name = agent, digest = one): NodeRecord => {
  const node = fleetNode({ name: `holder-${digest.slice(-4)}` })
  const image = { names: [name, `${name.slice(0, name.lastIndexOf(':'))}@${digest}`], sizeBytes: 1 }
  const status = { ...node.node.status, images: [image] }
  return { ...node, node: { ...node.node, status } as NodeRecord['node'] }
}

describe('an image that is missing', () => {
  it('is pulled by the digest that another node shows, whatever the tag is today', async () => {
    const made = await plan([waiting(), holder()], policy, ['pull-failing-now'])
    expect(made.steps).toMatchObject([
      { oldSha256: 'absent', content: expect.stringContaining(`"source":"${source}@${one}"`) },
    ])
  })

  it('is pulled by the digest of the source, if no node has the name', async () => {
    const made = await plan([waiting(), holder(`${source}:1`)], policy, ['pull-failing-now'])
    expect(made.steps[0]?.content).toContain(`"source":"${source}@${one}"`)
  })

  it('is refused where no digest is known', async () => {
    expect(await whyRefused(waiting(), policy, ['pull-failing-now'])).toMatchSnapshot()
    const other = [waiting(), { ...holder(), cluster: 'other' }]
    const made = await plan(other, policy, ['pull-failing-now'])
    expect(made.steps).toEqual([])
  })

  it('is refused where nodes hold different images under the name', async () => {
    const nodes = [waiting(), holder(agent, one), holder(agent, two)]
    const { steps, refused } = await plan(nodes, policy, ['pull-failing-now'])
    expect(steps).toEqual([])
    expect(refused).toMatchObject([{ why: expect.stringMatching(/nodes hold different images/) }])
  })

  it('is pulled from the source, by the rule that sees a pod wait for it', async () => {
    const { steps, cohorts } = await plan([waiting()], byDigest, ['pull-failing-now'])
    expect(steps).toMatchObject([
      {
        method: 'pull-image',
        path: agent,
        oldSha256: 'absent',
        newSha256: pinned,
        expectBack: [{ field: agent, value: null }],
      },
    ])
    expect(cohorts[0]?.effect.text).toMatchSnapshot()
  })

  it('is refused where only the kubelet has what its source asks for', async () => {
    const ecr = '111122223333.dkr.ecr.eu-west-1.amazonaws.com/platform/agent'
    const changed = { requiredImageSources: { [agent]: `${ecr}:1` } }
    expect(await whyRefused(waiting(), changed, ['pull-failing-now'])).toMatchSnapshot()
    // Nothing is pulled where it is there.
    expect((await plan([atRisk()], { ...policy, ...changed })).steps).toMatchObject([
      { oldSha256: unpinned },
    ])
  })

  it('has its name in full, as the runtime has it', async () => {
    const untagged = { requiredImageSources: { nginx: 'mirror.corp.example/nginx:1.29' } }
    expect(await whyRefused(waiting('nginx'), untagged, ['pull-failing-now'])).toMatchSnapshot()
    const latest = { requiredImageSources: { 'nginx:*': `mirror.corp.example/nginx@${one}` } }
    expect((await plan([waiting('nginx')], latest, ['pull-failing-now'])).steps).toMatchObject([
      {
        path: 'docker.io/library/nginx:latest',
        content: expect.stringContaining(`"source":"mirror.corp.example/nginx@${one}"`),
      },
    ])
  })
})

describe('what is refused, in words', () => {
  it.each<[string, NodeRecord, Partial<Policy>, RegExp]>([
    [
      'no source',
      atRisk(),
      { ...policy, requiredImageSources: {} },
      /requiredImageSources names no source of quay\.io\/platform\/agent:1/,
    ],
    [
      'another image in its place',
      atRisk(),
      {
        ...policy,
        requiredImageSources: { 'quay.io/platform/*': 'mirror.corp.example/platform/other' },
      },
      /would put mirror\.corp\.example\/platform\/other in the place of quay\.io\/platform\/agent:1/,
    ],
    [
      'itself as its source',
      atRisk(),
      { ...policy, requiredImageSources: { 'quay.io/*': 'quay.io/platform/agent' } },
      /names the image itself/,
    ],
    ['a node without an instance', withoutInstance(atRisk()), policy, /names no instance/],
  ])('%s', async (_, node, changed, why) => {
    expect(await whyRefused(node, changed)).toMatch(why)
  })

  it('images that were not read', async () => {
    const node = waiting(agent, { record: { runtime: null } })
    expect(await whyRefused(node, policy, ['pull-failing-now'])).toMatchSnapshot()
  })

  it('Bottlerocket, which has no ctr', async () => {
    expect(
      await whyRefused(waiting(agent, { family: 'Bottlerocket' }), policy, ['pull-failing-now']),
    ).toMatch(/Bottlerocket has no ctr/)
  })

  it('a digest, which is no name that can be given', async () => {
    const digest = `quay.io/platform/agent@sha256:${'a'.repeat(64)}`
    expect(await whyRefused(waiting(digest), policy, ['pull-failing-now'])).toMatchSnapshot()
  })

  it('a node that no plan writes to', async () => {
    const { never } = await plan(
      [waiting(agent, { nodegroup: null, labels: { 'karpenter.sh/nodepool': 'general' } })],
      policy,
      ['pull-failing-now'],
    )
    expect(never).toMatchObject([{ why: expect.stringContaining('Karpenter') }])
  })
})

describe('a plan that was changed after it was made', () => {
  const forged = async (change: (step: PlanStep) => void): Promise<string> => {
    const made = structuredClone(await plan([atRisk()]))
    for (const step of made.steps) change(step)
    const digest = digestOf(made)
    return planText({ ...made, digest, id: digest.slice(0, 16) })
  }
  it.each<[string, (step: PlanStep) => void]>([
    [
      'another source that is none',
      step =>
        Object.assign(step, {
          content: canonicalJson({ name: agent, pinned: true, source: '--all' }),
        }),
    ],
    [
      'the source of another name',
      step =>
        Object.assign(step, {
          content: canonicalJson({ name: 'a.b/c:1', pinned: true, source: 'd.e/c:1' }),
        }),
    ],
    [
      'more than a source',
      step =>
        Object.assign(step, {
          content: `{"more":1,"name":"${agent}","pinned":true,"source":"d.e/c:1"}`,
        }),
    ],
    ['another hash', step => Object.assign(step, { newSha256: 'a'.repeat(64) })],
    ['a file', step => Object.assign(step, { path: '/etc/passwd' })],
  ])('is no plan: %s', async (_, change) => {
    const text = await forged(change)
    expect(() => parsePlan(text, 'plan.json')).toThrow(OperatorError)
    expect(() => parsePlan(text, 'plan.json')).toThrowErrorMatchingSnapshot()
  })
})

describe('an image that was changed since the plan', () => {
  it('is left alone, in words; one that is pinned by now is done', async () => {
    const made = await plan([atRisk()])
    const [{ cluster, node, instanceId } = { cluster: '', node: '', instanceId: '' }] = made.steps
    const since = (sha256: string | null, unread: string | null = null) =>
      changedSince(made, [
        {
          cluster,
          node,
          instanceId,
          sha256,
          unread,
          kubeletStartedAt: '2026-11-21T12:00:00Z',
          objection: null,
        },
      ])
    expect(since(unpinned)).toEqual([])
    expect(since(pinned)).toEqual([])
    expect(since('absent')).toEqual([
      { cluster, node, why: `${agent} was changed since the plan: it is not there` },
    ])
    expect(since(null, 'that takes mode ssm or both')).toEqual([
      { cluster, node, why: `${agent} was not read again: that takes mode ssm or both` },
    ])
  })
})

describe('what is verified', () => {
  const image = (is: boolean): RawObject => ({ ...idleImage(agent, 1), pinned: is })
  const seen = (images: RawObject[] | null) =>
    fleetNode({ record: { runtime: images && { images } } })
  const verdict = async (images: RawObject[] | null, back = false) => {
    const [step] = (await plan([fleetNode({ images: [image(false)] })])).steps
    if (step === undefined) throw new Error('no step')
    return back
      ? verifyBack(step, inputOf(seen(images)))
      : verifyNode(step, inputOf(seen(images)), defaultPolicy, {
          at: '2026-11-21T00:00:00Z',
          readyPods: null,
        })
  }

  it('is what the runtime says of the image', async () => {
    expect(await verdict([image(true)])).toEqual({ state: 'verified' })
    expect(await verdict([image(false)])).toMatchObject({
      state: 'not-yet',
      why: `${agent} is as it was`,
    })
    expect(await verdict([])).toMatchObject({
      state: 'wrong',
      why: expect.stringMatching(/neither as it was nor as planned: it is not there$/),
    })
    expect(await verdict(null)).toMatchObject({
      state: 'not-yet',
      why: expect.stringContaining('was not read'),
    })
  })

  it('is likewise that it is as before, once it was taken back', async () => {
    expect(await verdict([image(false)], true)).toEqual({ state: 'verified' })
    expect(await verdict([image(true)], true)).toMatchObject({
      state: 'not-yet',
      why: `${agent} is not as it was: it is pinned`,
    })
    expect(await verdict(null, true)).toMatchObject({
      state: 'not-yet',
      why: expect.stringContaining('was not read'),
    })
  })
})

function withoutInstance(record: NodeRecord): NodeRecord {
  const { providerID: _none, ...spec } = record.node.spec ?? {}
  return { ...record, node: { ...record.node, spec } }
}
