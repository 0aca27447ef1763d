/** Steps beside their nodes as they are by now: what the plan alone cannot tell. */

import { describe, expect, it } from 'vitest'
import { everything, type NodeRecord } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { whyNotNow } from '#pipeline/remediation/plan/step-now.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { pullImage } from '#remediate/remedies/pull-image.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { inputOf } from '#test/at-the-door.ts'
import {
  type Family,
  type FleetNode,
  fleetNode,
  hashOf,
  idleImage,
  snapshotOf,
} from '#test/plan-fleet.ts'

const gc = ['imageGCHighThresholdPercent=75', 'imageGCLowThresholdPercent=60']

async function planOf(
  node: FleetNode,
  set: readonly string[] = gc,
  prune?: { toPercent: number },
): Promise<Plan> {
  const request = {
    rules: [],
    findings: [],
    allowActAtOnce: true,
    policy: defaultPolicy,
    version: '0',
    selection: everything,
  }
  const { plan } = await makePlan(snapshotOf([fleetNode(node)]), {
    ...request,
    changes: set.map(parseChange),
    ...(prune && { prune }),
  })
  expect(plan.steps).toHaveLength(1)
  return plan
}

function whyNot(
  { steps: [step], cohorts: [cohort] }: Plan,
  record: NodeRecord,
  allowActAtOnce = false,
  policy: Partial<Policy> = {},
): string | null {
  if (step === undefined) throw new Error('a plan without a step')
  return whyNotNow({
    step,
    cohort,
    record: inputOf(record),
    releaseVersion: null,
    allowActAtOnce,
    policy: { ...defaultPolicy, ...policy },
  })
}

describe('a step is sent only where it is what would be planned now', () => {
  it.each<[Family, FleetNode]>([
    ['AL2', {}],
    ['AL2023', {}],
    ['old AL2023', { dropIns: { '10-other.conf': {} } }],
    ['Bottlerocket', {}],
    ['hybrid', { dropIns: { '10-other.conf': {} } }],
  ])('on %s it is, while nothing has changed', async (family, node) => {
    const of = { ...node, family, ...(family === 'hybrid' && { name: 'mi-0123456789abcdef0' }) }
    expect(whyNot(await planOf(of), fleetNode(of))).toBeNull()
  })

  it('a whole file that says more than its fields come to is none that was made of this node', async () => {
    const node: FleetNode = { family: 'AL2' }
    const plan = await planOf(node)
    const [step] = plan.steps
    if (step === undefined) throw new Error('no step')
    for (const more of [
      { authentication: { anonymous: { enabled: true } } },
      { authorization: { mode: 'AlwaysAllow' } },
      { staticPodPath: '/tmp' },
    ]) {
      const content = `${JSON.stringify({ ...JSON.parse(step.content), ...more }, null, 2)}\n`
      const forged = { ...plan, steps: [{ ...step, content, newSha256: sha256(content) }] }
      expect(whyNot(forged, fleetNode(node))).toMatchSnapshot()
    }
  })

  it('one that promises something else would call anything verified', async () => {
    const plan = await planOf({})
    const [step] = plan.steps
    if (step === undefined) throw new Error('no step')
    const why = /what it promises of the running configuration is not what this change comes to/
    expect(whyNot({ ...plan, steps: [{ ...step, expect: [] }] }, fleetNode({}))).toMatch(why)
    expect(whyNot({ ...plan, steps: [{ ...step, expectBack: [] }] }, fleetNode({}))).toMatch(why)
    expect(whyNot({ ...plan, cohorts: [] }, fleetNode({}))).toMatchSnapshot()
  })

  it('a disk that has filled since makes thresholds act at once, unless that was approved', async () => {
    const plan = await planOf({ available: 60 }, ['evictionHard.nodefs.available=30%'])
    expect(whyNot(plan, fleetNode({ available: 60 }))).toBeNull()
    expect(whyNot(plan, fleetNode({ available: 20 }))).toMatchSnapshot()
    expect(whyNot(plan, fleetNode({ available: 20 }), true)).toBeNull()
    expect(whyNot(plan, fleetNode({ record: { summary: null } }))).toMatchSnapshot()
  })

  it('images are pruned only while there is something to prune', async () => {
    const full: FleetNode = { available: 20, images: [idleImage('a:1', 5)] }
    const plan = await planOf(full, [], { toPercent: 40 })
    expect(whyNot(plan, fleetNode(full))).toMatchSnapshot()
    expect(whyNot(plan, fleetNode(full), true)).toBeNull()
    expect(whyNot(plan, fleetNode({ ...full, available: 70 }))).toMatchSnapshot()
  })

  it('another place than the planned one is said', async () => {
    const plan = await planOf({ family: 'AL2023' })
    const older = fleetNode({ family: 'old AL2023' })
    expect(whyNot(plan, older)).toMatchSnapshot()
    expect(whyNot(plan, fleetNode({ record: { configz: null } }))).toMatchSnapshot()
  })
})

