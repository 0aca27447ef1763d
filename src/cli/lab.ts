/** `highwater lab` serves the test world on loopback. The demo audits that world. */

import { randomUUID } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { readAsset } from '#asset.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { dayMs } from '#base/units.ts'
import { type Lab, startLab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents, incidentsAfter } from '#lab/scenarios/incidents.ts'
import { scenarioNamed, scenarios } from '#lab/scenarios/index.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { english } from '#report/languages/language.ts'
import { exitAction } from './options.ts'
import { exitCode } from './terminal.ts'

const demoScenarios = ['recorded', 'incidents', 'probe']
/** The longest that Lambda gives a function: the demo shows the same on a busy machine. */
const demoRunMs = 900_000
/**
 * Cluster `probe` grants no access to its kubelets; of `incidents` the disks are measured, too. With two idle days, an image is idle on the third morning.
 * Nothing in the demo hangs, so its timeouts are as long as a policy allows.
 */
const demoPolicy = `\
modes:
  - match: { cluster: probe }
    mode: ssm
  - match: { cluster: incidents }
    mode: both
idleImageDays: 2
timeoutsMs: { list: 600000, configz: 600000, summary: 600000, inspect: 600000 }
`

interface LabOptions {
  scenario: string[]
  nodes: number
  seed: number
}

export const labCommand = () =>
  new Command('lab')
    .addOption(
      new Option('--scenario <names...>', 'what the world looks like')
        .choices(scenarios.map(({ name }) => name))
        .default(demoScenarios),
    )
    .option('--nodes <count>', 'nodes of scenario fleet', parseCount, 200)
    .option('--seed <number>', 'seed of scenario fleet', parseCount, 1)
    .addHelpText(
      'after',
      `
With the printed environment and kubeconfig, the AWS CLI, kubectl and highwater
audit use the lab.

Examples:
  highwater lab --scenario incidents
  highwater lab --scenario fleet --nodes 1000

Exit codes: 0 ended by Ctrl-C; 2 bad usage; 4 failed.`,
    )
    .action(async (options: LabOptions) => {
      const lab = await startLab(
        options.scenario.map(name => (name === 'fleet' ? fleet(options) : scenarioNamed(name))),
        { documents: deployedDocuments() },
      )
      const kubeconfig = join(mkdtempSync(join(tmpdir(), 'highwater-lab-')), 'kubeconfig')
      writeFileSync(kubeconfig, lab.kubeconfig, { mode: 0o600 })
      const variables = { ...lab.environment, ...labService, KUBECONFIG: kubeconfig }
      for (const [name, value] of Object.entries(variables))
        process.stdout.write(`export ${name}=${value}\n`)
      process.stderr.write(
        'The lab is up. In another terminal, set the lines above, then try: highwater audit. Ctrl-C ends it.\n',
      )
      await new Promise(resolve => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
      })
      await lab.close()
    })

function parseCount(text: string) {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('A whole number from 0 to 999999.')
  return Number(text)
}

/** `npm run demo`: one scheduled run of the Lambda handler against the recorded kubelets and the incidents. */
export const demoCommand = () =>
  new Command('demo')
    .option('--out <dir>', 'where report, mail and snapshot go', 'highwater-out')
    .addOption(
      new Option(
        '--morning <number>',
        'which tick: on the second a node has been repaired, on the third it is as it was',
      )
        .choices(Object.keys(mornings))
        .default('1'),
    )
    .addHelpText(
      'after',
      `
Examples:
  highwater demo
  highwater demo --morning 2   the next day: one node was repaired

Exit codes: 0 done; 4 failed.`,
    )
    .action(exitAction(runDemo))

/** Each morning uses the history of the earlier mornings in the same folder, however often it runs. */
const mornings: Readonly<Record<string, Scenario>> = {
  1: incidents,
  2: incidentsAfter(1, true),
  3: incidentsAfter(2, false),
}

