/** The context of each function of a fan-out: run, store, policy, cluster. */
import { OperatorError } from '#base/operator-error.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import type { Store } from '#clients/store/store.ts'
import type { CollectOptions } from '#collect/collect.ts'
import { Inspector } from '#collect/inspect/inspector.ts'
import { type ClusterTarget, targetAt } from '#discover/discover.ts'
import type { ClusterRecord, ReadError } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { Settings } from '#model/run.ts'
import { collectOptionsOf } from '#pipeline/audit/fleet.ts'
import { grantedPolicy } from '#pipeline/runtime/granted-policy.ts'
import {
  policyKey,
  type RunLimits,
  type ServiceRuntime,
  storeOf,
  withinLimits,
} from '#pipeline/runtime/runtime.ts'
import {
  BrokenFile,
  type ClusterWork,
  type FanOutRun,
  keys,
  noteInvocation,
  readJson,
  readRecords,
} from './files.ts'

export interface FanOutContext {
  runId: string
  settings: Settings
  region: string
  store: Store
  runtime: ServiceRuntime
  limits: RunLimits
}

/** @throws OperatorError if the function has no bucket */
export const withFanOut = <T>(
  runId: string,
  settings: Settings,
  runtime: ServiceRuntime,
  step: (context: FanOutContext) => Promise<T>,
): Promise<T> =>
  withinLimits(runtime, async limits => {
    runtime.watch.began(runId)
    const region = await sdkRegion()
    const store = region === null ? null : storeOf(settings, region, limits.remainingMs, limits.end)
    if (region === null || !store)
      throw new OperatorError(
        'Many functions read a fleet together by way of a bucket: set AWS_REGION and HIGHWATER_BUCKET',
      )
    let isFailed = true
    try {
      const answer = await step({ runId, settings, region, store, runtime, limits })
      isFailed = false
      return answer
    } finally {
      await noteInvocation(store, runId, runtime, isFailed)
    }
  })

/** @throws OperatorError if its discovery is missing */
export async function runOf({ runId, store }: FanOutContext): Promise<FanOutRun> {
  const run = await readJson<FanOutRun>(store, keys.run(runId))
  if (!run)
    throw new OperatorError(
      `Run ${runId} has no ${store.location}/${keys.run(runId)}: the function discover writes it, and comes first`,
    )
  return run
}

/** @throws OperatorError if the run has no such cluster */
export function workOf(run: FanOutRun, cluster: number): ClusterWork {
  const work = run.clusters[cluster]
  if (!work)
    throw new OperatorError(
      `Run ${run.runId} has ${run.clusters.length} clusters, counted from 0: there is no ${cluster}`,
    )
  return work
}

/** The policy at the start of the run. */
export const runPolicy = (
  { policy }: FanOutRun,
  { runtime, store, settings }: FanOutContext,
): Policy =>
  policy === null
    ? defaultPolicy
    : grantedPolicy(
        runtime.parsePolicy(policy, `${store.location}/${policyKey}`),
        settings.policyGrants,
      ).policy

/** A described cluster and the options to read it. */
export interface OpenCluster {
  record: ClusterRecord
  endpoint: ClusterTarget['endpoint']
  /** Why the cluster cannot be read now. */
  errors: ReadError[]
  options: CollectOptions
  close(): void
}

export async function openCluster(
  run: FanOutRun,
  cluster: number,
  context: FanOutContext,
): Promise<OpenCluster> {
  const { limits, runtime } = context
  const { at, ssmRequestsPerSecond } = workOf(run, cluster)
  const whole = runPolicy(run, context)
  const policy = { ...whole, pace: { ...whole.pace, ssmRequestsPerSecond } }
  const record = await clusterRecord(cluster, context)
  const target = at
    ? await targetAt(record, at, policy, limits.reading)
    : { record, endpoint: null, place: null, errors: [] }
  let inspector: Inspector | null = null
  const options = collectOptionsOf(
    target,
    { policy, selection: run.request.selection, signal: limits.reading, now: runtime.now },
    place => {
      inspector = new Inspector(place, policy, limits.reading, true)
      return inspector
    },
  )
  const { endpoint, errors } = target
  return { record, endpoint, errors, options, close: () => inspector?.close() }
}

/** The record that discovery wrote. @throws BrokenFile if it is missing or cannot be parsed */
export async function clusterRecord(
  cluster: number,
  { store, runId, runtime }: FanOutContext,
): Promise<ClusterRecord> {
  const key = keys.cluster(runId, cluster)
  for await (const record of readRecords(store, key, runtime.folder))
    if (record.kind === 'Cluster') return record
  throw new BrokenFile(`${store.location}/${key} is broken: no cluster stands in it`)
}
