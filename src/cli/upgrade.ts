/** `highwater upgrade`: what a newer kubelet minor changes in each group of nodes. */
import { Command } from 'commander'
import { parseKubeletVersion } from '#model/what-if.ts'
import { plannedUpgrades } from '#pipeline/fleet-upgrade.ts'
import { exitCode } from './exit-code.ts'
import {
  addFleetOptions,
  addFormatOption,
  exiting,
  type FleetOptions,
  jsonText,
  snapshotOption,
} from './options.ts'
import { openReading } from './source.ts'
import { screenOf } from './terminal.ts'
import { upgradesText } from './upgrades-text.ts'

interface UpgradeOptions extends FleetOptions {
  snapshot?: string
  to: string
  format: 'text' | 'json'
}

export function upgradeCommand(): Command {
  const command = new Command('upgrade')
    .requiredOption('--to <version>', 'the kubelet minor, for example 1.36', parseKubeletVersion)
    .addOption(snapshotOption('nodes of a saved snapshot instead of a live fleet'))
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
Nodes read with --mode ssm or both are checked by their files and flags, the others by
their running configuration.

Examples:
  highwater upgrade --to 1.36 --snapshot snapshot.ndjson.gz
  highwater upgrade --to 1.36 --cluster prod --mode both
  highwater upgrade --to 1.36 --snapshot snapshot.ndjson.gz --nodegroup general --format json

Exit codes: 0 every kubelet would start; 1 a kubelet would not start; 2 bad usage, or no node was read; 3 a part of the input
could not be read; 4 failed.`,
    )
    .action(exiting(runUpgrade))
}

async function runUpgrade(options: UpgradeOptions): Promise<number> {
  const reading = openReading(options)
  try {
    const document = await plannedUpgrades(reading.records(), options.to, reading.nodeRead)
    process.stdout.write(
      options.format === 'json'
        ? jsonText(document)
        : upgradesText(document, screenOf(process.stdout)),
    )
    const { upgrades, upToDate, leftOut, inputErrors } = document
    if (upgrades.length + upToDate + leftOut === 0) {
      process.stderr.write('There is no node in what was read\n')
      return exitCode.badInput
    }
    if (upgrades.some(({ errors }) => errors.length > 0)) return exitCode.findings
    return inputErrors.length > 0 ? exitCode.unread : exitCode.ok
  } finally {
    reading.end()
  }
}
