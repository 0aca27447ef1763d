/**
 * Equal for nodes of a group that should be alike. Nodes with another image or minor have other
 * defaults; version-skew-drift reports them. Nodes with another template or node class have other
 * declared settings; lost-on-the-way reports them.
 */
export function peersOf(subject: NodeSubject) {
  const { template, nodeClass } = declaredNode(subject)
  const release = releaseOf(subject.node, subject.identity.kubeletVersion)
  return JSON.stringify([release, template.version, nodeClass.hash, nodeClass.hashVersion])
}

export interface PeerSettings {
  instanceType: string | null
  fields: Record<string, FieldValue>
}

/** The intended value of a field on a node, as `FieldValue.canonical`, and its source. */
export interface Meant {
  by: 'declared' | 'baseline'
  canonical: string
}

export interface Drift {
  evidence: Evidence
  outliers: string[]
  /** The value that outliers are compared with. `outlying`: their values, most frequent first. */
  reference: FieldValue
  outlying: NodesOfValue[]
  /** Whether the policy, the majority, an intended value or the default gives a norm. If not, the reference is one value among equals. */
  hasNorm: boolean
}

export interface NodesOfValue {
  value: FieldValue
  nodes: string[]
}

export interface NodeValue {
  node: string
  value: FieldValue
  meant?: Meant | null
}

/** The nodes whose value differs from the norm, or from the reference if no norm exists. Null: all are alike. */
export const driftOf = <Fact extends PeerSettings>(
  path: string,
  members: readonly CohortMember<Fact>[],
  qualifier: string,
  meantOf: (fact: Fact, path: string) => Meant | null,
): Drift | null =>
  driftOfValues(
    { kind: 'configz', what: `${path}${qualifier}` },
    members.map(({ node, fact }) => ({
      node,
      value: settingOfPeer(fact, path),
      meant: meantOf(fact, path),
    })),
  )

export const settingOfPeer = ({ fields }: PeerSettings, path: string) =>
  fields[path] ?? absentValue(path)

/** @param wanted the policy's value; it is the norm, whatever most peers have */
export function driftOfValues(
  { kind, what }: Pick<Evidence, 'kind' | 'what'>,
  values: readonly NodeValue[],
  wanted: FieldValue | null = null,
): Drift | null {
  const groups = new Map<string, NodesOfValue>()
  for (const { node, value } of values) {
    const group = groups.get(value.canonical)
    if (!group) groups.set(value.canonical, { value, nodes: [node] })
    else {
      group.nodes.push(node)
      // Of several spellings of one value, always the same one is shown. A default of any member counts.
      const shown = byText(value.shown, group.value.shown) < 0 ? value.shown : group.value.shown
      group.value = { ...group.value, shown, isDefault: group.value.isDefault || value.isDefault }
    }
  }
  if (wanted && !groups.has(wanted.canonical))
    groups.set(wanted.canonical, { value: wanted, nodes: [] })
  if (groups.size < 2) return null
  const ranked = [...groups.values()].toSorted(
    by(
      ({ nodes }) => -nodes.length,
      ({ value }) => value.canonical,
    ),
  )
  const tied = ranked.filter(({ nodes }) => nodes.length === ranked[0]?.nodes.length)
  const meant = tied.length > 1 ? intendedValue(tied, values) : null
  // Nodes that differ from their own declared or baseline value are reported by other rules.
  if (meant === 'none') return null
  const norm = (wanted && groups.get(wanted.canonical)) ?? meant?.group ?? normOf(tied)
  const reference = norm ?? referenceOf(tied)
  const sound = new Set(
    values.flatMap(({ node, value, meant }) =>
      meant?.canonical === value.canonical ? [node] : [],
    ),
  )
  const outlying = ranked
    .filter(group => group !== reference)
    .map(({ value, nodes }) => ({ value, nodes: nodes.filter(node => !sound.has(node)) }))
    .filter(({ nodes }) => nodes.length > 0)
  if (outlying.length === 0) return null
  const standing = standingText(Boolean(wanted), norm !== null, meant?.by)
  const held = reference.nodes.length === 0 ? '' : ` on ${plural(reference.nodes.length, 'node')}`
  return {
    hasNorm: norm !== null,
    outliers: outlying.flatMap(({ nodes }) => nodes),
    reference: reference.value,
    outlying,
    evidence: {
      kind,
      what,
      value: [
        `${reference.value.shown}${held} ${standing}`,
        ...outlying.map(({ value, nodes }) => `${value.shown} on ${nodesText(nodes)}`),
      ].join('; '),
    },
  }
}

