/** What a team decided about its audits: `highwater.yaml` after parsing, every key with its default. */
import type * as z from 'zod'
import { matchesCluster } from './cluster-name.ts'
import { defaults } from './policy/defaults.ts'
import type { policySchema } from './policy/schema.ts'
import { defaultReadMode, type ReadMode } from './read-mode.ts'

type PolicyFile = z.output<ReturnType<typeof policySchema>>

/** The schema in `policy/` says what each key means. */
export interface Policy extends Omit<PolicyFile, 'alertPercent'> {
  /** Disk usage in percent at which the team's own alert fires. */
  alertPercent: number
  /** The second level of `alertPercent: { warning, critical }`. Absent: there is none. */
  criticalAlertPercent?: number
  /**
   * `accounts` before the operator selected regions: cluster names stay those of the full fleet.
   * Absent: no selection.
   */
  narrowedFrom?: AccountSelection[]
}

export type AccountSelection = PolicyFile['accounts'][number]
export type Waiver = PolicyFile['waivers'][number]
export type Baseline = PolicyFile['baseline'][number]
/** By the path of a logrotate file. Without content, hash and directives: it exists and is not empty. */
export type WantedLogRotation = PolicyFile['logRotation'][string]
export type ClusterGarbagePolicy = PolicyFile['clusterGarbage']
export type ReportPolicy = PolicyFile['report']
export type Attach = ReportPolicy['attach']
export type ReportOwner = ReportPolicy['owners'][number]
export type OwnerMatch = ReportOwner['match']
export type RemediationPolicy = PolicyFile['remediation']
export type DeletionPolicy = RemediationPolicy['deletions']
export type ChangeWindow = RemediationPolicy['windows'][number]
export type AutoApproval = NonNullable<RemediationPolicy['auto']>

export const defaultPolicy: Policy = defaults

/** The first match wins. @param cluster as its record names it */
export const readModeOf = ({ modes }: Pick<Policy, 'modes'>, cluster: string): ReadMode =>
  modes.find(({ match }) => match.cluster === undefined || matchesCluster(match.cluster, cluster))
    ?.mode ?? defaultReadMode
