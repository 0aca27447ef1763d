/** History on one screen: a node's last known state and its days; a line for each group of a cluster. */
import type { ClusterTrend, GroupPoint, NodeHistory, TrendPoint } from '#model/history.ts'
import { formatBytes, formatPercent } from '#pipeline/shelves.ts'
import { clean, painter, type Screen, wrap } from './terminal.ts'

const shownDays = 14
const shownGroups = 12
const shownThresholds = 8
const widest = 120

/** Ends with a newline. Empty where nothing is known. */
export function nodeHistoryText({ clusters }: NodeHistory, { hasColour, columns }: Screen): string {
  const paint = painter(hasColour)
  const width = Math.min(columns, widest)
  return clusters
    .map(({ cluster, isPresent, days }) => {
      const [newest] = days
      // What it was is told by the last day on which it was read.
      const last = days.find(({ coverage }) => coverage !== 'notRead') ?? newest
      if (newest === undefined || last === undefined) return ''
      const first = days.at(-1)?.day ?? newest.day
      const group = last.group.kind === 'Node' ? '' : `, ${last.group.kind.toLowerCase()} ${clean(last.group.name)}`
      const thresholds = last.thresholds?.slice(0, shownThresholds).map(({ signal, value }) => `${clean(signal)}<${clean(value)}`)
      const gc = last.imageGC
      return [
        paint('bold', `${clean(cluster)} / ${clean(last.node)}`),
        ...wrap(
          `${[last.kubeletVersion, last.instanceType, last.amiFamily]
            .filter(text => text !== null)
            .map(text => clean(text))
            .join(', ')}${group}`,
          width,
          '  ',
        ),
        ...wrap(`known from ${first} to ${newest.day}, ${presence(isPresent)}`, width, '  '),
        ...wrap(
          `image GC ${gc === null ? 'not known' : gc.enabled ? `${gc.highThresholdPercent}/${gc.lowThresholdPercent}` : 'off'}; eviction ${thresholds?.join(', ') ?? 'not known'}`,
          width,
          '  ',
        ),
        '',
        ...days.slice(0, shownDays).flatMap(facts => dayLines(facts, width)),
        ...(days.length > shownDays ? [`  … and ${days.length - shownDays} more days (--format json has all)`] : []),
        '',
      ].join('\n')
    })
    .join('\n')
}

const presence = (isPresent: boolean | null) =>
  isPresent === null ? 'and whether it is still there is not known' : isPresent ? 'and there in the last run' : 'and gone in the last run'

function dayLines(
  { day, coverage, imageGC, layout, nodefs, imagefs, rules, missed, leftOut }: NodeHistory['clusters'][number]['days'][number],
  width: number,
): string[] {
  if (coverage === 'notRead') return wrap(`${day}  not read${missed === '' ? '' : `: ${clean(missed)}`}`, width, '  ', '              ')
  const images = layout === 'shared' ? nodefs : imagefs
  const headroom =
    imageGC?.enabled && imageGC.bytesUntilTrigger !== null
      ? `${formatBytes(imageGC.bytesUntilTrigger)} until image GC`
      : 'image GC not known'
  const used = imageGC?.usagePercent == null ? 'use not known' : `${formatPercent(imageGC.usagePercent)} used`
  const size = images?.capacityBytes == null ? '' : ` of ${formatBytes(images.capacityBytes)}`
  const failing =
    rules.length === 0 ? 'nothing found' : `${rules.map(rule => clean(rule)).join(', ')}${leftOut > 0 ? `, and ${leftOut} more` : ''}`
  return wrap(
    `${day}  ${used}${size}, ${coverage === 'partlyRead' ? 'partly read, ' : ''}${headroom}; ${failing}`.replaceAll('\u00a0', ' '),
    width,
    '  ',
    '              ',
  )
}

/** Ends with a newline. Empty where nothing is known. */
export function trendsText(trends: ClusterTrend[], { hasColour }: Screen): string {
  const paint = painter(hasColour)
  return trends
    .flatMap(({ cluster, points }) => {
      const last = points.at(-1)
      if (last === undefined) return []
      const total = (point: TrendPoint) => Object.values(point.findings).reduce((sum, count) => sum + count, 0)
      const groups = last.groups.slice(0, shownGroups)
      const more = last.groups.length - groups.length + last.groupsLeftOut
      return [
        paint('bold', `${clean(cluster)}: ${points[0]?.day} to ${last.day}`),
        `  grade     ${points.map(({ grade }) => grade ?? '–').join('')}`,
        `  findings  ${sparkline(points.map(total))}  ${total(last)}`,
        ...groups.map(group => {
          const used = points.map(point => groupIn(point, group)?.usedPercent?.max ?? null)
          const name = group.kind === 'Node' ? 'without a group' : clean(group.name, 32)
          const now =
            group.usedPercent === null
              ? 'not known'
              : `fullest ${formatPercent(group.usedPercent.max)}, ${formatBytes(group.imageGcHeadroomBytes)} until image GC`
          return `  ${name.padEnd(32)}  ${sparkline(used, 100)}  ${now}`.replaceAll('\u00a0', ' ')
        }),
        ...(more > 0 ? [`  … and ${more} more groups`] : []),
        '',
      ]
    })
    .map(line => `${line}\n`)
    .join('')
}

const groupIn = (point: TrendPoint, { kind, name }: GroupPoint) => point.groups.find(group => group.kind === kind && group.name === name)

const bars = '▁▂▃▄▅▆▇█'

/** A blank where nothing is known. @param full what the highest bar stands for; else the greatest value */
function sparkline(values: (number | null)[], full = Math.max(1, ...values.map(value => value ?? 0))): string {
  return values.map(value => (value === null ? ' ' : bars[Math.min(bars.length - 1, Math.floor((value / full) * bars.length))])).join('')
}
