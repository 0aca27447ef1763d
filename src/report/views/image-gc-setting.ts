/** The settings of image GC, as lines of the table. */
import { DurationError, parseDuration, toMilliseconds } from '#model/duration.ts'
import type { ImageGcSetting } from '#model/report.ts'
import { counted, formatBytes, formatDuration, formatPercent, formatRange } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import type { Variant } from './cohorts.ts'
import { originsText, type SettingView, same, unknownSetting, valueLimit } from './threshold-setting.ts'

export function imageGcSetting(nodes: Variant, field: ImageGcSetting['field']): SettingView {
  const found = nodes.flatMap(({ prediction }) => prediction.settings.imageGC?.find(setting => setting.field === field) ?? [])
  const [setting] = found
  if (setting === undefined) return unknownSetting
  if (setting.value === null) return { ...unknownSetting, value: 'none', note: 'this kubelet has no such setting', preset: same }
  const value = shownLine(setting.value, valueLimit)
  const isOff = field === 'imageGCHighThresholdPercent' && nodes.every(({ prediction: { imageGC } }) => imageGC?.enabled === false)
  return {
    ...unknownSetting,
    value: isOff ? `off (${value})` : value,
    isLost: isOff,
    note: isOff ? 'image GC never starts: only eviction deletes images' : meaningOf(field, setting.value, nodes),
    origin: originsText(found.map(({ origin }) => origin)),
    preset: setting.value === setting.preset ? same : setting.preset,
  }
}

function meaningOf(field: ImageGcSetting['field'], value: string, nodes: Variant): string {
  switch (field) {
    case 'imageGCHighThresholdPercent':
      // usagePercent is 100 − floor(available percent): pkg/kubelet/images/image_gc_manager.go GarbageCollect
      return `starts above ${usedText(Math.max(Number(value) - 1, 0), nodes)}`
    case 'imageGCLowThresholdPercent':
      return `deletes down to ${usedText(Number(value), nodes)}`
    case 'imageMinimumGCAge':
      return `for space no image goes in its first ${ageText(value)}`
    case 'imageMaximumGCAge':
      return durationMs(value) === 0 ? 'off: no image is too old' : `an image goes when unused for ${ageText(value)}`
  }
}

function usedText(percent: number, nodes: Variant): string {
  const known = nodes
    .flatMap(({ prediction: { filesystems } }) => filesystems.imagefs?.capacityBytes ?? [])
    .map(capacity => (capacity * percent) / 100)
  const unread = nodes.length - known.length
  const used = `${formatPercent(percent)} used`
  if (known.length === 0) return `${used}; in bytes not known: imagefs was not observed`
  const range = formatRange(Math.min(...known), Math.max(...known), formatBytes)
  return `${used}, ${range}${unread === 0 ? '' : `; not known on ${counted(unread, 'node')}: imagefs was not observed`}`
}

const ageText = (text: string) => formatDuration(durationMs(text))

/** Null where Go would not read it, which no kubelet prints. */
function durationMs(text: string): number | null {
  try {
    return toMilliseconds(parseDuration(text))
  } catch (error) {
    if (error instanceof DurationError) return null
    throw error
  }
}
