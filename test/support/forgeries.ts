/**
 * Whoever writes the bucket changes no node: random sets of objects are forged, then the function gets every event that a schedule or a person
 * sends. Forged is arbitrary text, authentic text with a part changed, moved to another place or of an older version, and what is gone.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Plan, type RemediationRequest, stepStates } from '#model/plan.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { approvalText, planText, sealedApproval } from '#remediate/plan/file.ts'
import { sealedStore } from '#remediate/seal.ts'
import {
  ForgedWorld,
  type Objects,
  passingPlanFor,
  planFor,
  policyText,
  type Sent,
} from '#test/forged-world.ts'
import { approvalOf, oldSha256 } from '#test/remediation-world.ts'
import { memoryKeys } from '#test/seals.ts'

const done = planFor('done', 70)
const expired = planFor('expired', 71)
const unapproved = planFor('unapproved', 72)
const paused = planFor('paused', 73)
const takenBack = planFor('back', 74)
/** Of the attacker: nodes that other plans are about, and a file that opens the kubelet to everyone. */
const evil = planFor('unapproved', 75, { authentication: { anonymous: { enabled: true } } })
/** Approved, and over: rolled back after its first node, stopped at its first node, withdrawn before its first node. */
const halted = planFor('halted', 77)
const stopped = planFor('stopped', 78)
const withdrawn = planFor('withdrawn', 79)
/** Approved by the policy, whose window is closed but on Monday night. */
const byPolicy = planFor('policy', 76)
/** What the policy plans and approves then by itself. */
const auto = planFor('auto', 80)
const passing = passingPlanFor('passing')
const passingUnapproved = passingPlanFor('lowered')
const own: readonly Plan[] = [
  done,
  expired,
  unapproved,
  paused,
  takenBack,
  halted,
  stopped,
  withdrawn,
  byPolicy,
  auto,
  passing,
  passingUnapproved,
]
const plans: readonly Plan[] = [...own, evil]
/** By digest, until when. An older approval of a plan counts until its own end. */
const approvedUntil = new Map(
  [done, paused, takenBack, halted, stopped, withdrawn, passing].map(({ digest }) => [
    digest,
    '2026-11-22T11:00:00Z',
  ]),
)
const over: readonly Plan[] = [takenBack, halted, stopped, withdrawn]
const hasEnded = { at: '2026-11-10T00:00:00Z', until: '2026-11-11T00:00:00Z' }
const openPolicy =
  '{"remediation":{"pauseMs":0,"maxErrors":1000,"auto":{"fields":["imageGCHighThresholdPercent"],"clusters":["*"],"nodesPerDay":1000}}}\n'

/** The last audit before that night. */
const auditedAt = '2026-11-22T05-00-00Z'
const auditedKey = `runs/${auditedAt}/plan.json`

let base: ForgedWorld
let keys: string[] = []
/** Every authentic object as it ever was, and their seals. */
let authentic: string[] = []
let stolen: string[] = []

async function begin(): Promise<void> {
  base = new ForgedWorld(own)
  await base.approvePolicy(policyText)
  const approved = [done, paused, takenBack, halted, stopped, passing]
  for (const plan of [...approved, withdrawn]) await base.keep(plan, {})
  await base.keep(expired, hasEnded)
  for (const plan of [unapproved, passingUnapproved]) await base.keep(plan, null)
  await base.keep(byPolicy, { by: 'policy', until: '2026-11-24T00:00:00Z' })
  await base.store.write(auditedKey, planText(auto), 'application/json')
  for (const { id } of [paused, halted]) base.held.add(id)
  base.unwell.add(stopped.steps[0]?.node ?? '')
  for (const plan of approved)
    await base.answer({ action: 'apply', plan: plan.digest, skipChanged: false })
  for (const { id } of [takenBack, halted, withdrawn])
    await base.answer({ action: 'rollback', run: id, despiteErrors: false })
  expect(statesOf(halted)).toEqual(['rolled-back', undefined, undefined])
  expect(statesOf(stopped)).toEqual(['rolled-back', undefined, undefined])
  for (const plan of approved)
    expect(base.sent.some(({ run, action }) => run === plan.id && action === 'apply')).toBe(true)
  keys = [
    ...new Set([
      ...base.objects.keys(),
      ...own.flatMap(runKeys),
      ...own.map(overKey),
      ...evilKeys(),
    ]),
  ].sort()
  authentic = [...base.versions.values()].flat().map(body => body.toString('utf8'))
  stolen = authentic.map(sealOf).filter(seal => seal !== '}\n')
}

