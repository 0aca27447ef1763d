/**
 * The steps that an audit of the lab's scenarios shows: each command that can run here runs, one after the other in one folder, and each plan is put
 * into force. Judged again, the findings that a plan ends are gone. What cannot run here is named with its reason.
 */
import '#test/short-waits.ts'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { Lab } from '#lab/lab.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { remediationScenario } from '#lab/scenarios/remediation.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { Finding, StepActionId } from '#model/finding.ts'
import { everything, type NodeRecord } from '#model/input/record.ts'
import type { Plan, PlanStep } from '#model/plan.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { temporaryFolder } from '#test/cli.ts'
import { runCommand } from '#test/in-process.ts'
import { auditLive, auditRecords, labOf, liveRecords } from '#test/lab-audit.ts'
import { send } from '#test/lab-changes.ts'

const both = { modes: [{ match: {}, mode: 'both' as const }] }

/** Commands that cannot run here. */
const elsewhere: readonly [command: RegExp, because: string][] = [
  [
    /^kubectl .*\b(delete|patch|cordon|uncordon|drain|set resources)\b/,
    'the API servers of the lab take no writes',
  ],
  [/^kubectl /, 'no kubectl is installed where tests run; the audit reads the same objects'],
  [/\bssm start-session\b/, 'the nodes of the lab run the documents of highwater alone'],
  [/\baws .*\b(reboot-instances|terminate-instance)/, 'the lab restarts and replaces no instance'],
  [
    /^aws .*\b(describe-|send-command|list-command-invocations)/,
    'no AWS CLI is installed where tests run; the SDKs make the same calls',
  ],
]

/** Two clusters of the same groups; one has them all. */
function oneCluster({ clusters, ...scenario }: Scenario): Scenario {
  return { ...scenario, clusters: clusters.slice(0, 1) }
}

/** 1: findings, or a prediction of a kubelet that would not start; 3: not all could be read. */
const fine = [0, 1, 3]
const mostRounds = 2

const commandsOf = (findings: readonly Finding[]) => [
  ...new Set(
    findings.flatMap(({ steps }) =>
      steps.flatMap(({ commands }) => commands.map(({ command }) => command)),
    ),
  ),
]

const programOfOurs = /^highwater /

/** Steps whose plans are put into force below, after which their findings are gone. */
const doneHere: ReadonlySet<StepActionId> = new Set(['pin-images', 'set-fields', 'set-log-files'])

/** The other steps that the scenarios show, each with the reason why the lab cannot be judged again after it. */
const [noWrites, noMachines] = [
  'the API servers of the lab take no writes',
  'the AWS APIs of the lab make no volume, launch template, nodegroup or instance',
]
const notDone: Partial<Record<StepActionId, string>> = {
  advice: 'it is a sentence without a command',
  'clean-objects': noWrites,
  'create-group': noMachines,
  'delete-pod': noWrites,
  'larger-disk': noMachines,
  'move-to-volume': noWrites,
  'prune-dead-containers': noWrites,
  reboot: noMachines,
  'replace-node': noMachines,
  'restart-kubelet': 'the nodes of the lab run the documents of highwater alone',
  'set-ephemeral-storage': noWrites,
  'enlarge-node-class': 'it changes a NodeClass of Auto Mode, of which the lab has none',
  'set-volume-limit': noWrites,
}

