/** The common part of the service's functions: time limits, store and policy. */

import { mkdir, rm } from 'node:fs/promises'
import type { Keep } from '#base/keep.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { firstNames, matchesGlob } from '#base/text.ts'
import { countSlowDowns } from '#clients/aws/aws-failure.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import { openTrace, type TracedStage } from '#clients/aws/xray.ts'
import { RunEnd } from '#clients/failure.ts'
import { s3Store } from '#clients/store/s3.ts'
import { failFastStore, type Store } from '#clients/store/store.ts'
import type { NotAudited } from '#model/finding.ts'
import { remediateSuffix } from '#model/input/record.ts'
import type { RemediationRequest } from '#model/plan.ts'
import { defaultPolicy, type Policy, type PolicyGrants, type ReportPolicy } from '#model/policy.ts'
import type { RunAnswer, Settings } from '#model/run.ts'
import type { AuditStage } from '#pipeline/audit/audit.ts'
import type { SecondReadingOptions } from '#pipeline/audit/fleet.ts'
import { openKeptFile } from '#pipeline/audit/kept-file.ts'

/* The policy file is in a bucket, so it can widen neither rights nor recipients by itself. Entries that the stack does not allow are dropped and reported. */

export interface GrantedPolicy {
  policy: Policy
  /** One message per dropped entry: where, what, which parameter allows it. */
  refused: string[]
}

const mostNamed = 5

export function grantedPolicy(policy: Policy, grants: PolicyGrants): GrantedPolicy {
  const refused: string[] = []
  const refuse: Refuse = (entry, values, parameter) => {
    refused.push(
      `${entry} of the policy is refused: the stack's parameter ${parameter} does not allow ${firstNames(values, mostNamed)}`,
    )
  }
  const granted = withModes(policy, grants, refuse)
  return {
    policy: {
      ...granted,
      ...grantedAccounts(policy, grants, refuse),
      remediation: grantedRemediation(policy, grants, refuse),
      inspectOutput: grantedOutput(policy, grants, refuse),
      report: grantedReport(policy.report, grants, refuse),
    },
    refused,
  }
}

type Refuse = (entry: string, values: string[], parameter: string) => void

/** The allowed accounts; if none is left, the caller's own. Clusters keep the names that they have in the whole policy. */
function grantedAccounts(
  { accounts, narrowedFrom = accounts }: Policy,
  { memberRoles }: PolicyGrants,
  refuse: Refuse,
): Pick<Policy, 'accounts' | 'narrowedFrom'> {
  const isMember = (role: string | null | undefined) =>
    role == null || memberRoles.some(pattern => matchesGlob(pattern, role))
  const isChanger = (role: string | null | undefined) =>
    isMember(role) ||
    memberRoles.some(pattern => matchesGlob(`${pattern}${remediateSuffix}`, role ?? ''))
  const refuseRoles = (key: string, roles: (string | null | undefined)[]) => {
    const named = [...new Set(roles.filter(role => role != null))]
    if (named.length > 0) refuse(key, named, 'memberRoleArns (HIGHWATER_MEMBER_ROLE_ARNS)')
  }
  const others = accounts.filter(({ roleArn }) => !isMember(roleArn))
  const kept = accounts.filter(({ roleArn }) => isMember(roleArn))
  const changers = kept.map(({ remediateRoleArn }) => remediateRoleArn)
  refuseRoles(
    'accounts.roleArn',
    others.map(({ roleArn }) => roleArn),
  )
  refuseRoles(
    'accounts.remediateRoleArn',
    changers.filter(role => !isChanger(role)),
  )
  const isWhole = others.length === 0 && changers.every(isChanger)
  if (isWhole) return { accounts }
  const granted = kept.map(account => ({
    ...account,
    remediateRoleArn: isChanger(account.remediateRoleArn) ? account.remediateRoleArn : null,
  }))
  return { accounts: granted.length > 0 ? granted : defaultPolicy.accounts, narrowedFrom }
}