/** In the journal. */
const statesOf = ({ id, steps }: Plan) =>
  steps.map(({ node }) => {
    const entry = base.objects.get(`remediation/runs/${id}/steps/prod/${node}.json`)
    return entry && JSON.parse(entry.toString()).entry.state
  })

const overKey = ({ id }: Plan) => `remediation/over/${id}.json`
const runKeys = ({ id, steps }: Plan) => [
  ...['run.json', 'plan.json', 'approval.json'].map(name => `remediation/runs/${id}/${name}`),
  ...steps.map(({ node }) => `remediation/runs/${id}/steps/prod/${node}.json`),
]
const evilKeys = () => [
  ...runKeys(evil),
  `remediation/plans/${evil.digest}.json`,
  `remediation/approvals/${evil.digest}.json`,
  ...[unapproved, passingUnapproved].map(({ digest }) => `remediation/approvals/${digest}.json`),
  `remediation/approvals/policy-${sha256(openPolicy)}.json`,
  'remediation/begun/2026-11-21/0.json',
  'runs/2026-11-21T05-00-00Z/plan.json',
  `remediation/begun/${auditedAt}.json`,
]

const planTexts = new Map(plans.map(plan => [plan, planText(plan)]))
const textOf = (plan: Plan) => planTexts.get(plan) ?? planText(plan)

/** What an attacker who knows the formats writes there, for that plan. */
function crafted(key: string, plan: Plan, pick: number): string {
  const forever = { at: '2026-11-21T11:59:00Z', until: '2026-11-28T11:00:00Z' }
  if (key.endsWith('highwater.yaml')) return openPolicy
  if (key.endsWith('plan.json') || key.includes('/plans/')) return textOf(plan)
  if (key.endsWith('approval.json') || key.includes('/approvals/'))
    return approvalText(approvalOf(plan, pick % 2 === 0 ? forever : { ...forever, by: 'policy' }))
  if (key.endsWith('run.json')) {
    const state = ['running', 'paused', 'stopped', 'rolled-back'][pick % 4]
    return `${JSON.stringify({
      ...{ schema: 'highwater.run/1', writer: 'x' },
      head: {
        ...{ run: /runs\/(\w+)\//.exec(key)?.[1], plan: plan.digest, approvedBy: 'Ada' },
        ...{ startedAt: forever.at, endedAt: null, state, why: null, clusters: { prod: 'prod' } },
      },
    })}\n`
  }
  const step = plan.steps.find(({ node }) => key.endsWith(`/${node}.json`)) ?? plan.steps[0]
  const state = stepStates[pick % stepStates.length]
  return `${JSON.stringify({
    ...{ schema: 'highwater.step/1', writer: 'x', run: /runs\/(\w+)\//.exec(key)?.[1] },
    entry: {
      ...{ cluster: 'prod', node: step?.node, instanceId: step?.instanceId, wave: 0, state },
      ...{ why: null, commandIds: [], answer: null, readyPods: null, at: {} },
    },
  })}\n`
}

const mutations: readonly [RegExp, string][] = [
  [/"state": ?"[\w-]+"/, '"state":"sending"'],
  [/"state": ?"[\w-]+"/, '"state":"running"'],
  [/"endedAt": ?"[^"]*"/, '"endedAt":null'],
  [/"until": ?"[^"]*"/, '"until":"2026-11-27T00:00:00Z"'],
  [/[a-f0-9]{64}/, evil.digest],
  [/"allowActAtOnce": ?false/, '"allowActAtOnce":true'],
  [/7[0-5]/, '99'],
]
const sealOf = (text: string) => /,"seal":"[^"]*"\}\n$/.exec(text)?.[0] ?? '}\n'

