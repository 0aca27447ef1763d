/** `highwater tune`: five settings of image GC and eviction on every node of a group. */

import { Command } from 'commander'
import { nodeKey, pageOf, shellWord, wrap as wrapTo } from '#base/text.ts'
import type { Store } from '#clients/store/store.ts'
import { growthIn } from '#judge/compare/history/fill.ts'
import type { NodeGrowth } from '#model/history.ts'
import { type Fill, parseFill } from '#model/plan.ts'
import type { TuneDocument, TunedConfiguration, TuneRow } from '#model/tune.ts'
import { earlierOf } from '#pipeline/history/history.ts'
import { runBefore } from '#pipeline/history/saved.ts'
import { tune } from '#pipeline/tune/tune.ts'
import { formatBytes, plural } from '#report/text.ts'
import {
  addFormatOption,
  addPolicyOption,
  exitAction,
  parseText,
  policyFile,
  repeatableOption,
} from './options.ts'
import { savedRecords } from './source.ts'
import { storeAt } from './store.ts'
import {
  clean,
  exitCode,
  nodeNames,
  printDocument,
  type Screen,
  type Sheet,
  sheetOf,
} from './terminal.ts'

interface TuneOptions {
  group: string
  cluster: string[]
  snapshot: string
  store?: string
  fill: Fill[]
  policy?: string
  format: 'text' | 'json'
}

