/** Nodes that are meant to be alike, and in how many ways they are set: a cohort and its variants. */
import type { Signal } from '#model/prediction.ts'
import { parseQuantity } from '#model/quantity.ts'
import type { AuditedNode } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { compareText, shownLine } from '#report/text.ts'
import { subjectText } from './findings.ts'
import { nameLimit } from './node.ts'

export interface Cohort {
  title: string
  cluster: string
  members: AuditedNode[]
}

/** Nodes that are set alike: their values mean the same, wherever they come from and whatever they come to. */
export type Variant = AuditedNode[]

export function cohortsOf(nodes: AuditedNode[]): Cohort[] {
  const alike = Map.groupBy(nodes, ({ cluster, identity: { group, owner, amiFamily, operatingSystem }, prediction: { settings } }) =>
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
    title: titleOf(members[0]!),
    cluster: shownLine(members[0]!.cluster, nameLimit),
    members: members.toSorted((a, b) => compareText(a.identity.name, b.identity.name)),
  }))
}

function titleOf({ identity: { group, owner } }: AuditedNode): string {
  if (group.kind !== 'Node') return subjectText(group)
  return owner === 'fargate' ? 'Fargate nodes' : 'Nodes without a group'
}

/** Null: they are not known, or do not parse. */
export function evictionOf({ prediction: { eviction } }: AuditedNode) {
  return eviction === null || eviction.error !== null ? null : eviction
}

export const isKnown = (node: AuditedNode): boolean => evictionOf(node) !== null || node.prediction.settings.imageGC !== null

/** The largest first. */
export function variantsOf(nodes: AuditedNode[]): Variant[] {
  const alike = [...Map.groupBy(nodes, signatureOf)]
  return alike.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || compareText(a, b)).map(([, variant]) => variant)
}

function signatureOf(node: AuditedNode): string {
  const { settings } = node.prediction
  const own = evictionOf(node)?.thresholds.filter(({ signal }) => !isAdded(signal))
  const thresholds = own?.map(({ signal, value, hard, gracePeriodMs, minReclaim }) =>
    JSON.stringify([signal, hard, canonical(value), gracePeriodMs, canonical(minReclaim)]),
  )
  return JSON.stringify([thresholds?.toSorted() ?? null, settings.off, settings.imageGC?.map(({ value }) => value) ?? null])
}

/** What the kubelet adds by itself follows from the other thresholds, the disks and what is enforced. */
export const isAdded = (signal: Signal) => signal.startsWith('containerfs.') || signal === 'allocatableMemory.available'

/** Longer texts are no number that anybody set. */
const longestNumber = 100

/** Equal for values that mean the same: `1Gi` and `1024Mi`, `10%` and `10.0%`. */
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

/** Why nothing is known of them, and of how many: reasons that differ in a name or an address are one. */
export function unknownTexts(nodes: AuditedNode[], limit: number): string[] {
  const reasons = [...Map.groupBy(nodes, node => reasonOf(node).replaceAll(node.identity.name, '*').replace(addresses, '*'))]
  const sorted = reasons.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || compareText(a, b)).map(([, alike]) => alike)
  const texts = sorted.slice(0, limit).map(alike => `${namedNodes(alike)}: not known. ${shownLine(reasonOf(alike[0]!), 300)}`)
  const rest = sorted.slice(limit).flat()
  return rest.length === 0 ? texts : [...texts, `${namedNodes(rest)}: not known, for ${counted(sorted.length - limit, 'other reason')}.`]
}

const addresses = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g

const reasonOf = ({ prediction: { settings } }: AuditedNode): string =>
  settings.missing.eviction ?? settings.missing.imageGC ?? 'no reason was recorded'

const sampleSize = 3

/** `4 nodes (a, b, c and 1 more)`. */
export function namedNodes(nodes: AuditedNode[]): string {
  const names = nodes.slice(0, sampleSize).map(({ identity }) => shownLine(identity.name, nameLimit))
  const more = nodes.length > sampleSize ? ` and ${formatCount(nodes.length - sampleSize)} more` : ''
  return `${counted(nodes.length, 'node')} (${names.join(', ')}${more})`
}
