/**
 * A fleet of three OS families goes from 85/80 to 70/50, by the commands that a person gives: planned, approved, tried on one node of each cohort, then in
 * waves, verified, and taken back. What came of it is read from the nodes: their kubelets through the API server, their files from their disks.
 */
import '#test/short-waits.ts'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { askIn } from '#lab/test/support.ts'
import type { Plan, VerificationReport } from '#model/plan.ts'
import { inProcess } from '#test/in-process.ts'
import { type Disk, RemediationLab, runOf, shownOf } from '#test/remediation-lab.ts'
import { isSlow } from '#test/slow.ts'
import { WatchedNode } from '#test/watched-node.ts'

const long = { timeout: 600_000 }
/** Ten cohorts, two of which have a second node; nightly six nodes in each. */
const size = isSlow ? 60 : 12
const sizeOfMethod = isSlow
  ? { 'kubelet-file': 24, nodeadm: 12, 'drop-in': 12, bottlerocket: 12 }
  : { 'kubelet-file': 6, nodeadm: 2, 'drop-in': 2, bottlerocket: 2 }

let fleet: RemediationLab
let plan: Plan
/** By `cluster/node`, before anything was changed. */
const before = new Map<string, Disk>()

beforeAll(async () => {
  fleet = await RemediationLab.start(
    { nodes: size },
    { wavePercents: [40], maxConcurrency: 50 },
    args => inProcess(args),
  )
  for (const [name, value] of Object.entries(fleet.lab.environment)) vi.stubEnv(name, value)
}, 60_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await fleet.close()
})

const nodes = () => [...fleet.nodes.values()]
const thresholds = () =>
  Promise.all(nodes().map(node => new WatchedNode(fleet.lab, node, askIn(fleet.lab)).thresholds()))
const all = <T>(value: T) => nodes().map(() => value)
const disks = () => new Map([...fleet.nodes].map(([key, node]) => [key, fleet.diskOf(node)]))
const starts = () => nodes().map(node => fleet.startsOf(node))
const stamps = () => nodes().map(node => fleet.stampsOf(node))

