import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { everything, type NodeRecord } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { pruningMs } from '#pipeline/remediation/plan/prune.ts'
import { approve } from '#remediate/plan/approve.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { isPruned } from '#remediate/run/take-back.ts'
import { type FleetNode, fleetNode, idleImage, readyPod, snapshotOf } from '#test/plan-fleet.ts'

const pause = '602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10'
const images = [
  idleImage('docker.io/library/a:1', 4),
  idleImage('quay.io/b/b:1', 3),
  { ...idleImage(pause, 0.001), size: '300000', pinned: true },
]

/** 72 % full, with two unused images. */
function full(node: FleetNode = {}): NodeRecord {
  const record = fleetNode({ available: 28, images, ...node })
  if (record.host) record.host = { ...record.host, containerd: { sandboxImage: pause } }
  return record
}

async function prune(
  nodes: NodeRecord[],
  toPercent: number | null = 60,
  policy: Partial<Policy> = {},
  allowActAtOnce = false,
): Promise<Plan> {
  const request = {
    rules: [],
    findings: [],
    changes: [],
    allowActAtOnce,
    version: '0.0.0',
    selection: everything,
    prune: { toPercent },
  }
  const { plan } = await makePlan(snapshotOf(nodes), {
    ...request,
    policy: { ...defaultPolicy, ...policy },
  })
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return plan
}
const whyRefused = async (node: NodeRecord, toPercent?: number, policy?: Partial<Policy>) => {
  const { steps, refused } = await prune([node], toPercent, policy)
  expect(steps).toEqual([])
  return refused[0]?.why
}

