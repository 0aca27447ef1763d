/** What the policy approves without a person. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { everything } from '#model/input/record.ts'
import type { Plan } from '#model/plan.ts'
import { type AutoApproval, defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { autoApprove, checkApproval } from '#remediate/plan/approve.ts'
import { planText } from '#remediate/plan/file.ts'
import { keepApproval, keepPlan, keptApproval, keptPlan } from '#remediate/plan/store.ts'
import { beginToday } from '#remediate/run/session.ts'
import { sealedStore } from '#remediate/seal.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { temporaryFolder } from '#test/cli.ts'
import { type Family, type FleetNode, fleetNode, snapshotOf } from '#test/plan-fleet.ts'
import { memoryStore } from '#test/remediation-world.ts'
import { memoryKeys } from '#test/seals.ts'

const now = new Date('2026-11-21T23:00:00Z')
const auto: AutoApproval = {
  fields: ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
  clusters: ['pr*'],
  nodesPerDay: 5,
  windows: [],
}

async function planOf(nodes: FleetNode[], ...set: string[]): Promise<Plan> {
  const request = {
    rules: [],
    findings: [],
    changes: set.map(parseChange),
    allowActAtOnce: true,
    policy: defaultPolicy,
    version: '0',
  }
  return (await makePlan(snapshotOf(nodes.map(fleetNode)), { ...request, selection: everything }))
    .plan
}
const gc = ['imageGCHighThresholdPercent=75', 'imageGCLowThresholdPercent=60']
const named = (count: number, prefix = 'n'): FleetNode[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}` }))

let plan: Plan
beforeEach(async () => {
  plan = await planOf(named(3), ...gc)
})
const whyNot = (of: Plan, changed: Partial<AutoApproval> = {}) => {
  const answer = autoApprove(of, { ...auto, ...changed }, now, 'Ada (arn)')
  return 'why' in answer ? answer.why : 'approved'
}

describe('autoApprove', () => {
  it('approves for a day, as the policy, never that anything acts at once; and the approval holds', () => {
    const answer = autoApprove(plan, auto, now, 'Ada (arn)')
    expect(answer).toEqual({
      approval: {
        schema: 'highwater.approval/1',
        plan: plan.digest,
        by: 'policy',
        identity: 'Ada (arn)',
        at: '2026-11-21T23:00:00.000Z',
        until: '2026-11-22T23:00:00.000Z',
        options: { allowActAtOnce: false },
      },
    })
    if ('approval' in answer)
      expect(() => checkApproval(plan, answer.approval, '2026-11-22T22:59:59Z', auto)).not.toThrow()
  })

  it('approves nothing where the policy says nothing', () => {
    expect(defaultPolicy.remediation.auto).toBeNull()
    expect(autoApprove(plan, defaultPolicy.remediation.auto, now, 'Ada (arn)')).toEqual({
      why: expect.stringContaining('approves nothing by itself'),
    })
  })

  it.each<[string, Partial<AutoApproval>, RegExp]>([
    ['more nodes than it lets be begun on one day', { nodesPerDay: 1 }, /^approved$/],
    [
      'inside its window',
      { windows: [{ days: ['sun'], from: '00:00', to: '06:00', timezone: 'Europe/Berlin' }] },
      /^approved$/,
    ],
    [
      'outside of it',
      { windows: [{ days: ['sun'], from: '00:00', to: '06:00', timezone: 'Etc/UTC' }] },
      /the policy approves only .*00:00/,
    ],
    ['another cluster', { clusters: ['stage', 'p'] }, /cluster prod is none of those/],
    [
      'one field more',
      { fields: ['imageGCHighThresholdPercent'] },
      /it changes imageGCLowThresholdPercent, which is none of the fields/,
    ],
  ])('%s', (_, changed, why) => {
    expect(whyNot(plan, changed)).toMatch(why)
  })

  it('names clusters of a fleet of several places by their own name, or in full', () => {
    const across = structuredClone(plan)
    for (const part of [...across.steps, ...across.cohorts])
      part.cluster = '111122223333/eu-west-1/prod'
    expect(whyNot(across, { clusters: ['prod'] })).toBe('approved')
    expect(whyNot(across, { clusters: ['111122223333/eu-west-1/prod'] })).toBe('approved')
    expect(whyNot(across, { clusters: ['444455556666/eu-west-1/prod'] })).toMatchSnapshot()
  })

  it('leaves to a person what would evict at once, and what may', async () => {
    const evicting = await planOf(
      [{ name: 'a', available: 20 }, { name: 'b' }],
      'evictionHard.nodefs.available=30%',
    )
    expect(whyNot(evicting, { fields: ['evictionHard'] })).toMatchSnapshot()
    const unknown = structuredClone(plan)
    for (const { after } of unknown.steps) after.evictsNow = null
    expect(whyNot(unknown)).toMatchSnapshot()
  })

  it.each<[string, (copy: Plan) => void, RegExp]>([
    [
      'a field that only a step promises',
      ({ steps }) => steps[1]?.expect.push({ field: 'maxPods', value: 1 }),
      /it changes maxPods/,
    ],
    [
      'a field that only a cohort names',
      ({ cohorts }) => Object.assign(cohorts[0]?.fields ?? {}, { maxPods: 1 }),
      /it changes maxPods/,
    ],
    [
      'a cohort without fields',
      ({ cohorts }) => Object.assign(cohorts[0] ?? {}, { fields: {} }),
      /something that no cohort names/,
    ],
    [
      'a step of no cohort',
      ({ steps }) => Object.assign(steps[0] ?? {}, { cohort: 'other' }),
      /cohort other would have to name/,
    ],
    [
      'a file that is none of the kubelet',
      ({ steps }) => Object.assign(steps[0] ?? {}, { method: 'sync-file' }),
      /is changed by sync-file/,
    ],
    [
      'thresholds that somebody has to put back',
      ({ steps }) =>
        Object.assign(steps[1] ?? {}, {
          until: {
            kind: 'image-gc',
            usedPercentAtMost: 60,
            atMostMs: 1,
            imagesAtMost: 1,
            bytesAtMost: 1,
          },
        }),
      /prod\/n1 is changed for a while only, and that takes a person/,
    ],
    ['no step', ({ steps }) => steps.splice(0), /changes no node/],
  ])('does not pass over %s', (_, change, why) => {
    const copy = structuredClone(plan)
    change(copy)
    expect(whyNot(copy)).toMatch(why)
  })

  it('stops to hold where the policy stops to approve', () => {
    const answer = autoApprove(plan, auto, now, 'Ada (arn)')
    const check = (changed: AutoApproval | null) => () =>
      'approval' in answer && checkApproval(plan, answer.approval, '2026-11-22T01:00:00Z', changed)
    expect(check(auto)).not.toThrow()
    expect(check(null)).toThrowErrorMatchingSnapshot()
    expect(check({ ...auto, clusters: ['stage'] })).toThrowErrorMatchingSnapshot()
    expect(
      check({
        ...auto,
        windows: [{ days: ['sat'], from: '00:00', to: '06:00', timezone: 'Etc/UTC' }],
      }),
    ).toThrow(/approves only sat/)
  })

  it.each<[Family, (content: string) => string, RegExp]>([
    [
      'AL2023',
      content => `${content}      authentication:\n        anonymous:\n          enabled: true\n`,
      /it changes authentication,/,
    ],
    ['AL2023', content => `${content}  containerd:\n    config: "x"\n`, /it changes containerd,/],
    [
      'AL2023',
      content => content.replace('75', '99'),
      /does not say imageGCHighThresholdPercent as its cohort does/,
    ],
    ['AL2023', () => '{', /prod\/a: what it would write to .* cannot be read/],
    [
      'Bottlerocket',
      content => content.replace('"set":{', '"set":{"allowed-unsafe-sysctls":["*"],'),
      /it changes allowedUnsafeSysctls,/,
    ],
    [
      'Bottlerocket',
      content => content.replace('"back":{', '"back":{"max-pods":1,'),
      /it changes maxPods,/,
    ],
    ['Bottlerocket', content => content.replace('{', '{"more":1,'), /it changes more,/],
    [
      'AL2',
      content =>
        content.replace('"imageGCHighThresholdPercent": 75', '"imageGCHighThresholdPercent": 99'),
      /does not say imageGCHigh/,
    ],
  ])('reads what would be written on %s, whatever is said of it', async (family, change, why) => {
    const made = await planOf([{ name: 'a', family }], ...gc)
    expect(whyNot(made)).toBe('approved')
    for (const step of made.steps) step.content = change(step.content)
    expect(whyNot(made)).toMatch(why)
  })

  it('reads a drop-in, too', async () => {
    const made = await planOf(
      [{ name: 'a', family: 'old AL2023', dropIns: { '10-other.conf': {} } }],
      ...gc,
    )
    expect(whyNot(made)).toBe('approved')
    for (const step of made.steps)
      step.content = step.content.replace('{', '{ "readOnlyPort": 10255,')
    expect(whyNot(made)).toMatch(/it changes readOnlyPort,/)
  })

  it('does not take the word of a policy for a field that no plan may change', () => {
    const copy = structuredClone(plan)
    Object.assign(copy.cohorts[0]?.fields ?? {}, { maxPods: 1 })
    expect(whyNot(copy, { fields: [...auto.fields, 'maxPods'] })).toMatch(/it changes maxPods/)
  })
})

describe('the nodes of a day', () => {
  const begun = async (
    store: ReturnType<typeof folderStore>,
    run: string,
    nodes: string[],
    at = now,
  ) => [...(await beginToday(store, run, nodes, 3, at))]

  it('are counted in the store when they are begun, each once, by the day of UTC', async () => {
    const store = folderStore(temporaryFolder())
    expect(await begun(store, 'a', ['prod/1', 'prod/2'])).toEqual(['prod/1', 'prod/2'])
    // Of a run that died, and is taken up again.
    expect(await begun(store, 'a', ['prod/1', 'prod/2'])).toEqual(['prod/1', 'prod/2'])
    expect(await begun(store, 'b', ['prod/3', 'prod/4'])).toEqual(['prod/3'])
    expect(await begun(store, 'b', ['prod/4'])).toEqual([])
    expect(await begun(store, 'b', ['prod/4'], new Date('2026-11-22T00:00:00Z'))).toEqual([
      'prod/4',
    ])
  })

  it('are not exceeded by those that ask at once', async () => {
    const store = folderStore(temporaryFolder())
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(run => begun(store, run, [`${run}/1`, `${run}/2`])),
    )
    expect(answers.flat()).toHaveLength(3)
  })

  it('that another run takes between two questions are counted, and are not called deleted', async () => {
    const folder = folderStore(temporaryFolder())
    await begun(folder, 'a', ['prod/1'])
    let reads = 0
    const store = {
      ...folder,
      read: async (key: string) => (reads++ === 0 ? null : folder.read(key)),
    }
    expect(await begun(store, 'b', ['prod/2', 'prod/3', 'prod/4'])).toHaveLength(2)
  })

  it('that were deleted stay counted: none is begun', async () => {
    const store = { ...folderStore(temporaryFolder()), wasWritten: async () => true }
    await expect(begun(store, 'a', ['prod/1'])).rejects.toThrow(
      /2026-11-21\/0\.json was deleted: how many nodes were begun today is unknown/,
    )
  })

  it('are not more if an older object of the same place is put back', async () => {
    const bucket = memoryStore()
    const store = sealedStore(bucket, memoryKeys.runs)
    let sent = 0
    let older = new Map<string, Buffer>()
    for (let round = 0; round < 9; round++) {
      const kept = new Map<string, Buffer>()
      for await (const key of bucket.list('remediation/begun/'))
        kept.set(key, (await bucket.read(key))?.body ?? Buffer.alloc(0))
      const nodes = await beginToday(store, `run-${round}`, [`prod/${round}`], 3, now)
      sent += nodes.size
      for (const [key, body] of older) await bucket.write(key, body, 'application/json')
      older = kept
    }
    expect(sent).toBe(3)
  })

  it('that cannot be read are said, and none is begun', async () => {
    const folder = temporaryFolder()
    const day = join(folder, 'remediation', 'begun', '2026-11-21')
    mkdirSync(day, { recursive: true })
    for (const text of ['x', '{}', '{"schema":"highwater.begun/1","run":"a","node":1}']) {
      writeFileSync(join(day, '0.json'), text)
      await expect(begun(folderStore(folder), 'a', ['prod/1'])).rejects.toThrow(
        /2026-11-21\/0\.json names no node/,
      )
    }
  })
})

describe('plans and approvals in a store', () => {
  it('are found by the digest, as they were', async () => {
    const store = folderStore(temporaryFolder())
    expect(await keepPlan(store, plan)).toBe(
      `${store.location}/remediation/plans/${plan.digest}.json`,
    )
    await keepPlan(store, plan)
    expect(await keptPlan(store, plan.digest)).toEqual(plan)
    expect(await keptApproval(store, plan.digest, memoryKeys)).toBeNull()
    const answer = autoApprove(plan, auto, now, 'Ada (arn)')
    if ('approval' in answer) await keepApproval(store, answer.approval, memoryKeys.runs)
    expect(await keptApproval(store, plan.digest, memoryKeys)).toMatchObject({
      plan: plan.digest,
      by: 'policy',
    })
  })

  it('under another digest are refused', async () => {
    const folder = temporaryFolder()
    const store = folderStore(folder)
    await expect(keptPlan(store, 'f'.repeat(64))).rejects.toThrow(/There is no plan f{16}/)
    await keepPlan(store, plan)
    const other = join(folder, 'remediation', 'plans', `${'e'.repeat(64)}.json`)
    writeFileSync(other, planText(plan))
    await expect(keptPlan(store, 'e'.repeat(64))).rejects.toThrow(/holds another plan/)
  })
})
