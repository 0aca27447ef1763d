/** `highwater history`: the recorded days of a present or removed node, and the trends of clusters. */

import { Command, InvalidArgumentError, Option } from 'commander'
import { linesOf } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { severities } from '#model/finding.ts'
import type { ClusterTrend, GroupPoint, TrendPoint } from '#model/history.ts'
import { clusterTrends, historyOfNode } from '#pipeline/history/lookup.ts'
import { formatBytes, formatPercent } from '#report/text.ts'
import { bars, nodeHistoryText } from './history-text.ts'
import { addFormatOption, exitAction, parseText, repeatableOption } from './options.ts'
import { storeAt } from './store.ts'
import { clean, exitCode, nodesOf, painter, printDocument, type Screen } from './terminal.ts'

interface HistoryArguments {
  store: string
  cluster: string[]
  days: number
  format: 'text' | 'json'
}

export function historyCommand() {
  const command = new Command('history')
    .argument('[node]', 'its name, as kubectl get nodes shows it', parseText)
    .requiredOption(
      '--store <place>',
      `where runs are kept: s3://bucket/prefix, or a folder`,
      parseText,
    )
    .addOption(
      repeatableOption(
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
--store. Runs on a part of a fleet (--cluster, --nodegroup, --node) are not
kept.

Examples:
  highwater history ip-10-0-1-23.ec2.internal --store s3://our-bucket/highwater
  highwater history --store ./history --days 90 --format json

Exit codes: 0 data was found; 2 no data, or bad usage; 4 the store could not be
read.`,
    )
    .action(exitAction(runHistory))
}

async function runHistory(
  node: string | undefined,
  { store: place, cluster: clusters, days, format }: HistoryArguments,
): Promise<number> {
  const store = await storeAt(place)
  if (node === undefined) {
    const trends = await clusterTrends(store, { clusters, days })
    printDocument(format, { schema: 'highwater.trends/1', clusters: trends }, screen =>
      trendsText(trends, screen),
    )
    return codeFor(
      trends.length,
      `${store.location} remembers no run${clusters.length > 0 ? ' of these clusters' : ''}`,
    )
  }
  const history = await historyOfNode(store, node, { clusters, days })
  printDocument(format, history, screen => nodeHistoryText(history, screen))
  return codeFor(
    history.clusters.length,
    `${store.location} remembers no node ${node}${clusters.length > 0 ? ' in these clusters' : ''}. Names are those of kubectl get nodes`,
  )
}

function codeFor(count: number, message: string): number {
  if (count > 0) return exitCode.ok
  process.stderr.write(`${message}\n`)
  return exitCode.badInput
}

function parseDays(text: string) {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > 3650)
    throw new InvalidArgumentError('A whole number of days from 1 to 3650.')
  return days
}

/** Trends of clusters, one screen each: a line each for grade, findings and nodes near image GC, and one for each group. */
const shownGroups = 12
const longestName = 32
const leastName = 13
/** Columns for the text after the line. */
const roomForWords = 40
const widest = 160

/** The text ends with a newline; it is empty if nothing is known. */
export const trendsText = (trends: ClusterTrend[], screen: Screen) =>
  trends
    .flatMap(trend => clusterLines(trend, screen))
    .map(line => `${line}\n`)
    .join('')

function clusterLines({ cluster, points }: ClusterTrend, { hasColour, columns }: Screen) {
  const last = points.at(-1)
  if (!last) return []
  const groups = last.groups.slice(0, shownGroups)
  const more = last.groups.length - groups.length + last.groupsLeftOut
  const names = groups.map(group =>
    group.kind === 'Node' ? 'without a group' : clean(group.name, longestName),
  )
  const nameWidth = Math.max(leastName, ...names.map(name => name.length))
  const days = Math.max(7, Math.min(columns, widest) - nameWidth - 6 - roomForWords)
  const barLine = (
    name: string,
    numberOf: (point: TrendPoint) => number | null,
    words: string,
    full?: number,
  ) => {
    const drawn = bars(
      points.map(point => ({ day: point.day, value: numberOf(point) })),
      days,
      full,
    )
    return `  ${name.padEnd(nameWidth)}  ${drawn}  ${words}`.replaceAll('\u00a0', ' ')
  }
  const findingCount = ({ findings }: TrendPoint) =>
    severities.reduce((sum, severity) => sum + findings[severity], 0)
  const counts = severities
    .filter(severity => last.findings[severity] > 0)
    .map(severity => `${last.findings[severity]} ${severity}`)
  const shown = points.filter(({ day }) => Date.parse(last.day) - Date.parse(day) < days * dayMs)
  const left = points.length - shown.length
  const near = nearImageGcCount(last)
  return linesOf(
    painter(hasColour)('bold', `${clean(cluster)}: ${points[0]?.day} to ${last.day}`),
    `  ${'grade'.padEnd(nameWidth)}  ${gradesText(shown)}  ${last.grade ?? 'none'}`,
    barLine(
      'findings',
      findingCount,
      `${findingCount(last)}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`,
    ),
    barLine('near image GC', nearImageGcCount, near === null ? 'not known' : nodesOf(near)),
    groups.map((group, index) =>
      barLine(
        names[index] ?? '',
        point => groupIn(point, group)?.usedPercent?.max ?? null,
        groupText(group),
        100,
      ),
    ),
    reclaimLines(points, barLine),
    more > 0 && `  … and ${more} more groups`,
    left > 0 && `  … and ${left} days before these (--format json has all)`,
    '',
  )
}

/** The share of counted bytes that image GC freed, and the prediction's error. Empty if no round was observed. */
function reclaimLines(
  points: TrendPoint[],
  line: (name: string, of: (point: TrendPoint) => number | null, words: string) => string,
) {
  // A round that counted nothing says nothing.
  const last = points.findLast(({ imageGc }) => imageGc && imageGc.countedBytes > 0)?.imageGc
  if (last == null) return []
  const freedPercent = ({ imageGc }: TrendPoint) =>
    !imageGc || imageGc.countedBytes === 0
      ? null
      : (100 * imageGc.freedBytes) / imageGc.countedBytes
  const errorPercent = ({ imageGc }: TrendPoint) => imageGc?.errorPercent ?? null
  const freed = `${formatBytes(last.freedBytes)} of ${formatBytes(last.countedBytes)} counted`
  return [
    line('image GC', freedPercent, freed),
    points.some(point => errorPercent(point) !== null) &&
      line('GC error', errorPercent, `${last.errorPercent ?? '–'} % off the prediction`),
  ]
}

/** One letter per day: a dash if the day has no grade, a blank if the day has no run. */
function gradesText(points: TrendPoint[]) {
  let before: string | null = null
  return points
    .map(({ day, grade }) => {
      const gap =
        before === null ? 0 : Math.max(0, (Date.parse(day) - Date.parse(before)) / dayMs - 1)
      before = day
      return `${' '.repeat(gap)}${grade ?? '–'}`
    })
    .join('')
}

function nearImageGcCount({ groups }: TrendPoint) {
  const known = groups.flatMap(({ nearImageGc }) => nearImageGc ?? [])
  return known.length === 0 ? null : known.reduce((sum, near) => sum + near, 0)
}

const groupIn = (point: TrendPoint, { kind, name }: GroupPoint) =>
  point.groups.find(group => group.kind === kind && group.name === name)

const groupText = ({ usedPercent, imageGcHeadroomBytes }: GroupPoint) =>
  usedPercent
    ? `fullest ${formatPercent(usedPercent.max)}, ${imageGcHeadroomBytes === 0 ? 'image GC due' : `${formatBytes(imageGcHeadroomBytes)} until image GC`}`
    : 'not known'
