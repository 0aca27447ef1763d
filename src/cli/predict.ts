/** `highwater predict`: what a node's kubelet would do now, later, with another setting, or while its disk fills. */

import { once } from 'node:events'
import { Command } from 'commander'
import { holders } from '#facts/holders.ts'
import {
  type ConfigurationChange,
  type Fill,
  parseFill,
  parseKubeletVersion,
  parseMoment,
} from '#model/plan.ts'
import { type Predicted, predict } from '#pipeline/audit/predict.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { timelineLeftOut } from '#replay/predict-timeline.ts'
import { storyOf } from '#report/terminal/story.ts'
import {
  addFleetOptions,
  addFormatOption,
  exitAction,
  type ReadingOptions,
  repeatableOption,
  snapshotOption,
} from './options.ts'
import { openReading } from './source.ts'
import { exitCode, nodeNames, screenOf, sheetOf } from './terminal.ts'

interface PredictOptions extends ReadingOptions {
  at?: string
  set: ConfigurationChange[]
  fill: Fill[]
  kubelet?: string
}

export function predictCommand() {
  const command = new Command('predict')
    .optionsGroup('What to predict:')
    .addOption(snapshotOption())
    .option(
      '--at <time>',
      'predict for this time instead of the reading time (RFC 3339); data stays as read, and container GC runs every minute',
      parseMoment,
    )
    .option(
      '--kubelet <version>',
      'predict this kubelet minor, for example 1.35: what it refuses and does differently',
      parseKubeletVersion,
    )
    .addOption(
      repeatableOption(
        '--set <path=value>',
        'change this field of the running configuration; null removes it',
        'none',
        parseChange,
      ),
    )
    .addOption(
      repeatableOption(
        '--fill <what=rate>',
        'fill nodefs, imagefs, containerfs, their .inodes, memory or pids, e.g. nodefs=50Mi/s',
        'none',
        parseFill,
      ),
    )
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  highwater predict --snapshot snapshot.ndjson.gz \\
    --node ip-10-0-1-23.ec2.internal
  highwater predict --snapshot snapshot.ndjson.gz \\
    --set imageGCHighThresholdPercent=70 \\
    --set imageGCLowThresholdPercent=60
  highwater predict --snapshot snapshot.ndjson.gz \\
    --set evictionHard.nodefs.available=15%
  highwater predict --cluster prod --node ip-10-0-1-23.ec2.internal \\
    --fill nodefs=50Mi/s
  highwater predict --snapshot snapshot.ndjson.gz --kubelet 1.35

Exit codes: 0 every selected node is in the answer; 1 a kubelet would not
start, now or with its files; 2 a node or a timeline is missing, or bad usage;
4 failed.`,
    )
    .action(exitAction(runPredict))
}

async function runPredict(options: PredictOptions): Promise<number> {
  const reading = openReading(options)
  const malformed: number[] = []
  const found = new Set<string>()
  const withoutTimeline: string[] = []
  let isRefused = false
  const output = printer(options.format)
  try {
    const { at = null, set: changes, fill: fills, kubelet } = options
    const whatIf = { at, changes, fills, ...(kubelet !== undefined && { kubelet }) }
    for await (const predicted of predict(reading.records(), whatIf, ({ line }) =>
      malformed.push(line),
    )) {
      const { node: name, refusals = [], upgrade, nextStart, unknowns } = predicted.prediction
      found.add(name)
      if (unknowns.some(({ what }) => what === timelineLeftOut)) withoutTimeline.push(name)
      isRefused ||= [refusals, upgrade?.errors ?? [], nextStart?.errors ?? []].flat().length > 0
      reading.nodeRead()
      await write(output.node(predicted))
    }
    await write(output.end())
  } finally {
    reading.end()
  }
  if (withoutTimeline.length > 0)
    process.stderr.write(
      `No timeline of ${nodeNames({ count: withoutTimeline.length, sample: withoutTimeline })}: the nodes before took too many steps. Choose nodes with --node or --nodegroup\n`,
    )
  if (reportMissing(options, found, malformed) || withoutTimeline.length > 0)
    return exitCode.badInput
  return isRefused ? exitCode.findings : exitCode.ok
}

/** Names the requested data that the answer lacks. */
function reportMissing(
  { node, snapshot }: PredictOptions,
  found: ReadonlySet<string>,
  malformed: number[],
) {
  const unknown = node.filter(name => !found.has(name))
  const isCut = malformed.length > 0 && (node.length === 0 || unknown.length > 0)
  if (isCut)
    process.stderr.write(
      `${snapshot}: no record in line ${malformed.slice(0, 10).join(', ')}: nodes may be missing\n`,
    )
  if (unknown.length > 0)
    process.stderr.write(
      `No node is named ${unknown.join(', ')} in what was read. Names are those of kubectl get nodes\n`,
    )
  else if (found.size === 0) process.stderr.write('There is no node in what was read\n')
  return isCut || unknown.length > 0 || found.size === 0
}

/** Writes the nodes of one document one by one: a whole fleet might not fit into memory. */
function printer(format: PredictOptions['format']) {
  const { bold } = sheetOf(screenOf(process.stdout), Number.POSITIVE_INFINITY)
  let separator = '{"schema":"highwater.prediction/1","nodes":['
  const isJson = format === 'json'
  return {
    node({ prediction, before }: Predicted) {
      if (!isJson) return storyOf(prediction, before, bold, holders)
      const text = `${separator}\n${JSON.stringify(prediction)}`
      separator = ','
      return text
    },
    end: () => (isJson ? `${separator === ',' ? '\n' : separator}]}\n` : ''),
  }
}

/** Waits if the reader is slower than this process. */
async function write(text: string) {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
