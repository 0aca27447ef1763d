/** A plan carried out by somebody else, verified through the real doors: SSM, API server and EKS are asked anew, and say what is. */
import '#test/short-waits.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { ordinaryPods } from '#lab/nodes/pod-profile.ts'
import { GiB } from '#lab/nodes/profile.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import {
  type ClusterScenario,
  fixedNodes,
  type LabNode,
  type Scenario,
} from '#lab/scenarios/scenario.ts'
import { scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import type { ReadMode } from '#model/input/record.ts'
import type { VerificationReport } from '#model/plan.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { freshClusters } from '#pipeline/remediation/run/fresh.ts'
import { digestOf } from '#remediate/plan/canonical.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { blockersOf } from '#remediate/run/blockers.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'

const generous = { timeout: 60_000 }
const hourMs = 3_600_000
const hoursAgo = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString()

const thresholds = (high: number, low: number) => ({
  imageGCHighThresholdPercent: high,
  imageGCLowThresholdPercent: low,
})
type Thresholds = ReturnType<typeof thresholds>
const ips = ['10.0.7.1', '10.0.7.2', '10.0.7.3']
const nameOf = (ip: string) => `ip-${ip.replaceAll('.', '-')}.ec2.internal`
const names = ips.map(nameOf)

/** On its disk a file that the kubelet that runs has not read. */
interface Told {
  runs: Thresholds
  onDisk?: Thresholds
}

/** A node whose pods have readiness probes. */
function nodeOf(ip: string, { runs, onDisk }: Told): LabNode {
  const node = profiledNode({
    ...inNodegroup('al2', { family: 'AL2', version: '1.32.9', instanceType: 'm5.large', ip }),
    nodefs: { capacityBytes: 100 * GiB, usedPercent: 30 },
    configuration: runs,
    pods: ordinaryPods(ip),
    agent: {},
    ...(onDisk && { disk: { editedConfiguration: onDisk } }),
  })
  const probed = (pod: ReturnType<LabNode['pod']>) => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: (pod.spec?.containers ?? []).map(one => ({
        ...one,
        readinessProbe: { periodSeconds: 5 },
      })),
    },
  })
  return { ...node, pod: (index, at) => probed(node.pod(index, at)) }
}

const nodegroups: ClusterScenario['nodegroups'] = [
  {
    name: 'al2',
    amiType: 'AL2_x86_64',
    version: '1.32',
    releaseVersion: '1.32.9-20251120',
    instanceTypes: ['m5.large'],
    desiredSize: 3,
  },
]

function world(nodes: readonly Told[], more: Partial<ClusterScenario> = {}): Scenario {
  const all = Object.fromEntries(
    nodes.map((told, index) => [nameOf(ips[index] ?? ''), nodeOf(ips[index] ?? '', told)]),
  )
  return scenario([{ name: 'prod', version: '1.32', nodes: fixedNodes(all), nodegroups, ...more }])
}

const before = thresholds(85, 80)
const after = thresholds(70, 50)
const untouched = ips.map(() => ({ runs: before }))

interface Doors {
  plan: string
  policy: string
}

/** Made of a live lab; then dated back, so that no test waits until nodes have stayed Ready. */
async function livePlan(
  scenarioOf: Scenario,
  at = hoursAgo(3),
  mode: ReadMode = 'both',
): Promise<Doors> {
  const folder = temporaryFolder()
  const [plan = '', policy = ''] = ['plan.json', 'highwater.yaml'].map(name => join(folder, name))
  writeFileSync(
    policy,
    'pace: { requestsPerSecond: 1000, ssmRequestsPerSecond: 100 }\ntimeoutsMs: { inspect: 40000 }\n',
  )
  await labOf([scenarioOf], { at })
  const set = Object.entries(after).flatMap(([field, value]) => ['--set', `${field}=${value}`])
  const { code, stderr } = await inProcess([
    'plan',
    '--mode',
    mode,
    '--policy',
    policy,
    '--out',
    plan,
    ...set,
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'reading 3 nodes of cluster prod\n' })
  const made = parsePlan(readFileSync(plan, 'utf8'), plan)
  expect(made.steps.map(({ node, method }) => [node, method])).toEqual(
    names.map(name => [name, 'kubelet-file']),
  )
  const dated = { ...made, createdAt: hoursAgo(2) }
  const digest = digestOf(dated)
  writeFileSync(plan, planText({ ...dated, digest, id: digest.slice(0, 16) }))
  return { plan, policy }
}

async function verify({ plan, policy }: Doors, mode: ReadMode, ...args: string[]) {
  const { code, stdout, stderr } = await inProcess([
    'verify',
    plan,
    '--mode',
    mode,
    '--policy',
    policy,
    '--format',
    'json',
    ...args,
  ])
  return { code, stderr, report: code === 2 ? null : (JSON.parse(stdout) as VerificationReport) }
}

