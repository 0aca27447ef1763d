/** A node's history for a terminal: its settings, disk use, events and findings. */

import { type Lines, linesOf } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { joinAlike, mergedRounds } from '#judge/compare/history/happenings.ts'
import { rankedSignal } from '#judge/events/evictions.ts'
import type { EvictionBasis, Happening, NodeFacts, NodeHistory } from '#model/history.ts'
import type { DiskHolder } from '#model/prediction.ts'
import { english } from '#report/languages/language.ts'
import { growthNotes } from '#report/parts/disk-outlook.ts'
import { formatBytes, formatPercent } from '#report/text.ts'
import { clean, firstLines, type Screen, type Sheet, sheetOf } from './terminal.ts'

const shownDays = 14
const shownRules = 20
const shownHappenings = 20
const shownThresholds = 8
const widest = 120

type Day = NodeHistory['clusters'][number]['days'][number]

/** The text ends with a newline; it is empty if nothing is known. */
export function nodeHistoryText({ clusters }: NodeHistory, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const { bold, wrap } = sheet
  const section = (title: string, ...parts: Lines[]) => {
    const lines = linesOf(...parts)
    return lines.length > 0 && ['', bold(`  ${title}`), lines]
  }
  return clusters
    .map(({ cluster, isPresent, growth, days }) => {
      const [newest] = days
      // The last day on which the node was read gives its settings.
      const last = days.find(({ coverage }) => coverage !== 'notRead') ?? newest
      if (!newest || !last) return ''
      return linesOf(
        bold(`${clean(cluster)} / ${clean(last.node)}`),
        wrap(presenceText(days, isPresent), '  '),
        wrap(aboutText(days, last), '  '),
        wrap(settingsText(days, last), '  '),
        section(
          diskTitle(last),
          usageLine(days, sheet),
          growthNotes({ growth }, english).map(note => wrap(note, '  ')),
          firstLines(
            days,
            shownDays,
            day => dayLines(day, sheet),
            more => `  … and ${more} more days (--format json has all)`,
          ),
        ),
        section('What happened', happenedLines(days, sheet)),
        section('Rounds of image GC', roundLines(days, sheet)),
        section('Found on it', ruleLines(days, sheet)),
        '',
      ).join('\n')
    })
    .join('\n')
}

function presenceText(days: Day[], isPresent: boolean | null) {
  const unread = days.filter(({ coverage }) => coverage === 'notRead').length
  const known = `known from ${days.at(-1)?.day} to ${days[0]?.day}${unread === 0 ? '' : `, not read on ${unread} of ${days.length} days`}`
  return isPresent === null
    ? `${known}; whether it is still there is not known`
    : `${known}, and ${isPresent ? 'there' : 'gone'} in the last run`
}

