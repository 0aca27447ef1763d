import { dependsOnSize, fieldValues } from '#judge/drift.ts'
import type { NodeExample } from '#judge/example.ts'
import { driftOf, type PeerSettings, peersOf } from '#judge/peers.ts'
import { cohortRule } from '#judge/rule.ts'
import { bounded, byText, counted } from '#judge/text.ts'

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

  cohort: peersOf,

  fact: ({ configuration, identity }): PeerSettings => ({
    instanceType: identity.instanceType,
    fields: fieldValues(configuration, identity),
  }),

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
    const tied = drifts.filter(({ hasNorm }) => !hasNorm).map(({ evidence }) => evidence.what.replace('configz ', ''))
    const doubt =
      tied.length === 0 ? '' : ` Of ${tied.toSorted(byText).join(', ')} no value has a majority: which of the nodes is the odd one is open.`
    yield {
      nodes,
      failing: {
        confidence: tied.length === 0 ? 'certain' : 'possible',
        consequence: `${nodes.length} of ${counted(members.length, 'node')} of one image and kubelet minor run with other settings than their peers: they collect, evict, rotate or reserve at other points, and a replacement brings back the group's own setting.${doubt}`,
        evidence: [{ what: 'layer', value: 'peers' }, ...drifts.map(({ evidence }) => evidence).toSorted((a, b) => byText(a.what, b.what))],
      },
    }
  },
})
