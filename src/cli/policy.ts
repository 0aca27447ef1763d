/** `highwater init`, `policy check` and `baseline`: writes a first policy, checks a policy, and waives today's findings. */

import { existsSync, writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { stringify } from 'yaml'
import { OperatorError } from '#base/operator-error.ts'
import { dayMs } from '#base/units.ts'
import type { ComparedRun } from '#model/delta.ts'
import type { Waiver } from '#model/policy.ts'
import { savedFindings } from '#pipeline/audit/saved/saved-findings.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { parsePolicy } from '#policy/parse.ts'
import { parseText, policyFileName, textOf } from './options.ts'
import { clean } from './terminal.ts'

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Every setting is commented out, so the defaults apply. */
const firstPolicy = `# What your team decided. Every key has a default; docs/policy.md explains them all.
# "highwater policy check" names each mistake with its line.

# Which clusters: all of the account and region, unless named. * stands for any characters.
# clusters: { names: ['prod-*'] }

# How nodes are read: proxy (default), ssm, both or kubelet. The first match counts.
# modes:
#   - match: { cluster: 'prod-*' }
#     mode: both

# From how full a disk your monitoring alerts.
# alertPercent: 80

# The severity of a rule, where yours differs from its own.
# severities: { image-gc-due: info }

# What you accept until a day. "highwater baseline" writes these for all findings of today.
# waivers:
#   - rule: peer-drift
#     match: { cluster: staging }
#     until: ${dayOf(Date.now() + 90 * dayMs)}
#     reason: replaced with the next AMI
`

export const initCommand = () =>
  new Command('init')
    .argument('[file]', 'the policy to write', policyFileName)
    .addHelpText(
      'after',
      `
Examples:
  highwater init

Exit codes: 0 written; 2 the file exists, or bad usage.`,
    )
    .action((file: string) => {
      if (existsSync(file)) throw new OperatorError(`${file} exists: nothing was written`)
      writeFileSync(file, firstPolicy)
      process.stdout.write(`${file} is written. Every setting in it is a comment.\n`)
    })

const checkHelp = `
Examples:
  highwater policy check
  highwater policy check prod.yaml

Exit codes: 0 valid; 2 mistakes, which are listed.`

export function policyCommand() {
  const command = new Command('policy').addHelpText('after', checkHelp)
  command
    .command('check')
    .description('name each mistake of a policy, and the waivers that have ended or will soon')
    .argument('[file]', 'the policy', policyFileName)
    .addHelpText('after', checkHelp)
    .action((file: string) => {
      const { waivers } = parsePolicy(textOf(file, 'policy'), file, policyTerms)
      const count = `${waivers.length} waiver${waivers.length === 1 ? '' : 's'}`
      const lines = [`${file} is a policy, with ${count}.`, ...endingLines(waivers, Date.now())]
      process.stdout.write(`${lines.join('\n')}\n`)
    })
  return command
}

const soonDays = 7

function endingLines(waivers: readonly Waiver[], nowMs: number) {
  const [today, soon] = [dayOf(nowMs), dayOf(nowMs + soonDays * dayMs)]
  return waivers.flatMap(({ rule, until, reason }) => {
    const ending = until < today ? `ended on ${until}` : `ends on ${until}`
    return until > soon ? [] : [clean(`The waiver of ${rule} ${ending}: ${reason}`, 300)]
  })
}

interface BaselineOptions {
  reason: string
  until?: string
}

export const baselineCommand = () =>
  new Command('baseline')
    .argument('[findings]', 'of an audit', 'highwater-out/findings.json')
    .requiredOption('--reason <text>', 'why the findings are accepted for now', parseText)
    .addOption(
      new Option('--until <day>', 'the last day on which the waivers hold')
        .argParser(parseDay)
        .default(undefined, '90 days after the audit'),
    )
    .addHelpText(
      'after',
      `
Waived findings are listed separately, and count again after that day.

Example:
  highwater baseline --reason 'there before we began' >> highwater.yaml

Exit codes: 0 printed; 2 bad usage or bad input.`,
    )
    .action(async (file: string, options: BaselineOptions) => {
      const document = await savedFindings(file)
      if (!document) throw new OperatorError(`${file} is no findings.json of an audit`)
      process.stdout.write(stringify({ waivers: baselineWaivers(document, options) }))
    })

function parseDay(text: string) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('A day is written 2026-12-31.')
  return text
}

/** One waiver for each finding. Equal findings would give equal waivers. @throws OperatorError if a name would match other names */
function baselineWaivers(
  { run, findings }: ComparedRun['document'],
  { reason, until = dayOf(Date.parse(run.takenAt) + 90 * dayMs) }: BaselineOptions,
): Waiver[] {
  const wide = findings.find(({ cluster, subject: { namespace, name } }) =>
    [cluster, namespace, name].some(text => text?.includes('*')),
  )
  if (wide)
    throw new OperatorError(
      `A waiver of ${clean(wide.cluster)}/${clean(wide.subject.name)} would match other names, because of its *`,
    )
  return findings.map(({ rule, cluster, subject: { kind, namespace, name } }) => ({
    rule,
    match: { cluster, kind, ...(namespace !== null && { namespace }), name },
    until,
    reason,
  }))
}
