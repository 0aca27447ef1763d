/** `highwater tune`: five settings of image GC and eviction on every node of a group. */
import { Command } from 'commander'
import { type Fill, parseFill } from '#model/what-if.ts'
import { rememberedGrowth } from '#pipeline/tune/growth.ts'
import { tune } from '#pipeline/tune/tune.ts'
import { exitCode } from './exit-code.ts'
import {
  addFormatOption,
  addPolicyOption,
  exiting,
  jsonText,
  parseText,
  policyFile,
  repeatable,
} from './options.ts'
import { savedRecords } from './source.ts'
import { storeAt } from './store.ts'
import { screenOf } from './terminal.ts'
import { tuneText } from './tune-text.ts'

interface TuneOptions {
  group: string
  cluster: string[]
  snapshot: string
  store?: string
  fill: Fill[]
  policy?: string
  format: 'text' | 'json'
}

export function tuneCommand(): Command {
  const command = new Command('tune')
    .requiredOption('--group <name>', 'the nodegroup or Karpenter nodepool', parseText)
    .requiredOption('--snapshot <file>', 'a saved snapshot with its nodes', parseText)
    .addOption(
      repeatable('--cluster <name>', 'only this cluster; repeatable, with *', 'all', parseText),
    )
    .option(
      '--store <place>',
      'where runs are kept: s3://bucket/prefix, or a folder; growth is measured there',
      parseText,
    )
    .addOption(
      repeatable(
        '--fill <what=rate>',
        'growth of nodes that no run measured, e.g. nodefs=300Ki/s',
        'none',
        parseFill,
      ),
    )
  return addFormatOption(addPolicyOption(command))
    .addHelpText(
      'after',
      `
Compares today's setting, the AMI's, the kubelet's defaults, the recommended one and a
stricter one: one predicted day of each node at its measured growth.

Examples:
  highwater tune --group general --snapshot snapshot.ndjson.gz --store ./history
  highwater tune --group general --snapshot snapshot.ndjson.gz --fill nodefs=300Ki/s

Exit codes: 0 compared; 2 bad usage, or no such group; 3 the growth of a node is unknown,
or a part of the input could not be read; 4 failed.`,
    )
    .action(exiting(runTune))
}

async function runTune(options: TuneOptions): Promise<number> {
  const { group, cluster, snapshot, store, fill: fills } = options
  const selection = { cluster, nodegroup: [group], node: [] }
  const growthOf = store === undefined ? () => ({}) : await rememberedGrowth(await storeAt(store))
  const document = await tune({
    ...{ group, fills, growthOf, policy: policyFile(options.policy) },
    records: () => savedRecords(snapshot, selection),
  })
  process.stdout.write(
    options.format === 'json'
      ? jsonText(document)
      : tuneText(document, snapshot, screenOf(process.stdout)),
  )
  const { unmeasured, inputErrors } = document
  return unmeasured.count + inputErrors.length > 0 ? exitCode.unread : exitCode.ok
}
