/** Findings with severity and waiver of the policy, fixes and steps. */

import { declarationOf } from '#judge/drift/declared.ts'
import type { Declaration, DeclaredNode } from '#judge/drift/declared-source.ts'
import type { Wishes } from '#judge/fixes/agreement.ts'
import { placeOfCluster } from '#judge/fixes/command-place.ts'
import type { Refusals } from '#judge/fixes/completion.ts'
import { diskSourceOf } from '#judge/fixes/disk-source.ts'
import { settleFixes } from '#judge/fixes/fix.ts'
import type { FixFacts } from '#judge/fixes/fix-facts.ts'
import { stepsOf } from '#judge/fixes/steps.ts'
import { line } from '#judge/rule.ts'
import type { ClusterFacts } from '#judge/subject/cluster-facts.ts'
import type { Step } from '#model/finding/cause.ts'
import type { Finding } from '#model/finding/finding.ts'
import type { Policy } from '#model/policy.ts'
import { byFinding, commandNode, type FoundFinding } from './tally.ts'
import { waiverOf } from './waivers.ts'

export interface Fixing {
  policy: Policy
  /** UTC day that decides which waivers hold. */
  day: string
  factsOf: (cluster: string) => ClusterFacts
  fixFacts: FixFacts
  /** Null: fixes stay as the rules propose them, without steps. */
  refusalsOf: Refusals | null
}

/** Worst first. */
export function completeFindings(found: readonly FoundFinding[], fixing: Fixing): FoundFinding[] {
  const all = found
    .map(each => withWishes(each, fixing))
    .toSorted((a, b) => byFinding(a.finding, b.finding))
  const { refusalsOf } = fixing
  if (refusalsOf === null) return all
  return settleFixes(all, refusalsOf).map(each => ({
    ...each,
    finding: { ...each.finding, steps: stepsFor(each, fixing) },
  }))
}

/** The finding with what its fixes need. */
function withWishes(source: FoundFinding, fixing: Fixing): FoundFinding & Wishes {
  const { cluster, subject, proposals } = source
  const { fixFacts, factsOf } = fixing
  const wishes = proposals.map(({ origin, config, nodes }) => {
    const fact = fixFacts.factOfMost(cluster, nodes)
    const declaration = fact && declarationIn(factsOf(cluster), fact.node)
    return { origin, config, fact, declaration }
  })
  const finding = withPolicy(source, fixing)
  return { ...source, finding, wishes, sizes: fixFacts.sizesOf(cluster, subject) }
}

function withPolicy(
  { cluster, rule, subject, finding }: FoundFinding,
  { policy, day }: Fixing,
): Finding {
  const { severities, waivers } = policy
  const own = Object.hasOwn(severities, rule.id) ? severities[rule.id] : undefined
  const found = waiverOf({ rule: rule.id, cluster, subject }, waivers, day)
  const rated = { ...finding, severity: own ?? finding.severity }
  if (found === null) return rated
  const { until, reason } = found.waiver
  if (!found.expired) return { ...rated, waived: { until, reason } }
  const trace = line('waiver', 'waiver', `expired after ${until}; its reason was: ${reason}`)
  return { ...rated, evidence: [...finding.evidence, trace] }
}

function stepsFor(
  { cluster, finding, nodes, actions, commands }: FoundFinding,
  { policy, factsOf, fixFacts }: Fixing,
): Step[] {
  const place = placeOfCluster(cluster, factsOf(cluster).eks, policy.contextNames)
  const first = commandNode(nodes)
  const node = first === undefined ? null : fixFacts.stepNode(cluster, first)
  const declared = fixFacts.factOfMost(cluster, nodes)?.node
  const diskSource = (device: string | null) =>
    declared ? diskSourceOf(declared, device, factsOf(cluster).contextOf('')) : null
  return stepsOf(finding, actions, { commands, node, place, cluster, diskSource })
}

function declarationIn(facts: ClusterFacts, node: DeclaredNode): Declaration | null {
  const declaration = declarationOf(node, facts.contextOf(''))
  return typeof declaration === 'string' ? null : declaration
}