interface Forgery {
  key: number
  kind: 'text' | 'crafted' | 'crafted-sealed' | 'mutated' | 'moved' | 'old' | 'gone'
  pick: number
  text: string
}

/** In place, over what the objects hold. */
function forge(objects: Objects, { key: index, kind, pick, text }: Forgery): void {
  const key = keys[index % keys.length] ?? ''
  const plan = plans[pick % plans.length] ?? evil
  const other = authentic[pick % authentic.length] ?? ''
  const older = base.versions.get(key) ?? []
  const [pattern, by] = mutations[pick % mutations.length] ?? [/x/, '']
  const content: Record<Forgery['kind'], () => string | undefined> = {
    text: () => text,
    crafted: () => crafted(key, plan, pick),
    'crafted-sealed': () => crafted(key, plan, pick).replace(/\}\n$/, sealOf(other)),
    mutated: () => (objects.get(key)?.toString('utf8') ?? other).replace(pattern, by),
    moved: () => other,
    old: () => older[pick % Math.max(older.length, 1)]?.toString('utf8'),
    gone: () => undefined,
  }
  const written = content[kind]()
  if (written === undefined) objects.delete(key)
  else objects.set(key, Buffer.from(written))
}

/** All of a run that fits together, with seals of other objects: the most that an attacker without a key can do. */
function forgeRun(objects: Objects, plan: Plan, pick: number): void {
  for (const key of runKeys(plan)) {
    const seal = stolen[pick % stolen.length] ?? '}\n'
    const text = crafted(key, plan, pick).replace(/\}\n$/, seal)
    // Its approver seals an approval, and the journal seals that again.
    const sealed = key.endsWith('/approval.json') ? text.replace(/\}\n$/, seal) : text
    objects.set(key, Buffer.from(sealed))
  }
  objects.set(`remediation/plans/${plan.digest}.json`, Buffer.from(textOf(plan)))
}

/** Everything of a run and its approval as it was after that many writes; its mark is deleted. */
function rewind(objects: Objects, plan: Plan, writes: number): void {
  objects.delete(overKey(plan))
  const then = new Map(base.writes.slice(0, writes).map(({ key, body }) => [key, body]))
  for (const key of [...runKeys(plan), `remediation/approvals/${plan.digest}.json`]) {
    const body = then.get(key)
    if (body === undefined) objects.delete(key)
    else objects.set(key, body)
  }
}

const forgery = fc.record<Forgery>({
  key: fc.nat(10_000),
  kind: fc.constantFrom('text', 'crafted', 'crafted-sealed', 'mutated', 'moved', 'old', 'gone'),
  pick: fc.nat(10_000),
  text: fc.oneof(fc.string(), fc.json()),
})
const forgedSet = fc.record({
  forgeries: fc.array(forgery, { minLength: 1, maxLength: 8 }),
  runs: fc.array(fc.record({ plan: fc.constantFrom(...plans), pick: fc.nat(100) }), {
    maxLength: 2,
  }),
  rewound: fc.array(fc.record({ plan: fc.constantFrom(...own), writes: fc.nat(10_000) }), {
    maxLength: 2,
  }),
  applied: fc.constantFrom(...plans),
  back: fc.constantFrom(evil, unapproved, expired, passingUnapproved, byPolicy),
  /** The alarm that paused a run goes on. */
  isHeld: fc.boolean(),
  /** The policy approves now. */
  isOpen: fc.boolean(),
})
type ForgedSet = typeof forgedSet extends fc.Arbitrary<infer T> ? T : never

const eventsFor = (applied: Plan, back: Plan): RemediationRequest[] => [
  { action: 'resume', run: null },
  { action: 'apply', plan: applied.digest, skipChanged: true },
  { action: 'rollback', run: back.id, despiteErrors: true },
]

