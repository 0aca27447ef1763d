/** The settings of image GC, as rows of the table. */
import { DurationError, parseDuration, toMilliseconds } from '#model/duration.ts'
import type { ImageGcSetting } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/numbers.ts'
import type { Variant } from './cohorts.ts'
import {
  emptySetting,
  originsText,
  type SettingView,
  unknownSetting,
  valueLimit,
} from './threshold-setting.ts'

export function imageGcSetting(
  nodes: Variant,
  field: ImageGcSetting['field'],
  language: Language,
): SettingView {
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
): string {
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

function usedText(
  percent: number,
  nodes: Variant,
  { words, percent: shown, bytes }: Language,
): string {
  const known = nodes
    .flatMap(({ prediction: { filesystems } }) => filesystems.imagefs?.capacityBytes ?? [])
    .map(capacity => (capacity * percent) / 100)
  const unread = nodes.length - known.length
  const range =
    known.length === 0 ? null : formatRange(Math.min(...known), Math.max(...known), bytes)
  return words.setting.used(shown(percent), range, unread)
}

/** Null: Go cannot parse the text as a duration, so no kubelet prints it. */
function durationMs(text: string): number | null {
  try {
    return toMilliseconds(parseDuration(text))
  } catch (error) {
    if (error instanceof DurationError) return null
    throw error
  }
}
