import type { AuditedNode } from '#model/report.ts'
import { isWatched } from '#model/watched-signals.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { compareText, shownLine } from '#report/text.ts'
import { type Cohort, cohortsOf, evictionOf, isKnown, namedNodes, unknownTexts, type Variant, variantsOf } from './cohorts.ts'
import { letterOf, partsOf, type TablePart } from './threshold-rows.ts'

const thresholdLimits = { cohorts: 50, openCohorts: 3, names: 200, variants: 4, reasons: 3, instanceTypes: 6 }

interface CohortView {
  title: string
  about: string
  /** What is wrong with it, in a few words. */
  flags: { flag: string; isBad: boolean }[]
  isOpen: boolean
  caption: string
  /** Who has which values, where nodes differ. */
  variants: string[]
  parts: TablePart[]
  notKnown: string[]
}

export interface ThresholdsView {
  cohorts: CohortView[]
  cohortsCount: string
  moreTitle: string | null
  more: string[]
}

interface Assessed extends Cohort {
  variants: Variant[]
  unread: AuditedNode[]
  /** Signals with a default that nothing watches, and on how many nodes that is so. */
  unwatched: Map<string, number>
}

export function thresholdsView(nodes: AuditedNode[]): ThresholdsView {
  const cohorts = cohortsOf(nodes).map(assess).toSorted(mostTroubled)
  const { cohorts: shown, openCohorts, names } = thresholdLimits
  const more = cohorts.slice(shown)
  return {
    cohorts: cohorts.slice(0, shown).map((cohort, index) => cohortView(cohort, index === 0 || cohorts.length <= openCohorts)),
    cohortsCount: formatCount(cohorts.length),
    moreTitle: more.length === 0 ? null : `and ${counted(more.length, 'more cohort')}, by name`,
    more: [
      ...more.slice(0, names).map(cohort => `${cohort.title}, ${aboutOf(cohort)}`),
      ...(more.length > names ? [`and ${formatCount(more.length - names)} more`] : []),
    ],
  }
}

function assess(cohort: Cohort): Assessed {
  const known = cohort.members.filter(isKnown)
  const unwatched = new Map<string, number>()
  for (const node of known) {
    const { settings, filesystems } = node.prediction
    const thresholds = evictionOf(node)?.thresholds
    if (thresholds === undefined) continue
    for (const signal of Object.keys(settings.hardDefaults ?? {}))
      if (isWatched(signal, thresholds, filesystems.layout) === false) unwatched.set(signal, (unwatched.get(signal) ?? 0) + 1)
  }
  return { ...cohort, variants: variantsOf(known), unread: cohort.members.filter(node => !isKnown(node)), unwatched }
}

function mostTroubled(a: Assessed, b: Assessed): number {
  return (
    b.unwatched.size - a.unwatched.size ||
    nodesWith(b.unwatched) - nodesWith(a.unwatched) ||
    b.variants.length - a.variants.length ||
    b.unread.length - a.unread.length ||
    b.members.length - a.members.length ||
    compareText(a.cluster, b.cluster) ||
    compareText(`${a.title} ${aboutOf(a)}`, `${b.title} ${aboutOf(b)}`)
  )
}

function cohortView(cohort: Assessed, isOpen: boolean): CohortView {
  const { title, cluster, variants, unread } = cohort
  const shown = variants.slice(0, thresholdLimits.variants)
  const isTold = variants.length > 1 || shown.some(([node]) => node !== undefined && missingOf(node).length > 0)
  return {
    title,
    about: aboutOf(cohort),
    flags: flagsOf(cohort),
    isOpen,
    caption: `Thresholds of ${title} in ${cluster}, ${imageOf(cohort)}`,
    variants: isTold ? [...shown.map(variantText), ...restText(variants.slice(shown.length))] : [],
    parts: shown.length === 0 ? [] : partsOf(shown),
    notKnown: unknownTexts(unread, thresholdLimits.reasons),
  }
}

function imageOf({ members }: Cohort): string {
  const { identity, prediction } = members[0]!
  const { kubeletMinor } = prediction.settings
  const image = identity.amiFamily === 'other' ? 'another image' : identity.amiFamily
  return `${image}, ${kubeletMinor === null ? 'kubelet of unknown version' : `kubelet ${kubeletMinor}`}`
}

function aboutOf(cohort: Cohort): string {
  const { cluster, members } = cohort
  const { prediction } = members[0]!
  const { kubeletMinor, borrowedMinor } = prediction.settings
  const types = [...Map.groupBy(members, member => member.identity.instanceType)].toSorted(
    ([a, ofA], [b, ofB]) => ofB.length - ofA.length || compareText(a ?? '', b ?? ''),
  )
  const named = types.flatMap(([type, { length }]) => (type === null ? [] : [`${formatCount(length)} ${shownLine(type, 40)}`]))
  const more = named.length - thresholdLimits.instanceTypes
  return [
    cluster,
    imageOf(cohort),
    ...(kubeletMinor !== null && borrowedMinor !== null ? [`defaults of ${borrowedMinor}`] : []),
    `${counted(members.length, 'node')}${named.length === 0 ? '' : `: ${named.slice(0, thresholdLimits.instanceTypes).join(', ')}`}`,
    ...(more > 0 ? [`${counted(more, 'more type')}`] : []),
  ].join(', ')
}

function flagsOf({ members, unwatched, variants, unread }: Assessed): CohortView['flags'] {
  const nodes = nodesWith(unwatched)
  const where = nodes === members.length ? '' : ` on ${counted(nodes, 'node')}`
  return [
    { is: unwatched.size > 0, isBad: true, flag: `nothing watches ${[...unwatched.keys()].join(', ')}${where}` },
    { is: variants.length > 1, isBad: false, flag: `${formatCount(variants.length)} variants` },
    { is: unread.length > 0, isBad: false, flag: `${counted(unread.length, 'node')} not known` },
  ]
    .filter(({ is }) => is)
    .map(({ flag, isBad }) => ({ flag, isBad }))
}

const nodesWith = (unwatched: Assessed['unwatched']) => Math.max(0, ...unwatched.values())

const variantText = (nodes: Variant, index: number) => [`${letterOf(index)}: ${namedNodes(nodes)}`, ...missingOf(nodes[0]!)].join('. ')

/** What of the two is not known of a node, and why. */
function missingOf(node: AuditedNode): string[] {
  const { imageGC, missing } = node.prediction.settings
  const why = (reason: string | undefined) => shownLine(reason ?? 'no reason was recorded', 300)
  return [
    ...(evictionOf(node) === null ? [`Eviction thresholds not known: ${why(missing.eviction)}`] : []),
    ...(imageGC === null ? [`Image GC not known: ${why(missing.imageGC)}`] : []),
  ]
}

const restText = (rest: Variant[]): string[] =>
  rest.length === 0 ? [] : [`${counted(rest.length, 'more variant')}, not shown: ${namedNodes(rest.flat())}`]
