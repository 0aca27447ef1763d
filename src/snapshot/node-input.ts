/** The only place where the record of a node gets its types. */

import type {
  AttachedVolume,
  Host,
  KnownImages,
  NodeInput,
  Runtime,
  Summary,
} from '#model/input/node-input.ts'
import { defaultReadMode } from '#model/input/read-mode.ts'
import type { NodeRecord, ReadError } from '#model/input/record.ts'
import { parseConfigz } from '#model/kubelet/configuration.ts'

/** @param record as `prune` leaves it: each part is cut to the shape of its type (shapes.ts), so a field has its type or is absent. */
export function nodeInput(record: NodeRecord): NodeInput {
  const { cluster, at, mode, node, configz, summary, pods, runtime, host, known, volumes, errors } =
    record
  return {
    kind: 'Node',
    cluster,
    at: at ?? null,
    mode: mode ?? defaultReadMode,
    node,
    configuration: configz ? parseConfigz(configz) : null,
    summary: (summary as Summary | null | undefined) ?? null,
    pods: pods ?? null,
    runtime: (runtime as Runtime | null | undefined) ?? null,
    host: (host as Host | null | undefined) ?? null,
    known: (known as KnownImages | null | undefined) ?? null,
    volumes: (volumes as AttachedVolume[] | null | undefined) ?? null,
    errors: (errors ?? []).map(withCause),
  }
}

/** Whether the kubelet does not listen, in the API server's words. Source: net.Dial, `dial tcp 10.0.1.2:10250: connect: connection refused`. */
const isRefusedKubelet = (message: string): boolean =>
  message.includes('connection refused') && /:10250\b/.test(message)

const withCause = (error: ReadError): ReadError =>
  isRefusedKubelet(error.message) ? { ...error, isKubeletDown: true } : error
