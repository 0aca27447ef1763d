import type { NodeLedger } from '#model/disk-ledger.ts'
import type { CoverageState } from '#model/finding.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { KubernetesNode, KubernetesPod } from '#model/kubernetes.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Host, Runtime, Summary } from '#model/node-input.ts'
import type {
  AllocatablePrediction,
  ContainerRemoval,
  EvictionPrediction,
  Filesystems,
  ImageGcPrediction,
  LocalStorageEviction,
  NextStartPrediction,
} from '#model/prediction.ts'
import type { ReadMode, Source } from '#model/read-mode.ts'

/** One node as the rules see it. Null: not known, and `missing` says why. */
export interface NodeSubject {
  cluster: string
  /** RFC 3339: the node's own "now". Keep it out of facts, or no two are equal. */
  at: string
  identity: NodeIdentity
  /** What the node itself reports, `DiskPressure` → `True`. */
  conditions: Record<string, string>
  configuration: KubeletConfiguration | null
  /** Whether that is what its files and flags come to: what runs was not read, and rests on a restart since they were written. */
  isConfigurationOnDisk: boolean
  filesystems: Filesystems
  /** The same; null where the size of neither is known. */
  disks: Filesystems | null
  imageGC: ImageGcPrediction | null
  /** Null also where the running eviction settings would not parse. */
  eviction: EvictionPrediction | null
  nextStart: NextStartPrediction | null
  containerGC: { removals: ContainerRemoval[] } | null
  localStorageEvictions: LocalStorageEviction[] | null
  allocatable: AllocatablePrediction | null
  ledger: NodeLedger | null
  /** As read, in the API's own shapes. */
  node: KubernetesNode
  pods: readonly KubernetesPod[] | null
  summary: Summary | null
  /** What only the node itself knows; not read in mode `proxy`. */
  runtime: Runtime | null
  host: Host | null
  mode: ReadMode
  coverage: CoverageState
  /** The sources that its mode promises and that could not be read, and why. */
  unread: Partial<Record<Source, string>>
  isKubeletDown: boolean
  /** Why a need is null. */
  missing: Partial<Record<Need, string>>
  /** What stays open about a need that is known: it can turn out worse than it looks. */
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