export function tuneCommand() {
  const command = new Command('tune')
    .requiredOption('--group <name>', 'the nodegroup or Karpenter nodepool', parseText)
    .requiredOption('--snapshot <file>', 'a saved snapshot with its nodes', parseText)
    .addOption(
      repeatableOption(
        '--cluster <name>',
        'only this cluster; repeatable, with *',
        'all',
        parseText,
      ),
    )
    .option(
      '--store <place>',
      'where runs are kept: s3://bucket/prefix, or a folder; growth is measured there',
      parseText,
    )
    .addOption(
      repeatableOption(
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
Compares today's setting, the AMI's, the kubelet's defaults, the recommended
one and a stricter one: one predicted day of each node at its measured growth.

Examples:
  highwater tune --group general --snapshot snapshot.ndjson.gz --store ./history
  highwater tune --group general --snapshot snapshot.ndjson.gz \\
    --fill nodefs=300Ki/s

Exit codes: 0 compared; 2 bad usage, or no such group; 3 the growth of a node
is unknown, or a part of the input could not be read; 4 failed.`,
    )
    .action(exitAction(runTune))
}

async function runTune(options: TuneOptions): Promise<number> {
  const { group, cluster, snapshot, store, fill: fills } = options
  const selection = { cluster, nodegroup: [group], node: [] }
  const growthOf = store === undefined ? () => ({}) : await rememberedGrowth(await storeAt(store))
  const document = await tune({
    group,
    fills,
    growthOf,
    policy: policyFile(options.policy),
    records: () => savedRecords(snapshot, selection),
  })
  printDocument(options.format, document, screen => tuneText(document, snapshot, screen))
  const { unmeasured, inputErrors } = document
  return unmeasured.count + inputErrors.length > 0 ? exitCode.unread : exitCode.ok
}

/** Five settings of a group as a table, with a bar of the disk for each. */
const widest = 90
const barColumns = 12
/** The bar shows the disk from this used percentage to 100 %. */
const barFromPercent = 40

/** @param snapshot the file, for the command that plans the recommendation */
function tuneText(document: TuneDocument, snapshot: string, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const { bold, wrap } = sheet
  const { group, clusters, nodes, bytesPerHour, unmeasured, inputErrors, rows } = document
  const isMeasured = rows.some(({ first }) => first.imageGC + first.eviction + first.nothing > 0)
  const where = clusters.map(cluster => clean(cluster)).join(', ')
  return pageOf(
    wrap(`${clean(group)} in ${where}: ${plural(nodes, 'node')}, one day of each`).map(bold),
    isMeasured &&
      wrap(
        `The disks grow by ${formatBytes(bytesPerHour)} an hour together; GCs, evictions and minutes are sums over the nodes`,
      ),
    unmeasured.count > 0 &&
      wrap(
        `! Not in the counts of a day, as no earlier run measured their growth: ${nodeNames(unmeasured)}. Give --store, or assume one with --fill nodefs=300Ki/s`,
        '',
        '  ',
      ),
    inputErrors.map(error => wrap(clean(error), '! ', '  ')),
    '',
    headLine,
    rows.map(row => rowLines(row, isMeasured, sheet)),
    '',
    wrap(legend),
    leftOutLines(document, sheet),
    recommendedLines(document, snapshot, sheet),
  ).replaceAll('\u00a0', ' ')
}

const legend = `Bar: the disk from ${barFromPercent} % used; · free, ▒ image GC runs, █ eviction. First: number of nodes on which image GC / eviction / nothing acts first. Again: deleted images that pods use on other nodes, packed. Unusable: below the eviction thresholds.`

const cells = (texts: readonly string[]) =>
  texts.map((text, index) => text.padStart(cellWidths[index] ?? 0)).join(' ')
const cellWidths = [7, 4, 9, 8, 7, 8, 9]

const headLine = `${' '.repeat(12 + barColumns)} ${cells(['first', 'GCs', 'deleted', 'again', 'evicted', 'pressure', 'unusable'])}`

/** @param isMeasured whether any node has a day */
function rowLines(row: TuneRow, isMeasured: boolean, { wrap }: Sheet) {
  const { setting, configuration, isAlike, first } = row
  const { imageGCs, evictions, deletedBytes, pulledAgainBytes } = row
  const ofDay = [
    `${first.imageGC}/${first.eviction}/${first.nothing}`,
    String(imageGCs),
    formatBytes(deletedBytes),
    formatBytes(pulledAgainBytes),
    String(evictions),
    `${row.diskPressureMinutes} min`,
  ]
  const values = cells([
    ...(isMeasured ? ofDay : ofDay.map(() => '-')),
    row.unusableBytes === null ? 'unknown' : formatBytes(row.unusableBytes),
  ])
  const shown = `${configurationText(configuration)}${isAlike ? '' : '; other nodes have other values'}`
  return [`${setting.padEnd(11)} ${barOf(configuration)} ${values}`, wrap(shown, '            ')]
}

function configurationText({
  imageGCHighThresholdPercent: high,
  imageGCLowThresholdPercent: low,
  evictionHard,
}: TunedConfiguration) {
  if (!evictionHard) return 'unknown: the configuration was not read'
  const thresholds = Object.entries(evictionHard)
    .filter(([signal]) => signal.endsWith('fs.available'))
    .map(([signal, value]) => `${clean(signal)} ${clean(value, 20)}`)
  return `image GC ${high ?? 'unknown'} to ${low ?? 'unknown'}; evictionHard ${thresholds.join(', ') || 'watches no disk'}`
}

/** Absolute thresholds are not drawn: their place depends on the disk. */
function barOf({ imageGCHighThresholdPercent: high = 100, evictionHard = {} }: TunedConfiguration) {
  const percents = Object.entries(evictionHard).flatMap(([signal, value]) =>
    signal.endsWith('fs.available') && value.endsWith('%') ? [Number.parseFloat(value)] : [],
  )
  const evictsAbove = 100 - Math.max(0, ...percents)
  const isGcOn = high < 100
  return Array.from({ length: barColumns }, (_, index) => {
    const used = barFromPercent + ((index + 1) * (100 - barFromPercent)) / barColumns
    if (used > evictsAbove) return '█'
    return isGcOn && used > high - 1 ? '▒' : '·'
  }).join('')
}

const leftOutLines = ({ leftOut }: TuneDocument, { wrap }: Sheet) =>
  leftOut && [
    '',
    wrap(
      `Image GC is left as it is: at ${leftOut.high} to ${leftOut.low} it would start now on ${clean(leftOut.node)}, and could not free enough to end.`,
    ),
  ]

function recommendedLines(
  { group, clusters, changes, durable, rows }: TuneDocument,
  snapshot: string,
  { width }: Sheet,
) {
  if (rows.every(({ configuration }) => configuration.evictionHard === undefined)) return []
  if (changes.length === 0) return ['', 'No other setting is recommended: today’s stays.']
  const sets = changes.map(change => `--set ${shellWord(clean(change))}`).join(' ')
  const ofClusters = clusters.map(cluster => `--cluster ${shellWord(clean(cluster))}`).join(' ')
  const command = `highwater plan --snapshot ${shellWord(clean(snapshot))} ${ofClusters} --nodegroup ${shellWord(clean(group))} ${sets}`
  return [
    '',
    'Plan the recommended setting:',
    wrapTo(command, Math.max(width, 400), '  '),
    durable.map(({ target, snippet }) => [
      '',
      `For new nodes (${target}):`,
      '',
      snippet.trimEnd().split('\n'),
    ]),
  ]
}

/* Growth of nodes' disks as earlier runs measured it. */

/** Empty growth: no earlier run measured the node. @throws Error with a message for people when the store cannot be read */
async function rememberedGrowth(
  store: Store,
): Promise<(cluster: string, name: string) => NodeGrowth> {
  const { run } = await runBefore(store, null)
  if (!run) return () => ({})
  const { nodes } = await earlierOf(store, run, '')
  return (cluster, name) => {
    const fill = nodes.get(nodeKey(cluster, name))?.fill ?? null
    return fill ? growthIn(fill) : {}
  }
}
