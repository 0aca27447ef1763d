import { describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { everything, type NodeInput } from '#model/input/record.ts'
import type { PlanStep } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { verifyBack } from '#remediate/verify/verify.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { inputOf } from '#test/at-the-door.ts'
import { type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'

const changes = [
  'imageGCHighThresholdPercent=70',
  'imageGCLowThresholdPercent=50',
  'evictionSoft.memory.available=20%',
  'evictionSoftGracePeriod.memory.available=90s',
]

async function stepOf(node: FleetNode): Promise<PlanStep> {
  const request = {
    rules: [],
    findings: [],
    changes: changes.map(parseChange),
    allowActAtOnce: true,
    version: '0',
  }
  const { plan } = await makePlan(snapshotOf([fleetNode(node)]), {
    ...request,
    policy: defaultPolicy,
    selection: everything,
  })
  const [step] = plan.steps
  if (step === undefined) throw new Error('nothing was planned')
  return step
}

/** The node as it is when it is back, but for what a test says. */
function fresh(
  step: PlanStep,
  node: FleetNode,
  { sha256 = step.oldSha256, ...running }: RawObject = {},
): NodeInput {
  const { host, ...rest } = fleetNode({ ...node, configz: running })
  const kubelet = isRawObject(host?.kubelet) ? host.kubelet : {}
  return inputOf({
    ...rest,
    host: {
      ...host,
      kubelet: { ...kubelet, files: [{ path: step.path, role: 'config', sha256, content: {} }] },
    },
  })
}

const al2: FleetNode = { family: 'AL2' }

describe('a node that was put back', () => {
  it('is as before when its file is, and what it runs with', async () => {
    const step = await stepOf(al2)
    expect(verifyBack(step, fresh(step, al2))).toEqual({ state: 'verified' })
    expect(verifyBack(step, { ...fresh(step, al2), host: null })).toEqual({ state: 'verified' })
  })

  it.each<[string, RawObject, RegExp]>([
    [
      'its file is another',
      { sha256: 'f'.repeat(64) },
      /kubelet-config\.json is not as it was: its SHA-256 is f{64}/,
    ],
    [
      'its kubelet still runs with the change',
      { imageGCLowThresholdPercent: 50 },
      /imageGCLowThresholdPercent is not what it was: 50/,
    ],
    [
      'what was not set is set',
      { evictionSoft: { 'memory.available': '20%' } },
      /evictionSoft\S* is not what it was/,
    ],
  ])('is not where %s', async (_, changed, why) => {
    const step = await stepOf(al2)
    expect(verifyBack(step, fresh(step, al2, changed))).toEqual({
      state: 'not-yet',
      why: expect.stringMatching(why),
    })
  })

  it('is unknown where its configuration is unknown, or it is not Ready', async () => {
    const step = await stepOf(al2)
    expect(verifyBack(step, { ...fresh(step, al2), configuration: null })).toMatchObject({
      why: 'what its kubelet runs with was not read',
    })
    const node = fresh(step, al2)
    node.node = {
      ...node.node,
      status: { ...node.node.status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    }
    expect(verifyBack(step, node)).toMatchObject({ state: 'not-yet', why: 'the node is not Ready' })
  })

  it('is none of another instance', async () => {
    const step = await stepOf(al2)
    const node = fresh(step, al2)
    node.node = { ...node.node, spec: { providerID: 'aws:///eu-west-1a/i-00000000000000000' } }
    expect(verifyBack(step, node)).toMatchObject({
      state: 'wrong',
      why: expect.stringMatching(/another instance/),
    })
  })

  it('may keep on Bottlerocket what nothing ran for, and goes back to what ran in all else', async () => {
    const bottlerocket: FleetNode = { family: 'Bottlerocket' }
    const step = await stepOf(bottlerocket)
    const kept = {
      evictionSoft: { 'memory.available': '20%' },
      evictionSoftGracePeriod: { 'memory.available': '90s' },
    }
    expect(verifyBack(step, fresh(step, bottlerocket, kept))).toEqual({ state: 'verified' })
    expect(
      verifyBack(step, fresh(step, bottlerocket, { ...kept, imageGCHighThresholdPercent: 70 })),
    ).toMatchObject({ state: 'not-yet' })
  })
})
