/** Steps beside their nodes as they are by now: what the plan alone cannot tell. */
import { describe, expect, it } from 'vitest'
import type { Plan } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { NodeRecord } from '#model/record.ts'
import { everything } from '#model/selection.ts'
import { makePlan, parseChange } from '#pipeline/plan/plan.ts'
import { whyNotNow } from '#pipeline/plan/step-now.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
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
): string | null {
  if (step === undefined) throw new Error('a plan without a step')
  return whyNotNow({
    step,
    cohort,
    record: inputOf(record),
    releaseVersion: null,
    allowActAtOnce,
    policy: defaultPolicy,
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
      expect(whyNot(forged, fleetNode(node))).toMatch(
        /the plan writes something else to .*kubelet-config\.json than its fields come to there/,
      )
    }
  })

  it('one that promises something else would call anything verified', async () => {
    const plan = await planOf({})
    const [step] = plan.steps
    if (step === undefined) throw new Error('no step')
    const why = /what it promises of the running configuration is not what this change comes to/
    expect(whyNot({ ...plan, steps: [{ ...step, expect: [] }] }, fleetNode({}))).toMatch(why)
    expect(whyNot({ ...plan, steps: [{ ...step, expectBack: [] }] }, fleetNode({}))).toMatch(why)
    expect(whyNot({ ...plan, cohorts: [] }, fleetNode({}))).toMatch(/is none of the plan's/)
  })

  it('a disk that has filled since makes thresholds act at once, unless that was approved', async () => {
    const plan = await planOf({ available: 60 }, ['evictionHard.nodefs.available=30%'])
    expect(whyNot(plan, fleetNode({ available: 60 }))).toBeNull()
    expect(whyNot(plan, fleetNode({ available: 20 }))).toMatch(
      /it would act at once on what is there now: nodefs\.available/,
    )
    expect(whyNot(plan, fleetNode({ available: 20 }), true)).toBeNull()
    expect(whyNot(plan, fleetNode({ record: { summary: null } }))).toMatch(
      /whether nodefs\.available is below 30% now is not known/,
    )
  })

  it('images are pruned only while there is something to prune', async () => {
    const full: FleetNode = { available: 20, images: [idleImage('a:1', 5)] }
    const plan = await planOf(full, [], { toPercent: 40 })
    expect(whyNot(plan, fleetNode(full))).toMatch(
      /an image that must not be missing would go is not known/,
    )
    expect(whyNot(plan, fleetNode(full), true)).toBeNull()
    expect(whyNot(plan, fleetNode({ ...full, available: 70 }))).toBe(
      'its image filesystem is down to 40 % already: there is nothing to prune',
    )
  })

  it('another place than the planned one is said', async () => {
    const plan = await planOf({ family: 'AL2023' })
    const older = fleetNode({ family: 'old AL2023' })
    expect(whyNot(plan, older)).toMatch(
      /what is planned goes to \/etc\/eks\/nodeadm\.d\/50-highwater\.yaml, and this node takes it in .*config\.json now/,
    )
    expect(whyNot(plan, fleetNode({ record: { configz: null } }))).toBe(
      'its running configuration was not read',
    )
  })

  it('a file of logrotate, and an image, likewise', async () => {
    const path = '/etc/logrotate.d/app'
    const text = '/var/log/app/*.log {\n    daily\n}\n'
    const host = {
      logrotate: [
        {
          path,
          sha256: 'b'.repeat(64),
          directives: { patterns: ['/var/log/app/*.log'], weekly: true },
        },
      ],
    }
    const [step] = (await planOf({})).steps
    if (step === undefined) throw new Error('no step')
    const change = {
      method: 'sync-file',
      path,
      oldSha256: 'b'.repeat(64),
      newSha256: hashOf(text),
      content: text,
    } as const
    const synced = { ...(await planOf({})), steps: [{ ...step, ...change }] }
    expect(whyNot(synced, fleetNode({ record: { host } }))).toBeNull()
    expect(whyNot(synced, fleetNode({ record: { host: { logrotate: [] } } }))).toBe(
      `${path} is another than the plan was made for`,
    )
    const content = text.replace('daily', 'postrotate')
    const scripted = {
      ...synced,
      steps: [{ ...step, ...change, content, newSha256: hashOf(content) }],
    }
    expect(whyNot(scripted, fleetNode({ record: { host } }))).toMatch(
      /is nothing that a plan writes: line 2: postrotate/,
    )
  })
})
