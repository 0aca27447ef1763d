/** Predictions: replays each node's record with its own and with the requested configuration. Live fleets and snapshots take the same path. */
import { timelineSteps } from '#base/limits.ts'
import { OperatorError } from '#base/operator-error.ts'
import { requireSupported } from '#facts/kubelet/features.ts'
import type { MalformedLine, SnapshotRecord } from '#model/input/record.ts'
import { asItIs, type WhatIf } from '#model/plan.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'

export interface Predicted {
  prediction: NodePrediction
  /** The same node with its own configuration, if another one was requested. */
  before: NodePrediction | null
}

/** @throws OperatorError and the errors of the source */
export async function* predict(
  source: AsyncIterable<SnapshotRecord | MalformedLine>,
  whatIf: WhatIf,
  onMalformed: (line: MalformedLine) => void,
): AsyncGenerator<Predicted> {
  if (whatIf.kubelet !== undefined) requireSupported(whatIf.kubelet)
  const seen = new Set<string>()
  const budget = { steps: timelineSteps.ofFleet }
  let takenAt = ''
  for await (const read of source) {
    if (read.kind === 'Malformed') onMalformed(read)
    if (read.kind === 'Snapshot') takenAt = read.takenAt
    if (read.kind !== 'Node') continue
    const input = nodeInput(read)
    const name = `${input.cluster}/${input.node.metadata?.name}`
    // As in an audit, only the first of two records of a node counts.
    if (seen.has(name)) continue
    seen.add(name)
    const now = input.at ?? takenAt
    if (whatIf.at !== null && Date.parse(whatIf.at) < Date.parse(now))
      throw new OperatorError(
        `--at ${whatIf.at} lies before ${now}, when ${name} was read: what it was before that is not known`,
      )
    budget.steps += timelineSteps.ofNode
    yield {
      prediction: replay(input, takenAt, { ...whatIf, budget }),
      before:
        whatIf.changes.length === 0 && whatIf.kubelet === undefined
          ? null
          : replay(input, takenAt, { ...asItIs, at: whatIf.at, fills: whatIf.fills, budget }),
    }
  }
}