describe('highwater verify on live nodes', () => {
  it(
    'tells the changed from those that run with something else, and from those without a change',
    generous,
    async () => {
      const doors = await livePlan(world(untouched))
      const lab = await labOf(
        [world([{ runs: after }, { runs: before, onDisk: after }, { runs: before }])],
        { at: hoursAgo(1) },
      )
      const { code, report } = await verify(doors, 'both')
      expect(code).toBe(1)
      expect(report?.nodes).toEqual([
        { cluster: 'prod', node: names[0], state: 'verified' },
        {
          cluster: 'prod',
          node: names[1],
          state: 'wrong',
          why: expect.stringContaining('something takes its place'),
        },
        {
          cluster: 'prod',
          node: names[2],
          state: 'not-yet',
          why: expect.stringContaining('imageGCHighThresholdPercent is 85'),
        },
      ])
      const { routes } = lab.requests()
      expect(routes['kubernetes/prod']).not.toHaveProperty('listEvents')
      expect(routes['kubernetes/prod']).not.toHaveProperty('list poddisruptionbudgets')
    },
  )

  it(
    'reads them without SSM, too, and without a right to more than their kubelets',
    generous,
    async () => {
      const doors = await livePlan(world(untouched))
      const lab = await labOf(
        [world([{ runs: after }, { runs: after }, { runs: before, onDisk: after }])],
        { at: hoursAgo(1) },
      )
      const { code, report } = await verify(doors, 'proxy')
      expect(code).toBe(3)
      expect(report?.nodes.map(({ state }) => state)).toEqual(['verified', 'verified', 'not-yet'])
      expect(lab.requests().routes.ssm).toBeUndefined()
    },
  )

  it(
    'takes the files for what runs only where the kubelet has started since',
    generous,
    async () => {
      const at = hoursAgo(3)
      const doors = await livePlan(world(untouched), at, 'ssm')
      const access = { [labPrincipal]: auditorRights.filter(right => right !== 'get nodes/proxy') }
      await labOf([world([{ runs: after }, { runs: after }, { runs: before }], { access })], { at })
      expect((await verify(doors, 'ssm')).report?.nodes).toMatchObject([
        { state: 'not-yet', why: 'its files say so, but its kubelet has not started anew' },
        { state: 'not-yet', why: 'its files say so, but its kubelet has not started anew' },
        { state: 'not-yet', why: expect.stringContaining('it still runs without the change') },
      ])
      await labOf([world([{ runs: after }, { runs: after }, { runs: before }], { access })], {
        at: hoursAgo(1),
      })
      expect((await verify(doors, 'ssm')).report?.nodes.map(({ state }) => state)).toEqual([
        'verified',
        'verified',
        'not-yet',
      ])
    },
  )

  it('does not take files for configz if the plan was made from configz', generous, async () => {
    const doors = await livePlan(world(untouched))
    await labOf([world(ips.map(() => ({ runs: after })))], { at: hoursAgo(1) })
    const { code, report } = await verify(doors, 'ssm')
    expect(code).toBe(3)
    expect(report?.counts).toEqual({ verified: 0, notYet: 3, wrong: 0 })
    expect(report?.nodes[0]).toMatchObject({
      why: expect.stringContaining('this reading has only'),
    })
  })

  it('waits for a node that is gone, and says why it could not read one', generous, async () => {
    const doors = await livePlan(world(untouched))
    await labOf([world([{ runs: after }, { runs: after }])], { at: hoursAgo(1) })
    expect((await verify(doors, 'proxy')).report?.nodes[2]).toMatchObject({
      state: 'not-yet',
      why: expect.stringContaining('was not found'),
    })
    await labOf([world([{ runs: after }], { access: { [labPrincipal]: [] } })], { at: hoursAgo(1) })
    const { code, report } = await verify(doors, 'proxy')
    expect(code).toBe(3)
    expect(
      report?.nodes.every(
        one =>
          one.state === 'not-yet' &&
          /the list of nodes \(selected: .*\) could not be read.*403/.test(one.why),
      ),
    ).toBe(true)
  })

  it(
    'finds them by a kubeconfig, whose context has the name of the cluster',
    generous,
    async () => {
      const doors = await livePlan(world(untouched))
      const lab = await labOf([world(ips.map(() => ({ runs: after })))], { at: hoursAgo(1) })
      const kubeconfig = join(temporaryFolder(), 'config')
      writeFileSync(kubeconfig, lab.kubeconfig)
      const { code, report } = await verify(
        doors,
        'proxy',
        '--kubeconfig',
        kubeconfig,
        '--context',
        'prod',
      )
      expect({ code, counts: report?.counts }).toEqual({
        code: 0,
        counts: { verified: 3, notYet: 0, wrong: 0 },
      })
    },
  )
})

