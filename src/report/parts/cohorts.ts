/** Cohorts of nodes that should be alike, and the variants of settings in each cohort. */

import { parseQuantity } from '#base/go/quantity.ts'
import { byText } from '#base/text/text-order.ts'
import type { Signal, ThresholdOrigin } from '#model/prediction/prediction.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { subjectText } from './findings.ts'
import { nameLimit } from './node.ts'

export interface Cohort {
  members: AuditedNode[]
}

/** Nodes with the same settings. Values are compared by meaning, not by source or bytes. */
export type Variant = AuditedNode[]

export function cohortsOf(nodes: AuditedNode[]): Cohort[] {
  const alike = Map.groupBy(
    nodes,
    ({
      cluster,
      identity: { group, owner, amiFamily, operatingSystem },
      prediction: { settings },
    }) =>
      JSON.stringify([
        cluster,
        group.kind,
        group.kind === 'Node' ? owner === 'fargate' : group.name,
        amiFamily,
        operatingSystem,
        settings.kubeletMinor,
      ]),
  )
  return [...alike.values()].map(members => ({
    members: members.toSorted((a, b) => byText(a.identity.name, b.identity.name)),
  }))
}

export function cohortTitle({ members }: Cohort, language: Language): string {
  const { group, owner } = members[0]!.identity
  const { fargate, withoutGroup } = language.words.fleet
  if (group.kind !== 'Node') return subjectText(group, language)
  return owner === 'fargate' ? fargate : withoutGroup
}

/** Null: the thresholds are unknown, or could not be parsed. */
export function evictionOf({ prediction: { eviction } }: AuditedNode) {
  return eviction === null || eviction.error !== null ? null : eviction
}

export const isKnown = (node: AuditedNode): boolean =>
  evictionOf(node) !== null || node.prediction.settings.imageGC !== null

/** The variants among the nodes, the largest first. */
export function variantsOf(nodes: AuditedNode[]): Variant[] {
  const alike = [...Map.groupBy(nodes, signatureOf)]
  return alike
    .toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || byText(a, b))
    .map(([, variant]) => variant)
}

function signatureOf(node: AuditedNode) {
  const { settings } = node.prediction
  const own = evictionOf(node)?.thresholds.filter(({ signal }) => !isAdded(signal))
  const thresholds = own?.map(({ signal, value, hard, gracePeriodMs, minReclaim }) =>
    JSON.stringify([signal, hard, canonical(value), gracePeriodMs, canonical(minReclaim)]),
  )
  return JSON.stringify([
    thresholds?.toSorted() ?? null,
    settings.off,
    settings.imageGC?.map(({ value }) => value) ?? null,
  ])
}

/** Whether the kubelet adds this threshold, by other thresholds, the disks and enforced limits. */
export const isAdded = (signal: Signal) =>
  signal.startsWith('containerfs.') || signal === 'allocatableMemory.available'

/** Maximum characters of a configured number. Longer texts are not parsed. */
const longestNumber = 100

/** Returns equal texts for values that mean the same: `1Gi` and `1024Mi`, `10%` and `10.0%`. */
export function canonical(value: string): string {
  if (value.length > longestNumber) return value
  const [, percentage] = /^(\d+(?:\.\d*)?)%$/.exec(value) ?? []
  if (percentage !== undefined) return `${Number(percentage)}%`
  try {
    return String(parseQuantity(value).safeInteger ?? value)
  } catch {
    return value
  }
}

/**
 * Reasons why settings are unknown, each with its number of nodes. Reasons that differ only in the
 * node's name or an IP address count as one.
 */
export function unknownTexts(nodes: AuditedNode[], limit: number, language: Language): string[] {
  const { thresholds: words, noReason } = language.words
  const reasons = [
    ...Map.groupBy(nodes, node =>
      (reasonOf(node) ?? '').replaceAll(node.identity.name, '*').replace(addresses, '*'),
    ),
  ]
  const sorted = reasons
    .toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || byText(a, b))
    .map(([, alike]) => alike)
  const texts = sorted
    .slice(0, limit)
    .map(alike =>
      words.notKnownFor(
        namedNodes(alike, language),
        language.line(reasonOf(alike[0]!) ?? noReason, 300),
      ),
    )
  const rest = sorted.slice(limit).flat()
  return rest.length === 0
    ? texts
    : [...texts, words.notKnownForOthers(namedNodes(rest, language), sorted.length - limit)]
}

const addresses = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g

const reasonOf = ({ prediction: { settings } }: AuditedNode) =>
  settings.missing.eviction ?? settings.missing.imageGC

const sampleSize = 3

/** `4 nodes (a, b, c and 1 more)`. */
export function namedNodes(nodes: AuditedNode[], { words, line }: Language): string {
  const names = nodes.slice(0, sampleSize).map(({ identity }) => line(identity.name, nameLimit))
  return words.thresholds.named(nodes.length, names, nodes.length - names.length)
}

/* The origin of a setting, in words. */

const pathLimit = 120

/** `drop-in /etc/…`; `likely …` if only the value indicates the source. */
export const originText = (origin: ThresholdOrigin, language: Language): string =>
  language.words.origin.from(
    language.words.origin.sources[origin.source],
    ...pathAndDoubt(origin, language),
  )

/** What removed a default, as text that follows "lost": `by evictionHard of the file /etc/…`. */
export const loserText = (origin: ThresholdOrigin, language: Language): string =>
  language.words.origin.lostBy(
    language.words.origin.removers[origin.source],
    ...pathAndDoubt(origin, language),
  )

const pathAndDoubt = ({ certainty, path }: ThresholdOrigin, { fold }: Language) =>
  [path === null ? null : fold(path, pathLimit), certainty === 'likely'] as const