/** Without an identity for kubelets, no cluster is read in mode kubelet. */
function withModes(policy: Policy, grants: PolicyGrants, refuse: Refuse) {
  const { roleArn, useOwnToken } = policy.kubelet
  const isRoleGranted =
    roleArn === null || grants.kubeletRoles.some(pattern => matchesGlob(pattern, roleArn))
  if (!isRoleGranted)
    refuse(
      'kubelet.roleArn',
      [roleArn],
      'readsByKubelet or kubeletRole (HIGHWATER_KUBELET_ROLE_ARNS)',
    )
  const isTokenGranted = !useOwnToken || grants.showsOwnToken
  if (!isTokenGranted)
    refuse('kubelet.useOwnToken', ['true'], 'showsOwnToken (HIGHWATER_SHOWS_OWN_TOKEN)')
  if (isRoleGranted && isTokenGranted) return policy
  return {
    ...policy,
    kubelet: defaultPolicy.kubelet,
    modes: policy.modes.filter(({ mode }) => mode !== 'kubelet'),
  }
}

/** A stack without remediation makes no plans, whatever the policy file contains. */
function grantedRemediation(
  { remediation }: Policy,
  { plans, approvals }: PolicyGrants,
  refuse: Refuse,
): Policy['remediation'] {
  const isPlanRefused = remediation.mode !== 'off' && !plans
  if (isPlanRefused)
    refuse('remediation.mode', [remediation.mode], 'remediation (HIGHWATER_REMEDIATION)')
  const isAutoRefused = remediation.auto !== null && !approvals
  if (isAutoRefused)
    refuse(
      'remediation.auto',
      ['approvals by the policy, because those identities could seal them'],
      'applierArns (HIGHWATER_SHARES_RUN_KEY)',
    )
  return {
    ...remediation,
    ...(isPlanRefused && { mode: 'off' }),
    ...(isAutoRefused && { auto: null }),
  }
}

function grantedOutput(
  { inspectOutput }: Policy,
  { inspectOutputBucket }: PolicyGrants,
  refuse: Refuse,
) {
  if (!inspectOutput || inspectOutput.bucket === inspectOutputBucket) return inspectOutput
  refuse(
    'inspectOutput.bucket',
    [inspectOutput.bucket],
    'inspectOutputBucket (HIGHWATER_INSPECT_OUTPUT_BUCKET)',
  )
  return null
}

/** The allowed report settings; if no recipient is left, the stack's own. `languages` adds no recipient. */
function grantedReport(report: ReportPolicy, { mail }: PolicyGrants, refuse: Refuse): ReportPolicy {
  const allowed = new Set(mail)
  const isHost = (host: string) =>
    mail.some(entry => !entry.includes('@') && (host === entry || host.endsWith(`.${entry}`)))
  const isAddress = (address: string) => {
    const lower = address.toLowerCase()
    return allowed.has(lower) || allowed.has(lower.slice(lower.lastIndexOf('@') + 1))
  }
  const refuseValues = (entry: string, values: string[]) => {
    if (values.length > 0) refuse(entry, values, 'policyRecipients (HIGHWATER_POLICY_RECIPIENTS)')
  }
  const grantedAddresses = (entry: string, addresses: string[]) => {
    refuseValues(
      entry,
      addresses.filter(address => !isAddress(address)),
    )
    return addresses.filter(isAddress)
  }
  const grantedAddress = (entry: string, address: string | null) =>
    grantedAddresses(entry, address === null ? [] : [address])[0] ?? null
  const { url, mailto, oneClick } = report.unsubscribe
  const isUrlGranted = url === null || isHost(new URL(url).hostname)
  if (!isUrlGranted) refuseValues('report.unsubscribe.url', [url])
  const recipients = grantedAddresses('report.recipients', report.recipients ?? [])
  return {
    ...report,
    recipients: recipients.length > 0 ? recipients : null,
    owners: report.owners.map(owner => ({
      ...owner,
      recipients: grantedAddresses(`report.owners ${owner.name}`, owner.recipients),
    })),
    bouncesTo: grantedAddress('report.bouncesTo', report.bouncesTo),
    unsubscribe: {
      mailto: grantedAddress('report.unsubscribe.mailto', mailto),
      url: isUrlGranted ? url : null,
      oneClick: isUrlGranted && oneClick,
    },
  }
}

export interface ServiceRuntime {
  version: string
  /** Distinguishes this run from others that start in the same second. */
  requestId: string
  /** Time until Lambda ends the invocation. */
  remainingMs: number
  /** A folder for this run's files; removed at its end. */
  folder: string
  now: () => Date
  sleep?: SecondReadingOptions['sleep']
  parsePolicy: (text: string, file: string) => Policy
  watch: RunWatch
}

