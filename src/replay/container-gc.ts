/**
 * Container GC on a node as it was read: which dead containers, sandboxes and log directories its next passes remove.
 *
 * Replays       pkg/kubelet/container/container_gc.go  GarbageCollect, DeleteAllUnusedContainers, over the pass of container-gc/
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  a pod object in phase Succeeded or Failed is terminated; if it is being deleted or evicted, its content is removed too;
 *               a uid without a pod object counts as deleted; a static pod has the uid that its mirror pod names
 * Left out      what the runtime cannot stop or remove; a pod that is being stopped now counts by its phase;
 *               that a restarted kubelet no longer knows which pods it evicted
 */

import { formatDuration, parseDuration } from '#base/go/duration.ts'
import { goQuote, parseInt64 } from '#base/go/go-text.ts'
import { messageOf } from '#base/operator-error.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import { containerGcPeriodMs } from '#facts/kubelet/periods.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import type {
  RuntimeContainer as CrictlContainer,
  RuntimeSandbox as CrictlSandbox,
  Host,
  Runtime,
} from '#model/input/inspection.ts'
import type { KubernetesPod, NodeInput } from '#model/input/record.ts'
import type { ContainerRemoval, Unknown } from '#model/prediction.ts'
import {
  type ContainerGcPolicy,
  garbageCollect,
  type PodState,
  type RuntimeContainer,
  type RuntimeSandbox,
} from './container-gc/garbage-collect.ts'
import type { RemovedContainer, RemovedContainers } from './image-gc/bounds.ts'
import { containerIdOf, containerStatusesOf } from './pods.ts'
import type { TimeBounds } from './times.ts'

export interface ContainerGcEvidence {
  runtime: Runtime | null
  host: Host | null
  /** The node's pod objects; null: not known. */
  pods: readonly KubernetesPod[] | null
  /** When the evidence was read. */
  readMs: number
  /** Not before `readMs`. */
  nowMs: number
}

export interface ContainerGcRemovals {
  /** In upstream's order: containers, sandboxes, log directories. These are certainly removed. */
  removals: ContainerRemoval[]
  /** Created at the same moment as others: upstream removes some of these, in no defined order. */
  possible: ContainerRemoval[]
}

export interface ContainerGcPrediction {
  /** Removals by the passes of every minute, until now. */
  periodic: ContainerGcRemovals
  /** Containers, sandboxes and log directories removed since the evidence was read, by id. Empty: no time has passed. */
  removedSince: RemovedContainers
  /** Removals by the pass that eviction starts. */
  underEviction: ContainerGcRemovals
}

export interface PredictedContainerGc {
  /** Null: unknown; `unknowns` gives the reason. */
  prediction: ContainerGcPrediction | null
  unknowns: Unknown[]
}

export function predictContainerGc(evidence: ContainerGcEvidence): PredictedContainerGc {
  const { host, pods, nowMs } = evidence
  const runtime = parseRuntimeRecord(evidence.runtime)
  if (!runtime) return unknownResult('runtime')
  if (!pods) return unknownResult('pods')
  if (!Number.isSafeInteger(nowMs)) return unknownResult('at')
  const { policy, unknowns } = policyOf(host)
  if (!policy) return { prediction: null, unknowns }

  const states = podStates(pods)
  const podLogDirs = host?.podLogDirectories ?? null
  if (!podLogDirs)
    unknowns.push({
      what: 'host.podLogDirectories',
      effect: 'which log directories of deleted pods go is not known',
    })
  if (runtime.unreadable > 0) {
    unknowns.push({
      what: 'runtime',
      effect: `${runtime.unreadable} of its containers and sandboxes could not be read and are not counted`,
    })
  }
  const removals = reportEntriesById(runtime)
  const removalsOf = (ids: string[]) =>
    ids.map(id => removals.get(id)).filter(removal => removal !== undefined)
  const passOf = (evictNonDeletedPods: boolean, passMs = nowMs): ContainerGcRemovals => {
    const { containers, sandboxes } = runtime
    const nowNs = BigInt(passMs) * 1_000_000n
    const podState = (uid: string) => states.get(uid) ?? 'deleted'
    const input = {
      policy,
      nowNs,
      evictNonDeletedPods,
      podState,
      containers,
      sandboxes,
      podLogDirs: podLogDirs ?? [],
    }
    const pass = garbageCollect({ ...input, allSourcesReady: true })
    const gone = [...pass.removedContainers, ...pass.removedSandboxes].map(({ id }) => id)
    const decided = gone.filter(id => !pass.undecided.has(id))
    return {
      removals: [...removalsOf(decided), ...pass.removedPodLogDirs.map(logDirectory)],
      possible: removalsOf([...pass.undecided]),
    }
  }
  const periodic = passOf(false)
  const prediction = {
    periodic,
    removedSince: removedSince(periodic, evidence, passMs => passOf(false, passMs)),
    underEviction: passOf(true),
  }
  if ([prediction.periodic, prediction.underEviction].some(({ possible }) => possible.length > 0)) {
    unknowns.push({
      what: 'containerGC.order',
      effect: 'of containers created at the same moment any may be removed first',
    })
  }
  return { prediction, unknowns }
}

