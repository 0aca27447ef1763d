/** Runs the rules on each node as it arrives. Makes outcomes, findings, coverage and grades. */

import { type Keep, keepInMemory } from '#base/keep.ts'
import type { Refusals } from '#judge/fixes/completion.ts'
import type { Rule } from '#judge/rule.ts'
import type { ClusterPrediction } from '#model/cluster-garbage.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { Policy } from '#model/policy.ts'
import { type Beside, type Closed, closeJudgement } from './closing.ts'
import { Taken } from './taking.ts'

export interface JudgementOptions {
  allNodes?: boolean
  /** Default: a kubelet starts with every fix. Null: fixes stay as the rules propose them, for a caller that shows none. */
  refusalsOf?: Refusals | null
  /** Whether the nodes are compared with their earlier readings, and kept for later ones. Default: true. */
  hasHistory?: boolean
  /** Keeps the details of judged nodes. Default: in memory. Null: they are not kept. */
  keep?: Keep | null
  /** Called with each finding that no waiver covers. */
  onFound?: Beside['onFound']
}

export interface Judgement extends Pick<Taken, 'takeCluster' | 'takeObjects' | 'take'> {
  /**
   * Call it once, at the end.
   * @param takenAt RFC 3339: the snapshot's time, whose UTC day decides which waivers hold. @throws RangeError for an invalid time.
   * @param predictions of the clusters that were searched for garbage
   * @param before the last reading of each node
   */
  close(takenAt: string, predictions?: readonly ClusterPrediction[], before?: EarlierNodes): Closed
}

export function openJudgement(
  rules: readonly Rule[],
  policy: Policy,
  {
    allNodes = false,
    refusalsOf = () => [],
    hasHistory = true,
    keep = keepInMemory,
    onFound = () => undefined,
  }: JudgementOptions = {},
): Judgement {
  const taken = new Taken(rules, policy, allNodes, refusalsOf, hasHistory, keep)
  return {
    takeCluster: input => taken.takeCluster(input),
    takeObjects: input => taken.takeObjects(input),
    take: (input, prediction) => taken.take(input, prediction),
    close: (takenAt, predictions = [], before = () => null) =>
      closeJudgement(taken, { takenAt, predictions, before, onFound }),
  }
}