function standingText(
  isWanted: boolean,
  hasNorm: boolean,
  meantBy: Meant['by'] | undefined,
): string {
  if (isWanted) return '(the policy)'
  if (!hasNorm) return '(no value has a majority: compared with this one)'
  if (meantBy === undefined) return '(the norm)'
  return meantBy === 'declared' ? '(declared)' : '(the baseline)'
}

/** Among tied values, the one that nodes are meant to have. `none`: nodes are meant to have another value. Null: no node has an intended value. */
function intendedValue(tied: readonly NodesOfValue[], values: readonly NodeValue[]) {
  for (const by of ['declared', 'baseline'] as const) {
    const said = values.flatMap(({ meant }) => (meant?.by === by ? [meant.canonical] : []))
    const group = tied.find(({ value }) => said.includes(value.canonical))
    if (group) return { group, by }
    if (said.length > 0) return 'none'
  }
  return null
}

/** The majority's value; in a tie the default, if it is among the tied. */
function normOf(tied: NodesOfValue[]) {
  const candidates = tied.length === 1 ? tied : tied.filter(({ value }) => value.isDefault)
  return candidates.length === 1 ? candidates[0]! : null
}

/** The reference if no norm exists: the value nearest to the default, else the first sorted. */
const referenceOf = (tied: NodesOfValue[]) =>
  tied.reduce((a, b) =>
    (b.value.fromDefault ?? Number.POSITIVE_INFINITY) <
    (a.value.fromDefault ?? Number.POSITIVE_INFINITY)
      ? b
      : a,
  )

/** `3 nodes (a, ...)`: the first in order of names. */
export function nodesText(nodes: readonly string[]) {
  const [first = ''] = nodes.toSorted()
  return `${plural(nodes.length, 'node')} (${shorten(first, 63)}${nodes.length > 1 ? ', ...' : ''})`
}

/* The most common values of a group, or of a part of a group. */

import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { by, byText, firstNames, matchesGlob } from '#base/text.ts'
import { releaseOf } from '#facts/eks/node-identity.ts'
import { fieldOf, isComparedField } from '#facts/kubelet/fields.ts'
import {
  type CohortMember,
  type FactOfGroup,
  line,
  type NodeSubject,
  plural,
  shorten,
} from '#judge/rule.ts'
import type { Evidence } from '#model/finding.ts'
import { matchesCluster, type NodeIdentity } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { declaredNode } from './declared.ts'
import { absentValue, type FieldValue, shownSetting } from './drift.ts'
import { type Loss, type Running, type StartFact, settingsOfPath, shownRunning } from './layers.ts'

/** By part of the group: its nodes, and by key the nodes that have the key. */
export type Shares = ReturnType<typeof sharesByPart>

export function sharesByPart<Fact>(
  group: readonly FactOfGroup<Fact>[],
  sharedOf: (fact: Fact) => { part: string; keys: Iterable<string> },
) {
  const parts = new Map<string, { nodes: number; of: Map<string, number> }>()
  for (const { fact, nodes } of group) {
    const { part, keys } = sharedOf(fact)
    const shares = parts.get(part) ?? { nodes: 0, of: new Map() }
    parts.set(part, shares)
    shares.nodes += nodes
    for (const key of keys) shares.of.set(key, (shares.of.get(key) ?? 0) + nodes)
  }
  return parts
}