/** A pass runs every minute; its phase is unknown. `periodic`: what a pass now would remove. */
function removedSince(
  periodic: ContainerGcRemovals,
  { readMs, nowMs }: ContainerGcEvidence,
  passAt: (ms: number) => ContainerGcRemovals,
): RemovedContainers {
  const removed = new Map<string, RemovedContainer>()
  if (nowMs <= readMs) return removed
  const take = (removals: ContainerRemoval[], isSure: boolean, removal: TimeBounds) => {
    for (const { id } of removals) if (!removed.has(id)) removed.set(id, { isSure, removal })
  }
  const lastSureMs = nowMs - containerGcPeriodMs
  if (lastSureMs >= readMs) {
    const within = { earliestMs: readMs, latestMs: readMs + containerGcPeriodMs }
    take(passAt(readMs).removals, true, within)
    take(passAt(lastSureMs).removals, true, { earliestMs: readMs, latestMs: nowMs })
  }
  const { removals, possible } = periodic
  take([...removals, ...possible], false, { earliestMs: readMs, latestMs: nowMs })
  return removed
}

const unknownResult = (what: string): PredictedContainerGc => ({
  prediction: null,
  unknowns: [{ what, effect: 'which dead containers go is not known' }],
})

/** Policy null: the running kubelet could not have started with these flags. */
function policyOf(host: Host | null): { policy: ContainerGcPolicy | null; unknowns: Unknown[] } {
  const what = 'host.kubelet.commandLine'
  const commandLine = host?.kubelet?.commandLine
  try {
    const assumed = { what, effect: 'the flags of container GC are taken to be at their defaults' }
    return { policy: containerGcPolicy(commandLine ?? []), unknowns: commandLine ? [] : [assumed] }
  } catch (error) {
    const why = messageOf(error)
    return {
      policy: null,
      unknowns: [{ what, effect: `which dead containers go is not known: ${why}` }],
    }
  }
}

const mirrorAnnotation = 'kubernetes.io/config.mirror'

function podStates(pods: readonly KubernetesPod[]): ReadonlyMap<string, PodState> {
  const states = new Map<string, PodState>()
  for (const pod of pods) {
    const uid = pod.metadata?.annotations?.[mirrorAnnotation] ?? pod.metadata?.uid
    if (uid !== undefined) states.set(uid, podState(pod))
  }
  return states
}

function podState({ metadata, status }: KubernetesPod): PodState {
  const phase = status?.phase ?? null
  if (!isTerminalPhase(phase)) return 'running'
  const isEvicted = phase === 'Failed' && status?.reason === 'Evicted'
  return isEvicted || metadata?.deletionTimestamp !== undefined ? 'deleted' : 'terminated'
}

/** Report entry of each container and sandbox, by id. */
function reportEntriesById({
  containers,
  sandboxes,
}: RuntimeRecord): ReadonlyMap<string, ContainerRemoval> {
  const removals = new Map<string, ContainerRemoval>()
  for (const { id, namespace, pod, name } of containers)
    removals.set(id, { kind: 'container', id, namespace, pod, container: name })
  for (const { id, namespace, pod } of sandboxes)
    removals.set(id, { kind: 'sandbox', id, namespace, pod, container: null })
  return removals
}

/** `namespace_pod_uid`. */
function logDirectory(name: string): ContainerRemoval {
  const [namespace = null, pod = null, ...rest] = name.split('_')
  const isNamed = rest.length === 1
  return {
    kind: 'logDirectory',
    id: name,
    namespace: isNamed ? namespace : null,
    pod: isNamed ? pod : null,
    container: null,
  }
}

/** Ids of containers that exist and do not run, from the runtime, or else from the pods. */
export function deadContainers({ runtime, pods }: NodeInput): string[] {
  if (runtime?.containers)
    return runtime.containers
      .filter(({ state }) => state !== 'CONTAINER_RUNNING')
      .map(({ id }) => id ?? '')
  return (pods ?? [])
    .flatMap(containerStatusesOf)
    .filter(({ state }) => state?.running === undefined)
    .map(containerIdOf)
    .filter(id => id !== '')
}

/*
 * The policy of container GC: three flags of the command line, which no configuration shows.
 *
 * Replays       cmd/kubelet/app/options/options.go  NewKubeletFlags, AddFlags;  pkg/kubelet/container/container_gc.go NewContainerGC
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  if a flag is given twice, the last counts; with a negative age the kubelet does not start; negative numbers mean no limit
 */

