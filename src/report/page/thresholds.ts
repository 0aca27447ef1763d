/** Eviction thresholds and settings of image GC on the page: a table for each cohort of nodes. */

import { durationMs } from '#base/go/duration.ts'
import { by, byText } from '#base/text.ts'
import {
  canBeMet,
  type EvaluatedThreshold,
  isWatched,
  type Signal,
  settableSignals,
  sisterSignal,
  type ThresholdOrigin,
} from '#model/prediction.ts'
import {
  type AuditedNode,
  type ImageGcSetting,
  imageGcFields,
  plainPrediction,
} from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import {
  type Cohort,
  canonical,
  cohortsOf,
  cohortTitle,
  evictionOf,
  hasKnownSettings,
  isAddedByKubelet,
  loserText,
  namedNodes,
  originText,
  unknownTexts,
  type Variant,
  variantsOf,
} from '#report/parts/fleet.ts'
import { nameLimit } from '#report/parts/node.ts'
import { formatRange } from '#report/text.ts'

/* The rows of a cohort's table. Each setting has one row, and one more row for each other value that some nodes have. */

/** The letter that names a variant. */
const letterOf = (index: number) => String.fromCharCode(65 + index)

/** Signals that a kubelet on Windows observes. */
const windowsSignals = new Set<Signal>([
  'memory.available',
  'nodefs.available',
  'imagefs.available',
])

