/** What a control plane has left, planned from a live fleet, deleted through the real client, and gone from the next plan. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folderStore } from '#clients/folder-store.ts'
import { KubernetesClient } from '#clients/kubernetes.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { Plan } from '#model/plan.ts'
import { type DeletionPolicy, defaultPolicy } from '#model/policy.ts'
import { everything } from '#model/selection.ts'
import { eksTargets } from '#pipeline/fleet.ts'
import { makeDeletionPlan } from '#pipeline/plan/deletions.ts'
import { remediate } from '#pipeline/remediation/remediate.ts'
import { approve } from '#remediate/plan/approve.ts'
import { deletionRights, objectPath } from '#remediate/plan/deletions.ts'
import { deleteObjects } from '#remediate/run/delete-objects.ts'
import { temporaryFolder } from '#test/cli.ts'
import { auditLive, labOf } from '#test/lab-audit.ts'

const generous = { timeout: 120_000 }
const deletions: DeletionPolicy = {
  failedPods: { olderThanHours: 24 },
  finishedJobs: { olderThanHours: 24 },
  nodeLeases: { olderThanHours: 24 },
  releasedVolumes: { olderThanHours: 24 },
}
const policy = { ...defaultPolicy, remediation: { ...defaultPolicy.remediation, deletions } }

const worldWith = (rights: readonly string[]): Scenario => ({
  ...garbage,
  clusters: garbage.clusters.map(cluster => ({
    ...cluster,
    access: { [labPrincipal]: [...auditorRights, ...rights] },
  })),
})

async function planned(): Promise<Plan> {
  const snapshotPath = join(temporaryFolder(), 'snapshot.ndjson')
  await auditLive({ snapshotPath })
  return (await makeDeletionPlan(snapshotPath, { policy, selection: everything })).plan
}

async function carriedOut({ deletions: objects = [] }: Plan, isDryRun = false): Promise<string[]> {
  const signal = AbortSignal.timeout(60_000)
  const states: string[] = []
  for await (const { record, endpoint } of eksTargets({ policy, selection: everything, signal })) {
    if (endpoint === null) continue
    const kubernetes = new KubernetesClient(endpoint, {
      pace: { requestsPerSecond: 1000, concurrency: 4 },
      backoffMs: 1,
    })
    onTestFinished(() => kubernetes.close())
    const context = {
      kubernetes,
      policy: deletions,
      now: () => new Date(),
      isDryRun,
      options: { signal, timeoutMs: 30_000 },
    }
    const own = objects.filter(({ cluster }) => cluster === record.cluster)
    for await (const { state } of deleteObjects(own, context)) states.push(state)
  }
  return states
}

it(
  'is applied by its approval through the one door, journalled, and a second time nothing is left to do',
  generous,
  async () => {
    await labOf([worldWith(deletionRights(deletions))])
    const plan = await planned()
    const [at, until] = [-60_000, 3_600_000].map(ms => new Date(Date.now() + ms).toISOString()) as [
      string,
      string,
    ]
    const approval = approve(plan, {
      digest: plan.digest,
      by: 'Ada Lovelace',
      identity: 'arn:aws:iam::111122223333:user/ada',
      at,
      until,
      options: { allowActAtOnce: false },
    })
    const signal = AbortSignal.timeout(100_000)
    const store = folderStore(temporaryFolder())
    const apply = () =>
      remediate(plan, approval, {
        ...{
          policy,
          store,
          stop: signal,
          end: signal,
          holder: randomUUID(),
          resume: false,
          skipChanged: false,
        },
        targets: clusters =>
          eksTargets({ policy, selection: { ...everything, clusters: [...clusters] }, signal }),
      })
    const run = await apply()
    expect([run.state, run.why, new Set(run.deletions?.map(({ state }) => state))]).toEqual([
      'done',
      null,
      new Set(['deleted']),
    ])
    expect(run.deletions).toHaveLength(plan.deletions?.length ?? 0)
    expect(await apply()).toEqual(run)
    expect((await planned()).deletions).toEqual([])
  },
)

it(
  'names what nobody collects and none of its healthy twins, deletes it once, and then has nothing left to name',
  generous,
  async () => {
    await labOf([worldWith(deletionRights(deletions))])
    const plan = await planned()
    expect(plan.notDeleted).toBeUndefined()
    const named = (plan.deletions ?? []).map(({ kind, name }) => `${kind} ${name}`)
    expect(named.join('\n')).not.toContain('kept')
    expect(new Set(plan.deletions?.map(({ kind }) => kind))).toEqual(
      new Set(['failedPods', 'finishedJobs', 'nodeLeases', 'releasedVolumes']),
    )
    expect(named).toEqual(
      expect.arrayContaining([
        'finishedJobs catalog-import-29384701',
        'finishedJobs catalog-import-29384702',
      ]),
    )
    expect(named.filter(name => name.startsWith('releasedVolumes'))).toEqual([
      'releasedVolumes pvc-0001',
    ])

    const tried = await carriedOut(plan, true)
    expect(new Set(tried)).toEqual(new Set(['would-delete']))
    expect((await planned()).deletions?.length).toBe(named.length)

    const done = await carriedOut(plan)
    expect(done).toEqual(named.map(() => 'deleted'))
    expect((await planned()).deletions).toEqual([])
    expect(new Set(await carriedOut(plan))).toEqual(new Set(['gone']))
  },
)

it(
  'leaves another object of the same name, and another version, where they are',
  generous,
  async () => {
    await labOf([worldWith(deletionRights(deletions))])
    const plan = await planned()
    const changed = (plan.deletions ?? []).map((deletion, index) =>
      index % 2 === 0 ? { ...deletion, uid: 'another' } : { ...deletion, resourceVersion: '0' },
    )
    expect(new Set(await carriedOut({ ...plan, deletions: changed }))).toEqual(new Set(['changed']))
    expect((await planned()).deletions?.length).toBe(plan.deletions?.length)
  },
)

it(
  'is refused by the server itself, should it have changed since it was looked at',
  generous,
  async () => {
    await labOf([worldWith(deletionRights(deletions))])
    const [deletion] = (await planned()).deletions ?? []
    const signal = AbortSignal.timeout(60_000)
    for await (const { endpoint } of eksTargets({ policy, selection: everything, signal })) {
      const kubernetes = new KubernetesClient(endpoint!, {
        pace: { requestsPerSecond: 1000, concurrency: 4 },
        backoffMs: 1,
      })
      onTestFinished(() => kubernetes.close())
      const wanted = {
        uid: deletion!.uid,
        resourceVersion: '0',
        propagationPolicy: null,
        isDryRun: false,
      }
      await expect(
        kubernetes.deleteObject(objectPath(deletion!), wanted, { signal, timeoutMs: 30_000 }),
      ).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('Precondition failed: resourceVersion'),
      })
    }
  },
)

it('deletes nothing without the right to', generous, async () => {
  await labOf([worldWith(deletionRights(deletions).filter(right => right.startsWith('get ')))])
  const plan = await planned()
  expect(new Set(await carriedOut(plan))).toEqual(new Set(['failed']))
  expect((await planned()).deletions?.length).toBe(plan.deletions?.length)
})
