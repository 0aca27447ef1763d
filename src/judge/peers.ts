/** What most peers have in a field, and who has something else. */
import type { Evidence } from '#model/finding.ts'
import { absentValue, type FieldValue } from './drift.ts'
import type { CohortMember } from './rule.ts'
import { bounded, byText, counted } from './text.ts'

export interface PeerSettings {
  instanceType: string | null
  fields: Record<string, FieldValue>
}

export interface Drift {
  evidence: Evidence
  outliers: string[]
  /** Whether most peers agree, or the default decides. Without it the reference is as good as what it is compared with. */
  hasNorm: boolean
}

interface Group {
  value: FieldValue
  nodes: string[]
}

/** The nodes that hold another value than the norm, or where there is none than the reference. Null: all alike. */
export function driftOf(path: string, members: CohortMember<PeerSettings>[], qualifier: string): Drift | null {
  const groups = new Map<string, Group>()
  for (const { node, fact } of members) {
    const value = fact.fields[path] ?? absentValue(path)
    const group = groups.get(value.canonical)
    if (!group) groups.set(value.canonical, { value, nodes: [node] })
    else {
      group.nodes.push(node)
      // Of several spellings of one value one is shown, and always the same; a default of any member counts.
      const shown = byText(value.shown, group.value.shown) < 0 ? value.shown : group.value.shown
      group.value = { ...group.value, shown, isDefault: group.value.isDefault || value.isDefault }
    }
  }
  if (groups.size < 2) return null
  const ranked = [...groups.values()].toSorted((a, b) => b.nodes.length - a.nodes.length || byText(a.value.canonical, b.value.canonical))
  const tied = ranked.filter(({ nodes }) => nodes.length === ranked[0]?.nodes.length)
  const norm = normOf(tied)
  const reference = norm ?? referenceOf(tied)
  const outlying = ranked.filter(group => group !== reference)
  const standing = norm ? '(the norm)' : '(no value has a majority: compared with this one)'
  return {
    hasNorm: norm !== null,
    outliers: outlying.flatMap(({ nodes }) => nodes),
    evidence: {
      what: `configz ${path}${qualifier}`,
      value: [`${reference.value.shown} on ${counted(reference.nodes.length, 'node')} ${standing}`, ...outlying.map(described)].join('; '),
    },
  }
}

/** The majority's value; in a tie the default, if it is among the tied. */
function normOf(tied: Group[]): Group | null {
  const candidates = tied.length === 1 ? tied : tied.filter(({ value }) => value.isDefault)
  return candidates.length === 1 ? candidates[0]! : null
}

/** Of values that none is the norm of, the nearest to the default; else the first as sorted. */
const referenceOf = (tied: Group[]): Group =>
  tied.reduce((a, b) => ((b.value.fromDefault ?? Number.POSITIVE_INFINITY) < (a.value.fromDefault ?? Number.POSITIVE_INFINITY) ? b : a))

function described({ value, nodes }: Group): string {
  const [first = ''] = nodes.toSorted(byText)
  return `${value.shown} on ${counted(nodes.length, 'node')} (${bounded(first, 63)}${nodes.length > 1 ? ', ...' : ''})`
}
