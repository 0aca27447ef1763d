/** `highwater doctor`: checks whether an audit can read what its mode promises, and lists what is missing. */
import { Command } from 'commander'
import { type Checkup, type ClusterCheckup, checkupSchema } from '#model/checkup.ts'
import { checkupText } from './doctor-text.ts'
import { exitCode } from './exit-code.ts'
import {
  addFleetOptions,
  addFormatOption,
  exiting,
  type FleetOptions,
  jsonText,
} from './options.ts'
import { runSignal } from './signals.ts'
import { liveCheckups } from './source.ts'
import { screenOf } from './terminal.ts'

interface DoctorArguments extends FleetOptions {
  format: 'text' | 'json'
  remediate?: boolean
}

export function doctorCommand(): Command {
  const command = new Command('doctor').option(
    '--remediate',
    'also check what applying plans needs',
  )
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
It sends list and describe calls, queries the API server for its rights, and reads one
node as an audit does. It sends no command to a node.

Examples:
  highwater doctor                               every EKS cluster of this account and region
  highwater doctor --cluster prod --mode ssm
  highwater doctor --cluster prod --remediate    also the rights to apply plans
  highwater doctor --kubeconfig ~/.kube/config --context staging

Exit codes: 0 nothing is missing; 2 bad usage or bad input; 3 something is missing or
failed; 4 nothing could be reached.`,
    )
    .action(exiting(runDoctor))
}

async function runDoctor(options: DoctorArguments): Promise<number> {
  const { signal, end } = runSignal(options.deadline)
  const screen = screenOf(process.stdout)
  const clusters: ClusterCheckup[] = []
  try {
    for await (const checkup of liveCheckups(options, {
      signal,
      isRemediating: options.remediate === true,
    })) {
      clusters.push(checkup)
      if (options.format === 'text') process.stdout.write(checkupText(checkup, screen))
    }
  } finally {
    end()
  }
  const checkup: Checkup = { schema: checkupSchema, at: new Date().toISOString(), clusters }
  if (options.format === 'json') process.stdout.write(jsonText(checkup))
  if (clusters.every(({ state }) => state === 'unreachable')) return exitCode.failed
  return clusters.every(({ state }) => state === 'ok') ? exitCode.ok : exitCode.unread
}
