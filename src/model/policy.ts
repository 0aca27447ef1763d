/** A team's policy for its audits: `highwater.yaml` after parsing, with defaults for all keys. */
import type * as z from 'zod'
import { defaultReadMode, matchesCluster, type ReadMode } from '#model/input/record.ts'
import { defaults } from '#model/policy/defaults.ts'
import type { policySchema } from '#model/policy/schema.ts'

type PolicyFile = z.output<ReturnType<typeof policySchema>>

/** The schema in `policy/` describes each key. */
export interface Policy extends Omit<PolicyFile, 'alertPercent'> {
  /** Disk usage in percent at which the team's own alert fires. */
  alertPercent: number
  /** Second level of the alert, from `alertPercent: { warning, critical }`. Absent: the alert has one level. */
  criticalAlertPercent?: number
  /** No policy says where the alert is. */
  isAlertAssumed?: true
  /**
   * `accounts` before the operator selected regions: cluster names stay those of the full fleet.
   * Absent: no selection.
   */
  narrowedFrom?: AccountSelection[]
}

export type AccountSelection = PolicyFile['accounts'][number]
export type Waiver = PolicyFile['waivers'][number]
export type Baseline = PolicyFile['baseline'][number]
/** Required state of a logrotate file. Without content, hash and directives: the file must exist and not be empty. */
export type WantedLogRotation = PolicyFile['logRotation'][string]
export type ClusterGarbagePolicy = PolicyFile['clusterGarbage']
export type ReportPolicy = PolicyFile['report']
export type Attach = ReportPolicy['attach']
export type ReportOwner = ReportPolicy['owners'][number]
export type OwnerMatch = ReportOwner['match']
export type RemediationPolicy = PolicyFile['remediation']
export type ChangeWindow = RemediationPolicy['windows'][number]
export type AutoApproval = NonNullable<RemediationPolicy['auto']>

export const defaultPolicy: Policy = { ...defaults, isAlertAssumed: true }

/** Read mode of a cluster: the first match wins. @param cluster as its record names it */
export const readModeOf = ({ modes }: Policy, cluster: string): ReadMode =>
  modes.find(({ match }) => matchesCluster(match.cluster, cluster))?.mode ?? defaultReadMode

/**
 * Limits on the service's policy file. The file is in a bucket, and its writer might have no other right. So these limits
 * come from the stack's parameters.
 */
export interface PolicyGrants {
  /** ARNs of roles that `accounts` may name; `*` matches any characters. */
  memberRoles: string[]
  /** ARNs of roles whose token may be sent to kubelets; `*` matches any characters. */
  kubeletRoles: string[]
  /** Whether the run's own token may be sent to kubelets. */
  showsOwnToken: boolean
  /** Whether `remediation.mode` may be `plan`. */
  plans: boolean
  /** Whether `remediation.auto` may approve plans. Only the function can use the key that seals such approvals. */
  approvals: boolean
  /** Addresses that may receive mail, and domains (without `@`) of which all addresses may. Lower case. */
  mail: string[]
  /** Bucket that `inspectOutput` may name; null: none. */
  inspectOutputBucket: string | null
}