async function forged(
  { forgeries, runs, rewound, applied, back, isHeld, isOpen }: ForgedSet,
  seals = memoryKeys,
): Promise<ForgedWorld> {
  const { objects, versions, nodes } = base
  const world = new ForgedWorld(own, { objects, versions, nodes, keys: seals })
  if (isHeld) world.held.add(paused.id)
  if (isOpen) await world.toMonday()
  for (const { plan, pick } of runs) forgeRun(world.objects, plan, pick)
  for (const { plan, writes } of rewound)
    rewind(world.objects, plan, writes % (base.writes.length + 1))
  for (const one of forgeries) forge(world.objects, one)
  for (const event of eventsFor(applied, back)) await world.answer(event)
  return world
}

/** Null: an approver approved that this is sent there. */
function whyUnapproved(
  { action, run, node, newSha256, content, hasBegun, atMs }: Sent,
  isOpen: boolean,
) {
  const plan = own.find(({ id }) => id === run)
  const step = plan?.steps.find(one => one.node === node)
  if (plan === undefined || step === undefined) return 'no plan of ours'
  if (step.content !== content || step.newSha256 !== newSha256) return 'another content'
  if (plan === byPolicy || plan === auto) return isOpen ? null : 'the policy does not approve now'
  const until = approvedUntil.get(plan.digest)
  if (until === undefined) return 'never approved'
  if (hasBegun || action === 'rollback') return null
  if (over.includes(plan)) return 'over'
  return atMs < Date.parse(until) ? null : 'not approved any more'
}

/** What each node of a plan has by now, where an approver approved that. */
function nodesAsApproved(world: ForgedWorld, { isHeld, isOpen }: ForgedSet): void {
  const shownBy = (plan: Plan) =>
    plan.steps.map(({ node, newSha256 }) => {
      const found = world.nodes.get(node)?.sha256
      if (found === oldSha256) return 'old'
      return found === newSha256 ? 'new' : 'other'
    })
  expect(shownBy(done)).toEqual(['new', 'new', 'new'])
  for (const plan of [expired, unapproved, ...over, passing, passingUnapproved])
    expect(new Set(shownBy(plan)).isSubsetOf(new Set(['old']))).toBe(true)
  for (const plan of [byPolicy, auto])
    expect(new Set(shownBy(plan)).isSubsetOf(new Set(['old', isOpen ? 'new' : 'old']))).toBe(true)
  expect(shownBy(paused)).not.toContain('other')
  if (isHeld) expect(shownBy(paused)).toEqual(['new', 'old', 'old'])
}

