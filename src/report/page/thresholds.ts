/** Eviction thresholds and settings of image GC on the page: a table for each cohort of nodes. */

import { by, byText } from '#base/text.ts'
import { isWatched } from '#model/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import {
  type Cohort,
  cohortsOf,
  cohortTitle,
  evictionOf,
  hasKnownSettings,
  namedNodes,
  unknownTexts,
  type Variant,
  variantsOf,
} from '#report/parts/fleet.ts'
import { nameLimit } from '#report/parts/node.ts'
import { letterOf, partsOf } from './threshold-rows.ts'

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
  const shown = variants.slice(0, thresholdLimits.variants)
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
