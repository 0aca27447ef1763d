/** What a team decided about its audits: `highwater.yaml` after parsing, every key with its default. */
import { type ClusterNeed, garbageKinds } from './cluster-garbage.ts'
import { matchesCluster } from './cluster-name.ts'
import type { Severity } from './finding.ts'
import type { MoreFormat } from './format-id.ts'
import type { LanguageId } from './language.ts'
import type { AmiFamily } from './node-identity.ts'
import type { DeletionKind } from './plan.ts'
import { defaultReadMode, type ReadMode } from './read-mode.ts'
import type { Subject } from './subject.ts'

/** Which findings a waiver covers; `*` stands for any run of characters, an absent key for anything. */
export interface WaiverMatch {
  cluster?: string
  kind?: Subject['kind']
  namespace?: string
  name?: string
}

export interface Waiver {
  rule: string
  match: WaiverMatch
  /** YYYY-MM-DD: the last day on which it holds (UTC). */
  until: string
  reason: string
}

/** An AWS account and its regions to enumerate. Nulls: the caller's own credentials, the SDK's own region. */
export interface AccountSelection {
  roleArn: string | null
  /** Role for changes to nodes, instead of `roleArn`. Null or absent: `roleArn` does both. */
  remediateRoleArn?: string | null
  externalId: string | null
  regions: string[] | null
}

/** What the nodes that it matches are meant to run with. */
export interface Baseline {
  match: BaselineMatch
  /** KubeletConfiguration fields, of maps only the keys that matter. */
  configuration: Record<string, unknown>
}

/** `*` stands for any run of characters, an absent key for anything. */
export interface BaselineMatch {
  cluster?: string
  /** Name of the nodegroup or nodepool. */
  group?: string
  amiFamily?: AmiFamily
  instanceType?: string
}

/** How the clusters that it matches are read; `*` stands for any run of characters, an absent key for anything. */
export interface ModeSelection {
  match: { cluster?: string }
  mode: ReadMode
}

/** What a file of logrotate is meant to be; with none of these, that it is there and says something. */
export interface WantedLogRotation {
  /** Of its bytes, in lower-case hexadecimal. */
  sha256: string | null
  /** The whole of it. */
  content: string | null
  /** Directives in force in each of its blocks, or outside of any where it has none; `false`: not set. */
  directives: Record<string, string | number | boolean>
}

export interface ClusterGarbagePolicy {
  /** False: nothing of a cluster but its nodes is read for it. */
  enabled: boolean
  kinds: ClusterNeed[]
  /** What has finished, or has been deleted, or has not been renewed for less than this is not called garbage. */
  minAgeHours: number
}

export type DeletionPolicy = { [Kind in DeletionKind]?: { olderThanHours: number } }

/** How nodes may be changed. */
export interface RemediationPolicy {
  /** How much of a cohort is changed after the second wave, the third, …; the first wave is one node of each, the last the rest. */
  wavePercents: number[]
  deletions: DeletionPolicy
  /** When nodes may be changed; empty: at any time. */
  windows: ChangeWindow[]
  /** CloudWatch alarms of the accounts and regions that are audited: while one of them is in ALARM, or cannot be read, nothing is changed. */
  alarms: string[]
  /** Where EKS does not say whether it is changing a cluster or its nodegroups, nothing is changed. */
  requireEksStatus: boolean
  /** So much of a cluster's planned nodes may be NotReady; beyond that none is changed. */
  maxUnreadyPercent: number
  /** Nodes of one cluster that are under way at once: sent to, and not yet verified. */
  maxConcurrency: number
  /** Nodes of a run that may fail before it stops and takes the wave back. */
  maxErrors: number
  /** Between two waves. */
  pauseMs: number
  /** What a node gives itself for the way there and the way back together. */
  timeoutSeconds: number
  /** Time for a node to answer after a change was sent. After that, its state is requested again. */
  answerTimeoutMs: number
  /** How long a node may take until what is read of it anew shows that it is well. */
  verifyTimeoutMs: number
  /** Who applies to a cluster and is not heard for longer has lost it to the next. */
  leaseTtlMs: number
  /** Whether each audit of the service makes a plan of what it found and publishes it beside the report; nothing is changed by that. */
  mode: RemediationMode
  /** What the policy approves by itself; null: nothing. */
  auto: AutoApproval | null
}

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

/** By the clock on the wall of its time zone; one that ends before it begins ends on the next day. */
export interface ChangeWindow {
  /** On which it begins. */
  days: Weekday[]
  /** `HH:MM`, both; `to` is the first minute that is no longer in it, up to `24:00`. */
  from: string
  to: string
  /** IANA, `Europe/Berlin`. */
  timezone: string
}

