/** `highwater script`: prints a plan as shell scripts, for nodes that SSM does not reach. The command changes nothing. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { OperatorError } from '#model/operator-error.ts'
import { scriptsOf } from '#pipeline/plan/script.ts'
import { parsePlan } from '#remediate/plan/file.ts'
import { written } from './folder.ts'
import { parseText, textOf } from './options.ts'
import { clean } from './terminal.ts'

export function scriptCommand(): Command {
  return new Command('script')
    .argument('<plan>', 'the plan file')
    .option('--out <dir>', 'folder for the scripts', parseText, 'highwater-scripts')
    .addHelpText(
      'after',
      `
Each script contains its nodes, the exact bytes of their files and the code of the SSM documents.
Run it as root on a node. It changes nothing on a machine that is not in its table.

Examples:
  highwater script plan.json --out scripts
  ssh root@NODE sh -s check <scripts/cohort-prod-workers-0123456789ab.sh
  ssh root@NODE sh -s apply <scripts/cohort-prod-workers-0123456789ab.sh

Exit codes: 0 the scripts are written; 2 the file is not a plan, or bad usage; 4 the scripts could not
be written.`,
    )
    .action((file: string, { out }: { out: string }) => {
      const plan = parsePlan(textOf(file, 'plan'), file)
      const scripts = scriptsOf(plan)
      if (scripts.length === 0)
        throw new OperatorError(`Plan ${plan.id} changes no node: there is nothing to run`)
      written('The scripts', () => {
        mkdirSync(out, { recursive: true })
        for (const { name, body } of scripts) writeFileSync(join(out, name), body, { mode: 0o755 })
      })
      const lines = [
        ...scripts.map(
          ({ name, nodes }) =>
            `${clean(join(out, name), 300)}: ${nodes} node${nodes === 1 ? '' : 's'}`,
        ),
        '',
        'Read the scripts, then run them as root on each node: check, then apply; rollback restores the old file.',
        `The first node alone: ${clean(plan.waves[0]?.[0] ?? '', 300)}. When all are done: highwater verify ${clean(file, 300)}`,
        'It has the last word: a node sees that its kubelet is well, and only the kubelet itself says what it runs with.',
      ]
      process.stdout.write(`${lines.join('\n')}\n`)
    })
}
