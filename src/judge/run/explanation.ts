/** What a rule is about, for `highwater explain` and docs/rules.md. */

import type { Rule } from '#judge/rule.ts'
import { needFacts } from '#judge/subject/node-subject.ts'
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import type { Family, RuleDocs, Severity } from '#model/finding.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'

export interface RuleExplanation {
  id: string
  family: Family
  severity: Severity
  comparesNodes: boolean
  docs: RuleDocs
  /** Data that the rule needs, in Markdown. If any is unread, the outcome is unknown. */
  needs: string[]
  /** Keys of highwater.yaml that the rule reads, each with its default. `severities` and `waivers` concern every rule. */
  policy: { key: string; default: unknown }[]
}

export function explanationOf(rule: Rule): RuleExplanation {
  const { id, family, severity, kind, docs } = rule
  return {
    id,
    family,
    severity,
    comparesNodes: kind === 'cohort',
    docs,
    needs: needsInWords(rule),
    policy: policyKeys(rule).map(key => ({ key, default: defaultPolicy[key] })),
  }
}

export const policyKeys = ({ kind, policy = [] }: Rule): (keyof Policy)[] => [
  ...policy.toSorted(),
  ...(kind === 'cluster' ? (['clusterGarbage'] as const) : []),
]

const clusterNeedWords: Record<ClusterNeed, string[]> = {
  pods: ['pods', 'pods of no node'],
  jobs: ['Jobs', 'CronJobs'],
  leases: ['Leases', 'the list of nodes'],
  nodes: ['the list of nodes'],
  volumes: ['PersistentVolumeClaims', 'PersistentVolumes'],
  certificates: ['CertificateSigningRequests'],
  owners: ['whatever else is listed of the cluster'],
  finalizers: ['whatever else is listed of the cluster'],
  disks: ["the cluster's EBS volumes", 'PersistentVolumes'],
  instances: ["the cluster's EC2 instances", 'the list of nodes'],
}

/** The needs of a rule for a reader, in Markdown, each once. */
export const needsInWords = (rule: Rule) => [
  ...new Set(
    rule.kind === 'cluster'
      ? rule.needs.flatMap(need => clusterNeedWords[need])
      : rule.needs.flatMap(need => needFacts[need].words),
  ),
]
