/** Nodes without a group are subjects of their own. Too many of them become one finding. */
import type { Subject } from '#model/subject.ts'
import type { Tally } from './tally.ts'

/** If one rule has an outcome on more ungrouped nodes than this in a cluster, they become one cluster finding. */
export const mostLooseNodes = 25

/**
 * @param open creates the tally of a rule on a whole cluster
 * @param isOwn whether a tally must stay a subject of its own, because a waiver names it
 */
export function gatherLooseNodes(
  tallies: readonly Tally[],
  open: (rule: Tally['rule'], cluster: string, subject: Subject) => Tally,
  isOwn: (tally: Tally) => boolean,
): Tally[] {
  const loose = Map.groupBy(
    tallies.filter(tally => tally.subject.kind === 'Node' && !isOwn(tally)),
    ({ rule, cluster }) => JSON.stringify([rule.id, cluster]),
  )
  const many = [...loose.values()].filter(group => group.length > mostLooseNodes)
  const gathered = many.map(group => {
    const [{ rule, cluster }] = group as [Tally]
    const whole = open(rule, cluster, { kind: 'Cluster', namespace: null, name: cluster })
    for (const tally of group) whole.absorb(tally)
    return whole
  })
  const absorbed = new Set(many.flat())
  return [...tallies.filter(tally => !absorbed.has(tally)), ...gathered]
}