/** @param cases how many sets of forgeries are drawn */
export function describeForgeries(cases: number): void {
  describe('a bucket that is forged', () => {
    beforeAll(begin)

    it(`changes no node, in ${cases} draws`, { timeout: 900_000 }, async () => {
      let sent = 0
      const byItself = { open: 0, closed: 0 }
      await fc.assert(
        fc.asyncProperty(forgedSet, async set => {
          const world = await forged(set)
          sent += world.sent.length
          expect(world.sent.flatMap(one => whyUnapproved(one, set.isOpen) ?? [])).toEqual([])
          byItself[set.isOpen ? 'open' : 'closed'] += world.sent.some(({ run }) => run === auto.id)
            ? 1
            : 0
          nodesAsApproved(world, set)
          if (world.objects.get('highwater.yaml')?.toString() !== policyText)
            expect(world.sent).toEqual([])
        }),
        { numRuns: cases },
      )
      // What is approved goes on meanwhile.
      expect(sent).toBeGreaterThan(cases / 10)
      expect(byItself.closed).toBe(0)
      expect(byItself.open).toBeGreaterThan(cases / 10)
    })

    it('continues no run that is over, whichever of its journals is put back', {
      timeout: 120_000,
    }, async () => {
      const again = async (plan: Plan, writes: number, hasVersions: boolean) => {
        const { objects, versions, nodes } = base
        const kept = hasVersions ? versions : new Map()
        const world = new ForgedWorld(own, { objects, versions: kept, nodes })
        world.held.add(paused.id)
        rewind(world.objects, plan, writes % (base.writes.length + 1))
        await world.answer({ action: 'resume', run: null })
        await world.answer({ action: 'apply', plan: plan.digest, skipChanged: true })
        return world.sent.filter(({ run, hasBegun }) => run === plan.id && !hasBegun).length
      }
      const reached = new Set<Plan>()
      const reachable = [halted, withdrawn]
      for (const plan of over)
        for (let writes = 0; writes <= base.writes.length; writes++) {
          if (writes > 0 && base.writes[writes - 1]?.key.includes(plan.id) !== true) continue
          expect(await again(plan, writes, true)).toBe(0)
          // Without the versions of the bucket the old journals would do so.
          if (!reachable.includes(plan) || reached.has(plan)) continue
          if ((await again(plan, writes, false)) > 0) reached.add(plan)
        }
      expect([...reached]).toEqual(expect.arrayContaining(reachable))
    })

    it.each([
      ['that no approver approved', false, 1],
      ['that an approver approved', true, 3],
    ])(
      'lets a policy %s say how many nodes may fail on the way back',
      async (_, isApproved, sent) => {
        const world = new ForgedWorld(own, { ...base, keys: memoryKeys })
        for (const { node } of done.steps) world.unwell.add(node)
        const lenient = '{"remediation":{"pauseMs":0,"maxErrors":1000,"maxConcurrency":1}}\n'
        if (isApproved) await world.approvePolicy(lenient)
        else world.objects.set('highwater.yaml', Buffer.from(lenient))
        await world.answer({ action: 'rollback', run: done.id, despiteErrors: false })
        expect(world.sent.map(({ action }) => action)).toEqual(Array(sent).fill('rollback'))
      },
    )

    it.each([
      ['is no policy', 'remediation: [['],
      ['is longer than a policy can be', '#'.repeat(300_000)],
      ['names a recipient that the stack does not', 'report: { recipients: [eve@evil.example] }\n'],
    ])('rolls back although highwater.yaml %s', async (_, text) => {
      const world = new ForgedWorld(own, { ...base, keys: memoryKeys })
      world.objects.set('highwater.yaml', Buffer.from(text))
      for (const event of eventsFor(paused, done)) await world.answer(event)
      const sent = world.sent.map(({ run, action }) => `${action} ${run}`)
      expect(sent).toEqual(Array(3).fill(`rollback ${done.id}`))
    })

    it.each(['Ada Lovelace', 'policy'])(
      'changes no node by an approval of %s that the key of runs seals alone',
      async by => {
        const world = new ForgedWorld(own, { ...base, keys: memoryKeys })
        const sealed = sealedStore(world.store, memoryKeys.runs)
        for (const plan of [unapproved, passingUnapproved]) {
          const approval = approvalOf(plan, { by, until: '2026-11-27T00:00:00Z' })
          const inside = await sealedApproval(approval, memoryKeys.runs)
          for (const [pick, written] of [approvalText(approval), inside].entries()) {
            for (const key of runKeys(plan).filter(one => !one.endsWith('approval.json')))
              await sealed.write(key, crafted(key, plan, 0), 'application/json')
            const key = `remediation/runs/${plan.id}/approval.json`
            await sealed.write(key, written, 'application/json')
            const run = pick === 0 ? null : plan.id
            await world.answer({ action: 'resume', run })
          }
        }
        const forgedRuns = [unapproved, passingUnapproved].map(({ id }) => id)
        expect(world.sent.filter(({ run }) => forgedRuns.includes(run))).toEqual([])
      },
    )

    it('changes nodes where no seal is checked: the draws reach what they are about', {
      timeout: 120_000,
    }, async () => {
      const open = { ...memoryKeys.runs, isMac: async () => true }
      const seals = { runs: open, approvals: open }
      const missing = new Set([unapproved.id, passingUnapproved.id])
      for (const set of fc.sample(forgedSet, 600)) {
        const world = await forged(set, seals)
        for (const one of world.sent)
          if (whyUnapproved(one, set.isOpen) !== null) missing.delete(one.run)
        if (missing.size === 0) break
      }
      expect([...missing]).toEqual([])
    })
  })
}
