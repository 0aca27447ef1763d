/**
 * What may go wrong while nodes are changed. With each fault no node is left half-way: what was changed is verified or is as it was, byte for byte; the
 * report says which and why; and the next run works. The commands are processes of their own, so that one can be killed like a process.
 */
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type NodeTrouble,
  type RemediationOptions,
  remediationNodes,
  successorOf,
} from '#lab/scenarios/remediation.ts'
import { askIn } from '#lab/test/support.ts'
import type { Plan, RemediationRun, StepEntry, StepState } from '#model/plan.ts'
import { highwater, killedHighwater } from '#test/cli.ts'
import { mainFileOf } from '#test/lab-changes.ts'
import { type Disk, RemediationLab, runOf } from '#test/remediation-lab.ts'
import { WatchedNode } from '#test/watched-node.ts'

const hourMs = 3_600_000
const long = { timeout: 600_000 }

/** One node of each cohort, so that all of them go first. */
const ten = new Map(remediationNodes(10).map(node => [node.key, node]))

async function inLab(
  options: RemediationOptions,
  remediation: Readonly<Record<string, unknown>>,
  work: (lab: RemediationLab) => Promise<void>,
): Promise<void> {
  const lab = await RemediationLab.start(options, remediation, (args, { environment }) =>
    highwater(args, { env: environment, cwd: lab.at() }),
  )
  try {
    await work(lab)
  } finally {
    await lab.close()
  }
}

async function approved(
  lab: RemediationLab,
  name?: string,
  ...more: string[]
): Promise<{ plan: Plan; before: Map<string, Disk> }> {
  const { plan } = await lab.plan(name, ...more)
  expect(await lab.approve(plan, name)).toMatchObject({ code: 0 })
  return { plan, before: new Map(plan.steps.map(step => [step.instanceId, lab.diskOf(step)])) }
}

const thresholdsOf = (lab: RemediationLab, { cluster, node: name, instanceId }: StepEntry) =>
  new WatchedNode(
    lab.lab,
    { key: '', cluster, nodegroup: '', name, instanceId },
    askIn(lab.lab),
  ).thresholds()

const generated =
  /\/etc\/(kubernetes\/kubelet\/config\.json\.d\/40-nodeadm\.conf|eks\/kubelet\/environment)$/

/** Every node that is still there is as the report says: with all of the new bytes or all of the old ones, and with nothing beside them. */
async function isWhole(
  lab: RemediationLab,
  plan: Plan,
  run: RemediationRun,
  before: ReadonlyMap<string, Disk>,
): Promise<void> {
  for (const entry of run.steps) {
    const step = plan.steps.find(({ instanceId }) => instanceId === entry.instanceId)
    if (step === undefined) throw new Error(`${entry.node} is not in the plan`)
    const isVerified = entry.state === 'verified'
    if (entry.state === 'skipped' && /instance is gone/.test(entry.why ?? '')) continue
    if (entry.state !== 'broken')
      expect({ node: entry.node, runsWith: await thresholdsOf(lab, entry) }).toEqual({
        node: entry.node,
        runsWith: isVerified ? [70, 50] : [85, 80],
      })
    // Bottlerocket's settings are set back, not taken away again.
    if (step.method === 'bottlerocket') continue
    const [was, is] = [before.get(step.instanceId) ?? {}, lab.diskOf(step)]
    const own = `/root${step.path}`
    const others = Object.entries({ ...was, ...is }).filter(
      ([path]) => !isVerified || (path !== own && !generated.test(path)),
    )
    for (const [path] of others)
      expect({ node: entry.node, path, sha256: is[path] }).toEqual({
        node: entry.node,
        path,
        sha256: was[path],
      })
    if (isVerified)
      expect({ node: entry.node, sha256: is[own] }).toEqual({
        node: entry.node,
        sha256: step.newSha256,
      })
  }
}

function killedApply(
  lab: RemediationLab,
  afterMs: (output: string) => number | null,
): Promise<void> {
  const files = [
    'apply',
    lab.at('plan.json'),
    '--approval',
    lab.at('plan.approval.json'),
    '--store',
    lab.at('store'),
  ]
  return killedHighwater(
    [...files, '--resume', '--policy', lab.at('highwater.yaml')],
    { env: lab.lab.environment, cwd: lab.at() },
    afterMs,
  )
}

