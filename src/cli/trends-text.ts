/** Trends of clusters, one screen each: a line each for grade, findings and nodes near image GC, and one for each group. */

import { severities } from '#model/finding.ts'
import type { ClusterTrend, GroupPoint, TrendPoint } from '#model/history.ts'
import { formatBytes, formatPercent } from '#report/numbers.ts'
import { bars } from './bars.ts'
import { clean, painter, type Screen } from './terminal.ts'

const shownGroups = 12
const longestName = 32
const leastName = 13
/** Columns for the text after the line. */
const roomForWords = 40
const widest = 160

/** The text ends with a newline; it is empty if nothing is known. */
export function trendsText(trends: ClusterTrend[], screen: Screen): string {
  return trends
    .flatMap(trend => clusterLines(trend, screen))
    .map(line => `${line}\n`)
    .join('')
}

function clusterLines({ cluster, points }: ClusterTrend, { hasColour, columns }: Screen): string[] {
  const last = points.at(-1)
  if (last === undefined) return []
  const groups = last.groups.slice(0, shownGroups)
  const more = last.groups.length - groups.length + last.groupsLeftOut
  const names = groups.map(group =>
    group.kind === 'Node' ? 'without a group' : clean(group.name, longestName),
  )
  const nameWidth = Math.max(leastName, ...names.map(name => name.length))
  const days = Math.max(7, Math.min(columns, widest) - nameWidth - 6 - roomForWords)
  const line = (
    name: string,
    of: (point: TrendPoint) => number | null,
    words: string,
    full?: number,
  ) => {
    const drawn = bars(
      points.map(point => ({ day: point.day, value: of(point) })),
      days,
      { full },
    )
    return `  ${name.padEnd(nameWidth)}  ${drawn}  ${words}`.replaceAll('\u00a0', ' ')
  }
  const total = ({ findings }: TrendPoint) =>
    severities.reduce((sum, severity) => sum + findings[severity], 0)
  const counts = severities
    .filter(severity => last.findings[severity] > 0)
    .map(severity => `${last.findings[severity]} ${severity}`)
  const shown = points.filter(
    ({ day }) => Date.parse(last.day) - Date.parse(day) < days * 86_400_000,
  )
  const left = points.length - shown.length
  return [
    painter(hasColour)('bold', `${clean(cluster)}: ${points[0]?.day} to ${last.day}`),
    `  ${'grade'.padEnd(nameWidth)}  ${gradesText(shown)}  ${last.grade ?? 'none'}`,
    line('findings', total, `${total(last)}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`),
    line('near image GC', nearIn, nearText(nearIn(last))),
    ...groups.map((group, index) =>
      line(
        names[index] ?? '',
        point => groupIn(point, group)?.usedPercent?.max ?? null,
        groupText(group),
        100,
      ),
    ),
    ...reclaimLines(points, line),
    ...(more > 0 ? [`  … and ${more} more groups`] : []),
    ...(left > 0 ? [`  … and ${left} days before these (--format json has all)`] : []),
    '',
  ]
}

/** The share of counted bytes that image GC freed, and the prediction's error. Empty if no round was observed. */
function reclaimLines(
  points: TrendPoint[],
  line: (name: string, of: (point: TrendPoint) => number | null, words: string) => string,
): string[] {
  const last = points.findLast(({ imageGc }) => imageGc !== null)?.imageGc
  if (last == null) return []
  const share = ({ imageGc }: TrendPoint) =>
    imageGc === null || imageGc.countedBytes === 0
      ? null
      : (100 * imageGc.freedBytes) / imageGc.countedBytes
  const error = ({ imageGc }: TrendPoint) => imageGc?.errorPercent ?? null
  const freed = `${formatBytes(last.freedBytes)} of ${formatBytes(last.countedBytes)} counted`
  return [
    line('image GC', share, freed),
    ...(points.some(point => error(point) !== null)
      ? [line('GC error', error, `${last.errorPercent ?? '–'} % off the prediction`)]
      : []),
  ]
}

/** One letter per day: a dash if the day has no grade, a blank if the day has no run. */
function gradesText(points: TrendPoint[]): string {
  let before: string | null = null
  return points
    .map(({ day, grade }) => {
      const gap =
        before === null ? 0 : Math.max(0, (Date.parse(day) - Date.parse(before)) / 86_400_000 - 1)
      before = day
      return `${' '.repeat(gap)}${grade ?? '–'}`
    })
    .join('')
}

function nearIn({ groups }: TrendPoint): number | null {
  const known = groups.flatMap(({ nearImageGc }) => nearImageGc ?? [])
  return known.length === 0 ? null : known.reduce((sum, near) => sum + near, 0)
}

const nearText = (near: number | null) =>
  near === null ? 'not known' : `${near} ${near === 1 ? 'node' : 'nodes'}`

const groupIn = (point: TrendPoint, { kind, name }: GroupPoint) =>
  point.groups.find(group => group.kind === kind && group.name === name)

const groupText = ({ usedPercent, imageGcHeadroomBytes }: GroupPoint) =>
  usedPercent === null
    ? 'not known'
    : `fullest ${formatPercent(usedPercent.max)}, ${imageGcHeadroomBytes === 0 ? 'image GC due' : `${formatBytes(imageGcHeadroomBytes)} until image GC`}`
