import { beforeEach, describe, expect, it } from 'vitest'
import { OperatorError } from '#base/operator-error.ts'
import { everything } from '#model/input/record.ts'
import type { Approval, Plan } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { approve, changedSince, checkApproval, type PresentNode } from '#remediate/plan/approve.ts'
import { digestOf } from '#remediate/plan/canonical.ts'
import {
  approvalText,
  openedPersonsApproval,
  parseApproval,
  parsePlan,
  planText,
  sealedApproval,
} from '#remediate/plan/file.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'
import { ada, memoryKeys } from '#test/seals.ts'

const at = '2026-11-21T08:00:00Z'
const until = '2026-11-22T08:00:00Z'
const options = { allowActAtOnce: false }

async function planOf(nodes: FleetNode[], set: string[], allowActAtOnce = false): Promise<Plan> {
  const request = {
    rules: [],
    findings: [],
    changes: set.map(parseChange),
    allowActAtOnce,
    policy: defaultPolicy,
    version: '0',
  }
  return (await makePlan(snapshotOf(nodes.map(fleetNode)), { ...request, selection: everything }))
    .plan
}

let plan: Plan
let acting: Plan
let empty: Plan
beforeEach(async () => {
  plan = await planOf(
    [{ name: 'a' }, { name: 'b' }],
    ['imageGCHighThresholdPercent=75', 'imageGCLowThresholdPercent=60'],
  )
  acting = await planOf([{ name: 'a', available: 20 }], ['evictionHard.nodefs.available=30%'], true)
  empty = await planOf([{ name: 'a', record: { host: null } }], ['imageGCHighThresholdPercent=82'])
})

const request = (changed: Partial<Parameters<typeof approve>[1]> = {}) => ({
  digest: plan.digest,
  by: 'Ada Lovelace',
  identity: ada,
  at,
  until,
  options,
  ...changed,
})

describe('approve', () => {
  it('names the plan by its digest, who approves, and until when; the file reads back the same', () => {
    const approval = approve(plan, request())
    expect(approval).toEqual({
      schema: 'highwater.approval/1',
      plan: plan.digest,
      by: 'Ada Lovelace',
      identity: ada,
      at,
      until,
      options,
    })
    expect(parseApproval(approvalText(approval), 'x')).toEqual(approval)
  })

  it.each(['Jos\u00e9 Nu\u00f1ez', '\u00d8ystein \u0141ukasz', 'ada@example.com'])(
    'takes the name %s',
    by => expect(approve(plan, request({ by })).by).toBe(by),
  )

  it.each<[string, () => Approval, RegExp]>([
    [
      'another plan’s digest',
      () => approve(plan, request({ digest: acting.digest })),
      /for another plan: it names "[a-f0-9]{64}", this plan's digest is/,
    ],
    ['a part of the digest', () => approve(plan, request({ digest: plan.id })), /for another plan/],
    ['an empty name', () => approve(plan, request({ by: ' ' })), /needs the name/],
    [
      'a name that would move the terminal',
      () => approve(plan, request({ by: 'Ada\u001b[2J' })),
      /no Latin letters/,
    ],
    [
      'a name of two lines',
      () => approve(plan, request({ by: 'Ada\nApproved by: Grace' })),
      /no Latin letters/,
    ],
    ...[
      ...['\u0440\u043e\u04cf\u0456\u0441\u0443', 'p\u0585licy', 'po1icy', 'p0l!cy', 'PO|ICY'],
      ...['po licy', 'p.o.l.i.c.y', 'policy.', '"policy"', 'p_olicy', 'pol-icy'],
      // Lisu, Coptic, a Latin letter with a stroke, small capitals.
      ...[
        '\ua4d1\ua4f3\ua4e1\ua4f2\ua4da\ua4ec',
        '\u2ca3\u2c9f\u2c96\u2c93\u2c85\u2ca9',
        'p\u00f8licy',
        '\u1d18\u1d0f\u029f\u026a\u1d04\u028f',
      ],
      ...['p\u00f2l\u00edcy', 'po\u0142icy', 'p\u014dl\u0131cy', '\u5c71\u7530', 'Ada \u00d7'],
    ].map(
      by =>
        [
          `the name ${by}`,
          () => approve(plan, request({ by })),
          /no Latin letters.* or looks like/,
        ] as [string, () => Approval, RegExp],
    ),
    ...[
      'p\u043elicy',
      '\uff50olicy',
      'Ada Ma\u017fon',
      'Ada\u3164',
      'Ada\u115f',
      'Ada\u00a0L',
      'Ada  L',
      'e\u0301',
    ].map(
      by =>
        [
          `the name ${JSON.stringify(by)}`,
          () => approve(plan, request({ by })),
          /no Latin letters/,
        ] as [string, () => Approval, RegExp],
    ),
    ['an end that has passed', () => approve(plan, request({ until: at })), /expired at/],
    [
      'an end that is too far',
      () => approve(plan, request({ until: '2026-12-21T08:00:00Z' })),
      /7 days at most/,
    ],
    [
      'a plan that changes nothing',
      () => approve(empty, request({ digest: empty.digest })),
      /nothing to approve/,
    ],
    [
      'an eviction that was not accepted',
      () => approve(acting, request({ digest: acting.digest })),
      /makes 1 kubelets evict at once, prod\/a among them/,
    ],
  ])('refuses %s', (_, act, message) => {
    expect(act).toThrow(OperatorError)
    expect(act).toThrow(message)
  })

  it('takes a plan that acts at once where the approval says so', () => {
    expect(
      approve(acting, request({ digest: acting.digest, options: { allowActAtOnce: true } })).options
        .allowActAtOnce,
    ).toBe(true)
  })
})