describe('a plan that prunes images', () => {
  it('lowers the thresholds for a while, and says what goes at most and who pulls again', async () => {
    const { steps, cohorts, refused } = await prune([full()])
    expect(refused).toEqual([])
    expect(steps).toMatchObject([
      {
        method: 'nodeadm',
        oldSha256: 'absent',
        expect: [
          { field: 'imageGCHighThresholdPercent', value: 61 },
          { field: 'imageGCLowThresholdPercent', value: 60 },
        ],
        // Two minutes of imageMinimumGCAge end within the first period of image GC; two rounds more.
        until: {
          kind: 'image-gc',
          usedPercentAtMost: 60,
          atMostMs: 15 * 60_000,
          imagesAtMost: 2,
          bytesAtMost: 7 * 2 ** 30,
        },
        after: { imageGcDue: true },
      },
    ])
    const [cohort] = cohorts
    expect(cohort).toMatchObject({
      durable: [],
      effect: {
        pulls: [
          { registry: 'docker.io', images: 1 },
          { registry: 'quay.io', images: 1 },
        ],
      },
    })
    expect(cohort?.effect.text).toMatchSnapshot()
    expect(cohort?.blast.text).toContain('restarts twice')
    expect(cohort?.blast.text).toContain('are forgotten each time')
  })

  it('counts whatever may go over all rounds, not what one round needs', async () => {
    const { steps } = await prune([full()], 71)
    expect(steps[0]?.until).toMatchObject({ usedPercentAtMost: 71, imagesAtMost: 2 })
  })

  it('leaves alone who is there already: exactly at the target is there', async () => {
    const { steps, unchanged } = await prune([
      full({ name: 'a' }),
      full({ name: 'b', available: 40 }),
      full({ name: 'c', available: 39 }),
    ])
    expect({ nodes: steps.map(({ node }) => node), unchanged }).toEqual({
      nodes: ['a', 'c'],
      unchanged: 1,
    })
  })

  it('goes down to the node’s own low threshold by default', async () => {
    const { steps } = await prune([full({ available: 10 })], null)
    expect(steps[0]?.until).toMatchObject({ usedPercentAtMost: 80 })
  })

  it.each<[string, NodeRecord, RegExp]>([
    ['has nothing to prune', full({ images: images.slice(2) }), /nothing to prune/],
    [
      'did not tell its images',
      full({ record: { runtime: null } }),
      /images were not read in full \(mode ssm or both\)$/,
    ],
    [
      'was asked for its images in vain',
      full({
        record: { runtime: null, errors: [{ what: 'runtime', message: 'crictl did not answer' }] },
      }),
      /images were not read in full: crictl did not answer$/,
    ],
    ['did not tell its disk', full({ record: { summary: null } }), /image filesystem was not read/],
    [
      'has an unpinned sandbox image',
      full({ images: [...images.slice(0, 2), { ...images[2], pinned: false }] }),
      /unpinned-sandbox-image.*Pin it first/,
    ],
    [
      'keeps every image for a day',
      full({ configz: { imageMinimumGCAge: '24h0m0s' } }),
      /imageMinimumGCAge is 24 h/,
    ],
    [
      'has images of no known size',
      full({ images: [{ ...images[0], size: 'lots' } as RawObject, ...images.slice(1)] }),
      /sizes were not read/,
    ],
  ])('refuses a node that %s', async (_, node, why) => {
    expect(await whyRefused(node)).toMatch(why)
  })

  it('restores on Bottlerocket the default that ran before', async () => {
    const plan = await prune([full({ family: 'Bottlerocket' })])
    expect(JSON.parse(plan.steps[0]?.content ?? '').back).toEqual({
      'image-gc-high-threshold-percent': '85',
      'image-gc-low-threshold-percent': '80',
    })
    expect(plan.cohorts[0]?.effect.text).toMatchSnapshot()
  })

  it('refuses where an image would go that must not be missing', async () => {
    expect(await whyRefused(full(), 60, { requiredImages: ['quay.io/b/*'] })).toMatch(
      /required-image-at-risk.*quay\.io\/b\/b:1/,
    )
    const agent = readyPod('agent-x', 'agent', { image: 'docker.io/library/a:1' })
    const daemon = {
      ...agent,
      metadata: {
        ...agent.metadata,
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true }],
      },
      status: { phase: 'Pending' },
    }
    expect(await whyRefused(full({ pods: [daemon] }))).toMatch(
      /required-image-at-risk.*library\/a:1/,
    )
  })

  it('asks for a word where it cannot know whether the sandbox image is pinned', async () => {
    const silent = fleetNode({ available: 28, images })
    expect(await whyRefused(silent)).toContain('--allow-act-at-once')
    expect((await prune([silent], 60, {}, true)).steps).toHaveLength(1)
  })

  it('never touches a node of Karpenter', async () => {
    const { steps, never } = await prune([
      full({ nodegroup: null, labels: { 'karpenter.sh/nodepool': 'x' } }),
    ])
    expect({ steps, never: never.length }).toEqual({ steps: [], never: 1 })
  })

  it('is approved like any other', async () => {
    const plan = await prune([full()])
    const request = {
      digest: plan.digest,
      by: 'Ada',
      identity: 'arn:aws:iam::111122223333:user/ada',
      at: '2026-11-21T08:00:00Z',
      until: '2026-11-21T09:00:00Z',
      options: { allowActAtOnce: true },
    }
    expect(approve(plan, request)).toMatchObject({ plan: plan.digest, by: 'Ada' })
  })

  it('is a plan of its own', async () => {
    const request = {
      rules: ['image-gc-due'],
      findings: [],
      changes: [],
      allowActAtOnce: false,
      version: '0',
      selection: everything,
    }
    await expect(
      makePlan(snapshotOf([full()]), {
        ...request,
        policy: defaultPolicy,
        prune: { toPercent: 60 },
      }),
    ).rejects.toThrow('a plan of its own')
  })
})

describe('pruningMs', () => {
  it.each([
    [0, 10],
    [1, 15],
    [5 * 60_000, 15],
    [5 * 60_000 + 1, 20],
  ])('of a minimum age of %i ms: %i min', (minimumAgeMs, minutes) => {
    expect(pruningMs(minimumAgeMs)).toBe(minutes * 60_000)
  })
})

describe('isPruned', () => {
  const until = {
    kind: 'image-gc',
    usedPercentAtMost: 60,
    atMostMs: 900_000,
    imagesAtMost: 2,
    bytesAtMost: 1,
  } as const
  const startedAt = '2026-11-21T00:00:00Z'
  const at = (ms: number) => new Date(Date.parse(startedAt) + ms)

  it.each([
    [61, 0, 'waiting'],
    [60, 0, 'pruned'],
    [null, 899_999, 'waiting'],
    [61, 900_000, 'time-over'],
    [60, 900_000, 'pruned'],
    // A clock some minutes behind, and one that is wrong.
    [61, -300_000, 'waiting'],
    [61, -900_001, 'time-over'],
  ])('at %s %% after %i ms: %s', (usedPercent, ms, state) => {
    expect(isPruned({ until }, usedPercent, startedAt, at(ms)).state).toBe(state)
  })

  it('never waits by a time that cannot be read, nor where nothing is pruned', () => {
    expect(isPruned({ until }, 61, 'yesterday', at(0)).state).toBe('time-over')
    expect(isPruned({}, 99, startedAt, at(0)).state).toBe('pruned')
  })
})