async function runDemo({ out, morning }: { out: string; morning: string }): Promise<number> {
  const bucket = join(out, 'lab-s3', demoBucket)
  restoreEarlier(out, morning)
  mkdirSync(bucket, { recursive: true })
  writeFileSync(join(bucket, 'highwater.yaml'), demoPolicy)
  const scenarios = demoScenarios.map(name =>
    name === incidents.name ? (mornings[morning] ?? incidents) : scenarioNamed(name),
  )
  const event: { scheduledTime: string } = JSON.parse(readAsset('events/scheduled.json'))
  // The recorded nodes are from the night of the event, so their data is old on later days.
  const dueMs = Date.parse(event.scheduledTime) + Number(morning) * dayMs
  const scheduledTime = `${new Date(dueMs).toISOString().slice(0, 19)}Z`
  // Each morning has its own fixed day, no matter when the demo runs.
  const aheadMs = dueMs - Date.now()
  const now = () => new Date(Date.now() + aheadMs)
  const lab = await startLab(scenarios, {
    at: scheduledTime,
    storeFolder: join(out, 'lab-s3'),
    mailFolder: join(out, 'lab-mailbox'),
    documents: deployedDocuments(),
  })
  try {
    enterLab(lab)
    const { handler } = await import('#handlers/audit.ts')
    process.stdout.write(
      `The lab is up on loopback.\nThe schedule invokes the function at ${scheduledTime}.\n`,
    )
    const answer = await handler(
      { ...event, scheduledTime },
      { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => demoRunMs, now },
    )
    copyRun(join(bucket, 'runs', answer.runId), out)
    for (const name of labFolders)
      cpSync(join(out, name), join(folderAfter(out, morning), name), { recursive: true })
    process.stdout.write(verdictOf(readFileSync(join(out, 'email.txt'), 'utf8')))
    process.stdout.write(demoPlaces(out))
    return exitCode.ok
  } catch (error) {
    throw new OperatorError(messageOf(error), { isBadInput: false, cause: error })
  } finally {
    await lab.close()
  }
}

const labFolders = ['lab-s3', 'lab-mailbox']
/** What the lab has kept at the end of a morning. */
const folderAfter = (out: string, morning: string) => join(out, 'lab-mornings', morning)

/** The lab has what the latest of the earlier mornings left, and nothing of a later one. */
function restoreEarlier(out: string, morning: string) {
  const all = Object.keys(mornings)
  for (const one of all.filter(one => one >= morning))
    rmSync(folderAfter(out, one), { recursive: true, force: true })
  const last = all.findLast(one => existsSync(folderAfter(out, one)))
  for (const name of labFolders) {
    rmSync(join(out, name), { recursive: true, force: true })
    if (last !== undefined)
      cpSync(join(folderAfter(out, last), name), join(out, name), { recursive: true })
  }
}

/** The first section of the mail. */
function verdictOf(mail: string) {
  const { verdict, causes } = english.words.mail.headings
  const end = mail.indexOf(`\n${causes}\n`)
  return mail.slice(mail.indexOf(`\n${verdict}\n`), end < 0 ? undefined : end)
}

/** Copies the run from the lab's bucket to the output folder. @throws Error if files are missing */
function copyRun(kept: string, out: string) {
  const names = ['report.html', 'findings.json', 'email.html', 'email.txt', 'snapshot.ndjson.gz']
  for (const name of names) copyFileSync(join(kept, name), join(out, name))
}

function demoPlaces(out: string) {
  const shownPath = (name: string) => {
    const path = relative('.', join(out, name))
    return path.startsWith('..') ? resolve(out, name) : path
  }
  return `
Report:    ${pathToFileURL(join(out, 'report.html'))}
E-mail:    ${pathToFileURL(join(out, 'email.html'))}
As text:   ${shownPath('email.txt')}
Runs:      ${pathToFileURL(join(out, 'lab-s3', demoBucket, 'index.html'))}
Mailbox:   ${shownPath('lab-mailbox')}   (mails that SES received)
Bucket:    ${shownPath('lab-s3')}   (files that S3 stores)
Findings:  ${shownPath('findings.json')}
Snapshot:  ${shownPath('snapshot.ndjson.gz')}   (for audit --snapshot)
`
}

const demoBucket = 'highwater-lab'
/** The settings that the stack's parameters would set. */
const labService = {
  HIGHWATER_BUCKET: demoBucket,
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'platform-team@example.com',
}

/** Directs the SDKs of this process to the lab. */
function enterLab(lab: Lab) {
  for (const name of Object.keys(process.env))
    if (/^(AWS|HIGHWATER)_/.test(name)) delete process.env[name]
  Object.assign(process.env, lab.environment, labService, {
    // The function's log lines and metrics are for CloudWatch, so this terminal does not show them.
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  })
}
