/** The scenario of which a remediation makes its way: what an audit finds there, and that what a plan says of its nodes is true of their disks. */
import '#test/short-waits.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { Plan, PlanStep } from '#model/plan.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { auditLive, firedRules, labOf } from '#test/lab-audit.ts'
import { send } from '#test/lab-changes.ts'

const both = { modes: [{ match: {}, mode: 'both' as const }] }

/** Of Bottlerocket some things stay unknown, which is said. */
const expectedOf = (scenario: Scenario) =>
  Object.fromEntries(
    scenario
      .expect()
      .nodes.map(({ cluster, node, rules }) => [
        `${cluster}/${node}`,
        rules.includes('eviction-before-image-gc') ? [...rules, 'unread-node'] : [...rules],
      ]),
  )

it('fires every rule where the scenario says, has a plan for each of its nodes, and every node takes its own', {
  timeout: 60_000,
}, async () => {
  // One node of each group in each cluster.
  const scenario = remediationScenario({ nodes: 10 })
  const lab = await labOf([scenario])
  expect(firedRules((await auditLive({ policy: both })).document)).toEqual(expectedOf(scenario))
  const folder = temporaryFolder()
  const [policy, out] = [join(folder, 'highwater.yaml'), join(folder, 'plan.json')]
  writeFileSync(policy, 'modes:\n  - match: {}\n    mode: both\n')
  const set = ['--set', 'imageGCHighThresholdPercent=70', '--set', 'imageGCLowThresholdPercent=50']
  expect(await inProcess(['plan', '--policy', policy, '--out', out, ...set])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^(?:reading 5 nodes of cluster \w+\n){2}$/),
  })
  const { steps } = JSON.parse(readFileSync(out, 'utf8')) as Plan
  const methods = Map.groupBy(steps, ({ method }) => method)
  expect(Object.fromEntries([...methods].map(([method, all]) => [method, all.length]))).toEqual({
    'kubelet-file': 4,
    nodeadm: 2,
    'drop-in': 2,
    bottlerocket: 2,
  })
  const answers = await Promise.all(steps.map(step => sendStep(lab, step)))
  expect(answers.map(({ outcome, reason }) => ({ outcome, reason }))).toEqual(
    steps.map(() => ({ outcome: 'applied', reason: null })),
  )
  const { document } = await auditLive({ policy: both })
  expect(new Set(Object.values(firedRules(document)).flat())).not.toContain('alert-before-image-gc')
})

function sendStep(lab: Lab, { method, path, oldSha256, newSha256, content, instanceId }: PlanStep) {
  const document =
    method === 'bottlerocket' ? 'Highwater-ApplyBottlerocket' : 'Highwater-ApplyKubeletConfig'
  return send(lab, { instanceId }, document, {
    Action: 'apply',
    Run: 'run-of-a-test-1',
    OldSha256: oldSha256,
    NewSha256: newSha256,
    Content: gzipSync(content).toString('base64'),
    TimeoutSeconds: '60',
    ...(method !== 'bottlerocket' && { Method: method, Path: path }),
  })
}
