/** The function `remediate` changes nodes that really change: planned, approved by digest, applied, gone on with after a death and a deadline, taken back. */
import '#test/short-waits.ts'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { remediationNodes, remediationScenario } from '#lab/scenarios/remediation.ts'
import { askIn } from '#lab/test/support.ts'
import type { PlanAnswer, RemediationRun } from '#model/plan.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invokeRemediate, serviceEnvironment } from '#test/lambda.ts'
import { labBucket } from '#test/seals.ts'
import { WatchedNode } from '#test/watched-node.ts'

vi.setConfig({ testTimeout: 300_000 })

const set = ['imageGCHighThresholdPercent=70', 'imageGCLowThresholdPercent=50']
/** What a node needs to be changed and seen to be well is real time: half of this is for sending. */
const longMs = 280_000
/** The lease of one that was killed is waited for, a node is changed, and then the time to send is over. */
const shortMs = 90_000

async function world(
  nodes: number,
  isMeant: (node: { cluster: string; nodegroup: string }) => boolean = () => true,
) {
  const storeFolder = temporaryFolder()
  const lab = await labOf([remediationScenario({ nodes })], { storeFolder })
  const bucket = join(storeFolder, 'highwater-lab')
  mkdirSync(bucket, { recursive: true })
  const policy = async (remediation: object) => {
    const pace = {
      requestsPerSecond: 1000,
      concurrency: 20,
      clusters: 4,
      ssmRequestsPerSecond: 100,
    }
    const told = {
      modes: [{ mode: 'both' }],
      pace,
      remediation: { pauseMs: 0, leaseTtlMs: 15_000, maxConcurrency: 50, ...remediation },
    }
    // JSON is YAML.
    writeFileSync(join(bucket, 'highwater.yaml'), JSON.stringify(told))
    await outside.approvePolicy()
  }
  const outside = labBucket(bucket)
  await policy({})
  const watched = remediationNodes(nodes)
    .filter(isMeant)
    .map(node => new WatchedNode(lab, node, askIn(lab)))
  const report = (run: string): RemediationRun =>
    JSON.parse(readFileSync(join(bucket, 'remediation', 'runs', run, 'report.json'), 'utf8'))
  return {
    ...{ lab, bucket, outside, policy, watched, report },
    planned: async (event: object = {}) =>
      (await invokeRemediate({ action: 'plan', set, ...event })) as PlanAnswer,
    thresholds: () => Promise.all(watched.map(node => node.thresholds())),
    sent: () => lab.requests().routes.ssm?.SendCommand,
    /** How often each kubelet was started since the lab began. */
    starts: () => watched.map(({ node }) => startsOf(lab.machineOf(node.instanceId)?.root)),
    /** Where its steps stand, as the journal says now. */
    journal: (run: string) =>
      readdirSync(join(bucket, 'remediation', 'runs'), { recursive: true, encoding: 'utf8' })
        .filter(path => path.startsWith(`${run}/steps/`) && path.endsWith('.json'))
        .map(
          path =>
            JSON.parse(readFileSync(join(bucket, 'remediation', 'runs', path), 'utf8')).entry
              .state as string,
        ),
  }
}

function startsOf(root: string | undefined): number {
  const file = join(root ?? '', '..', 'start.json')
  return root === undefined || !existsSync(file)
    ? 0
    : (JSON.parse(readFileSync(file, 'utf8')) as { number: number }).number - 1
}

/** The function in a process of its own, as Lambda runs it. @returns what ends it without a word */
function inItsOwnProcess(event: object): () => Promise<void> {
  const script = `const { handler } = await import('#handlers/remediate.ts')
await handler(JSON.parse(process.argv[1]), { awsRequestId: 'killed', getRemainingTimeInMillis: () => ${longMs} })`
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, JSON.stringify(event)],
    { env: { ...process.env, ...serviceEnvironment }, stdio: 'ignore' },
  )
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const kill = () => {
    child.kill('SIGKILL')
    return ended
  }
  onTestFinished(kill)
  return kill
}

