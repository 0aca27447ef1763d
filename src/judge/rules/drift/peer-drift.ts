import { absentValue, dependsOnSize, type FieldValue, fieldValues } from '#judge/drift.ts'
import type { NodeExample } from '#judge/example.ts'
import { type CohortMember, cohortRule } from '#judge/rule.ts'
import { bounded, byText, counted } from '#judge/text.ts'
import type { Evidence } from '#model/finding.ts'

interface Settings {
  instanceType: string | null
  fields: Record<string, FieldValue>
}

interface Group {
  value: FieldValue
  nodes: string[]
}

interface Drift {
  evidence: Evidence
  outliers: string[]
}

const node = (high: number): NodeExample => ({ configuration: { imageGCHighThresholdPercent: high } })

export const peerDrift = cohortRule({
  id: 'peer-drift',
  family: 'drift',
  severity: 'medium',
  needs: ['configuration'],
  docs: {
    title: 'Nodes differ from their peers in GC, eviction, log or reservation settings',
    why: 'Nodes of one nodegroup are meant to be alike. One that was edited by hand, or has missed a change, meets pressure at another point than its peers, and its setting is lost when it is replaced.',
    fix: "Put the setting where the group's nodes come from (launch template, NodeConfig, EC2NodeClass), and replace the nodes that differ.",
    sources: ['cmd/kubelet/app/server.go initConfigz', 'pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration'],
  },
  examples: { bad: [node(80), node(80), node(95)], good: [node(80), node(80), node(80)] },

  // Another minor has other defaults: that is the skew of versions, not drift.
  cohort: ({ identity }) => /^v?(\d+\.\d+)/.exec(identity.kubeletVersion ?? '')?.[1] ?? '',

  fact: ({ configuration, identity }): Settings => ({ instanceType: identity.instanceType, fields: fieldValues(configuration, identity) }),

  *judge(members) {
    const paths = [...new Set(members.flatMap(({ fact }) => Object.keys(fact.fields)))].toSorted(byText)
    const drifts = paths.flatMap(path =>
      dependsOnSize(path)
        ? [...Map.groupBy(members, ({ fact }) => fact.instanceType)].flatMap(
            ([type, equals]) => driftOf(path, equals, ` (${bounded(type ?? 'instance type not known', 40)})`) ?? [],
          )
        : (driftOf(path, members, '') ?? []),
    )
    if (drifts.length === 0) return
    const nodes = [...new Set(drifts.flatMap(({ outliers }) => outliers))].toSorted(byText)
    yield {
      nodes,
      failing: {
        consequence: `${nodes.length} of ${counted(members.length, 'node')} of one kubelet minor run with other settings than their peers: they collect, evict, rotate or reserve at other points, and a replacement brings back the group's own setting.`,
        evidence: drifts.map(({ evidence }) => evidence).toSorted((a, b) => byText(a.what, b.what)),
      },
    }
  },
})

/** The nodes that hold another value than the norm; with no norm all are named. Null: all alike. */
function driftOf(path: string, members: CohortMember<Settings>[], qualifier: string): Drift | null {
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
  const norm = normOf(ranked)
  const outlying = ranked.filter(group => group !== norm)
  return {
    outliers: outlying.flatMap(({ nodes }) => nodes),
    evidence: {
      what: `configz ${path}${qualifier}`,
      value: [...(norm ? [`${norm.value.shown} on ${counted(norm.nodes.length, 'node')} (the norm)`] : []), ...outlying.map(described)].join('; '),
    },
  }
}

/** The majority's value; in a tie the default, if it is among the tied. */
function normOf(ranked: Group[]): Group | null {
  const most = ranked[0]?.nodes.length
  const tied = ranked.filter(({ nodes }) => nodes.length === most)
  const candidates = tied.length === 1 ? tied : tied.filter(({ value }) => value.isDefault)
  return candidates.length === 1 ? candidates[0]! : null
}

function described({ value, nodes }: Group): string {
  const [first = ''] = nodes.toSorted(byText)
  return `${value.shown} on ${counted(nodes.length, 'node')} (${bounded(first, 63)}${nodes.length > 1 ? ', ...' : ''})`
}
