/**
 * The rows of a cohort's table. Each setting has one row, and one more row for each other value
 * that some nodes have.
 */

import { DurationError, parseDuration, toMilliseconds } from '#base/go/duration.ts'
import { byText } from '#base/text/text-order.ts'
import type { Signal } from '#model/prediction/prediction.ts'
import { type ImageGcSetting, imageGcFields } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/numbers.ts'
import { canonical, evictionOf, isAdded, type Variant } from '#report/parts/cohorts.ts'
import {
  emptySetting,
  originsText,
  type SettingView,
  type ThresholdKey,
  thresholdSetting,
  unknownSetting,
  valueLimit,
} from './threshold-setting.ts'

/** The letter that names a variant. */
export const letterOf = (index: number) => String.fromCharCode(65 + index)

const hardSignals: Signal[] = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
]
/** Signals that a kubelet on Windows observes. */
const windowsSignals = new Set<Signal>([
  'memory.available',
  'nodefs.available',
  'imagefs.available',
])

export function partsOf(variants: Variant[], language: Language) {
  const { parts: words } = language.words.thresholds
  const isWindows = variants[0]![0]!.identity.operatingSystem === 'windows'
  const usual = hardSignals.filter(signal => !isWindows || windowsSignals.has(signal))
  const softKeys = keysOf(variants, false, [])
  return [
    {
      part: words.hard,
      settings: keysOf(variants, true, usual).flatMap(key =>
        thresholdRows(variants, key, language),
      ),
    },
    {
      part: words.soft,
      settings: [
        ...softKeys.flatMap(key => thresholdRows(variants, key, language)),
        noSoftRow(variants, softKeys.length, language),
      ],
    },
    {
      part: words.imageGc,
      settings: imageGcFields.flatMap(field => imageGcRows(variants, field, language)),
    },
  ]
}

/**
 * The usual signals and every threshold of the variants. Thresholds that the kubelet adds are last.
 */
function keysOf(variants: Variant[], hard: boolean, usual: Signal[]): ThresholdKey[] {
  const keys = new Map(usual.map(signal => [`${signal} 0`, { signal, hard, nth: 0 }]))
  for (const [node] of variants) {
    if (node === undefined) continue
    const counts = new Map<Signal, number>()
    for (const threshold of evictionOf(node)?.thresholds ?? []) {
      if (threshold.hard !== hard) continue
      const nth = counts.get(threshold.signal) ?? 0
      counts.set(threshold.signal, nth + 1)
      keys.set(`${threshold.signal} ${nth}`, { signal: threshold.signal, hard, nth })
    }
    for (const { signal, hard: isHard } of node.prediction.settings.off) {
      const known = [...hardSignals].find(one => one === signal)
      if (known !== undefined && isHard === hard && !keys.has(`${known} 0`))
        keys.set(`${known} 0`, { signal: known, hard, nth: 0 })
    }
  }
  const place = ({ signal }: ThresholdKey) =>
    isAdded(signal) ? hardSignals.length : hardSignals.indexOf(signal)
  return [...keys.values()].toSorted(
    (a, b) => place(a) - place(b) || byText(a.signal, b.signal) || a.nth - b.nth,
  )
}

const thresholdRows = (variants: Variant[], key: ThresholdKey, language: Language) =>
  rowsOf(key.signal, variants, nodes => thresholdSetting(nodes, key, language), language)

const imageGcRows = (variants: Variant[], field: ImageGcSetting['field'], language: Language) =>
  rowsOf(
    language.words.thresholds.fields[field],
    variants,
    nodes => imageGcSetting(nodes, field, language),
    language,
  )

