/** Texts of every part of a report: counts, severities, confidence, ways to read. */
import type { Confidence, CoverageState, DurableFix, Severity } from '#model/finding/finding.ts'
import type { ReadMode } from '#model/input/read-mode.ts'
import { englishNumbers, formatCount } from '#report/numbers.ts'
import { englishCut } from '#report/text.ts'
import { clusters, findings, nodes } from './counts.ts'

const severities: Record<Severity, string> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'Info',
}
/** Names of severities within a sentence. */
const severityNames: Record<Severity, string> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  low: 'low',
  info: 'info',
}
const confidences: Record<Confidence, string> = {
  certain: 'certain',
  likely: 'likely',
  possible: 'possible',
}
const coverage: Record<CoverageState, string> = {
  read: 'read',
  partlyRead: 'partly read',
  notRead: 'not read',
}
/** Names of the ways to read a node. */
const ways: Record<ReadMode, string> = {
  proxy: 'through the API server',
  ssm: 'by SSM',
  both: 'through the API server and by SSM',
  kubelet: 'from the kubelet itself',
}
/** Targets of a durable fix. */
const targets: Record<DurableFix['target'], string> = {
  nodeadm: 'NodeConfig (nodeadm)',
  'launch-template': 'user data of the launch template',
  bottlerocket: 'Bottlerocket settings (TOML user data)',
  karpenter: 'Karpenter EC2NodeClass',
  eksctl: 'eksctl ClusterConfig',
  terraform: 'Terraform',
  'auto-mode': 'NodeClass of EKS Auto Mode',
}

export const basics = {
  numbers: englishNumbers,
  cut: englishCut,
  severities,
  severityNames,
  confidences,
  coverage,
  ways,
  targets,
  unknown: 'unknown',
  none: 'none',
  noReason: 'no reason was recorded',
  nodeCount: nodes,
  clusterCount: clusters,
  findingCount: findings,
  /** Follows the names that are shown. `count`: number of names that are not shown. */
  andMore: (count: number) => `and ${formatCount(count)} more`,
  /** Separators of names in a list, and of clauses in a sentence. */
  separators: { list: ', ', clauses: '; ' },
  /** A subject, with its cluster. */
  of: (subject: string, cluster: string) => `${subject}, cluster ${cluster}`,
  /** A heading and its text. */
  said: (what: string, said: string) => `${what}: ${said}`,
  since: (day: string) => `since ${day}`,
}