function aboutText(days: Day[], facts: NodeFacts) {
  const { kubeletVersion, instanceType, amiFamily, group } = facts
  const earlier = earlierText(days, each => each.kubeletVersion)
  return [
    kubeletVersion && `${clean(kubeletVersion)}${earlier}`,
    instanceType && clean(instanceType),
    amiFamily,
    group.kind !== 'Node' && `${group.kind.toLowerCase()} ${clean(group.name)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const settingsText = (days: Day[], { imageGC, thresholds }: NodeFacts) =>
  `image GC ${imageGcText({ imageGC }) ?? 'not known'}${earlierText(days, imageGcText)}; ${limitsText(thresholds)}`

const limitsText = (thresholds: NodeFacts['thresholds']) => {
  const shown = thresholds?.slice(0, shownThresholds)
  const limits = shown?.map(({ signal, value }) => `${clean(signal)}<${clean(value)}`)
  return `eviction ${limits?.join(', ') || 'not known'}`
}

const imageGcText = ({ imageGC }: Pick<NodeFacts, 'imageGC'>) =>
  imageGC &&
  (imageGC.enabled ? `${imageGC.highThresholdPercent}/${imageGC.lowThresholdPercent}` : 'off')

/** ` (85/80 until 2026-11-14)`; empty if the value never changed. */
function earlierText(days: Day[], textOf: (facts: NodeFacts) => string | null) {
  const known = days.flatMap(day => {
    const value = textOf(day)
    return value === null ? [] : [{ day: day.day, value }]
  })
  const other = known.find(({ value }) => value !== known[0]?.value)
  return other ? ` (${clean(other.value)} until ${other.day})` : ''
}

/** One block per day, oldest first. */
function usageLine(days: Day[], { width }: Sheet) {
  const line = bars(
    days.map(({ day, imageGC }) => ({ day, value: imageGC?.usagePercent ?? null })).toReversed(),
    width - 2,
    100,
  )
  return line.trim() !== '' && `  ${line.trimEnd()}`
}

function diskTitle({ layout, nodefs, imagefs }: NodeFacts) {
  const bytes = (layout === 'shared' ? nodefs : imagefs)?.capacityBytes
  const size = bytes == null ? '' : `, ${formatBytes(bytes).replace('\u00a0', ' ')}`
  return `Its disk for images${size}; use rounded up, as image GC counts it`
}

function headroomText(imageGC: Day['imageGC']) {
  if (imageGC?.enabled === false) return 'image GC off'
  const bytes = imageGC?.bytesUntilTrigger ?? null
  if (!imageGC?.enabled || bytes === null) return 'image GC not known'
  return bytes === 0 ? 'image GC due' : `${formatBytes(bytes)} until image GC`
}

function dayLines({ day, coverage, imageGC, thresholds, missed }: Day, { wrap }: Sheet) {
  const lines = (text: string) => wrap(`${day}  ${text}`, '  ', '              ')
  if (coverage === 'notRead') return lines(`not read${missed === '' ? '' : `: ${clean(missed)}`}`)
  const used =
    imageGC?.usagePercent == null ? 'use not known' : `${formatPercent(imageGC.usagePercent)} used`
  const partly = coverage === 'partlyRead' && 'partly read'
  const parts = [used, partly, headroomText(imageGC), evictionText(thresholds)]
  return lines(parts.filter(Boolean).join(', '))
}

/** The disks' hard threshold with the smallest margin. */
function evictionText(thresholds: NodeFacts['thresholds']) {
  const nearest = thresholds
    ?.flatMap(({ signal, hard, margin }) =>
      hard && /^(nodefs|imagefs)\.available$/.test(signal) && margin !== null
        ? [{ signal, margin }]
        : [],
    )
    .toSorted((a, b) => a.margin - b.margin)[0]
  if (!nearest) return ''
  return nearest.margin < 0
    ? `eviction: below ${nearest.signal}`
    : `${formatBytes(nearest.margin)} until eviction`
}

/** Evictions also show why: thresholds, what held the disk, and the order of eviction. A reading is shown once. */
function happenedLines(days: Day[], { wrap, indented }: Sheet) {
  let shown: EvictionBasis | undefined
  return joinAlike(days.toReversed().flatMap(({ happened }) => happened))
    .slice(-shownHappenings)
    .flatMap(one => {
      const text = wrap(happenedText(one), '  ', '    ')
      const read = one.what === 'evicted' ? readingFor(one, days) : undefined
      if (!read) return text
      const why = [...(read === shown ? [] : readingText(one, read)), rankText(one, read)]
      shown = read
      return [...text, ...why.flatMap(row => indented(row, 6))]
    })
}

/** What each round wanted, counted and freed, and what was predicted. */
const roundLines = (days: Day[], { indented }: Sheet) =>
  mergedRounds(
    days.flatMap(({ rounds }) => rounds),
    [],
  ).flatMap(({ at, wantedBytes, countedBytes, freedBytes, predictedBytes }) => {
    const parts = Object.entries({
      wanted: wantedBytes,
      counted: countedBytes,
      'disk emptier by': freedBytes,
      predicted: predictedBytes,
    }).flatMap(([what, amount]) => (amount === null ? [] : [`${what} ${formatBytes(amount)}`]))
    return indented(`${minuteOf(at)}  ${parts.join(', ')}`)
  })

const minuteOf = (at: string) => `${clean(at.slice(0, 16)).replace('T', ' ')} UTC`

const whatHappened: Record<Happening['what'], string> = {
  evicted: 'evicted',
  refused: 'refused',
  'image-gc-failed': 'image GC failed on',
  'image-deleted': 'deleted image',
  condition: 'condition',
  reboot: 'restarted:',
}

const happenedText = ({ at, what, subject, message }: Happening) =>
  `${minuteOf(at)}  ${whatHappened[what]} ${clean(subject)}: ${clean(message)}`

/** The last reading before the eviction; if there is none, the first reading after it. */
function readingFor({ at }: Happening, days: Day[]) {
  const readings = days
    .flatMap(day => [day, ...day.beforeEvictions])
    .filter(({ thresholds, held }) => thresholds !== null || held.length > 0)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return readings.find(reading => Date.parse(reading.at) <= Date.parse(at)) ?? readings.at(-1)
}

function readingText({ at }: Happening, read: EvictionBasis) {
  const isBefore = Date.parse(read.at) <= Date.parse(at)
  const held = read.held.map(({ holder, bytes }) => `${holderText(holder)} ${formatBytes(bytes)}`)
  return [
    `read ${isBefore ? '' : 'after it, '}${minuteOf(read.at)}: ${limitsText(read.thresholds)}`,
    ...(held.length === 0 ? [] : [`disk held by ${held.join(', ')}`]),
  ]
}

function rankText({ subject, resource }: Happening, { firstVictims }: EvictionBasis) {
  if (resource === undefined)
    return 'no order of eviction: its message names no resource of the node'
  const signal = rankedSignal(resource)
  const order = firstVictims.find(one => one.signal === signal)?.pods ?? []
  if (order.length === 0)
    return `order of eviction for ${clean(resource)} not known: that reading has none`
  const rank = order.indexOf(subject)
  const names = order.map(name => clean(name)).join(', ')
  return `first victims for ${clean(resource)}: ${names} (this pod ${rank < 0 ? 'is not among them' : `is number ${rank + 1}`})`
}

function holderText(holder: string) {
  const { holders } = english.words.ledger
  return Object.hasOwn(holders, holder) ? holders[holder as DiskHolder] : clean(holder)
}

interface FailedDays {
  first: string
  last: string
  count: number
}

/** Each rule with the days on which it failed, latest failures first. */
function ruleLines(days: Day[], { indented }: Sheet) {
  const read = days.filter(({ coverage }) => coverage !== 'notRead')
  const rules = new Map<string, FailedDays>()
  for (const { day, rules: failing } of read)
    for (const rule of failing) {
      const known = rules.get(rule)
      if (known) Object.assign(known, { first: day, count: known.count + 1 })
      else rules.set(rule, { first: day, last: day, count: 1 })
    }
  const leftOut = Math.max(0, ...read.map(day => day.leftOut))
  const wide = Math.min(44, Math.max(0, ...[...rules.keys()].map(rule => clean(rule).length)))
  const linesOfRule = ([rule, { first, last, count }]: [string, FailedDays]) => {
    const some =
      count < read.filter(({ day }) => day >= first && day <= last).length
        ? `, on ${count} days of it`
        : ''
    const when = first === last ? `on ${first}` : `${first} to ${last}${some}`
    const notSince = last === read[0]?.day ? '' : ', not since'
    return indented(`${clean(rule).padEnd(wide)}  ${when}${notSince}`)
  }
  return linesOf(
    firstLines([...rules], shownRules, linesOfRule, more => `  … and ${more} more rules`),
    rules.size === 0 && read.length > 0 && '  nothing',
    leftOut > 0 &&
      '  Not every rule and threshold had room: the findings of each day have them all.',
  )
}

/* Numbers over days as a line of blocks: one per day, blank if unknown. */

const blocks = '▁▂▃▄▅▆▇█'

interface DayValue {
  day: string
  value: number | null
}

/**
 * @param values in the order of their days; null: blank
 * @param most maximum number of days; the last ones are shown
 * @param full value of the highest block; absent: the greatest value
 */
export function bars(values: DayValue[], most: number, full?: number) {
  const last = values.at(-1)
  if (!last) return ''
  const at = new Map(values.map(({ day, value }) => [Date.parse(day) / dayMs, value]))
  const to = Date.parse(last.day) / dayMs
  const from = Math.max(Math.min(...at.keys()), to - Math.max(1, most) + 1)
  const top = full ?? Math.max(1, ...values.map(({ value }) => value ?? 0))
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const value = at.get(from + index) ?? null
    return value === null
      ? ' '
      : blocks[Math.min(blocks.length - 1, Math.floor((value / top) * blocks.length))]
  }).join('')
}