export function isOnMost(shares: Shares, part: string, key: string) {
  const found = shares.get(part)
  return found !== undefined && 2 * (found.of.get(key) ?? 0) > found.nodes
}

type Matched = Pick<NodeIdentity, 'amiFamily' | 'instanceType'> & { cluster: string; group: string }

/** Merges all matching baselines. A later one replaces fields, and single keys of maps. Null: none matches. */
export function baselineOf(
  { cluster, group, amiFamily, instanceType }: Matched,
  { baseline }: Policy,
) {
  const actual = { cluster, group, amiFamily, instanceType: instanceType ?? '' }
  const keys = ['cluster', 'group', 'amiFamily', 'instanceType'] as const
  const matching = baseline.filter(({ match }) =>
    keys.every(
      key =>
        match[key] === undefined ||
        (key === 'cluster' ? matchesCluster : matchesGlob)(match[key], actual[key]),
    ),
  )
  if (matching.length === 0) return null
  const merged: Record<string, unknown> = {}
  for (const [field, value] of matching.flatMap(({ configuration }) =>
    Object.entries(configuration),
  )) {
    const before = merged[field]
    merged[field] = isRawObject(before) && isRawObject(value) ? { ...before, ...value } : value
  }
  return merged
}

/** One line for each layer that lost values; the layer with most losses comes first. */
export function layerEvidence(losses: readonly Loss[]) {
  return [...Map.groupBy(losses, ({ layer }) => layer)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([layer]) => line('layer', 'layer', layer))
}

export const wayEvidence = (losses: readonly Loss[], start: StartFact | null, running: Running) =>
  [...Map.groupBy(losses, ({ path }) => path)].flatMap(([path, own]) => {
    const said = start
      ? settingsOfPath(start, path).filter(
          ({ where, value }) => !own.some(loss => loss.where === where && loss.value === value),
        )
      : []
    return [
      ...[...own, ...said].map(({ by, where, value }) =>
        line('declared', `${by} ${path}`, `${shownSetting(value)} (${where})`),
      ),
      line('configz', path, shownRunning(running, path)),
    ]
  })

const mostReasons = 4
const mostFields = 4

export function lossWords(losses: readonly Loss[], running: Running) {
  const reasons = [...Map.groupBy(losses, ({ why }) => why)]
  const words = reasons.slice(0, mostReasons).map(([why, of]) => {
    const fields = of.map(
      ({ path, value }) => `${path} ${shownSetting(value)} (${shownRunning(running, path)} runs)`,
    )
    return `${firstNames(fields, mostFields)}: ${why}.`
  })
  const rest = reasons.length - words.length
  return [...words, ...(rest > 0 ? [`And for ${plural(rest, 'more reason')}.`] : [])].join(' ')
}

/** The values as configuration fields. The kubelet replaces maps as a whole, so a map also keeps its other running entries. */
export function configOf(
  values: readonly { path: string; value: unknown }[],
  running: Running,
): Record<string, unknown> {
  const config = new Map<string, unknown>()
  for (const { path, value } of values) {
    const field = fieldOf(path)
    if (!isComparedField(path) || value === undefined) continue
    if (path === field) config.set(field, value)
    else
      config.set(field, {
        ...mapOf(config.get(field) ?? mapThatRuns(field, running)),
        [path.slice(field.length + 1)]: value,
      })
  }
  return Object.fromEntries(config)
}

function mapThatRuns(field: string, running: Running): RawObject {
  const own = Object.entries(running).filter(
    ([path, { shown }]) => path !== field && fieldOf(path) === field && shown !== 'none',
  )
  const writtenValue = (shown: string) => (field === 'featureGates' ? shown === 'true' : shown)
  return Object.fromEntries(
    own.map(([path, { shown }]) => [path.slice(field.length + 1), writtenValue(shown)]),
  )
}