it('each command runs after the others or is named, and plans end their findings', {
  timeout: 600_000,
}, async () => {
  const lab = await labOf([
    ...[incidents, probe, recorded, garbage],
    oneCluster(remediationScenario({ nodes: 10 })),
  ])
  const folder = temporaryFolder()
  const snapshotPath = join(folder, 'snapshot.ndjson.gz')
  const { document } = await auditLive({ policy: both, snapshotPath })
  expectNamed(document.findings)
  const changed = new Map<string, NodeRecord>()
  let { findings } = document
  for (let round = 0; round < mostRounds; round++) {
    for (const command of commandsOf(findings).filter(one => programOfOurs.test(one))) {
      const words = command.split(' ').slice(1)
      if (round > 0 && words[0] !== 'plan') continue
      const { code, stderr } = await runCommand(words, { cwd: folder, env: lab.environment })
      const refusal = fine.includes(code ?? -1) ? '' : stderr
      expect({ command, code, refusal }).toMatchObject({ refusal: '' })
    }
    const applied = await applyPlans(lab, folder, `run-of-a-test-${round}`)
    if (applied.length === 0) break
    for (const record of await readAgain(applied)) changed.set(placeOf(record), record)
    const records = withChanged(snapshotPath, changed)
    const judged = (await auditRecords(records, { policy: both })).document.findings
    // Plans of the other nodes would be those of the round before.
    findings = judged.filter(one => placesOf(one).some(place => changed.has(place)))
  }
  const open = new Set(findings.flatMap(one => placesOf(one).map(place => `${one.rule} ${place}`)))
  const planned = document.findings
    .filter(({ steps }) => steps.some(isWholePlan))
    .flatMap(one => placesOf(one).map(place => ({ rule: one.rule, place })))
    .filter(({ place }) => changed.has(place))
  expect(planned.length).toBeGreaterThan(19)
  expect(planned.filter(({ rule, place }) => open.has(`${rule} ${place}`))).toEqual([])
})

const placeOf = ({ cluster, node }: NodeRecord) => `${cluster}/${nodeIdentity(node).name}`

/** @param places `cluster/node` */
async function readAgain(places: readonly string[]): Promise<NodeRecord[]> {
  const nodes = places.map(place => place.split('/')[1]!)
  const records = await Array.fromAsync(liveRecords({ policy: both, selection: { nodes } }))
  return records.filter(record => record.kind === 'Node')
}

async function* withChanged(path: string, changed: ReadonlyMap<string, NodeRecord>) {
  for await (const record of savedFleet(path, everything))
    yield record.kind === 'Node' ? (changed.get(placeOf(record)) ?? record) : record
}

function expectNamed(findings: readonly Finding[]) {
  const shown = commandsOf(findings).filter(command => !programOfOurs.test(command))
  const isNamed = (command: string) => elsewhere.some(([words]) => words.test(command))
  expect(shown.filter(command => !isNamed(command))).toEqual([])
  // The others end nothing: they show more, and their commands run or are named above.
  const ending = findings.flatMap(({ steps }) =>
    steps.flatMap(({ ends, action }) => (ends === 'nothing' ? [] : action.id)),
  )
  expect([...new Set(ending)].filter(id => !doneHere.has(id)).toSorted()).toEqual(
    Object.keys(notDone).toSorted(),
  )
  const unused = elsewhere.filter(([words]) => !shown.some(command => words.test(command)))
  expect(unused).toEqual([])
}

const placesOf = ({ cluster, nodes }: Finding) => nodes.sample.map(node => `${cluster}/${node}`)

const isWholePlan = ({ ends, commands }: Finding['steps'][0]) =>
  ends === 'all' && commands.some(({ effect }) => effect === 'plans')

/** Nodes that have the new files. */
async function applyPlans(lab: Lab, folder: string, run: string): Promise<string[]> {
  const steps = new Map<string, PlanStep>()
  for (const file of globSync('plan-*.json', { cwd: folder })) {
    const plan = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Plan
    for (const step of plan.steps) steps.set(`${step.cluster}/${step.node}`, step)
    rmSync(join(folder, file))
  }
  const answers = await Promise.all(
    [...steps].map(async ([place, step]) => ({ place, ...(await sendStep(lab, step, run)) })),
  )
  expect(answers.filter(({ outcome }) => outcome !== 'applied')).toEqual([])
  return answers.map(({ place }) => place)
}

function sendStep(
  lab: Lab,
  { method, path, oldSha256, newSha256, content, instanceId }: PlanStep,
  run: string,
) {
  const isBottlerocket = method === 'bottlerocket'
  const document = isBottlerocket ? 'Highwater-ApplyBottlerocket' : 'Highwater-ApplyKubeletConfig'
  return send(lab, { instanceId }, document, {
    ...{ Action: 'apply', Run: run, TimeoutSeconds: '60' },
    ...{ OldSha256: oldSha256, NewSha256: newSha256 },
    Content: gzipSync(content).toString('base64'),
    ...(!isBottlerocket && { Method: method, Path: path }),
  })
}
