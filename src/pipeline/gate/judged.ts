/** Judges nodes twice, before and after a change, with the rules that settings can break. */
import { openJudgement } from '#judge/judge.ts'
import { rules } from '#judge/rules/index.ts'
import type { ClusterInput } from '#model/cluster-input.ts'
import type { ObjectsInput } from '#model/cluster-objects.ts'
import { type Family, type Finding, severities } from '#model/finding.ts'
import type { NodeInput } from '#model/node-input.ts'
import type { Policy } from '#model/policy.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { replay } from '#replay/replay.ts'

/** They compare nodes with their past or their peers, or say what was read: no change of a setting is judged by them. */
const otherFamilies: ReadonlySet<Family> = new Set(['drift', 'coverage', 'cluster-gc'])
const changeRules = rules.filter(({ family }) => !otherFamilies.has(family))

export interface ChangedFinding {
  finding: Finding
  /** The node's name. */
  node: string
  change: 'worse' | 'better'
}

export interface ChangeJudgement {
  takeCluster(input: ClusterInput): void
  takeObjects(input: ObjectsInput): void
  take(before: NodeInput, after: NodeInput): Record<'before' | 'after', NodePrediction>
  /** Findings that only one of both has, or that have another severity; one entry for each node. */
  close(): ChangedFinding[]
}

/** @param takenAt time of the snapshot */
export function openChangeJudgement(policy: Policy, takenAt: string): ChangeJudgement {
  const open = () => openJudgement(changeRules, policy, { allNodes: true })
  const [old, now] = [open(), open()]
  return {
    takeCluster(input) {
      for (const judgement of [old, now]) judgement.takeCluster(input)
    },
    takeObjects(input) {
      for (const judgement of [old, now]) judgement.takeObjects(input)
    },
    take(before, after) {
      const predictions = { before: replay(before, takenAt), after: replay(after, takenAt) }
      old.take(before, predictions.before)
      now.take(after, predictions.after)
      return predictions
    },
    close: () => changes(old.close(takenAt).findings, now.close(takenAt).findings),
  }
}

function changes(before: readonly Finding[], after: readonly Finding[]): ChangedFinding[] {
  const [old, now] = [byNode(before), byNode(after)]
  const rank = (finding: Finding | undefined) =>
    finding === undefined ? severities.length : severities.indexOf(finding.severity)
  const changed: ChangedFinding[] = []
  for (const [key, { finding, node }] of now)
    if (rank(finding) < rank(old.get(key)?.finding))
      changed.push({ finding, node, change: 'worse' })
  for (const [key, { finding, node }] of old)
    if (rank(finding) < rank(now.get(key)?.finding))
      changed.push({ finding, node, change: 'better' })
  return changed
}

const byNode = (findings: readonly Finding[]) =>
  new Map(
    findings.flatMap(finding =>
      finding.nodes.sample.map(
        node => [JSON.stringify([finding.rule, finding.cluster, node]), { finding, node }] as const,
      ),
    ),
  )
