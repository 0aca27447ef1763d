/** `highwater history`: the recorded days of a present or removed node, and the trends of clusters. */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ClusterTrend } from '#model/history.ts'
import { clusterTrends, historyOfNode } from '#pipeline/history/lookup.ts'
import { exitCode } from './exit-code.ts'
import { nodeHistoryText } from './history-text.ts'
import { addFormatOption, exiting, jsonText, parseText, repeatable } from './options.ts'
import { storeAt } from './store.ts'
import { screenOf } from './terminal.ts'
import { trendsText } from './trends-text.ts'

interface HistoryArguments {
  store: string
  cluster: string[]
  days: number
  format: 'text' | 'json'
}

export function historyCommand(): Command {
  const command = new Command('history')
    .argument('[node]', 'its name, as kubectl get nodes shows it', parseText)
    .requiredOption(
      '--store <place>',
      `where runs are kept: s3://bucket/prefix, or a folder`,
      parseText,
    )
    .addOption(
      repeatable(
        '--cluster <name>',
        'only this cluster, as reports name it; repeatable',
        'all',
        parseText,
      ),
    )
    .addOption(
      new Option('--days <count>', 'number of days before the newest data')
        .argParser(parseDays)
        .default(30),
    )
  return addFormatOption(command)
    .addHelpText(
      'after',
      `
The service keeps its whole runs in its bucket; highwater audit keeps them with
--store. Runs on a part of a fleet (--cluster, --nodegroup, --node) are not kept.

Examples:
  highwater history ip-10-0-1-23.ec2.internal --store s3://our-bucket/highwater
  highwater history --store ./history --days 90 --format json

Exit codes: 0 data was found; 2 no data, or bad usage; 4 the store could not be read.`,
    )
    .action(exiting(runHistory))
}

async function runHistory(
  node: string | undefined,
  { store: place, cluster: clusters, days, format }: HistoryArguments,
): Promise<number> {
  const store = await storeAt(place)
  const screen = screenOf(process.stdout)
  if (node === undefined) {
    const trends: ClusterTrend[] = await clusterTrends(store, { clusters, days })
    process.stdout.write(
      format === 'json'
        ? jsonText({ schema: 'highwater.trends/1', clusters: trends })
        : trendsText(trends, screen),
    )
    return found(
      trends.length,
      `${store.location} remembers no run${clusters.length > 0 ? ' of these clusters' : ''}`,
    )
  }
  const history = await historyOfNode(store, node, { clusters, days })
  process.stdout.write(format === 'json' ? jsonText(history) : nodeHistoryText(history, screen))
  return found(
    history.clusters.length,
    `${store.location} remembers no node ${node}${clusters.length > 0 ? ' in these clusters' : ''}. Names are those of kubectl get nodes`,
  )
}

function found(count: number, message: string): number {
  if (count > 0) return exitCode.ok
  process.stderr.write(`${message}\n`)
  return exitCode.badInput
}

function parseDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > 3650)
    throw new InvalidArgumentError('A whole number of days from 1 to 3650.')
  return days
}