describe('a logrotate file is written only if the policy names this content now', () => {
  const path = '/etc/logrotate.d/app'
  const text = '/var/log/app/*.log {\n    rotate 5\n    daily\n}\n'
  const old = '/var/log/app/*.log {\n    rotate 5\n    weekly\n}\n'
  const directives = { patterns: ['/var/log/app/*.log'], rotate: 5, weekly: true }
  const host = { logrotate: [{ path, sha256: hashOf(old), directives }] }
  const node = fleetNode({ record: { host } })
  const logRotation = (wanted: Partial<Policy['logRotation'][string]>): Partial<Policy> => ({
    logRotation: { [path]: { sha256: null, content: null, directives: {}, ...wanted } },
  })

  async function planned(content = text): Promise<Plan> {
    const plan = await planOf({})
    const [step] = plan.steps
    if (step === undefined) throw new Error('no step')
    const change = {
      method: 'sync-file',
      path,
      oldSha256: hashOf(old),
      newSha256: hashOf(content),
      content,
    } as const
    return { ...plan, steps: [{ ...step, ...change }] }
  }

  it.each([
    ['content', { content: text }],
    ['hash', { sha256: hashOf(text) }],
    ['directives', { directives: { weekly: false, daily: true } }],
  ])('by its %s', async (_, wanted) => {
    expect(whyNot(await planned(), node, false, logRotation(wanted))).toBeNull()
  })

  it.each<[string, Partial<Policy>, string]>([
    ['does not name the file', {}, `policy logRotation does not name ${path}`],
    [
      'names another file',
      {
        logRotation: { '/etc/logrotate.d/other': { sha256: null, content: text, directives: {} } },
      },
      `policy logRotation does not name ${path}`,
    ],
    [
      'names another content',
      logRotation({ content: text.replace('daily', 'monthly') }),
      `policy logRotation names another content of ${path} than the plan`,
    ],
    [
      'names another hash',
      logRotation({ sha256: 'c'.repeat(64) }),
      `policy logRotation names another content of ${path} than the plan`,
    ],
    [
      'names other directives',
      logRotation({ directives: { weekly: false, monthly: true } }),
      `policy logRotation names another content of ${path} than the plan`,
    ],
    [
      'wants what the node has',
      logRotation({ directives: { weekly: true } }),
      `${path} is as policy logRotation wants it already`,
    ],
  ])('and not if the policy %s', async (_, policy, why) => {
    expect(whyNot(await planned(), node, false, policy)).toBe(why)
  })

  it('and not if the node has another file by now, or the content is none of a plan', async () => {
    const named = logRotation({ content: text })
    const empty = fleetNode({ record: { host: { logrotate: [] } } })
    expect(whyNot(await planned(), empty, false, named)).toBe(
      `${path} is another than the plan was made for`,
    )
    const content = text.replace('daily', 'postrotate')
    expect(whyNot(await planned(content), node, false, logRotation({ content }))).toMatchSnapshot()
  })
})

describe('an image is pulled only from where the policy says now', () => {
  const name = '602401143452.dkr.ecr.us-east-1.amazonaws.com/amazon-k8s-cni:v1.2.3'
  const mirror = 'mirror.example.com/eks/amazon-k8s-cni'
  const digest = `sha256:${'d'.repeat(64)}`
  const node = fleetNode({ record: { runtime: { images: [] } } })
  const from = (requiredImageSources: Policy['requiredImageSources']): Partial<Policy> => ({
    requiredImageSources,
  })

  async function planned(source: string): Promise<Plan> {
    const plan = await planOf({})
    const [step] = plan.steps
    const change = pullImage(inputOf(node).runtime, 'AL2023', name, source)
    if (step === undefined || typeof change === 'string' || 'refused' in change)
      throw new Error('no step')
    return { ...plan, steps: [{ ...step, ...change }] }
  }

  it.each([
    ['a repository', mirror],
    ['a tag', `${mirror}:v1.2.3`],
    ['the digest', `${mirror}@${digest}`],
  ])('by %s', async (_, source) => {
    const plan = await planned(`${mirror}@${digest}`)
    expect(whyNot(plan, node, false, from({ [name]: source }))).toBeNull()
  })

  it.each<[string, string, Partial<Policy>, RegExp]>([
    [
      'names no source, as for a forged plan',
      `registry.attacker.example/evil/cni@${digest}`,
      {},
      /^policy requiredImageSources names no source of 602401143452/,
    ],
    [
      'names another registry, as for a forged plan',
      `registry.attacker.example/evil/cni@${digest}`,
      from({ [name]: mirror }),
      /names another source of .* than the plan: mirror\.example\.com/,
    ],
    [
      'names another repository since the approval',
      `${mirror}@${digest}`,
      from({ [name]: 'mirror.example.com/other/amazon-k8s-cni' }),
      /names another source of .* than the plan/,
    ],
    [
      'names another digest since the approval',
      `${mirror}@${digest}`,
      from({ [name]: `${mirror}@sha256:${'e'.repeat(64)}` }),
      /names another source of .* than the plan/,
    ],
    [
      'has lost the source since the approval',
      `${mirror}@${digest}`,
      from({ 'docker.io/*': 'mirror.example.com/hub' }),
      /names no source of/,
    ],
  ])('and not if the policy %s', async (_, source, policy, why) => {
    expect(whyNot(await planned(source), node, false, policy)).toMatch(why)
  })
})