/** One row for all variants with the first variant's value, then one row for each other value. */
function rowsOf(
  name: string,
  variants: Variant[],
  settingOf: (nodes: Variant) => SettingView,
  { words }: Language,
) {
  const alike = Map.groupBy(variants.keys(), index => {
    const { value, isLost, grace, reclaim } = settingOf(variants[index]!)
    return JSON.stringify([canonical(value), isLost, grace, canonical(reclaim)])
  })
  return [...alike.values()].map((indices, place) => {
    const nodes = indices.flatMap(index => variants[index]!)
    return {
      ...settingOf(nodes),
      name:
        place === 0 ? name : words.thresholds.row(indices.map(letterOf).join(', '), nodes.length),
      isOther: place > 0,
    }
  })
}

/** Upstream sets no soft threshold by default, so all unset soft thresholds share one row. */
function noSoftRow(variants: Variant[], set: number, { words }: Language) {
  const known = variants.filter(([node]) => node !== undefined && evictionOf(node) !== null)
  const isKnownOfAll = known.length === variants.length
  return {
    name: set === 0 ? words.thresholds.everySignal : words.thresholds.everyOtherSignal,
    isOther: false,
    value: known.length === 0 ? words.unknown : words.none,
    isLost: false,
    comesTo: '',
    grace: '',
    reclaim: '',
    note: known.length === 0 ? null : words.setting.noSoft(isKnownOfAll),
    origin: '',
    preset: words.none,
  }
}

/** The settings of image GC, as rows of the table. */
function imageGcSetting(nodes: Variant, field: ImageGcSetting['field'], language: Language) {
  const { setting: words, none } = language.words
  const found = nodes.flatMap(
    ({ prediction }) => prediction.settings.imageGC?.find(setting => setting.field === field) ?? [],
  )
  const [setting] = found
  if (setting === undefined) return unknownSetting(language)
  if (setting.value === null)
    return { ...emptySetting, value: none, note: words.noSuchSetting, preset: words.same }
  const value = language.line(setting.value, valueLimit)
  const isOff =
    field === 'imageGCHighThresholdPercent' &&
    nodes.every(({ prediction: { imageGC } }) => imageGC?.enabled === false)
  return {
    ...emptySetting,
    value: isOff ? words.offWritten(value) : value,
    isLost: isOff,
    note: isOff ? words.neverStarts : meaningOf(field, setting.value, nodes, language),
    origin: originsText(
      found.map(({ origin }) => origin),
      language,
    ),
    preset: setting.value === setting.preset ? words.same : setting.preset,
  }
}

function meaningOf(
  field: ImageGcSetting['field'],
  value: string,
  nodes: Variant,
  language: Language,
) {
  const { setting: words } = language.words
  switch (field) {
    case 'imageGCHighThresholdPercent':
      // usagePercent is 100 − floor(available percent): pkg/kubelet/images/image_gc_manager.go GarbageCollect
      return words.startsAbove(usedText(Math.max(Number(value) - 1, 0), nodes, language))
    case 'imageGCLowThresholdPercent':
      return words.deletesDownTo(usedText(Number(value), nodes, language))
    case 'imageMinimumGCAge':
      return words.minimumAge(language.duration(durationMs(value)))
    case 'imageMaximumGCAge':
      return durationMs(value) === 0
        ? words.noMaximumAge
        : words.maximumAge(language.duration(durationMs(value)))
  }
}

function usedText(percent: number, nodes: Variant, { words, percent: shown, bytes }: Language) {
  const known = nodes
    .flatMap(({ prediction: { filesystems } }) => filesystems.imagefs?.capacityBytes ?? [])
    .map(capacity => (capacity * percent) / 100)
  const unread = nodes.length - known.length
  const range =
    known.length === 0 ? null : formatRange(Math.min(...known), Math.max(...known), bytes)
  return words.setting.used(shown(percent), range, unread)
}

/** Null: Go cannot parse the text as a duration, so no kubelet prints it. */
function durationMs(text: string) {
  try {
    return toMilliseconds(parseDuration(text))
  } catch (error) {
    if (error instanceof DurationError) return null
    throw error
  }
}