/** @param commandLine the running kubelet's. @throws upstream's text */
function containerGcPolicy(commandLine: readonly string[]): ContainerGcPolicy {
  const parsedValue = <Value>(flag: string, parse: (text: string) => Value, unset: Value) => {
    const text = flagValue(commandLine, flag)
    return text === null ? unset : parseFlag(flag, text, parse)
  }
  const minAgeNs = parsedValue('minimum-container-ttl-duration', parseDuration, 0n)
  if (minAgeNs < 0n)
    throw new Error(`invalid minimum garbage collection age: ${formatDuration(minAgeNs)}`)
  const parseInt32 = (text: string) => Number(parseInt64(text, 32))
  return {
    minAgeNs,
    maxPerPodContainer: parsedValue('maximum-dead-containers-per-container', parseInt32, 1),
    maxContainers: parsedValue('maximum-dead-containers', parseInt32, -1),
  }
}

function parseFlag<Value>(flag: string, text: string, parse: (text: string) => Value) {
  try {
    return parse(text)
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`invalid argument ${goQuote(text)} for ${goQuote(`--${flag}`)} flag: ${why}`)
  }
}

/*
 * The runtime's containers and sandboxes as `crictl ps -a -o json` and `crictl pods -o json` print them.
 *
 * Replays       pkg/kubelet/kuberuntime/labels.go  getContainerInfoFromLabels
 * Kept exactly  a container without the kubelet's labels belongs to an unknown pod
 */

interface NamedContainer {
  namespace: string | null
  pod: string | null
}

export type RecordedContainer = RuntimeContainer & NamedContainer
export type RecordedSandbox = RuntimeSandbox & NamedContainer

export interface RuntimeRecord {
  containers: RecordedContainer[]
  sandboxes: RecordedSandbox[]
  /** Number of unreadable entries in both lists. */
  unreadable: number
}

/** Null: one of the lists is missing. */
function parseRuntimeRecord(runtime: Runtime | null): RuntimeRecord | null {
  if (!runtime?.containers || !runtime.sandboxes) return null
  const parsed = runtime.containers.map(raw => ({ raw, container: parseContainer(raw) }))
  const unread = parsed.filter(({ container }) => container === null)
  // A sandbox is kept if one of its containers cannot be parsed.
  const inUse = new Set(unread.map(({ raw }) => raw.podSandboxId))
  const sandboxes = runtime.sandboxes.map(parseSandbox).filter(sandbox => sandbox !== null)
  return {
    containers: parsed.map(({ container }) => container).filter(container => container !== null),
    sandboxes: sandboxes.map(sandbox =>
      inUse.has(sandbox.id) ? { ...sandbox, isReady: true } : sandbox,
    ),
    unreadable: unread.length + runtime.sandboxes.length - sandboxes.length,
  }
}

const containerStates: Readonly<Record<string, RuntimeContainer['state']>> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
}
const sandboxStates = ['SANDBOX_READY', 'SANDBOX_NOTREADY']

function parseContainer(raw: CrictlContainer): RecordedContainer | null {
  const { id } = raw
  const createdAtNs = nanosecondsOf(raw.createdAt)
  const stateText = raw.state ?? ''
  const state = Object.hasOwn(containerStates, stateText) ? containerStates[stateText] : undefined
  if (id === undefined || createdAtNs === null || state === undefined) return null
  const { labels } = raw
  return {
    id,
    podUid: labels?.['io.kubernetes.pod.uid'] ?? '',
    name: raw.metadata?.name ?? labels?.['io.kubernetes.container.name'] ?? '',
    sandboxId: raw.podSandboxId ?? '',
    state,
    createdAtNs,
    namespace: labels?.['io.kubernetes.pod.namespace'] ?? null,
    pod: labels?.['io.kubernetes.pod.name'] ?? null,
  }
}

function parseSandbox(raw: CrictlSandbox): RecordedSandbox | null {
  const { id } = raw
  const createdAtNs = nanosecondsOf(raw.createdAt)
  const state = raw.state ?? ''
  const { metadata } = raw
  const podUid = metadata?.uid
  if (
    id === undefined ||
    createdAtNs === null ||
    podUid === undefined ||
    !sandboxStates.includes(state)
  )
    return null
  return {
    id,
    podUid,
    isReady: state === 'SANDBOX_READY',
    createdAtNs,
    namespace: metadata?.namespace ?? null,
    pod: metadata?.name ?? null,
  }
}

/** An int64 is printed as text. JSON parsing might have rounded one printed as a number. */
function nanosecondsOf(value: string | number | undefined) {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null
  return value !== undefined && /^-?\d{1,19}$/.test(value) ? BigInt(value) : null
}
