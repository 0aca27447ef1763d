/** The cluster of the strangers: what a control plane should have collected, on nodes enough for two shards. */
import { fleet } from '#lab/scenarios/fleet.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'

const [crowded] = garbage.clusters as [ClusterScenario]
const large = fleet({ nodes: 12, podsPerNode: 4 })
const [more] = large.clusters as [ClusterScenario]
const nodeNames = [...crowded.nodes.names(), ...more.nodes.names()].toSorted()

export const cluster: ClusterScenario = {
  ...crowded,
  nodegroups: [...(crowded.nodegroups ?? []), ...(more.nodegroups ?? [])],
  nodes: {
    names: () => nodeNames,
    node: name => crowded.nodes.node(name) ?? more.nodes.node(name),
  },
}

/** What moto has is as old as the test, and its clusters say nothing of pod GC. */
const isTold = (rule: string) =>
  !['unattached-disk', 'terminated-pods-near-threshold'].includes(rule)
export const expectedGarbage = (garbage.expect().garbage ?? [])
  .filter(({ rule }) => isTold(rule))
  .map(({ rule, subject }) => `${rule}: ${subject}`)
  .toSorted()
export const foundGarbage = ({ findings }: FindingsDocument) =>
  findings
    .filter(({ family }) => family === 'cluster-gc')
    .map(({ rule, subject }) => `${rule}: ${subject.kind} ${subject.name}`)
    .toSorted()
export const silentNodes = garbage
  .expect()
  .nodes.filter(({ rules }) => rules.includes('unread-node'))

export const expectedNodes = [...garbage.expect().nodes, ...large.expect().nodes]
