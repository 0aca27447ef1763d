import type { EvaluatedThreshold, Signal, ThresholdOrigin } from '#model/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import { canBeMet, isWatched, sisterOf } from '#model/watched-signals.ts'
import { counted, formatBytes, formatCount, formatDuration, formatRange } from '#report/numbers.ts'
import { loserText, originText } from '#report/origins.ts'
import { shownLine } from '#report/text.ts'
import { canonical, evictionOf, isAdded, type Variant } from './cohorts.ts'

export interface SettingView {
  value: string
  /** Nothing stands there that should: marked, and `note` says what that means. */
  isLost: boolean
  comesTo: string
  grace: string
  reclaim: string
  /** Instead of the three above. */
  note: string | null
  origin: string
  preset: string
}

/** One of a signal's thresholds: a soft one without a grace period makes a second hard one. */
export interface ThresholdKey {
  signal: Signal
  hard: boolean
  nth: number
}

export const valueLimit = 40
const shownOrigins = 2
export const same = 'same'
const notKnown = 'not known'

export const unknownSetting: SettingView = {
  value: notKnown,
  isLost: false,
  comesTo: '',
  grace: '',
  reclaim: '',
  note: null,
  origin: '',
  preset: '',
}

function thresholdAt(node: AuditedNode, { signal, hard, nth }: ThresholdKey): EvaluatedThreshold | undefined {
  return evictionOf(node)?.thresholds.filter(threshold => threshold.signal === signal && threshold.hard === hard)[nth]
}

export function thresholdSetting(nodes: Variant, key: ThresholdKey): SettingView {
  const [first] = nodes
  if (first === undefined || evictionOf(first) === null) return unknownSetting
  const found = nodes.flatMap(node => thresholdAt(node, key) ?? [])
  const [threshold] = found
  if (threshold === undefined) return key.hard ? withoutHard(nodes, key.signal) : withoutSoft(first, key.signal)
  const { value, hard, gracePeriodMs, minReclaim } = threshold
  const shown = shownLine(value, valueLimit)
  const where = found.length < nodes.length ? `, on ${counted(found.length, 'node')} only` : ''
  const from = { origin: `${originsText(found.map(({ origin }) => origin))}${where}`, preset: presetText(first, threshold) }
  if (!found.some(canBeMet))
    return {
      ...unknownSetting,
      ...from,
      value: `none (${shown})`,
      isLost: true,
      note: `comes to 0, which is never met; ${watchText(nodes, key.signal)}`,
    }
  return {
    ...unknownSetting,
    ...from,
    value: shown,
    comesTo: resolvedText(key.signal, found),
    grace: hard ? 'at\u00a0once' : formatDuration(gracePeriodMs),
    reclaim: shownLine(minReclaim, valueLimit),
  }
}

function withoutHard(nodes: Variant, signal: Signal): SettingView {
  const { settings } = nodes[0]!.prediction
  const off = settings.off.find(one => one.hard && one.signal === signal)
  const losers = nodes.flatMap(node => evictionOf(node)?.lost.filter(lost => lost.signal === signal) ?? [])
  const hasDefault = settings.hardDefaults !== null && Object.hasOwn(settings.hardDefaults, signal)
  // What the kubelet adds by itself follows from the others.
  if (isAdded(signal)) return { ...unknownSetting, value: 'none', note: 'does not run here', preset: '–' }
  const isUnwatched = nodes.some(node => isWatched(signal, evictionOf(node)?.thresholds ?? [], node.prediction.filesystems.layout) !== true)
  return {
    ...unknownSetting,
    value: off ? `none (${shownLine(off.value, valueLimit)})` : 'none',
    isLost: off !== undefined || losers.length > 0 || isUnwatched,
    note: watchText(nodes, signal),
    origin: off ? 'configured: switched off' : distinct(losers.map(({ by }) => `lost ${loserText(by)}`)) || 'nobody set it',
    preset: settings.hardDefaults === null ? notKnown : hasDefault ? shownLine(settings.hardDefaults[signal]!, valueLimit) : 'none',
  }
}

function withoutSoft({ prediction: { settings } }: AuditedNode, signal: Signal): SettingView {
  const off = settings.off.find(one => !one.hard && one.signal === signal)
  return {
    ...unknownSetting,
    value: off ? `none (${shownLine(off.value, valueLimit)})` : 'none',
    note: off ? 'switched off' : 'not set here',
    origin: off ? 'configured' : '',
    preset: off ? 'none' : same,
  }
}

/** What watches in its place, said of how many nodes where they differ. */
function watchText(nodes: Variant, signal: Signal): string {
  const texts = Map.groupBy(nodes, node => {
    const { filesystems } = node.prediction
    const watched = isWatched(signal, evictionOf(node)?.thresholds ?? [], filesystems.layout)
    if (watched === false) return 'nothing watches it'
    if (watched === null) return `whether ${sisterOf(signal)} watches the same disk is not known`
    const isSoft = evictionOf(node)?.thresholds.some(threshold => threshold.signal === signal && canBeMet(threshold))
    if (isSoft) return 'only its soft threshold watches it'
    return `${sisterOf(signal)} watches the same disk${filesystems.layoutCertainty === 'certain' ? '' : ' (likely)'}`
  })
  return [...texts].map(([text, alike]) => (texts.size === 1 ? text : `${text} on ${counted(alike.length, 'node')}`)).join('; ')
}

function resolvedText(signal: Signal, thresholds: EvaluatedThreshold[]): string {
  const known = thresholds.flatMap(({ resolved }) => resolved ?? [])
  const unread = thresholds.length - known.length
  const why = `not known${known.length === 0 ? '' : ` on ${counted(unread, 'node')}`}: ${signal.split('.')[0]} was not observed`
  if (known.length === 0) return why
  const isBytes = signal.endsWith('.available') && signal !== 'pid.available'
  const range = formatRange(Math.min(...known), Math.max(...known), isBytes ? formatBytes : formatCount)
  const amount = isBytes ? range : `${range} ${signal === 'pid.available' ? 'pids' : 'inodes'}`
  return unread === 0 ? amount : `${amount}; ${why}`
}

function presetText({ prediction: { settings } }: AuditedNode, { signal, hard, value }: EvaluatedThreshold): string {
  if (isAdded(signal)) return '–'
  if (!hard) return 'none'
  if (settings.hardDefaults === null) return notKnown
  const preset = Object.hasOwn(settings.hardDefaults, signal) ? settings.hardDefaults[signal]! : null
  return preset === null ? 'none' : canonical(preset) === canonical(value) ? same : shownLine(preset, valueLimit)
}

export const originsText = (origins: (ThresholdOrigin | undefined)[]) =>
  distinct(origins.map(origin => (origin === undefined ? notKnown : originText(origin))))

/** Each once, with its number of nodes where they differ. */
function distinct(texts: string[]): string {
  const alike = [...Map.groupBy(texts, text => text)].toSorted(([, a], [, b]) => b.length - a.length)
  if (alike.length < 2) return alike[0]?.[0] ?? ''
  const shown = alike.slice(0, shownOrigins).map(([text, { length }]) => `${text} on ${counted(length, 'node')}`)
  return [...shown, ...(alike.length > shownOrigins ? [`${formatCount(alike.length - shownOrigins)} more`] : [])].join('; ')
}
