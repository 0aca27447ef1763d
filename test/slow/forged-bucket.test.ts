/**
 * An identity that can write parts of the bucket, and has no key, against the function as it is deployed: real nodes, S3 and KMS of the lab. It writes
 * whole runs that hang together, with seals of other objects. Nothing is sent to any node, and mail and page of the next audit name the objects.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { remediationNodes, remediationScenario } from '#lab/scenarios/remediation.ts'
import { askIn } from '#lab/test/support.ts'
import type { Plan, PlanAnswer } from '#model/plan.ts'
import { canonicalJson, digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { approvalText, parsePlan, planText } from '#remediate/plan/file.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke, invokeRemediate } from '#test/lambda.ts'
import { labBucket } from '#test/seals.ts'
import { WatchedNode } from '#test/watched-node.ts'

vi.setConfig({ testTimeout: 300_000 })

const set = ['imageGCHighThresholdPercent=70', 'imageGCLowThresholdPercent=50']
const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-22T05:00:00Z' }
const auditRun = 'runs/2026-11-22T05-00-00Z'
const longMs = 280_000

/** Two nodes, an approved policy, and a plan that no approver approved. */
async function world() {
  const storeFolder = temporaryFolder()
  const lab = await labOf([remediationScenario({ nodes: 2 })], { storeFolder })
  const bucket = join(storeFolder, 'highwater-lab')
  const write = (key: string, text: string) => {
    mkdirSync(dirname(join(bucket, key)), { recursive: true })
    writeFileSync(join(bucket, key), text)
  }
  const read = (key: string) => readFileSync(join(bucket, key), 'utf8')
  const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 100 }
  const policy = JSON.stringify({ modes: [{ mode: 'both' }], pace, remediation: { pauseMs: 0 } })
  write('highwater.yaml', policy)
  await labBucket(bucket).approvePolicy()
  const { digest } = (await invokeRemediate({ action: 'plan', set })) as PlanAnswer
  const plan = parsePlan(read(`remediation/plans/${digest}.json`), 'the plan')
  expect(plan.steps).toHaveLength(2)
  const seal = /,"seal":"[^"]*"\}\n$/.exec(
    read(`remediation/approvals/policy-${sha256(policy)}.json`),
  )?.[0]
  const watched = remediationNodes(2).map(node => new WatchedNode(lab, node, askIn(lab)))
  return {
    ...{ lab, plan, read },
    /** As the attacker writes: with an authentic seal, of another object. */
    forge: (key: string, text: string) => write(key, text.replace(/\}\n$/, seal ?? '')),
    write,
    sent: () => lab.requests().routes.ssm?.SendCommand ?? 0,
    thresholds: () => Promise.all(watched.map(node => node.thresholds())),
  }
}
type World = Awaited<ReturnType<typeof world>>

