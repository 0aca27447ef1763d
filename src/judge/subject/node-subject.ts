import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { FieldValue } from '#judge/drift/drift.ts'
import type { StartFact } from '#judge/drift/layers.ts'
import type { ContainerLog } from '#judge/logs/running-logs.ts'
import type { CoverageState } from '#model/finding/finding.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import {
  type NodeIdentity,
  promisedSources,
  type ReadFailure,
  type Source,
} from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type {
  EvictionPrediction,
  Filesystems,
  NodePrediction,
} from '#model/prediction/prediction.ts'

/**
 * One node as the rules see it. A field that is null is unknown; `missing` has the reason. `at` is the node's own "now": keep it out of facts,
 * or no two facts are equal. `runtime` and `host` are sources that only the node itself has; mode `proxy` does not read them.
 */
export interface NodeSubject
  extends Pick<
      NodePrediction,
      | 'at'
      | 'filesystems'
      | 'imageGC'
      | 'nextStart'
      | 'containerGC'
      | 'localStorageEvictions'
      | 'allocatable'
      | 'overRequested'
      | 'ledger'
    >,
    Pick<NodeInput, 'cluster' | 'node' | 'pods' | 'summary' | 'runtime' | 'host' | 'mode'> {
  identity: NodeIdentity
  /** The node's own conditions: `DiskPressure` → `True`. */
  conditions: Record<string, string>
  configuration: KubeletConfiguration | null
  /** The compared fields of the configuration, computed on first use. */
  runningValues(): Readonly<Record<string, FieldValue>>
  /** The logs of running containers, computed on first use. */
  runningLogs(): readonly ContainerLog[]
  /** `recentStarts` of the pods, computed on first use. */
  recentStarts(): Readonly<Record<string, string>>
  /** True: the configuration was computed from files and flags, not read. It runs only if the kubelet restarted after their last change. */
  isConfigurationOnDisk: boolean
  /** Like `filesystems`; null if no filesystem has a known size. */
  disks: Filesystems | null
  /** Also null if the running eviction settings do not parse. Thresholds of 0, which are never met, are left out. */
  eviction: EvictionPrediction | null
  /** What the files and flags come to, computed on first use. Null: it is unknown. */
  startFact(): StartFact | null
  coverage: CoverageState
  /** The sources that the node's mode promises but that could not be read, each with the reason. */
  unread: Partial<Record<Source, string>>
  isKubeletDown: boolean
  /** Why a source was not read. Null: for another reason, or every source was read. */
  readFailure: ReadFailure | null
  /** Why a need is null. */
  missing: Partial<Record<Need, string>>
  /** Open questions about a known need: the real state may be worse than the known one. */
  doubts: Partial<Record<Need, string>>
}

export type Need =
  | 'configuration'
  | 'disks'
  | 'imageGC'
  | 'eviction'
  | 'nextStart'
  | 'containerGC'
  | 'localStorageEvictions'
  | 'allocatable'
  | 'ledger'
  | 'pods'
  | 'summary'
  | 'runtime'
  | 'host'

export type JudgedNode = Pick<
  NodeSubject,
  'cluster' | 'identity' | 'isConfigurationOnDisk' | 'mode'
>

/** Whether the mode reads this of such a node. If it was not read, rules on it are unknown. The documents of SSM run on Linux only. */
export const isExpected = (
  { mode, identity }: Pick<NodeSubject, 'mode' | 'identity'>,
  source: 'host' | 'runtime',
): boolean => identity.operatingSystem === 'linux' && promisedSources[mode].includes(source)

/** Whether images may be missing: the Node object lists as many as it can, and the runtime was not asked. Upstream: pkg/kubelet/nodestatus/setters.go Images */
export function isImageListCut({
  runtime,
  node,
  configuration,
}: Pick<NodeSubject, 'runtime' | 'node' | 'configuration'>): boolean {
  const most = configuration?.nodeStatusMaxImages ?? configurationDefaults.nodeStatusMaxImages ?? 50
  const listed = node.status?.images?.length ?? 0
  return runtime?.images === undefined && most >= 0 && listed > 0 && listed >= most
}