describe(`a fleet of ${size} nodes of three OS families`, () => {
  it(
    'is planned: one node of each cohort first, every node in its own way, and nothing is changed',
    long,
    async () => {
      const planned = await fleet.plan()
      expect(planned.said.code).toBe(0)
      // The clusters are read side by side.
      expect(planned.said.stderr.trimEnd().split('\n').toSorted()).toEqual([
        `reading ${size / 2} nodes of cluster media`,
        `reading ${size / 2} nodes of cluster shop`,
      ])
      plan = planned.plan
      expect(
        Object.fromEntries(
          [...Map.groupBy(plan.steps, ({ method }) => method)].map(([method, own]) => [
            method,
            own.length,
          ]),
        ),
      ).toEqual(sizeOfMethod)
      expect(new Set(plan.cohorts.map(({ amiFamily }) => amiFamily))).toEqual(
        new Set(['AL2', 'AL2023', 'Bottlerocket']),
      )
      expect(plan.waves.map(wave => wave.length)).toEqual(isSlow ? [10, 20, 30] : [10, 2])
      expect(fleet.changes()).toEqual([])
      expect(await thresholds()).toEqual(all([85, 80]))
      for (const [key, disk] of disks()) before.set(key, disk)
    },
  )

  it('is not changed without an approval of exactly this plan', long, async () => {
    const other = await fleet.plan('other', '--nodegroup', 'al2')
    await fleet.approve(other.plan, 'other')
    const approval = ['--approval', fleet.at('other.approval.json'), '--store', fleet.at('store')]
    expect(await fleet.run('apply', fleet.at('plan.json'), ...approval)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is for another plan/),
    })
    expect(fleet.changes()).toEqual([])
  })

  it(
    'runs with the plan after it is approved and applied: each node is read anew, and each wave is well before the next',
    long,
    async () => {
      expect(await fleet.approve(plan)).toMatchObject({ code: 0 })
      const applied = await fleet.apply()
      const run = runOf(applied)
      expect({ code: applied.code, state: run.state, why: run.why }).toEqual({
        code: 0,
        state: 'done',
        why: null,
      })
      expect(run.steps.map(({ state }) => state)).toEqual(all('verified'))
      expect(await thresholds()).toEqual(all([70, 50]))
      expect(starts()).toEqual(all(1))
      const inWave = (wave: number) => run.steps.filter(step => step.wave === wave)
      for (const wave of plan.waves.keys().drop(1)) {
        const begun = Math.min(...inWave(wave).map(({ at }) => Date.parse(at.sending ?? '')))
        const well = Math.max(...inWave(wave - 1).map(({ at }) => Date.parse(at.verified ?? '')))
        expect(begun).toBeGreaterThanOrEqual(well)
      }
      const report = JSON.parse(
        readFileSync(fleet.at(`store/remediation/runs/${plan.id}/report.json`), 'utf8'),
      )
      expect(report).toEqual(run)
    },
  )

  it('has on its disks what the plan shows, and nothing else is different', long, () => {
    const generated =
      /\/etc\/(kubernetes\/kubelet\/config\.json\.d\/40-nodeadm\.conf|eks\/kubelet\/environment)$/
    for (const step of plan.steps) {
      const key = `${step.cluster}/${step.node}`
      const [was, is] = [before.get(key) ?? {}, fleet.diskOf(step)]
      const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
        path => was[path] !== is[path],
      )
      if (step.method === 'bottlerocket') {
        expect(changed.map(path => path.split('/').at(-1)).sort()).toEqual([
          'apiclient.settings.kubernetes.json',
          'config',
        ])
        continue
      }
      expect({ key, sha256: is[`/root${step.path}`] }).toEqual({ key, sha256: step.newSha256 })
      const others = changed.filter(path => path !== `/root${step.path}`)
      expect(others.filter(path => step.method !== 'nodeadm' || !generated.test(path))).toEqual([])
    }
  })

  it('was sent what the plan shows, once to each node, and nothing else', long, () => {
    const sent = fleet.changes().flatMap(({ document, instanceIds, parameters }) =>
      instanceIds.map(instanceId => {
        const { Action, Run, TimeoutSeconds, Content, ...rest } = Object.fromEntries(
          Object.entries(parameters).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join() : String(value),
          ]),
        )
        expect({ Action, Run, TimeoutSeconds }).toEqual({
          Action: 'apply',
          Run: plan.id,
          TimeoutSeconds: '240',
        })
        return {
          document,
          instanceId,
          content: gunzipSync(Buffer.from(Content ?? '', 'base64')).toString(),
          ...rest,
        }
      }),
    )
    const byInstance = (a: { instanceId: string }, b: { instanceId: string }) =>
      a.instanceId < b.instanceId ? -1 : 1
    expect(sent.sort(byInstance)).toEqual(plan.steps.map(shownOf).sort(byInstance))
  })

  it('is verified by whoever asks afterwards, from the nodes alone', long, async () => {
    const { code, stdout } = await fleet.run('verify', fleet.at('plan.json'), '--format', 'json')
    const { counts } = JSON.parse(stdout) as VerificationReport
    expect({ code, counts }).toEqual({ code: 0, counts: { verified: size, notYet: 0, wrong: 0 } })
  })

  it(
    'is left as it is by the same apply again: nothing sent, nothing written, no kubelet started',
    long,
    async () => {
      const [sent, written] = [fleet.changes().length, stamps()]
      const again = await fleet.apply()
      expect([again.code, runOf(again).state]).toEqual([0, 'done'])
      expect([fleet.changes().length, starts(), stamps()]).toEqual([sent, all(1), written])
    },
  )

  it(
    'is what it was, byte for byte, when the run is taken back; a second time nothing is done',
    long,
    async () => {
      const back = await fleet.rollback(plan)
      const { steps } = runOf(back)
      expect([back.code, steps.map(({ state }) => state)]).toEqual([0, all('rolled-back')])
      // Settings of Bottlerocket can be set, and never be unset: they are set to what ran.
      expect(await thresholds()).toEqual(all([85, 80]))
      for (const { cluster, node, instanceId, method } of plan.steps)
        if (method !== 'bottlerocket')
          expect(fleet.diskOf({ instanceId })).toEqual(before.get(`${cluster}/${node}`))
      const [sent, written, started] = [fleet.changes().length, stamps(), starts()]
      expect((await fleet.rollback(plan)).code).toBe(0)
      expect([fleet.changes().length, starts(), stamps()]).toEqual([sent, started, written])
    },
  )
})
