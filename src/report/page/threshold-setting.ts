import { canBeMet, isWatched, sisterOf } from '#model/kubelet/watched-signals.ts'
import type { EvaluatedThreshold, Signal, ThresholdOrigin } from '#model/prediction/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/numbers.ts'
import { canonical, evictionOf, isAdded, type Variant } from '#report/parts/cohorts.ts'
import { loserText, originText } from '#report/parts/origins.ts'

export interface SettingView {
  value: string
  /** A threshold that should exist is missing. The page marks the row, and `note` explains it. */
  isLost: boolean
  comesTo: string
  grace: string
  reclaim: string
  /** Shown instead of `comesTo`, `grace` and `reclaim`; null: they are shown. */
  note: string | null
  origin: string
  preset: string
}

/** One threshold of a signal. A soft threshold without a grace period is a second hard one. */
export interface ThresholdKey {
  signal: Signal
  hard: boolean
  nth: number
}

export const valueLimit = 40
const shownOrigins = 2

/** A setting without any text; its users fill in what is known. */
export const emptySetting: SettingView = {
  value: '',
  isLost: false,
  comesTo: '',
  grace: '',
  reclaim: '',
  note: null,
  origin: '',
  preset: '',
}

export const unknownSetting = ({ words }: Language): SettingView => ({
  ...emptySetting,
  value: words.unknown,
})

function thresholdAt(node: AuditedNode, { signal, hard, nth }: ThresholdKey) {
  return evictionOf(node)?.thresholds.filter(
    threshold => threshold.signal === signal && threshold.hard === hard,
  )[nth]
}

export function thresholdSetting(
  nodes: Variant,
  key: ThresholdKey,
  language: Language,
): SettingView {
  const { words: all, line } = language
  const words = all.setting
  const [first] = nodes
  if (first === undefined || evictionOf(first) === null) return unknownSetting(language)
  const found = nodes.flatMap(node => thresholdAt(node, key) ?? [])
  const [threshold] = found
  if (threshold === undefined)
    return key.hard
      ? withoutHard(nodes, key.signal, language)
      : withoutSoft(first, key.signal, language)
  const { value, hard, gracePeriodMs, minReclaim } = threshold
  const shown = line(value, valueLimit)
  const origins = originsText(
    found.map(({ origin }) => origin),
    language,
  )
  const from = {
    origin: found.length < nodes.length ? words.onlyOn(origins, found.length) : origins,
    preset: presetText(first, threshold, language),
  }
  if (!found.some(canBeMet))
    return {
      ...emptySetting,
      ...from,
      value: words.noneWritten(shown),
      isLost: true,
      note: words.neverMet(watchText(nodes, key.signal, language)),
    }
  return {
    ...emptySetting,
    ...from,
    value: shown,
    comesTo: resolvedText(key.signal, found, language),
    grace: hard ? words.atOnce : language.duration(gracePeriodMs),
    reclaim: line(minReclaim, valueLimit),
  }
}

function withoutHard(nodes: Variant, signal: Signal, language: Language): SettingView {
  const { words: all, line } = language
  const words = all.setting
  const { settings } = nodes[0]!.prediction
  const off = settings.off.find(one => one.hard && one.signal === signal)
  const losers = nodes.flatMap(
    node => evictionOf(node)?.lost.filter(lost => lost.signal === signal) ?? [],
  )
  const hasDefault = settings.hardDefaults !== null && Object.hasOwn(settings.hardDefaults, signal)
  const preset = hasDefault ? line(settings.hardDefaults![signal]!, valueLimit) : all.none
  // A threshold that the kubelet adds has no default: it follows from other thresholds.
  if (isAdded(signal))
    return { ...emptySetting, value: all.none, note: words.doesNotRun, preset: '–' }
  const isUnwatched = nodes.some(
    node =>
      isWatched(signal, evictionOf(node)?.thresholds ?? [], node.prediction.filesystems.layout) !==
      true,
  )
  return {
    ...emptySetting,
    value: off ? words.noneWritten(line(off.value, valueLimit)) : all.none,
    isLost: off !== undefined || losers.length > 0 || isUnwatched,
    note: watchText(nodes, signal, language),
    origin: off
      ? words.switchedOff
      : distinctTexts(
          losers.map(({ by }) => words.lost(loserText(by, language))),
          language,
        ) || words.unset,
    preset: settings.hardDefaults === null ? all.unknown : preset,
  }
}

