/** What the functions of the service have in common: their time, and their place in the bucket. */
import { s3Store } from '#clients/s3.ts'
import type { Store } from '#clients/store.ts'
import { givingUp } from '#clients/store-giving-up.ts'
import { notReached } from '#model/not-reached.ts'
import type { Policy } from '#model/policy.ts'
import type { Settings } from '#model/run.ts'
import type { RunWatch } from './run-watch.ts'

export interface ServiceRuntime {
  version: string
  /** Tells this run from others that were asked for in the same second. */
  requestId: string
  /** How long the run may take in all, before it is killed. */
  remainingMs: number
  /** A folder of its own, for the snapshot on its way. */
  folder: string
  now: () => Date
  parsePolicy: (text: string, file: string) => Policy
  watch: RunWatch
}

/** The policy lies beside the reports, so that it changes without a deployment. */
export const policyKey = 'highwater.yaml'

/** How long S3 may stay silent: a small part of the run, because it is asked before and after reading. */
const silenceShare = 0.02
const silenceMs = { least: 1_000, most: 20_000 }
// setTimeout takes no more than 2^31 − 1 ms.
const longestRunMs = 2 ** 31 - 1

export const remainingOf = ({ remainingMs }: ServiceRuntime): number => (remainingMs > 0 ? Math.min(remainingMs, longestRunMs) : 0)

/** Null: the stack names no bucket. */
export function storeOf({ bucket, prefix, kmsKeyId }: Settings, region: string, remainingMs: number, signal: AbortSignal): Store | null {
  if (bucket === null) return null
  const idleTimeoutMs = Math.min(silenceMs.most, Math.max(silenceMs.least, remainingMs * silenceShare))
  return givingUp(s3Store({ bucket, prefix, kmsKeyId, region, signal, idleTimeoutMs }))
}

export function timeLimit(durationMs: number): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new Error(notReached(`run's deadline of ${Math.round(durationMs / 1000)} s`))),
    durationMs,
  )
  return { signal: controller.signal, end: () => clearTimeout(timer) }
}