const withDigest = (plan: Plan): Plan => {
  const { id: _id, digest: _digest, ...body } = plan
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

/** A kubelet that lets in everyone. */
const openKubelets = (plan: Plan): Plan =>
  withDigest({
    ...plan,
    steps: plan.steps.map(step => {
      const content = `${JSON.stringify({ authentication: { anonymous: { enabled: true } } })}\n`
      return { ...step, content, newSha256: sha256(content) }
    }),
  })

/** The attacker's image under the name of another. */
function pullEvil(plan: Plan): Plan {
  const name = '602401143452.dkr.ecr.us-east-1.amazonaws.com/amazon-k8s-cni:v9.9.9'
  const source = `registry.attacker.example/evil/cni@sha256:${'e'.repeat(64)}`
  return withDigest({
    ...plan,
    cohorts: plan.cohorts.map(one => ({ ...one, fields: {}, image: { name, source } })),
    steps: plan.steps.map(step => ({
      ...step,
      ...{ method: 'pull-image', path: name, oldSha256: 'absent', expect: [], expectBack: [] },
      content: canonicalJson({ name, pinned: true, source }),
      newSha256: sha256(`${name} pinned\n`),
    })),
  })
}

const hourMs = 3_600_000
const at = () => new Date(Date.now() - 60_000).toISOString()
const approvalBy = (plan: Plan): string =>
  approvalText({
    ...{ schema: 'highwater.approval/1', plan: plan.digest, by: 'Ada Lovelace' },
    identity: 'arn:aws:iam::111122223333:user/highwater',
    ...{ at: at(), until: new Date(Date.now() + hourMs).toISOString() },
    options: { allowActAtOnce: true },
  })

/** FORGE1: all that lies below the folder of a run. @returns its keys that the function meets */
function forgeRun({ forge }: World, plan: Plan): string {
  const folder = `remediation/runs/${plan.id}`
  forge(`${folder}/plan.json`, planText(plan))
  forge(`${folder}/approval.json`, approvalBy(plan))
  for (const { cluster, node, instanceId } of plan.steps) {
    const entry = {
      ...{ cluster, node, instanceId, wave: 0, state: 'sending', why: null, commandIds: [] },
      ...{ answer: null, readyPods: null, at: {} },
    }
    const step = { schema: 'highwater.step/1', writer: 'x', run: plan.id, entry }
    forge(`${folder}/steps/${cluster}/${node}.json`, `${JSON.stringify(step)}\n`)
  }
  const head = {
    ...{ run: plan.id, plan: plan.digest, approvedBy: 'Ada Lovelace', startedAt: at() },
    ...{ endedAt: null, state: 'running', why: null },
  }
  forge(
    `${folder}/run.json`,
    `${JSON.stringify({ schema: 'highwater.run/1', writer: 'x', head })}\n`,
  )
  return folder
}

async function expectUntouched({ sent, thresholds }: World, sentBefore: number): Promise<void> {
  expect(sent()).toBe(sentBefore)
  expect(await thresholds()).toEqual(Array(2).fill([85, 80]))
}

async function expectNamed({ lab, read }: World, keys: string[]): Promise<void> {
  expect(await invoke(tick, {}, longMs)).toMatchObject({ state: 'published' })
  const texts = [
    lab.mails().at(-1)?.text?.replace(/\s+/g, ''),
    lab.mails().at(-1)?.html,
    read(`${auditRun}/report.html`),
  ]
  for (const key of keys) for (const text of texts) expect(text).toContain(key)
}

describe('a forged bucket', () => {
  it.each([
    ['an authentic plan that no approver approved', (plan: Plan) => plan],
    ['kubelets that let in everyone', openKubelets],
    ['an image of the attacker', pullEvil],
  ])('below remediation/runs/ sends nothing and is named: %s', async (_name, of) => {
    const made = await world()
    const folder = forgeRun(made, of(made.plan))
    const before = made.sent()
    await expect(invokeRemediate({ action: 'resume' }, {}, longMs)).rejects.toThrow(
      `s3://highwater-lab/${folder}/plan.json has no valid seal`,
    )
    await expectUntouched(made, before)
    await expectNamed(made, [`${folder}/run.json`, `${folder}/plan.json`])
  })

  it('below plans/ and approvals/, too, sends nothing and is named', async () => {
    const made = await world()
    const { write, forge, plan } = made
    const plans = [plan, pullEvil(plan)]
    const approvals = plans.map(one => `remediation/approvals/${one.digest}.json`)
    for (const [index, one] of plans.entries()) {
      write(`remediation/plans/${one.digest}.json`, planText(one))
      forge(approvals[index] ?? '', approvalBy(one))
    }
    const before = made.sent()
    for (const [index, { digest }] of plans.entries())
      await expect(
        invokeRemediate({ action: 'apply', plan: digest, skipChanged: true }, {}, longMs),
      ).rejects.toThrow(`s3://highwater-lab/${approvals[index]} has no valid seal`)
    const folder = forgeRun(made, plan)
    await expect(invokeRemediate({ action: 'resume' }, {}, longMs)).rejects.toThrow(
      'has no valid seal',
    )
    await expectUntouched(made, before)
    await expectNamed(made, [...approvals, `${folder}/run.json`, `${folder}/plan.json`])
  })
})
