/** Defaults of highwater.yaml, and the limits and patterns that several keys share. */
import * as z from 'zod'
import { garbageKinds } from '#model/cluster-garbage.ts'

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export const remediationModes = ['off', 'plan'] as const
export const attachments = ['report', 'none'] as const

/** `name@host` in printable ASCII, without a display name. */
export const addressPattern = /^(?=[!-~]+$)[^@<>,;]{1,64}@[^@<>,;]{1,255}$/
/** Maximum number of recipients in total. Source: SES API reference, Destination. */
export const mostRecipients = 50

export const mostOwners = 50

/** `eu-west-1`, `us-gov-east-1`. Source: AWS general reference, Regions. */
export const regionPattern = /^[a-z]{2}(-[a-z]+)+-\d$/

/** By default, a run covers all EKS clusters of the caller's account and region. `defaultPolicy` in model/policy.ts gives the type. */
export const defaults = {
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
  volumeUsdPerGiBMonth: null,
  idleImageDays: 7,
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
    attach: 'report' as const,
    owners: [],
    unsubscribe: { mailto: null, url: null, oneClick: false },
    bouncesTo: null,
    formats: [],
    language: 'en' as const,
    languages: {},
  },
  history: { retentionDays: 400 },
  severities: {},
  waivers: [],
  pace: { requestsPerSecond: 50, concurrency: 20, clusters: 16, ssmRequestsPerSecond: 5 },
  fanOut: { aboveNodes: 10_000, acrossPlaces: true, nodesPerShard: 250, clustersAtOnce: 20 },
  remediation: {
    wavePercents: [5, 20],
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
    mode: 'off' as const,
    auto: null,
  },
  // The kubelet measures images and volumes on demand: on a busy node its summary takes seconds.
  timeoutsMs: { list: 30_000, configz: 5_000, summary: 15_000, inspect: 120_000 },
}

/* Values that several sections of highwater.yaml take. */

export const percent = z.number().min(1).max(100)
export const address = z.string().regex(addressPattern, 'an e-mail address')
/** Source: IAM user guide, IAM ARNs. */
export const roleArn = z
  .string()
  .regex(/^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'an IAM role ARN')

/** `matchesCluster` defines how the pattern matches. */
export const clusterName = z
  .string()
  .describe(
    'a cluster as the report names it; in a fleet of several places account/region/name, or the name alone; * matches any characters',
  )

/** Gives each key of a section its default. */
export const withDefaults = <Shape extends Record<string, z.ZodType>>(
  defaults: { [Key in keyof Shape]: z.core.util.NoUndefined<z.output<Shape[Key]>> },
  shape: Shape,
) =>
  Object.fromEntries(
    Object.entries(shape).map(([key, type]) => [key, type.default(defaults[key])]),
  ) as { [Key in keyof Shape]: z.ZodDefault<Shape[Key]> }