describe('checkApproval', () => {
  const approval = () => approve(plan, request())

  it.each([
    { now: at, holds: true },
    { now: '2026-11-22T07:59:59Z', holds: true },
    { now: until, holds: false },
    // A clock that is a little behind is no reason; one that is hours behind is.
    { now: '2026-11-21T07:56:00Z', holds: true },
    { now: '2026-11-21T06:00:00Z', holds: false },
  ])('at $now: $holds', ({ now, holds }) => {
    const check = () => checkApproval(plan, approval(), now)
    if (holds) expect(check).not.toThrow()
    else expect(check).toThrow(OperatorError)
  })

  it('refuses an approval beyond the maximum duration, whoever wrote it', () => {
    expect(() => checkApproval(plan, { ...approval(), until: '2099-01-01T00:00:00Z' }, at)).toThrow(
      '7 days at most',
    )
  })

  it('refuses the approval of another plan', () => {
    expect(() => checkApproval(acting, approval(), at)).toThrow('for another plan')
  })
})

describe('changedSince', () => {
  const present = (changed: Partial<PresentNode> = {}): PresentNode[] =>
    plan.steps.map(({ cluster, node, instanceId, oldSha256 }) => ({
      cluster,
      node,
      instanceId,
      sha256: oldSha256,
      kubeletStartedAt: null,
      objection: null,
      ...(node === 'a' && changed),
    }))

  it('finds nothing where all is as it was, or is already as wanted', () => {
    expect(changedSince(plan, present())).toEqual([])
    expect(
      changedSince(plan, present({ sha256: plan.steps[0]!.newSha256, objection: 'nothing to do' })),
    ).toEqual([])
    expect(
      changedSince(
        plan,
        present({ sha256: plan.steps[0]!.newSha256, kubeletStartedAt: '2026-11-21T06:00:00Z' }),
      ),
    ).toEqual([])
  })

  it.each<[string, Partial<PresentNode>, string]>([
    ['a file that was written since', { sha256: 'f'.repeat(64) }, 'was changed since the plan'],
    [
      'an instance that was replaced',
      { instanceId: 'i-00000000' },
      'another instance now: i-00000000',
    ],
    ['a node that is gone', { node: 'gone' }, 'the node is gone'],
    [
      'a file that was not read',
      { sha256: null, unread: 'that takes mode ssm or both' },
      'was not read again: that takes mode ssm or both',
    ],
    [
      'a step that the planner would not plan now',
      { objection: 'it would act at once' },
      'it would act at once',
    ],
    [
      'a kubelet that was started since',
      { kubeletStartedAt: '2026-11-21T06:00:00Z' },
      'its kubelet was started anew since the plan',
    ],
  ])('finds %s', (_, changed, why) => {
    const found = changedSince(plan, present(changed))
    expect(found).toMatchObject([{ cluster: 'prod', node: 'a' }])
    expect(found[0]?.why).toContain(why)
  })
})