/** By the key of its node. */
function endsOf({ steps }: RemediationRun): Record<string, [StepState, string | null]> {
  const keys = new Map([...ten.values()].map(({ key, instanceId }) => [instanceId, key]))
  return Object.fromEntries(
    steps.map(({ instanceId, state, why }) => [keys.get(instanceId) ?? instanceId, [state, why]]),
  )
}

const well = ['verified', null]
const because = (state: StepState, why: RegExp) => [state, expect.stringMatching(why)]

describe.concurrent('no node is left half-way', long, () => {
  it('where kubelets do not come back, disks are full, clocks are wrong, SSM throttles, and a command comes twice', () => {
    const faults: Readonly<Record<string, NodeTrouble>> = {
      'shop/al2/0': { change: { kind: 'never-up' } },
      'media/al2/0': { change: { kind: 'only-old' } },
      'shop/al2023/0': { change: { kind: 'disk-full', from: 'restart' } },
      'media/al2023/0': { change: { kind: 'disk-full', from: 'write' } },
      'shop/al2023-dropin/0': { change: { kind: 'disk-full', from: 'start' } },
      'media/al2023-dropin/0': { change: { kind: 'sick' } },
      'shop/al2023-plain/0': { change: { kind: 'clock-skew', byMs: 4 * hourMs } },
      'media/al2023-plain/0': { change: { kind: 'clock-skew', byMs: -4 * hourMs } },
      'media/bottlerocket/0': { agent: { kind: 'twice' } },
    }
    const ssm = { throttlesFirstOf: { SendCommand: 4, GetCommandInvocation: 3 } }
    // The kubelets that stay down are meant to stop nobody here: nodes that share a budget come one after the other.
    return inLab(
      { nodes: 10, faults, ssm },
      { maxErrors: 10, maxUnreadyPercent: 100 },
      async lab => {
        const { plan, before } = await approved(lab)
        const applied = await lab.apply()
        const run = runOf(applied)
        expect([applied.code, run.state]).toEqual([1, 'done'])
        expect(endsOf(run)).toEqual({
          'shop/al2/0': because(
            'broken',
            /after 3 commands .* with what was there before it is not well either/,
          ),
          'media/al2/0': because('restored', /the kubelet does not stay/),
          'shop/al2023/0': well,
          'media/al2023/0': because('failed', /nothing was changed/),
          'shop/al2023-dropin/0': because('failed', /less than 1 MiB is free/),
          'media/al2023-dropin/0': because('restored', /is not healthy/),
          'shop/al2023-plain/0': well,
          'media/al2023-plain/0': well,
          'shop/bottlerocket/0': well,
          'media/bottlerocket/0': well,
        })
        await isWhole(lab, plan, run, before)
        const sent = lab.changes().length
        expect(runOf(await lab.apply())).toEqual(run)
        expect(lab.changes()).toHaveLength(sent)
      },
    )
  })

  it('where agents are lost, instances replaced, and files are no JSON; the next run changes those that came instead', () => {
    const lost = (when: 'before-swap' | 'after-swap' | 'end'): NodeTrouble => ({
      change: { kind: 'agent-lost', when, backAfterMs: 200 },
    })
    const faults: Readonly<Record<string, NodeTrouble>> = {
      'shop/al2/0': lost('before-swap'),
      'media/al2/0': lost('after-swap'),
      'shop/al2023/0': { change: { kind: 'replaced', when: 'after-swap' } },
      'media/al2023/0': lost('after-swap'),
      'shop/al2023-dropin/0': lost('end'),
      'media/al2023-dropin/0': { agent: { kind: 'late', delayMs: 2000 } },
      'shop/al2023-plain/0': { isFileBroken: true },
      'shop/bottlerocket/0': lost('after-swap'),
      'media/bottlerocket/0': { change: { kind: 'replaced', when: 'before-swap' } },
    }
    return inLab({ nodes: 10, faults }, { maxErrors: 10, answerTimeoutMs: 10_000 }, async lab => {
      const { plan } = await approved(lab)
      expect(plan.refused.map(({ node }) => node)).toEqual([ten.get('shop/al2023-plain/0')?.name])
      const edited = ten.get('media/al2023-plain/0')!
      const main = join(
        lab.lab.machineOf(edited.instanceId)?.root ?? '',
        mainFileOf['al2023-plain'] ?? '',
      )
      writeFileSync(main, '{ "kind": "KubeletConf')
      const before = new Map(plan.steps.map(step => [step.instanceId, lab.diskOf(step)]))
      expect(await lab.apply()).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/no longer fits 1 of its 9 nodes.*--skip-changed/s),
      })
      expect(lab.changes()).toEqual([])
      const applied = await lab.apply('plan', '--skip-changed')
      const run = runOf(applied)
      expect([applied.code, run.state]).toEqual([3, 'done'])
      expect(endsOf(run)).toEqual({
        'shop/al2/0': well,
        'media/al2/0': well,
        'shop/al2023/0': because('skipped', /its instance is gone/),
        'media/al2023/0': well,
        'shop/al2023-dropin/0': well,
        'media/al2023-dropin/0': well,
        'media/al2023-plain/0': because('skipped', /changed since the plan was made/),
        'shop/bottlerocket/0': well,
        'media/bottlerocket/0': because('skipped', /its instance is gone/),
      })
      await isWhole(lab, plan, run, before)
      const successors = ['shop/al2023/0', 'media/bottlerocket/0'].map(key => successorOf(key).name)
      const next = await approved(lab, 'next', ...successors.flatMap(name => ['--node', name]))
      expect(next.plan.steps.map(({ node }) => node).sort()).toEqual(successors.sort())
      const ended = runOf(await lab.apply('next'))
      expect(ended.steps.map(({ state }) => state)).toEqual(['verified', 'verified'])
      await isWhole(lab, next.plan, ended, next.before)
    })
  })

  it('where an API server is away from the first restart on: it is waited for, and whoever resumes ends it', () => {
    const clusterFaults = { shop: { away: { from: 'first-restart', requests: 20 } } } as const
    return inLab({ nodes: 2, clusterFaults }, {}, async lab => {
      const { plan, before } = await approved(lab)
      let run = runOf(await lab.apply())
      for (let again = 0; again < 5 && run.endedAt === null; again++)
        run = runOf(await lab.apply('plan', '--resume'))
      expect([run.state, run.steps.map(({ state }) => state)]).toEqual([
        'done',
        ['verified', 'verified'],
      ])
      await isWhole(lab, plan, run, before)
      expect(lab.changes()).toHaveLength(2)
    })
  })

  it('where the process is killed, at the moment when a command is out and at any other: it is resumed, and no node is changed twice', () =>
    inLab({ nodes: 6 }, {}, async lab => {
      const { plan, before } = await approved(lab)
      const killedAfterMs = randomInt(500, 25_000)
      await killedApply(lab, output => (/ sent\n/.test(output) ? 0 : null))
      await killedApply(lab, () => killedAfterMs)
      const run = runOf(await lab.apply('plan', '--resume'))
      const states = run.steps.map(({ state }) => state)
      expect({ killedAfterMs, state: run.state, states }).toEqual({
        killedAfterMs,
        state: 'done',
        states: plan.steps.map(() => 'verified'),
      })
      await isWhole(lab, plan, run, before)
      expect(plan.steps.map(step => lab.startsOf(step))).toEqual(plan.steps.map(() => 1))
    }))

  it('where two apply the same plan at once: one does it, the other says so', () =>
    inLab({ nodes: 4 }, {}, async lab => {
      const { plan, before } = await approved(lab)
      const both = await Promise.all([lab.apply(), lab.apply()])
      const done = both.filter(({ code }) => code === 0)
      const refused = both.filter(({ code }) => code !== 0)
      expect([done.length, refused.map(({ stdout }) => stdout)]).toEqual([1, ['']])
      expect(refused[0]?.stderr).toMatch(
        /is being changed by another apply|was begun at .* --resume goes on with it/,
      )
      await isWhole(lab, plan, runOf(done[0]!), before)
      expect(
        lab
          .changes()
          .flatMap(({ instanceIds }) => instanceIds)
          .sort(),
      ).toEqual(plan.steps.map(({ instanceId }) => instanceId).sort())
      expect(plan.steps.map(step => lab.startsOf(step))).toEqual(plan.steps.map(() => 1))
    }))
})