function partsOf(variants: Variant[], language: Language) {
  const { parts: words } = language.words.thresholds
  const isWindows = variants[0]![0]!.identity.operatingSystem === 'windows'
  const usual = settableSignals.filter(signal => !isWindows || windowsSignals.has(signal))
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
    if (!node) continue
    const counts = new Map<Signal, number>()
    for (const threshold of evictionOf(node)?.thresholds ?? []) {
      if (threshold.hard !== hard) continue
      const nth = counts.get(threshold.signal) ?? 0
      counts.set(threshold.signal, nth + 1)
      keys.set(`${threshold.signal} ${nth}`, { signal: threshold.signal, hard, nth })
    }
    for (const { signal, hard: isHard } of node.prediction.settings.off) {
      const known = settableSignals.find(one => one === signal)
      if (known !== undefined && isHard === hard && !keys.has(`${known} 0`))
        keys.set(`${known} 0`, { signal: known, hard, nth: 0 })
    }
  }
  const place = ({ signal }: ThresholdKey) =>
    isAddedByKubelet(signal) ? settableSignals.length : settableSignals.indexOf(signal)
  return [...keys.values()].toSorted(
    by(
      place,
      ({ signal }) => signal,
      ({ nth }) => nth,
    ),
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
  const settings = variants.map(settingOf)
  const alike = Map.groupBy(variants.keys(), index => {
    const { value, isLost, grace, reclaim } = settings[index]!
    return JSON.stringify([canonical(value), isLost, grace, canonical(reclaim)])
  })
  return [...alike.values()].map((indices, place) => {
    const nodes = indices.flatMap(index => variants[index]!)
    return {
      ...(indices.length === 1 ? settings[indices[0]!] : settingOf(nodes)),
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
    ...emptySetting,
    value: known.length === 0 ? words.unknown : words.none,
    note: known.length === 0 ? null : words.setting.noSoft(isKnownOfAll),
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
  if (!setting) return unknownSetting(language)
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

interface SettingView {
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
interface ThresholdKey {
  signal: Signal
  hard: boolean
  nth: number
}

const valueLimit = 40
const shownOrigins = 2

/** A setting without any text; its users fill in what is known. */
const emptySetting: SettingView = {
  value: '',
  isLost: false,
  comesTo: '',
  grace: '',
  reclaim: '',
  note: null,
  origin: '',
  preset: '',
}

const unknownSetting = ({ words }: Language): SettingView => ({
  ...emptySetting,
  value: words.unknown,
})

const thresholdAt = (node: AuditedNode, { signal, hard, nth }: ThresholdKey) =>
  evictionOf(node)?.thresholds.filter(
    threshold => threshold.signal === signal && threshold.hard === hard,
  )[nth]

function thresholdSetting(nodes: Variant, key: ThresholdKey, language: Language): SettingView {
  const { words: all, line } = language
  const words = all.setting
  const [first] = nodes
  if (!first || !evictionOf(first)) return unknownSetting(language)
  const found = nodes.flatMap(node => thresholdAt(node, key) ?? [])
  const [threshold] = found
  if (!threshold)
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
      note: words.neverMet(watchText(watchesOf(nodes, key.signal), key.signal, language)),
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
  const hasDefault = settings.hardDefaults !== null && Object.hasOwn(settings.hardDefaults, signal)
  const preset = hasDefault ? line(settings.hardDefaults![signal]!, valueLimit) : all.none
  // A threshold that the kubelet adds has no default: it follows from other thresholds.
  if (isAddedByKubelet(signal))
    return { ...emptySetting, value: all.none, note: words.doesNotRun, preset: '–' }
  const watches = watchesOf(nodes, signal)
  const losers = watches.flatMap(({ lost }) => lost)
  return {
    ...emptySetting,
    value: off ? words.noneWritten(line(off.value, valueLimit)) : all.none,
    isLost: off !== undefined || losers.length > 0 || watches.some(one => one.watched !== true),
    note: watchText(watches, signal, language),
    origin: off
      ? words.switchedOff
      : distinctTexts(
          losers.map(({ by }) => words.lost(loserText(by, language))),
          language,
        ) || words.unset,
    preset: settings.hardDefaults ? preset : all.unknown,
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

/** What watches the disk of a signal on each node. */
const watchesOf = (nodes: Variant, signal: Signal) =>
  nodes.map(node => {
    const { layout, layoutCertainty } = node.prediction.filesystems
    const { thresholds = [], lost = [] } = evictionOf(node) ?? {}
    return {
      watched: isWatched(signal, thresholds, layout),
      isSoft: thresholds.some(threshold => threshold.signal === signal && canBeMet(threshold)),
      isCertain: layoutCertainty === 'certain',
      lost: lost.filter(one => one.signal === signal),
    }
  })

/** What watches the disk instead. Numbers of nodes are added if the nodes differ. */
function watchText(
  watches: ReturnType<typeof watchesOf>,
  signal: Signal,
  { words: { setting: words, clauses } }: Language,
) {
  const sister = sisterSignal(signal) ?? signal
  const texts = Map.groupBy(watches, ({ watched, isSoft, isCertain }) => {
    if (watched === false) return words.nothingWatches
    if (watched === null) return words.watchNotKnown(sister)
    return isSoft ? words.onlySoftWatches : words.sisterWatches(sister, isCertain)
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
  if (isAddedByKubelet(signal)) return '–'
  if (!hard) return words.none
  if (!settings.hardDefaults) return words.unknown
  if (!Object.hasOwn(settings.hardDefaults, signal)) return words.none
  const preset = settings.hardDefaults[signal]!
  return canonical(preset) === canonical(value) ? words.setting.same : line(preset, valueLimit)
}

const originsText = (origins: (ThresholdOrigin | undefined)[], language: Language) =>
  distinctTexts(
    origins.map(origin => (origin ? originText(origin, language) : language.words.unknown)),
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

const thresholdLimits = {
  cohorts: 50,
  openCohorts: 3,
  names: 200,
  variants: 4,
  reasons: 3,
  instanceTypes: 6,
}

type Assessed = ReturnType<typeof assess>

export function thresholdsView(nodes: AuditedNode[], language: Language) {
  const { thresholds: words, andMore, list } = language.words
  const cohorts = cohortsOf(nodes)
    .map(cohort => assess(cohort, language))
    .toSorted(mostTroubled)
  const { cohorts: shown, openCohorts, names } = thresholdLimits
  const more = cohorts.slice(shown)
  return {
    cohorts: cohorts
      .slice(0, shown)
      .map((cohort, index) =>
        cohortView(cohort, index === 0 || cohorts.length <= openCohorts, language),
      ),
    cohortsCount: language.count(cohorts.length),
    moreTitle: more.length === 0 ? null : words.moreCohorts(more.length),
    more: [
      ...more.slice(0, names).map(({ title, about }) => list([title, about])),
      ...(more.length > names ? [andMore(more.length - names)] : []),
    ],
  }
}

function assess(cohort: Cohort, language: Language) {
  const known = cohort.members.filter(hasKnownSettings)
  const unwatched = new Map<string, number>()
  for (const node of known) {
    const { settings, filesystems } = node.prediction
    const thresholds = evictionOf(node)?.thresholds
    if (!thresholds) continue
    for (const signal of Object.keys(settings.hardDefaults ?? {}))
      if (isWatched(signal, thresholds, filesystems.layout) === false)
        unwatched.set(signal, (unwatched.get(signal) ?? 0) + 1)
  }
  return {
    ...cohort,
    title: cohortTitle(cohort, language),
    cluster: language.line(cohort.members[0]!.cluster, nameLimit),
    about: aboutOf(cohort, language),
    variants: variantsOf(known),
    unread: cohort.members.filter(node => !hasKnownSettings(node)),
    /** Signals that have a default but are unwatched, with their number of nodes. */
    unwatched,
  }
}

const mostTroubled = (a: Assessed, b: Assessed) =>
  b.unwatched.size - a.unwatched.size ||
  mostUnwatchedNodes(b.unwatched) - mostUnwatchedNodes(a.unwatched) ||
  b.variants.length - a.variants.length ||
  b.unread.length - a.unread.length ||
  b.members.length - a.members.length ||
  byText(a.cluster, b.cluster) ||
  byText(`${a.title} ${a.about}`, `${b.title} ${b.about}`)

function cohortView(cohort: Assessed, isOpen: boolean, language: Language) {
  const { title, cluster, about, variants, unread } = cohort
  const shown = variants.slice(0, thresholdLimits.variants).map(nodes =>
    // Each row reads the thresholds of each node.
    nodes.map(node => ({ ...node, prediction: plainPrediction(node.prediction) })),
  )
  const isShown =
    variants.length > 1 ||
    shown.some(
      ([node]) => node !== undefined && whyUnknown(node, language).some(why => why !== null),
    )
  return {
    title,
    about,
    flags: flagsOf(cohort, language),
    isOpen,
    caption: language.words.thresholds.caption(title, cluster, imageOf(cohort, language)),
    variants: isShown
      ? [
          ...shown.map((nodes, index) => variantText(nodes, index, language)),
          ...restText(variants.slice(shown.length), language),
        ]
      : [],
    parts: shown.length === 0 ? [] : partsOf(shown, language),
    notKnown: unknownTexts(unread, thresholdLimits.reasons, language),
  }
}

function imageOf({ members }: Cohort, { words: { thresholds: words } }: Language) {
  const { identity, prediction } = members[0]!
  const { kubeletMinor } = prediction.settings
  const image = identity.amiFamily === 'other' ? words.otherImage : identity.amiFamily
  return words.image(
    image,
    kubeletMinor === null ? words.kubeletUnknown : words.kubelet(kubeletMinor),
  )
}

function aboutOf(cohort: Cohort, language: Language) {
  const { members } = cohort
  const { thresholds: words, list } = language.words
  const types = [...Map.groupBy(members, member => member.identity.instanceType)].toSorted(
    by(
      ([, of]) => -of.length,
      ([type]) => type ?? '',
    ),
  )
  const named = types.flatMap(([type, { length }]) =>
    type === null ? [] : [`${language.count(length)} ${language.line(type, 40)}`],
  )
  const more = named.length - thresholdLimits.instanceTypes
  return list([
    language.line(members[0]!.cluster, nameLimit),
    imageOf(cohort, language),
    words.nodesOf(members.length, named.slice(0, thresholdLimits.instanceTypes)),
    ...(more > 0 ? [words.moreTypes(more)] : []),
  ])
}

function flagsOf(
  { members, unwatched, variants, unread }: Assessed,
  { words: { thresholds: words } }: Language,
) {
  const nodes = mostUnwatchedNodes(unwatched)
  const flagIf = (isRaised: boolean, flag: string, isBad = false) =>
    isRaised ? [{ flag, isBad }] : []
  const unwatchedText = words.unwatched(
    [...unwatched.keys()],
    nodes === members.length ? null : nodes,
  )
  return [
    ...flagIf(unwatched.size > 0, unwatchedText, true),
    ...flagIf(variants.length > 1, words.variants(variants.length)),
    ...flagIf(unread.length > 0, words.nodesNotKnown(unread.length)),
  ]
}

const mostUnwatchedNodes = (unwatched: Assessed['unwatched']) => Math.max(0, ...unwatched.values())

const variantText = (nodes: Variant, index: number, language: Language) =>
  language.words.thresholds.variant(
    letterOf(index),
    namedNodes(nodes, language),
    ...whyUnknown(nodes[0]!, language),
  )

/** Why eviction thresholds and image GC settings of a node are unknown; null: known. */
function whyUnknown(
  node: AuditedNode,
  { words: all, line }: Language,
): [eviction: string | null, imageGc: string | null] {
  const words = all.thresholds
  const { imageGC, missing } = node.prediction.settings
  const reasonText = (reason: string | undefined) => line(reason ?? all.noReason, 300)
  return [
    evictionOf(node) ? null : words.evictionNotKnown(reasonText(missing.eviction)),
    imageGC ? null : words.imageGcNotKnown(reasonText(missing.imageGC)),
  ]
}

const restText = (rest: Variant[], language: Language) =>
  rest.length === 0
    ? []
    : [language.words.thresholds.moreVariants(rest.length, namedNodes(rest.flat(), language))]