describe('the function remediate', () => {
  it('applies by digest what it planned, once however often it is asked, and takes it back', async () => {
    const { planned, thresholds, sent, starts, report, bucket, outside } = await world(
      10,
      ({ cluster }) => cluster === 'shop',
    )
    // One node of each group. Both clusters: test/e2e/remediation.test.ts.
    const shop = { clusters: ['shop'] }
    const { digest, id, counts, approvedBy } = await planned(shop)
    expect({ counts, approvedBy }).toMatchObject({
      counts: { nodes: 5, cohorts: 5, waves: 1, refused: 0, never: 0 },
      approvedBy: null,
    })
    expect([await thresholds(), starts()]).toEqual([Array(5).fill([85, 80]), Array(5).fill(0)])

    await outside.approve(digest)
    const apply = { action: 'apply', plan: digest }
    const asked = await Promise.allSettled([1, 2].map(() => invokeRemediate(apply, {}, longMs)))
    const [answer] = asked.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    const [refused] = asked.flatMap(one => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(answer).toEqual({
      ...{
        action: 'apply',
        id,
        digest,
        approvedBy: 'Ada Lovelace (arn:aws:iam::111122223333:user/highwater)',
        state: 'done',
        why: null,
        nodes: { verified: 5 },
      },
      next: expect.stringContaining(`{"action":"rollback","run":"${id}"}`),
    })
    // It is told so, unless the other one was at its end before it looked.
    expect(refused ?? `run ${id}`).toContain(`run ${id}`)
    expect(readdirSync(join(bucket, 'remediation', 'runs'))).toEqual([id])
    expect(report(id).steps.map(({ state }) => state)).toEqual(Array(5).fill('verified'))
    expect([await thresholds(), starts()]).toEqual([Array(5).fill([70, 50]), Array(5).fill(1)])

    const before = sent()
    expect(await invokeRemediate(apply)).toEqual(answer)
    expect(await invokeRemediate({ action: 'resume' })).toEqual({
      action: 'resume',
      runs: [],
      unsealed: [],
    })
    expect(sent()).toBe(before)
    expect(await planned(shop)).toMatchObject({ counts: { nodes: 0, unchanged: 5 } })

    expect(await invokeRemediate({ action: 'rollback', run: id }, {}, longMs)).toMatchObject({
      ...{ state: 'rolled-back', nodes: { 'rolled-back': 5 }, next: 'Nothing more is to be done.' },
    })
    expect(await thresholds()).toEqual(Array(5).fill([85, 80]))
  })

  it('killed after it has sent goes on where it was, does not sit a pause out, and does no node twice', async () => {
    const made = await world(
      20,
      ({ cluster, nodegroup }) => cluster === 'shop' && nodegroup === 'al2',
    )
    const { digest, id, counts } = await made.planned({ clusters: ['shop'], nodegroups: ['al2'] })
    expect(counts).toMatchObject({ nodes: 2, waves: 2 })
    await made.outside.approve(digest)
    const kill = inItsOwnProcess({ action: 'apply', plan: digest })
    await vi.waitFor(() => expect(made.journal(id)).toContain('sent'), {
      timeout: 120_000,
      interval: 20,
    })
    await kill()
    expect(made.journal(id)).not.toContain('verified')

    // Nobody pays for a function that waits so long: it says when it goes on.
    await made.policy({ pauseMs: 3_600_000 })
    const paused = await invokeRemediate({ action: 'resume', run: id }, {}, shortMs)
    expect(paused).toMatchObject({
      ...{
        action: 'resume',
        id,
        state: 'paused',
        nodes: { verified: 1, pending: 1 },
        why: expect.stringMatching(/^the pause after the wave before lasts until \d{4}-/),
      },
      next: expect.stringContaining('the next {"action":"resume"}'),
    })
    expect([await made.thresholds(), made.starts()]).toEqual([
      expect.arrayContaining([
        [70, 50],
        [85, 80],
      ]),
      expect.arrayContaining([0, 1]),
    ])

    await made.policy({})
    // As the schedule asks.
    expect(await invokeRemediate({ action: 'resume' }, {}, longMs)).toMatchObject({
      runs: [{ id, state: 'done', nodes: { verified: 2 } }],
    })
    expect([await made.thresholds(), made.starts()]).toEqual([Array(2).fill([70, 50]), [1, 1]])
    expect(made.report(id)).toMatchObject({
      state: 'done',
      plan: digest,
      approvedBy: 'Ada Lovelace (arn:aws:iam::111122223333:user/highwater)',
    })
  })
})
