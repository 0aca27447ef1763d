/** The common part of the service's functions: time limits, store and policy. */

import { mkdir, rm } from 'node:fs/promises'
import type { Keep } from '#base/keep.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import { RunEnd } from '#clients/failure.ts'
import { s3Store } from '#clients/store/s3.ts'
import { failFastStore, type Store } from '#clients/store/store.ts'
import { defaultPolicy, type Policy, type PolicyGrants } from '#model/policy.ts'
import type { Settings } from '#model/run.ts'
import { openKeptFile } from '#pipeline/audit/kept-file.ts'
import type { SecondReadingOptions } from '#pipeline/audit/second-reading.ts'
import { grantedPolicy } from './granted-policy.ts'
import type { RunWatch } from './run-watch.ts'

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

const remainingOf = ({ remainingMs }: ServiceRuntime) =>
  remainingMs > 0 ? Math.min(remainingMs, longestRunMs) : 0

/** @throws OperatorError if the function has no region */
export async function functionRegion(): Promise<string> {
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
): Promise<T> {
  const remainingMs = remainingOf(runtime)
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
