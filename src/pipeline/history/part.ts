/**
 * The part of two runs that can be compared if only some nodes were selected: the findings of rules
 * that judge each node by itself, on the nodes of this run. Rules that compare nodes with each
 * other, or that judge whole clusters, have other results on a part.
 */
import type { RunToCompare } from '#judge/compare/history/ledger.ts'
import { rules } from '#judge/rules/index.ts'
import type { FindingsDocument, NodeSample } from '#model/finding/finding.ts'
import type { RememberedRun } from '#model/history.ts'

const nodeRules = new Set(rules.filter(({ kind }) => kind === 'node').map(({ id }) => id))

interface OnNodes {
  rule: string
  cluster: string
  nodes: NodeSample
}

const keyOf = (cluster: string, node: string) => JSON.stringify([cluster, node])

/** The last run as if it had read only the nodes of this run. */
export function rememberedPart(last: RememberedRun, now: RunToCompare): RememberedRun {
  const chosen = new Set(now.nodes.map(({ cluster, name }) => keyOf(cluster, name)))
  const clusters = new Set(now.document.clusters.map(({ name }) => name))
  const isChosen = (cluster: string, node: string) => chosen.has(keyOf(cluster, node))
  const onChosen = <T extends OnNodes>(list: readonly T[]): T[] =>
    list.filter(isOfNodeRule).flatMap(each => {
      const sample = each.nodes.sample.filter(node => isChosen(each.cluster, node))
      return sample.length === 0 ? [] : [{ ...each, nodes: { count: sample.length, sample } }]
    })
  const { document } = last
  return {
    ...last,
    document: {
      ...document,
      clusters: document.clusters.filter(({ name }) => clusters.has(name)),
      findings: onChosen(document.findings),
      waived: onChosen(document.waived),
      unknowns: onChosen(document.unknowns),
      notAudited: document.notAudited.filter(
        ({ cluster, node }) => node !== null && isChosen(cluster, node),
      ),
    },
    nodes: last.nodes.filter(({ cluster, name }) => isChosen(cluster, name)),
    ruleErrors: last.ruleErrors.filter(({ cluster, node }) => isChosen(cluster, node)),
    past: last.past.filter(({ rule, cluster }) => nodeRules.has(rule) && clusters.has(cluster)),
    readings: last.readings.filter(({ cluster }) => clusters.has(cluster)),
  }
}

/** This run without the rules that need all nodes. */
export const comparablePart = (now: RunToCompare): RunToCompare => ({
  ...now,
  document: ofNodeRules(now.document),
})

const ofNodeRules = (document: FindingsDocument): FindingsDocument => ({
  ...document,
  findings: document.findings.filter(isOfNodeRule),
  waived: document.waived.filter(isOfNodeRule),
  unknowns: document.unknowns.filter(isOfNodeRule),
})

const isOfNodeRule = ({ rule }: Pick<OnNodes, 'rule'>) => nodeRules.has(rule)
