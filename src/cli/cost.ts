/** `highwater cost`: what running it on a schedule costs, before anything is deployed. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { type CostQuestion, networks } from '#model/cost.ts'
import { OperatorError } from '#model/operator-error.ts'
import { defaultReadMode, readModes } from '#model/read-mode.ts'
import { mostMemoryMiB, usualFleet } from '#pipeline/cost/cost-document.ts'
import { estimateCost } from '#pipeline/cost/estimate.ts'
import { costText } from './cost-text.ts'
import { addPolicyOption, policyFile } from './options.ts'
import { screenOf } from './terminal.ts'

interface CostOptions extends Omit<CostQuestion, 'memoryMiB'> {
  memory: number
  policy?: string
  format: 'text' | 'json'
}

export function costCommand(): Command {
  const command = new Command('cost')
    .description('estimate what running it costs a month, line by line; asks nobody')
    .addOption(
      new Option('--nodes <count>', 'nodes of all clusters')
        .argParser(whole(1, 1_000_000))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--clusters <count>', 'of about the same size')
        .argParser(whole(1, 100_000))
        .default(1),
    )
    .addOption(
      new Option('--accounts <count>', 'in which they are').argParser(whole(1, 100_000)).default(1),
    )
    .addOption(new Option('--runs-per-day <count>').argParser(whole(1, 1440)).default(1))
    .addOption(
      new Option('--mode <mode>', 'how nodes are read').choices(readModes).default(defaultReadMode),
    )
    .addOption(
      new Option('--pods-per-node <count>')
        .argParser(whole(1, 1000))
        .default(usualFleet.podsPerNode),
    )
    .addOption(
      new Option(
        '--network <way>',
        'no VPC; a NAT gateway that is there anyway; endpoints of its own',
      )
        .choices(networks)
        .default(usualFleet.network),
    )
    .addOption(
      new Option('--recipients <count>', 'of the mail')
        .argParser(whole(0, 10_000))
        .default(usualFleet.recipients),
    )
    .addOption(
      new Option('--retention-days <days>', 'how long reports are kept')
        .argParser(whole(1, 3650))
        .default(usualFleet.retentionDays),
    )
    .addOption(
      new Option('--memory <mebibytes>', 'of the function')
        .argParser(whole(128, mostMemoryMiB))
        .default(usualFleet.memoryMiB),
    )
    .addOption(
      new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'),
    )
  return addPolicyOption(command)
    .addHelpText(
      'after',
      `
Examples:
  highwater cost --nodes 5000 --clusters 20
  highwater cost --nodes 300 --mode ssm --network endpoints
  highwater cost --nodes 5000 --clusters 20 --format json      {"schema":"highwater.cost/1",…}

The pace of reading is the policy's, and so is from where on many functions read a fleet
(fanOut): both ways are told then. Exit codes: 0 it is told; 2 bad usage.`,
    )
    .action(({ memory, policy, format, ...asked }: CostOptions) => {
      if (asked.clusters > asked.nodes || asked.accounts > asked.clusters)
        throw new OperatorError(
          'There are at least as many nodes as clusters, and as many clusters as accounts: check --nodes, --clusters, --accounts',
        )
      const estimate = estimateCost({ ...asked, memoryMiB: memory }, policyFile(policy))
      process.stdout.write(
        format === 'json'
          ? `${JSON.stringify(estimate, null, 2)}\n`
          : costText(estimate, screenOf(process.stdout)),
      )
    })
}

/** Thousands may be set off by commas, as they are printed. */
const whole = (least: number, most: number) => (text: string) => {
  const number = Number(text.replaceAll(',', ''))
  if (!Number.isInteger(number) || number < least || number > most)
    throw new InvalidArgumentError(
      `A whole number from ${least} to ${most.toLocaleString('en-US')}.`,
    )
  return number
}
