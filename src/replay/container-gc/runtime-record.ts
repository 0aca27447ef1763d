/**
 * The runtime's containers and sandboxes as `crictl ps -a -o json` and `crictl pods -o json` print them.
 *
 * Replays       pkg/kubelet/kuberuntime/labels.go  getContainerInfoFromLabels
 * Kept exactly  a container without the kubelet's labels belongs to an unknown pod
 */

import type {
  RuntimeContainer as CrictlContainer,
  RuntimeSandbox as CrictlSandbox,
  Runtime,
} from '#model/input/inspection.ts'
import type { RuntimeContainer, RuntimeSandbox } from './garbage-collect.ts'

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
export function parseRuntimeRecord(runtime: Runtime | null): RuntimeRecord | null {
  if (runtime?.containers === undefined || runtime.sandboxes === undefined) return null
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