describe('freshClusters', () => {
  const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 100 }
  const timeoutsMs = { ...defaultPolicy.timeoutsMs, inspect: 40_000 }
  const policyOf = (mode: ReadMode): Policy => ({
    ...defaultPolicy,
    pace,
    timeoutsMs,
    modes: [{ match: {}, mode }],
  })
  const fresh = (nodes: { cluster: string; node: string }[], mode: ReadMode = 'both') =>
    freshClusters(nodes, { policy: policyOf(mode), signal: new AbortController().signal })
  const budget = (name: string, app: string, disruptionsAllowed: number) => ({
    metadata: { namespace: 'shop', name },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed },
  })
  const [first = '', second = ''] = names

  it('reads just these nodes, their cluster and its budgets', generous, async () => {
    const lab = await labOf([
      world(untouched, { disruptionBudgets: [budget('checkout', 'checkout', 0)] }),
    ])
    const found = await fresh([first, second].map(node => ({ cluster: 'prod', node })))
    expect([...found.keys()]).toEqual(['prod'])
    const prod = found.get('prod')
    expect(prod?.nodes.map(({ node }) => node.metadata?.name).sort()).toEqual([first, second])
    expect(prod).toMatchObject({
      cluster: { eks: { status: 'ACTIVE' } },
      budgets: [{ metadata: { name: 'checkout' } }],
    })
    expect(
      prod?.nodes.every(({ at, host, configuration }) => Boolean(at && host && configuration)),
    ).toBe(true)
    expect(lab.requests().routes['kubernetes/prod']).not.toHaveProperty('listEvents')
  })

  it('has for nodes of mode ssm the configuration that their files come to', generous, async () => {
    await labOf([world(untouched)])
    const [record] =
      (await fresh([{ cluster: 'prod', node: first }], 'ssm')).get('prod')?.nodes ?? []
    expect(record).toMatchObject({ mode: 'ssm', configuration: { printed: before } })
  })

  it(
    'knows nothing of budgets that it may not list, and of a cluster that is not there',
    generous,
    async () => {
      const access = {
        [labPrincipal]: auditorRights.filter(right => !right.includes('poddisruptionbudgets')),
      }
      await labOf([world(untouched, { access })])
      const found = await fresh([
        { cluster: 'prod', node: first },
        { cluster: 'gone', node: 'n' },
      ])
      expect(found.get('prod')).toMatchObject({ budgets: null, nodes: [{}] })
      expect(found.get('gone')).toMatchObject({
        cluster: { errors: [{ what: 'cluster' }] },
        nodes: [],
        budgets: null,
      })
    },
  )

  it(
    'is what speaks against a change: a budget, an update, a cluster that EKS is changing',
    generous,
    async () => {
      const doors = await livePlan(world(untouched))
      const { steps } = parsePlan(readFileSync(doors.plan, 'utf8'), doors.plan)
      const blocked = async (more: Partial<ClusterScenario>) => {
        await labOf([world(untouched, more)])
        const prod = (await fresh(steps)).get('prod')
        return prod && blockersOf(steps, prod, defaultPolicy.remediation, new Date())
      }
      expect(await blocked({})).toEqual({
        cluster: [],
        nodes: new Map(),
        later: new Set(),
        unasked: [],
      })
      expect(await blocked({ status: 'UPDATING' })).toMatchObject({
        cluster: ['EKS is changing the cluster: it is UPDATING'],
      })
      expect(
        await blocked({
          disruptionBudgets: [budget('checkout', 'checkout', 0), budget('cache', 'cache', 1)],
        }),
      ).toMatchObject({
        cluster: [
          'PodDisruptionBudgets that cover its pods allow no disruption now: shop/checkout',
        ],
      })
    },
  )
})

it('a plan of live nodes names the budgets that allow no disruption', generous, async () => {
  const disruptionBudgets = [
    {
      metadata: { namespace: 'shop', name: 'checkout' },
      spec: { selector: { matchLabels: { app: 'checkout' } } },
      status: { disruptionsAllowed: 0 },
    },
  ]
  const { plan } = await livePlan(world(untouched, { disruptionBudgets }))
  const { cohorts } = parsePlan(readFileSync(plan, 'utf8'), plan)
  expect(cohorts[0]?.blast.budgetsAtLimit).toEqual({ count: 1, sample: ['shop/checkout'] })
  expect(cohorts[0]?.blast.text).toContain(
    '1 PodDisruptionBudgets allow no disruption now: shop/checkout.',
  )
})