function withoutSoft(
  { prediction: { settings } }: AuditedNode,
  signal: Signal,
  { words: all, line }: Language,
): SettingView {
  const words = all.setting
  const off = settings.off.find(one => !one.hard && one.signal === signal)
  return {
    ...emptySetting,
    value: off ? words.noneWritten(line(off.value, valueLimit)) : all.none,
    note: off ? words.off : words.notSet,
    origin: off ? words.configured : '',
    preset: off ? all.none : words.same,
  }
}

/** What watches the disk instead. Numbers of nodes are added if the nodes differ. */
function watchText(
  nodes: Variant,
  signal: Signal,
  { words: { setting: words, clauses } }: Language,
) {
  const sister = sisterOf(signal) ?? signal
  const texts = Map.groupBy(nodes, node => {
    const { filesystems } = node.prediction
    const watched = isWatched(signal, evictionOf(node)?.thresholds ?? [], filesystems.layout)
    if (watched === false) return words.nothingWatches
    if (watched === null) return words.watchNotKnown(sister)
    const isSoft = evictionOf(node)?.thresholds.some(
      threshold => threshold.signal === signal && canBeMet(threshold),
    )
    if (isSoft) return words.onlySoftWatches
    return words.sisterWatches(sister, filesystems.layoutCertainty === 'certain')
  })
  return clauses(
    [...texts].map(([text, alike]) => (texts.size === 1 ? text : words.on(text, alike.length))),
  )
}

function resolvedText(signal: Signal, thresholds: EvaluatedThreshold[], language: Language) {
  const { setting: words, clauses } = language.words
  const known = thresholds.flatMap(({ resolved }) => resolved ?? [])
  const unread = thresholds.length - known.length
  const why = words.notObserved(signal.split('.')[0]!, known.length === 0 ? null : unread)
  if (known.length === 0) return why
  const isBytes = signal.endsWith('.available') && signal !== 'pid.available'
  const range = formatRange(
    Math.min(...known),
    Math.max(...known),
    isBytes ? language.bytes : language.count,
  )
  const counted = signal === 'pid.available' ? words.pids(range) : words.inodes(range)
  const amount = isBytes ? range : counted
  return unread === 0 ? amount : clauses([amount, why])
}

function presetText(
  { prediction: { settings } }: AuditedNode,
  { signal, hard, value }: EvaluatedThreshold,
  { words, line }: Language,
) {
  if (isAdded(signal)) return '–'
  if (!hard) return words.none
  if (settings.hardDefaults === null) return words.unknown
  if (!Object.hasOwn(settings.hardDefaults, signal)) return words.none
  const preset = settings.hardDefaults[signal]!
  return canonical(preset) === canonical(value) ? words.setting.same : line(preset, valueLimit)
}

export const originsText = (origins: (ThresholdOrigin | undefined)[], language: Language) =>
  distinctTexts(
    origins.map(origin =>
      origin === undefined ? language.words.unknown : originText(origin, language),
    ),
    language,
  )

/** Each text once. Numbers of nodes are added if the texts differ. */
function distinctTexts(texts: string[], { words: { setting: words, clauses } }: Language) {
  const alike = [...Map.groupBy(texts, text => text)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  if (alike.length < 2) return alike[0]?.[0] ?? ''
  const shown = alike.slice(0, shownOrigins).map(([text, { length }]) => words.on(text, length))
  return clauses([
    ...shown,
    ...(alike.length > shownOrigins ? [words.more(alike.length - shownOrigins)] : []),
  ])
}