export const remediationModes = ['off', 'plan'] as const
export type RemediationMode = (typeof remediationModes)[number]

export interface AutoApproval {
  /** KubeletConfiguration fields, of those that a plan may change. */
  fields: string[]
  /** Names; `*` stands for any run of characters. */
  clusters: string[]
  /** Nodes that are begun; a day is one of UTC, and a plan of more goes on the next. */
  nodesPerDay: number
  /** When it approves, and when what it has approved is sent; empty: at any time. */
  windows: ChangeWindow[]
}

/** What of a fleet is somebody's. `*` stands for any run of characters, an absent key for anything; several are all wanted. */
export interface OwnerMatch {
  cluster?: string
  /** Name of the nodegroup or nodepool. */
  nodegroup?: string
  /** EKS tags of the cluster, or of the nodegroup. */
  tags?: Record<string, string>
}

/** Somebody who gets a mail on their part of the fleet. */
export interface ReportOwner {
  /** In the mail's subject, and in the names of its files. */
  name: string
  match: OwnerMatch
  recipients: string[]
  /** Of their page and mail; null: the report's. */
  language: LanguageId | null
  /** No mail where nothing of theirs has changed since the run before. */
  onlyOnChange: boolean
}

export const attachments = ['report', 'none'] as const
export type Attach = (typeof attachments)[number]

/** Recipients and formats of a run's report. */
export interface ReportPolicy {
  /** Nulls: what the stack's parameters say. */
  sender: string | null
  recipients: string[] | null
  /** Send no report if nothing has changed since the previous run. */
  onlyOnChange: boolean
  /** Whether a mail without a link to the page carries the page. */
  attach: Attach
  owners: ReportOwner[]
  /** Where a reader asks not to get the mail any more; `oneClick`: the address takes a POST (RFC 8058). */
  unsubscribe: { mailto: string | null; url: string | null; oneClick: boolean }
  /** Who hears of mails that came back; null: the sender. */
  bouncesTo: string | null
  formats: MoreFormat[]
  /** Of the page and of every mail for which nothing else is said. */
  language: LanguageId
  /** Of single recipients, by their address. */
  languages: Record<string, LanguageId>
}

export interface Policy {
  accounts: AccountSelection[]
  /**
   * `accounts` before the operator selected regions: cluster names stay those of the full fleet.
   * Absent: no selection.
   */
  narrowedFrom?: AccountSelection[]
  /** Empty: every EKS cluster that the accounts list. Names may use `*`. */
  clusters: { names: string[]; tags: Record<string, string> }
  /** The first that matches counts; default `proxy`. */
  modes: ModeSelection[]
  /**
   * The kubectl context of each EKS cluster in commands of the report: `{name}`, `{region}`,
   * `{account}` and `{arn}` stand for the cluster's.
   */
  contextNames: string
  /**
   * Bucket to which SSM agents write the full command output, with their instance role.
   * Null: SSM itself returns a truncated output.
   */
  inspectOutput: { bucket: string; prefix: string } | null
  /** Mode `kubelet`: whose token kubelets see. The role's, or, only where that is said, the run's own. */
  kubelet: { roleArn: string | null; useOwnToken: boolean }
  /** Disk usage in percent at which the team's own alert fires. */
  alertPercent: number
  /** Growth in percent of the capacity within one image-GC period, taken where no rate was observed. */
  assumedGrowthPercent: number
  /** Nodes of each cluster, those with the least headroom, that are read a second time for a first rate of growth; 0: none. */
  secondReadings: number
  /** Disk that thresholds keep free counts as stranded from this part of it and this size on, both. */
  strandedPercent: number
  strandedGiB: number
  /** Dead containers on one node from which on they are a pile, if they outnumber the running ones. */
  deadContainers: number
  /** `namespace/name` of pods that a node or cluster needs, beside the DaemonSets' of kube-system; `*` stands for any run of characters. */
  criticalPods: string[]
  /** Images that must never be missing on a node, by name, beside those of kube-system and of DaemonSets; `*` as above. */
  requiredImages: string[]
  /**
   * From where a plan pulls an image that is missing, by the name that pods use (`*` as above): a whole reference, or a repository without a tag, which
   * takes the name's. Images that match none are not pulled, nor pinned.
   */
  requiredImageSources: Record<string, string>
  /** Registry hosts that the nodes can pull from; `*` as above. Null: every one. */
  reachableRegistries: string[] | null
  /** Logs that are gone sooner than that are kept too short. */
  logRetentionMinutes: number
  /** By the file's path. Of other files the majority of a group is the norm. */
  logRotation: Record<string, WantedLogRotation>
  /** Of several that match, a later one's fields win. */
  baseline: Baseline[]
  clusterGarbage: ClusterGarbagePolicy
  report: ReportPolicy
  /** How long what is remembered of nodes and ended findings is kept. A bucket's lifecycle may forget sooner. */
  history: { retentionDays: number }
  severities: Partial<Record<string, Severity>>
  waivers: Waiver[]
  pace: {
    /** Upper bound of requests a second to one Kubernetes API server. */
    requestsPerSecond: number
    /** Requests under way at once to one Kubernetes API server. */
    concurrency: number
    /** Clusters read at once. */
    clusters: number
    /** Upper bound of requests a second to the SSM of one account and region: its limits are the account's, and others need them, too. */
    ssmRequestsPerSecond: number
  }
  fanOut: FanOutPolicy
  remediation: RemediationPolicy
  /** How long one answer may take, by what is asked; `inspect`: until a node that SSM was asked to inspect has done so. */
  timeoutsMs: { list: number; configz: number; summary: number; inspect: number }
}

