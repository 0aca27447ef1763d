/** What the tests of these rules share: drift others. */

import type { RawObject } from '#base/raw-object.ts'
import type { Rule } from '#judge/rule.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { clusterOf, inputOf } from '#test/at-the-door.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'

export const high = (imageGCHighThresholdPercent: number) => ({ imageGCHighThresholdPercent })

export const withImage = (
  osImage: string,
  labels: Record<string, string> = {},
  annotations: Record<string, string> = {},
): NodeOptions => {
  const { record } = buildNode({ labels })
  const { metadata, status } = record.node
  return {
    labels,
    record: {
      node: {
        metadata: { ...metadata, annotations },
        status: { ...status, nodeInfo: { ...status?.nodeInfo, osImage } },
      },
    },
  }
}

export function judged(
  rules: Rule[],
  nodes: NodeOptions[],
  cluster: RawObject = {},
  policy: Partial<Policy> = {},
) {
  const judgement = openJudgement(rules, { ...defaultPolicy, ...policy })
  judgement.takeCluster(clusterOf({ errors: [], ...cluster }))
  nodes.forEach((options, index) => {
    const { record, prediction } = buildNode({ name: `node-${index}`, ...options })
    const name = `node-${index}`
    judgement.take(
      inputOf({ ...record, node: { ...record.node, metadata: { ...record.node.metadata, name } } }),
      prediction,
    )
  })
  return judgement.close(takenAt).findings
}
