/** Many places with one failing of one rule, told as one: how many they are, and of what their evidence says the sums. */

import { ago, sharesText } from './garbage.ts'
import { worst } from './outcome.ts'
import { placesEvidence } from './places.ts'
import type { ClusterEvidence, ClusterFailing, ClusterRule } from './rule.ts'
import { byText, counted } from './text.ts'

/** Of the places the finding on the cluster names these, and says how to end it for the first. */
const placesShown = 14
const reasonsShown = 3
const commandsShown = 3

/** @param sorted at least one, that of most objects first */
export function gathered(rule: ClusterRule, cluster: string, sorted: readonly ClusterFailing[]): ClusterFailing {
  const [first] = sorted as [ClusterFailing]
  const count = sorted.reduce((sum, failing) => sum + failing.count, 0)
  const shown = sorted.slice(0, placesShown)
  return {
    subject: { kind: 'Cluster', namespace: null, name: cluster },
    count,
    noun: first.noun,
    severity: worst(sorted.map(({ severity }) => severity ?? rule.severity)),
    consequence: `${first.consequence} So it is in ${sorted.length} places, ${counted(count, first.noun)} in all; this is said of the first.`,
    evidence: [
      { what: placesEvidence, value: String(sorted.length) },
      ...sums(
        sorted.flatMap(({ evidence }) => evidence),
        first.noun,
      ),
      ...shown.map(({ subject, count: here, noun }) => ({ what: `${subject.kind} ${subject.name}`, value: counted(here, noun) })),
      ...(sorted.length > shown.length ? [{ what: 'not shown', value: `${sorted.length - shown.length} more` }] : []),
    ],
    commands: shown.slice(0, commandsShown).flatMap(({ commands }) => commands.slice(0, 1)),
  }
}

/** Of reasons the most frequent; of shares the largest, and of times the first, wherever they are. */
function sums(evidence: readonly ClusterEvidence[], noun: string): ClusterEvidence[] {
  const reasons = new Map<string, number>()
  const shares = new Map<string, Map<string, number>>()
  const firsts = new Map<string, NonNullable<ClusterEvidence['since']>>()
  for (const { what, reasonCount, shares: here, since } of evidence) {
    if (reasonCount !== undefined) reasons.set(what, (reasons.get(what) ?? 0) + reasonCount)
    if (here) {
      const all = shares.get(what) ?? new Map<string, number>()
      for (const [who, count] of here) all.set(who, (all.get(who) ?? 0) + count)
      shares.set(what, all)
    }
    const known = firsts.get(what)
    if (since && (known === undefined || since.firstMs < known.firstMs)) firsts.set(what, since)
  }
  const sorted = [...reasons].toSorted(([a, one], [b, other]) => other - one || byText(a, b))
  const rest = sorted.slice(reasonsShown).reduce((sum, [, count]) => sum + count, 0)
  return [
    ...sorted.slice(0, reasonsShown).map(([what, count]) => ({ what, value: counted(count, noun) })),
    ...(rest > 0 ? [{ what: 'other reasons', value: counted(rest, noun) }] : []),
    ...[...shares].map(([what, all]) => ({ what, value: sharesText(all) })),
    ...[...firsts].map(([what, { firstMs, nowMs }]) => ({ what, value: ago(firstMs, nowMs) })),
  ]
}