/** When the service reads a fleet by many functions, where its stack has the state machine for it, and how. */
export interface FanOutPolicy {
  /** More nodes than these; null: however many there are. */
  aboveNodes: number | null
  /** Or several accounts and regions. */
  acrossPlaces: boolean
  /** What one function reads. */
  nodesPerShard: number
  /** Clusters read at once; of each cluster one shard after the other, so that its API server's pace holds. */
  clustersAtOnce: number
}

/** `name@host`; no display name. */
export const addressPattern = /^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,255}$/
/** Source: SES API reference, Destination: recipients in all. */
export const mostRecipients = 50

export const mostOwners = 50

/** `eu-west-1`, `us-gov-east-1`. Source: AWS general reference, Regions. */
export const regionPattern = /^[a-z]{2}(-[a-z]+)+-\d$/

/** An empty policy: every EKS cluster of the caller's account and region. */
export const defaultPolicy: Policy = {
  accounts: [{ roleArn: null, externalId: null, regions: null }],
  clusters: { names: [], tags: {} },
  modes: [],
  contextNames: '{name}',
  inspectOutput: null,
  kubelet: { roleArn: null, useOwnToken: false },
  alertPercent: 80,
  assumedGrowthPercent: 2,
  secondReadings: 20,
  strandedPercent: 10,
  strandedGiB: 50,
  deadContainers: 50,
  criticalPods: [],
  requiredImages: [],
  requiredImageSources: {},
  reachableRegistries: null,
  logRetentionMinutes: 60,
  logRotation: {},
  baseline: [],
  clusterGarbage: { enabled: true, kinds: [...garbageKinds], minAgeHours: 24 },
  report: {
    sender: null,
    recipients: null,
    onlyOnChange: false,
    attach: 'report',
    owners: [],
    unsubscribe: { mailto: null, url: null, oneClick: false },
    bouncesTo: null,
    formats: [],
    language: 'en',
    languages: {},
  },
  history: { retentionDays: 400 },
  severities: {},
  waivers: [],
  pace: { requestsPerSecond: 50, concurrency: 20, clusters: 16, ssmRequestsPerSecond: 5 },
  fanOut: { aboveNodes: 10_000, acrossPlaces: true, nodesPerShard: 250, clustersAtOnce: 20 },
  remediation: {
    wavePercents: [5, 20],
    deletions: {},
    windows: [],
    alarms: [],
    requireEksStatus: true,
    maxUnreadyPercent: 10,
    maxConcurrency: 10,
    maxErrors: 0,
    pauseMs: 600_000,
    timeoutSeconds: 240,
    answerTimeoutMs: 360_000,
    verifyTimeoutMs: 600_000,
    leaseTtlMs: 120_000,
    mode: 'off',
    auto: null,
  },
  // The kubelet measures images and volumes on demand: on a busy node its summary takes seconds.
  timeoutsMs: { list: 30_000, configz: 5_000, summary: 15_000, inspect: 120_000 },
}

/** The first match wins. @param cluster as its record names it */
export const readModeOf = ({ modes }: Pick<Policy, 'modes'>, cluster: string): ReadMode =>
  modes.find(({ match }) => match.cluster === undefined || matchesCluster(match.cluster, cluster))
    ?.mode ?? defaultReadMode
