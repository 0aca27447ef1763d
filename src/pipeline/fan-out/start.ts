/** Starts the state machine if a fleet is too large for one function. The execution has the name of the run, so a tick starts only one. */

import pMap from 'p-map'
import { messageOf } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import { countNodes } from '#collect/collect.ts'
import { type ClusterTarget, isAcrossPlaces } from '#discover/discover.ts'
import { type AuditRequest, type RunAnswer, type Settings, unauditedAnswer } from '#model/run.ts'
import { foundTargets, type LiveOptions } from '#pipeline/audit/fleet.ts'
import type { ServiceRuntime } from '#pipeline/runtime/runtime.ts'
import { keys, noteInvocation, writeJson } from './files.ts'
import { ssmGroups, ssmNodesMax } from './shards.ts'

export interface FanOutRequest {
  runId: string
  request: AuditRequest
  /** Null: the stack has no bucket, so fan-out is off. */
  store: Store | null
  settings: Settings
  /** The caller has a kubeconfig whose clusters no other function would find. */
  isOwnFleet: boolean
  runtime: Pick<ServiceRuntime, 'requestId' | 'watch'>
}

/**
 * @returns `answer`: of the function; null: it reads the fleet itself. `targets`: clusters that were found for the decision; absent: none were
 * searched. `mistake`: why this function reads a fleet that is too large for one function, for the report; null: it does not
 * @throws OperatorError if there is nothing to audit
 */
export async function fanOut(
  { runId, request, store, settings, isOwnFleet, runtime }: FanOutRequest,
  live: LiveOptions,
) {
  const { stateMachineArn } = settings
  if (stateMachineArn === null || !store || request.isDryRun || isOwnFleet)
    return { answer: null, mistake: null }
  const { isLarge, targets, unknown } = await sizeOf(live)
  if (!isLarge) return { answer: null, mistake: null, targets }
  try {
    await writeJson(store, keys.request(runId), request)
    const { startRun } = await import('./execution.ts')
    const { name, status } = await startRun(stateMachineArn, runId, live.signal)
    await noteInvocation(store, runId, runtime, false)
    const location = `${status === null ? 'started' : `had been started, and is ${status}`}: execution ${name} of ${stateMachineArn}${unknown ?? ''}`
    const deliveries = [{ channel: 'fan-out', location, link: null, error: null }]
    const answer: RunAnswer = { runId, state: 'fanned-out', ...unauditedAnswer, deliveries }
    return { answer, mistake: null }
  } catch (error) {
    const reason = messageOf(error)
    return {
      answer: null,
      mistake: `the fleet was not handed to many functions, and this one has read what it could: ${reason}`,
      targets,
    }
  }
}

const countedAtOnce = 10

/**
 * Counts nodes by one small request to each API server. If a part of the fleet cannot be counted, the fleet counts as large.
 * @returns `unknown`: why a fleet of unknown size counts as large, for people
 */
async function sizeOf(live: LiveOptions) {
  const { fanOut } = live.policy
  // A selection by name is small.
  if (live.selection.nodes.length > 0) return { isLarge: false }
  const isAcross = fanOut.acrossPlaces && (await isAcrossPlaces(live.policy))
  const { aboveNodes } = fanOut
  if (isAcross ? live.selection.clusters.length === 0 : aboveNodes === null)
    return { isLarge: isAcross }
  // A selected cluster that does not exist fails here, before a state machine starts.
  const targets = await Array.fromAsync(foundTargets(live))
  if (isAcross || aboveNodes === null) return { isLarge: isAcross, targets }
  const known = { nodes: 0, reason: null }
  const counts = await pMap(
    targets,
    async target => ({
      target,
      ...(target.endpoint ? await countNodes(target.endpoint, live) : known),
    }),
    { concurrency: countedAtOnce },
  )
  const nodesIn = (part: readonly ClusterTarget[]) =>
    counts.reduce((sum, { target, nodes }) => sum + (part.includes(target) ? (nodes ?? 0) : 0), 0)
  const ssmMost = ssmNodesMax(live.policy)
  if (
    nodesIn(targets) > aboveNodes ||
    ssmGroups(targets, live.policy).some(group => nodesIn(group) > ssmMost)
  )
    return { isLarge: true, targets }
  const silent = counts.find(({ nodes }) => nodes === null)
  if (!silent) return { isLarge: false, targets }
  return {
    isLarge: true,
    targets,
    unknown: ` (the size of the fleet is unknown: cluster ${silent.target.record.cluster} was not counted: ${silent.reason})`,
  }
}
