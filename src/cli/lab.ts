/** `highwater lab`: the small world on loopback, left running to look around in; and the demo, which audits it. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type Lab, startLab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { scenarioNamed, scenarios } from '#lab/scenarios/index.ts'
import { type AuditOptions, auditInto } from './audit.ts'
import { auditExitCode, exitCode } from './exit-code.ts'
import { summaryText } from './summary.ts'

const demoScenarios = ['recorded', 'incidents']

interface LabOptions {
  scenario: string[]
  nodes: number
  seed: number
}

export function labCommand(): Command {
  return new Command('lab')
    .description('serve a small world (EKS, STS, Kubernetes) on loopback until Ctrl-C')
    .addOption(
      new Option('--scenario <names...>', 'what the world looks like').choices(scenarios.map(({ name }) => name)).default(demoScenarios),
    )
    .option('--nodes <count>', 'nodes of scenario fleet', parseCount, 200)
    .option('--seed <number>', 'seed of scenario fleet', parseCount, 1)
    .addHelpText('after', '\nThe environment and the kubeconfig that it prints lead the AWS CLI, kubectl\nand highwater audit into it.')
    .action(async (options: LabOptions) => {
      const lab = await startLab(options.scenario.map(name => (name === 'fleet' ? fleet(options) : scenarioNamed(name))))
      const kubeconfig = join(mkdtempSync(join(tmpdir(), 'highwater-lab-')), 'kubeconfig')
      writeFileSync(kubeconfig, lab.kubeconfig, { mode: 0o600 })
      const variables = Object.entries({ ...lab.environment, KUBECONFIG: kubeconfig })
      process.stdout.write(`${variables.map(([name, value]) => `export ${name}=${value}`).join('\n')}\n`)
      process.stderr.write('The lab is up. In another terminal, set the lines above, then try: highwater audit. Ctrl-C ends it.\n')
      await new Promise(resolve => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
      })
      await lab.close()
    })
}

function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('A whole number from 0 to 999999.')
  return Number(text)
}

/** What `npm run demo` does: the recorded kubelets and the incidents of the field, audited through the real SDKs, sockets and TLS. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('audit the lab: no account, no cluster needed')
    .option('--out <dir>', 'where the report goes', 'highwater-out')
    .action(async ({ out }: { out: string }) => {
      process.exitCode = await runDemo(out)
    })
}

async function runDemo(out: string): Promise<number> {
  const lab = await startLab(demoScenarios.map(scenarioNamed))
  try {
    enterLab(lab)
    process.stdout.write('The lab is up on loopback: EKS, STS and Kubernetes APIs with recorded kubelets and the incidents of the field.\n')
    const options: AuditOptions = { ...wholeFleet, out, format: 'text', failOn: 'none', allNodes: false }
    const result = await auditInto(options)
    process.stdout.write(summaryText(result, process.stdout.isTTY && process.stdout.hasColors()))
    const report = join(out, 'report.html')
    process.stdout.write(`
Report:    ${pathToFileURL(report)}
Findings:  ${relative('.', join(out, 'findings.json'))}
Snapshot:  ${relative('.', join(out, 'snapshot.ndjson.gz'))}   (audit it again: npx highwater audit --snapshot ${relative('.', join(out, 'snapshot.ndjson.gz'))})
`)
    // Incidents include a node that cannot be read: to have said so is the demo's success.
    const code = auditExitCode(result, 'none')
    return code === exitCode.unread ? exitCode.ok : code
  } finally {
    await lab.close()
  }
}

const wholeFleet = { cluster: [], nodegroup: [], node: [], region: [], tag: {}, context: [], deadline: 60_000 }

/** Leads the SDKs of this process into the lab, and nowhere else. */
function enterLab(lab: Lab): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  Object.assign(process.env, lab.environment)
}
