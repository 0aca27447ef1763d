/**
 * The runtime's containers and sandboxes as `crictl ps -a -o json` and `crictl pods -o json` print them.
 *
 * Replays       pkg/kubelet/kuberuntime/labels.go  getContainerInfoFromLabels
 * Kept exactly  a container without the kubelet's labels belongs to a pod that nobody knows
 */
import { isRawObject } from '#model/record.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'
import type { RuntimeContainer, RuntimeSandbox } from './garbage-collect.ts'

interface Named {
  namespace: string | null
  pod: string | null
}

export type RecordedContainer = RuntimeContainer & Named
export type RecordedSandbox = RuntimeSandbox & Named

export interface RuntimeRecord {
  containers: RecordedContainer[]
  sandboxes: RecordedSandbox[]
  /** How many of either list are not readable. */
  unreadable: number
}

/** Null where either list is missing. */
export function parseRuntimeRecord(runtime: unknown): RuntimeRecord | null {
  if (
    !isRawObject(runtime) ||
    !Array.isArray(runtime.containers) ||
    !Array.isArray(runtime.sandboxes)
  )
    return null
  const parsed = runtime.containers.map(raw => ({ raw, container: parseContainer(raw) }))
  const unread = parsed.filter(({ container }) => container === null)
  // Whatever is in it, a sandbox with a container stays.
  const inUse = new Set(unread.map(({ raw }) => textAt(raw, 'podSandboxId')))
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

function parseContainer(raw: unknown): RecordedContainer | null {
  const id = textAt(raw, 'id')
  const createdAtNs = nanosecondsOf(raw)
  const stateText = textAt(raw, 'state') ?? ''
  const state = Object.hasOwn(containerStates, stateText) ? containerStates[stateText] : undefined
  if (id === null || createdAtNs === null || state === undefined) return null
  const labels = objectAt(raw, 'labels')
  return {
    id,
    podUid: textAt(labels, 'io.kubernetes.pod.uid') ?? '',
    name:
      textAt(objectAt(raw, 'metadata'), 'name') ??
      textAt(labels, 'io.kubernetes.container.name') ??
      '',
    sandboxId: textAt(raw, 'podSandboxId') ?? '',
    state,
    createdAtNs,
    namespace: textAt(labels, 'io.kubernetes.pod.namespace'),
    pod: textAt(labels, 'io.kubernetes.pod.name'),
  }
}

function parseSandbox(raw: unknown): RecordedSandbox | null {
  const id = textAt(raw, 'id')
  const createdAtNs = nanosecondsOf(raw)
  const state = textAt(raw, 'state') ?? ''
  const metadata = objectAt(raw, 'metadata')
  const podUid = textAt(metadata, 'uid')
  if (id === null || createdAtNs === null || podUid === null || !sandboxStates.includes(state))
    return null
  return {
    id,
    podUid,
    isReady: state === 'SANDBOX_READY',
    createdAtNs,
    namespace: textAt(metadata, 'namespace'),
    pod: textAt(metadata, 'name'),
  }
}

/** An int64 is printed as a text; a parser of JSON may have rounded one that was not. */
function nanosecondsOf(raw: unknown): bigint | null {
  const value = isRawObject(raw) ? raw.createdAt : null
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : null
}
