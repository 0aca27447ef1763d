/** One kind put before the rules, in the way of the pipeline, and what is wrong with their answer. */

import type { Rule } from '#judge/rule.ts'
import { openJudgement } from '#judge/run/judge.ts'
import type { Confidence, Finding } from '#model/finding.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { prune } from '#snapshot/prune.ts'
import { clusterOf, inputOf, objectsOf, replayOf as replay } from '#test/at-the-door.ts'
import { takenAt } from '#test/node-builder.ts'
import type { DriftKind } from './kind.ts'

export function driftFindings(
  rules: readonly Rule[],
  { policy }: DriftKind,
  records: readonly SnapshotRecord[],
): Finding[] {
  const judgement = openJudgement(rules, { ...defaultPolicy, ...policy }, { allNodes: true })
  for (const read of records) {
    const record = prune(read)
    if (record.kind === 'Cluster') judgement.takeCluster(clusterOf(record))
    if (record.kind === 'Objects') judgement.takeObjects(objectsOf(record))
    if (record.kind === 'Node') judgement.take(inputOf(record), replay(record, takenAt))
  }
  const { findings, ruleErrors } = judgement.close(takenAt)
  if (ruleErrors.length > 0)
    throw new Error(`a rule threw: ${ruleErrors[0]?.rule}: ${ruleErrors[0]?.message}`)
  return findings.filter(({ family }) => family === 'drift')
}

export interface Verdict {
  /** The expected rule fired on every node that it should. */
  isFound: boolean
  /** Rule and node of what should not have fired. */
  falsePositives: string[]
  /** Of the expected rule's findings. */
  layers: string[]
  hasRightLayers: boolean
  hasRightConfidence: boolean
}

export function verdictOf({ expect, records }: DriftKind, findings: readonly Finding[]): Verdict {
  const own = findings.filter(({ rule }) => rule === expect?.rule)
  const fired = own.flatMap(({ nodes }) => nodes.sample)
  const wanted = expect?.nodes ?? (expect ? nodesOf(records()) : [])
  const rules: string[] = expect ? [expect.rule, ...(expect.beside ?? [])] : []
  const layers = [
    ...new Set(
      own.flatMap(({ evidence }) =>
        evidence.filter(({ what }) => /^layer\b/.test(what)).map(({ value }) => value),
      ),
    ),
  ]
  return {
    isFound: wanted.every(node => fired.includes(node)),
    falsePositives: findings.flatMap(({ rule, nodes }) =>
      nodes.sample
        .filter(node => !rules.includes(rule) || !wanted.includes(node))
        .map(node => `${rule} on ${node}`),
    ),
    layers: layers.sort(),
    hasRightLayers: String(layers) === String([...(expect?.layers ?? [])].sort()),
    hasRightConfidence: own.every(finding => hasConfidence(finding, expect?.confidence)),
  }
}

/** What is only likely says why: the files were not read. */
function hasConfidence(
  { confidence, evidence }: Finding,
  expected: Confidence | undefined,
): boolean {
  if (expected === undefined) return true
  const isExplained = evidence.some(({ what, value }) =>
    /\bfiles?\b.*\bnot read\b/i.test(`${what}: ${value}`),
  )
  return confidence === expected && (expected !== 'likely' || isExplained)
}

export const nodesOf = (records: readonly SnapshotRecord[]): string[] =>
  records.flatMap(record => (record.kind === 'Node' ? [record.node.metadata?.name ?? ''] : []))