/** The policy is in the bucket, so that it changes without a deployment. */
export const policyKey = 'highwater.yaml'

/** Time limit for S3: a small part of the run, because it is called before and after reading. */
const silenceShare = 0.02
const silenceMs = { least: 1_000, most: 20_000 }
// setTimeout takes no more than 2^31 − 1 ms.
const longestRunMs = 2 ** 31 - 1

/** @throws OperatorError if the function has no region */
export async function functionRegion() {
  const region = await sdkRegion()
  if (region !== null) return region
  throw new OperatorError('No AWS region is set for the function: AWS_REGION is missing')
}

/** Null: the stack names no bucket. */
export function storeOf(
  { bucket, prefix, kmsKeyId }: Settings,
  region: string,
  remainingMs: number,
  signal: AbortSignal,
): Store | null {
  if (bucket === null) return null
  const idleTimeoutMs = Math.min(
    silenceMs.most,
    Math.max(silenceMs.least, remainingMs * silenceShare),
  )
  return failFastStore(s3Store({ bucket, prefix, kmsKeyId, region, signal, idleTimeoutMs }))
}

function timeLimit(durationMs: number) {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new RunEnd(`run's deadline of ${Math.round(durationMs / 1000)} s`)),
    durationMs,
  )
  return { signal: controller.signal, end: () => clearTimeout(timer) }
}

/** Limits of time and memory. Each deadline leaves time for the parts after it. */
export interface RunLimits {
  reading: AbortSignal
  /** From then on nothing is planned, or sent to nodes. */
  acting: AbortSignal
  /** The end of the whole run. */
  end: AbortSignal
  remainingMs: number
  /** Reading time that is left. */
  readingLeftMs: () => number
  /** Where the details of nodes are kept. */
  keep: Keep
}

/** The rest is for judging, rendering and publishing. */
const readingShare = 0.8
/** Shares of the whole time. */
type LimitShares = Record<'reading' | 'acting' | 'end', number>
const auditShares: LimitShares = { reading: readingShare, acting: 0.9, end: 0.95 }

/** Runs within the function's time, then removes its folder. */
export async function withinLimits<T>(
  runtime: ServiceRuntime,
  run: (limits: RunLimits) => Promise<T>,
  shares: LimitShares = auditShares,
) {
  const remainingMs = runtime.remainingMs > 0 ? Math.min(runtime.remainingMs, longestRunMs) : 0
  const readingEndMs = performance.now() + remainingMs * shares.reading
  const reading = timeLimit(remainingMs * shares.reading)
  const acting = timeLimit(remainingMs * shares.acting)
  const end = timeLimit(remainingMs * shares.end)
  await mkdir(runtime.folder, { recursive: true })
  const kept = openKeptFile(runtime.folder)
  try {
    return await run({
      reading: reading.signal,
      acting: acting.signal,
      end: end.signal,
      remainingMs,
      readingLeftMs: () => readingEndMs - performance.now(),
      keep: kept.keep,
    })
  } finally {
    for (const limit of [reading, acting, end]) limit.end()
    kept.close()
    await rm(runtime.folder, { recursive: true, force: true })
  }
}

export interface FoundPolicy {
  policy: Policy
  /** The file's text; null: the defaults apply. */
  text: string | null
  mistakes: string[]
}

/** If the policy cannot be read or parsed, the audit runs by the defaults and reports that. */
export async function policyOf(
  store: Store | null,
  runtime: ServiceRuntime,
  { policyGrants }: Settings,
): Promise<FoundPolicy> {
  const byDefault = { policy: defaultPolicy, text: null, mistakes: [] }
  if (!store) return byDefault
  try {
    return (await readPolicy(store, runtime, policyGrants)) ?? byDefault
  } catch (error) {
    const mistake = `the policy ${store.location}/${policyKey} is not in force, the defaults are: ${messageOf(error)}`
    return { ...byDefault, mistakes: [mistake] }
  }
}

/** The part of the store's policy file that the stack allows. Null: there is no file. @throws if it cannot be read or parsed */
export async function readPolicy(
  store: Store,
  { parsePolicy }: Pick<ServiceRuntime, 'parsePolicy'>,
  grants: PolicyGrants,
): Promise<(FoundPolicy & { text: string }) | null> {
  const found = await store.read(policyKey)
  if (!found) return null
  const text = found.body.toString('utf8')
  const whole = parsePolicy(text, `${store.location}/${policyKey}`)
  const { policy, refused } = grantedPolicy(whole, grants)
  return { policy, text, mistakes: refused }
}