describe('a plan read back', () => {
  /** Changed, and its digest corrected, as an attacker would. */
  const forged = (change: (plan: Plan) => void): string => {
    const copy = structuredClone(plan)
    change(copy)
    const digest = digestOf(copy)
    return planText({ ...copy, digest, id: digest.slice(0, 16) })
  }

  it('is refused where anything was changed by hand', () => {
    const text = planText(plan).replaceAll(
      'imageGCHighThresholdPercent: 75',
      'imageGCHighThresholdPercent: 65',
    )
    expect(() => parsePlan(text, 'plan.json')).toThrowErrorMatchingSnapshot()
    const reworded = planText({ ...plan, unchanged: 7 })
    expect(() => parsePlan(reworded, 'plan.json')).toThrowErrorMatchingSnapshot()
  })

  it.each<[string, (plan: Plan) => void, RegExp]>([
    [
      'a path that no plan writes',
      ({ steps }) => Object.assign(steps[0]!, { path: '/etc/passwd' }),
      /steps\.0: not a path that a plan may write/,
    ],
    [
      'a path of another method',
      ({ steps }) => Object.assign(steps[0]!, { path: 'settings.kubernetes' }),
      /steps\.0: not a path that a plan may write by this method/,
    ],
    [
      'a content of another hash',
      ({ steps }) => Object.assign(steps[0]!, { content: 'x' }),
      /newSha256/,
    ],
    [
      'no instance',
      ({ steps }) => Object.assign(steps[0]!, { instanceId: 'i-1; reboot' }),
      /instanceId/,
    ],
    [
      'a node in two waves',
      ({ waves }) => waves[0]!.push('prod/b'),
      /every node of its steps once/,
    ],
    ['a node in no wave', ({ waves }) => waves.splice(1), /every node of its steps once/],
    ['another schema', copy => Object.assign(copy, { schema: 'highwater.plan/9' }), /schema/],
    ['more than a plan says', copy => Object.assign(copy, { run: 'rm' }), /Unrecognized key/],
  ])('is refused with %s, whatever its digest', (_, change, message) => {
    expect(() => parsePlan(forged(change), 'plan.json')).toThrow(message)
  })

  it('is no plan where it is no JSON, or an approval', () => {
    expect(() => parsePlan('{', 'plan.json')).toThrowErrorMatchingSnapshot()
    expect(() =>
      parsePlan(approvalText(approve(plan, request())), 'plan.json'),
    ).toThrowErrorMatchingSnapshot()
    expect(() => parseApproval(planText(plan), 'a.json')).toThrowErrorMatchingSnapshot()
  })

  it.each([
    ['until', '2099'],
    ['until', '1'],
    ['until', 'Fri Nov 27 2026'],
    ['at', '2026-11-21'],
    ['by', 'Ada\u001b[2J'],
    ['by', 'Ada\u202eGrace'],
  ])('refuses an approval whose %s is %j', (key, value) => {
    const written = JSON.stringify({ ...approve(plan, request()), [key]: value })
    expect(() => parseApproval(written, 'a.json')).toThrow(`is no highwater.approval/1: ${key}`)
  })

  it('takes from a file the word of a person only', async () => {
    const key = memoryKeys.approvals
    const given = async (by: string) =>
      openedPersonsApproval(
        await sealedApproval({ ...approve(plan, request()), by }, key),
        'a.json',
        key,
      )
    expect(await given('Ada')).toMatchObject({ by: 'Ada', identity: ada })
    for (const by of ['policy', 'Policy'])
      await expect(given(by)).rejects.toThrowErrorMatchingSnapshot()
  })

  it('takes from a file nothing without the seal of approvals', async () => {
    const { runs, approvals } = memoryKeys
    const approval = approve(plan, request())
    const sealed = await sealedApproval(approval, approvals)
    const opened = (text: string) => openedPersonsApproval(text, 'a.json', approvals)
    expect(await opened(sealed)).toEqual({ ...approval, sealed })
    const forged = [
      approvalText(approval),
      sealed.replace('Ada Lovelace', 'Ada Byron'),
      sealed.replace(ada, `${ada}-2`),
      await sealedApproval(approval, runs),
    ]
    for (const text of forged) await expect(opened(text)).rejects.toThrow(/has no valid seal/)
  })
})