/* Time limits of a function of the service. */

/** Lambda's maximum, which the stack sets. */
const functionSeconds = 900

/** Maximum time for reading. */
export const readingSeconds = functionSeconds * readingShare

/* Progress of a run of the service, for log, metrics and trace. */

/** The stages of all functions of the service. */
export type Stage = AuditStage | 'prepare' | 'discover' | 'reduce' | RemediationRequest['action']

/** The figures of an audit for log and metrics, and why something is missing. */
export interface Audited extends Pick<RunAnswer, 'findings' | 'clusters' | 'notAudited'> {
  /** The first reasons, each with its first place and the number of places. */
  reasons: (NotAudited & { places: number })[]
}

export interface RunWatch {
  /** Called when the id of the run is known. */
  began(runId: string): void
  /** Called with the cluster of this invocation, if it has one. */
  isAbout(cluster: string): void
  /** A stage begins; the previous one ends. */
  enterStage(stage: Stage): void
  /** Called when the findings are known. Deliveries can still fail. */
  audited(audited: Audited): void
  /** Time and memory of this invocation so far. */
  spent(): Spent
  /** Adds earlier invocations of the same run. */
  continueFrom(before: SpentBefore): void
}

/** Receiver of the progress reports. */
export interface RunLines {
  began(runId: string): void
  isAbout?(cluster: string): void
  stageBegan?(stage: Stage): void
  stageEnded(stage: Stage, durationMs: number): void
  audited(audited: Audited): void
}

export interface OpenRunWatch extends RunWatch {
  /**
   * Ends the last stage and sends the trace.
   * @returns figures of this invocation, and of earlier ones (null: none)
   */
  close(isFailed: boolean): Promise<{ own: Spent; before: SpentBefore | null }>
}

/** For one invocation: in a function there is never more than one at a time. */
export function openRunWatch(lines: RunLines): OpenRunWatch {
  const startedAt = new Date().toISOString()
  const startedMs = performance.now()
  const slowDowns = countSlowDowns()
  const spentNow = (): Spent => ({
    startedAt,
    durationMs: Math.round(performance.now() - startedMs),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    slowDowns: { ...slowDowns.counts },
  })
  let before: SpentBefore | null = null
  const stages: TracedStage[] = []
  let current: { stage: Stage; startMs: number } | null = null
  const endStage = (isFailed: boolean) => {
    if (!current) return
    const { stage, startMs } = current
    const endMs = Date.now()
    stages.push({ name: stage, startMs, endMs, isFailed })
    lines.stageEnded(stage, endMs - startMs)
    current = null
  }
  return {
    began: lines.began,
    isAbout: cluster => lines.isAbout?.(cluster),
    audited: lines.audited,
    spent: spentNow,
    continueFrom(others) {
      before = others
    },
    enterStage(stage) {
      endStage(false)
      current = { stage, startMs: Date.now() }
      lines.stageBegan?.(stage)
    },
    async close(isFailed) {
      endStage(isFailed)
      await openTrace()?.send(stages)
      slowDowns.end()
      return { own: spentNow(), before }
    },
  }
}

/** Time and memory of an invocation, or of several together. */
export interface Spent {
  /** Start of the first invocation, RFC 3339. */
  startedAt: string
  /** Sum over the invocations. */
  durationMs: number
  /** Maximum over the invocations. */
  peakRssBytes: number
  /** Number of throttled answers by service, if any. */
  slowDowns: Record<string, number>
}

/** Invocations of a run before its last one. */
export interface SpentBefore extends Spent {
  invocations: number
  /** Number of failed ones. A killed invocation leaves no record, so it is not counted. */
  failed: number
}

/** @param all at least one */
export function sumSpent(all: readonly Spent[]): Spent {
  const slowDowns: Record<string, number> = {}
  for (const one of all)
    for (const [service, times] of Object.entries(one.slowDowns))
      slowDowns[service] = (slowDowns[service] ?? 0) + times
  return {
    startedAt: all.map(({ startedAt }) => startedAt).toSorted()[0] ?? '',
    durationMs: all.reduce((total, { durationMs }) => total + durationMs, 0),
    peakRssBytes: Math.max(...all.map(({ peakRssBytes }) => peakRssBytes)),
    slowDowns,
  }
}
