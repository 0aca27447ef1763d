/** Why a finding is there, and what ends it, as values. Texts are made from them in `report`. */

import type { DiskHolder, HolderOwner } from '#model/prediction/disk-ledger.ts'

/** Low and high bound; equal if measured. `high` null: no upper bound is known. */
export interface Amount {
  unit: 'bytes' | 'inodes' | 'pids'
  low: number
  high: number | null
}

/** Where a setting is written. `declaration`: launch template, node class or NodeConfig. */
export type SettingLayer =
  | 'kubelet'
  | 'runtime'
  | 'logrotate'
  | 'workload'
  | 'image'
  | 'declaration'
  | 'policy'
  | 'control-plane'

export type WorldEvent =
  | 'agent-reports'
  | 'cgroup-v1'
  | 'claim-full'
  | 'foreign-cleaner'
  | 'gc-fails'
  | 'growth'
  | 'image-missing'
  | 'images-of-machine-image'
  | 'kernel-memory-cgroups'
  | 'kubelet-restarts'
  | 'leftover-objects'
  | 'memory-outside-pods'
  | 'no-space-elsewhere'
  | 'not-restarted'
  | 'pods-evicted'
  | 'pressure-repeats'
  | 'pressure-stays'
  | 'processes-outside-pods'
  | 'pull-fails'
  | 'read-only'
  | 'registry-rate-limit'
  | 'registry-unreachable'
  | 'slow-runtime'
  | 'version-skew'
  | 'volume-fails'

/** `unsupported`: no mode can read it on this kind of node. `not-asked`: the mode does not read it. `incomplete`: the answer came, and lacks it. */
export type UnreadReason =
  | 'not-asked'
  | 'forbidden'
  | 'refused'
  | 'agent-lost'
  | 'cut'
  | 'incomplete'
  | 'timeout'
  | 'unreachable'
  | 'unsupported'
  | 'other'

/** In place of a field: the files of the kubelet, of which it runs none yet. */
export const wholeFile = 'configuration'

/** A setting in a layer. `fields`: the first is the one that counts; fields that are set together follow. */
export interface SettingCause {
  kind: 'setting'
  layer: SettingLayer
  fields: string[]
  /** The nodes run the kubelet's default. */
  isDefault: boolean
}

/**
 * What frees bytes without a person. `image-deletion`: they go with their image, in use or not. `pod-deletion`: only when the pod's object
 * is gone, eviction included. `process-end`: when the process closes the file. `nothing`: no act of kubelet, runtime or API server does.
 */
export type FreedBy =
  | 'image-gc'
  | 'image-deletion'
  | 'container-gc'
  | 'pod-deletion'
  | 'process-end'
  | 'nothing'

/** Of a kind of holder, for a person. `restart`: of the container, the kubelet or the runtime. */
export interface HolderNote {
  writer: string
  notFreedBy: readonly ('image-gc' | 'container-gc' | 'pod-deletion' | 'restart')[]
}

export type HolderNotes = Readonly<Record<DiskHolder, HolderNote>>

/** What holds a disk. `memory`: a volume in memory. */
export interface HolderCause {
  kind: 'holder'
  holder: DiskHolder
  filesystem: 'nodefs' | 'imagefs' | 'memory'
  freedBy: FreedBy
  amount: Amount
  /** Null: no owner in the cluster, or see `owners`. */
  owner: HolderOwner | null
  /** Why a holder of workloads has no owner here: none of many holds much, or the owner is not known. */
  owners?: 'many' | 'unknown'
  /** Absolute folder or file on the node, or a namespace of containerd. Null: not one place. */
  place: string | null
  /** What the owner, or the place without an owner, holds of the amount in bytes. Absent: nearly all of it, or unknown. */
  largestBytes?: number
  /** Of `largestBytes`, what the volume holds that `owner` names. Absent: all of it. */
  volumeBytes?: number
  /** Owners that hold such bytes, at least: the largest of them are counted. Absent: one holds half, or unknown. */
  ownerCount?: number
  /** Another holder or owner of about as much of the disk. Of the same holder, it is a part of `amount`. */
  also?: HolderCause
}

export interface DeviceCause {
  kind: 'device'
  /** `own-partition`: a logical volume of the image, which no boot grows. */
  what:
    | 'too-small'
    | 'uncounted'
    | 'below-peers'
    | 'wrong-volume'
    | 'unused-disk'
    | 'unmeasured'
    | 'not-grown'
    | 'own-partition'
    | 'differs'
  /** `/dev/xvda`. Null: unknown. */
  device: string | null
  /** Null: not declared, or unknown. */
  declaredBytes: number | null
  /** Of `below-peers`: the measured median of the larger ones. */
  peerBytes?: number
  actualBytes: number | null
}

export type Cause =
  | SettingCause
  | HolderCause
  | DeviceCause
  /** `subject`: a registry, a program, a kind of object. `bytes`: what it holds of memory. */
  | { kind: 'world'; event: WorldEvent; subject: string | null; bytes?: number }
  /** `place`: the file that was edited. Null: several, or unknown. */
  | { kind: 'hand-edit'; place: string | null }
  /** `source`: what was not read. */
  | { kind: 'unread'; source: string; reason: UnreadReason }

/** `ask-owner`: only the owner of the workload or the program can do it. */
export type StepKind = 'set' | 'free' | 'resize' | 'replace' | 'ask-owner' | 'read-more'

export type StepActionId =
  /** The sentence of the rule's own documentation. */
  | 'advice'
  | 'ask-owner'
  | 'attach-volume'
  | 'await-replacement'
  | 'check-instance'
  | 'check-rotation'
  | 'clean-in-pod'
  | 'clean-namespace'
  | 'clean-objects'
  | 'clean-with-owner'
  | 'compact-datastore'
  | 'count-storage'
  | 'correct-file'
  | 'create-group'
  | 'delete-place'
  | 'delete-pod'
  | 'delete-pod-folder'
  | 'drain'
  | 'drop-idle-log-blocks'
  | 'empty-log'
  | 'end-pod'
  | 'expand-claim'
  | 'find-container'
  | 'grant-pull'
  | 'grant-rights'
  | 'grow-partition'
  | 'import-image'
  | 'import-sandbox'
  | 'larger-disk'
  | 'larger-instance'
  | 'list-deletions'
  | 'list-memory'
  | 'list-processes'
  | 'look-in-volume'
  | 'look-on-host'
  | 'look-on-node'
  | 'look-under-mounts'
  | 'limit-processes'
  | 'lower-soft-threshold'
  | 'map-volume'
  | 'mount-shared-memory'
  | 'move-into-volume'
  | 'move-kubelet-root'
  | 'move-to-volume'
  | 'open-port'
  | 'pin-images'
  | 'provide-image'
  | 'prune-dead-containers'
  | 'prune-by-runtime'
  | 'prune-docker'
  | 'prune-images'
  | 'prune-in-image'
  | 'prune-volumes'
  | 'raise-kernel-limit'
  | 'raise-process-limit'
  | 'raise-volume-limit'
  | 'read-again'
  | 'read-devices'
  | 'read-journal'
  | 'read-limits'
  | 'read-on-node'
  | 'read-pods'
  | 'read-pull-events'
  | 'reboot'
  | 'replace-failed-disk'
  | 'replace-host-path'
  | 'replace-node'
  | 'request-less'
  | 'restart-agent'
  | 'restart-daemon'
  | 'restart-kubelet'
  | 'restart-pod'
  | 'set-at-source'
  | 'set-discard-unpacked'
  | 'set-ephemeral-storage'
  | 'set-fields'
  | 'set-log-files'
  | 'set-memory'
  | 'set-root-volume'
  | 'set-volume-limit'
  | 'spare-disk'
  | 'spread-pods'
  | 'unset-root-volume'
  | 'upgrade-group'
  | 'upgrade-runtime'
  | 'use-instance-store'
  | 'vacuum-journal'

export type StepSite = Pick<
  StepAction,
  'owner' | 'place' | 'source' | 'bytes' | 'usdPerMonth' | 'most'
>

/** What to do, with its values. */
export interface StepAction {
  id: StepActionId
  /** Who has to act, or whose data it is about. */
  owner?: HolderOwner
  /** Folder, file, device, or a namespace of containerd. */
  place?: string
  /** The nodes that need it, at most 20, if others of the finding do not. */
  nodes?: string[]
  /** If there are several such folders: the largest, the first is `place`. */
  folders?: string[]
  /** KubeletConfiguration fields or settings of another layer. */
  fields?: string[]
  /** Images that the node must keep. */
  images?: string[]
  /** Folders of the node that pods can write, as `/tmp (Deployment shop/api)`. */
  mounts?: string[]
  /** Where a running container of the owner's pod sees the data. `place`: the same on the node; null: unknown. */
  inside?: { container: string; path: string; place: string | null }
  /** Names of the owner's pods that hold much of it, the largest first. */
  pods?: string[]
  /** Pods, as `namespace/name`, that end for good, and pods whose emptyDir data is deleted. Absent: unknown. */
  lost?: { pods: string[]; data: string[] }
  /** What is scarce. Absent: bytes. */
  unit?: 'inodes'
  /** What declares the size of the volume: `EC2NodeClass default`. */
  source?: string
  /** Karpenter replaces the nodes of the changed node class by itself. */
  rollsOut?: true
  /** What holds the disk is not known well: it is measured before this. */
  isUnsure?: boolean
  /** Too few inodes or process ids are free for a new threshold. */
  isShort?: true
  /** Bytes to request, to allow, to free, or of a new volume. */
  bytes?: number
  /** A podPidsLimit that does not suffice. Absent: a step before sets one that does. */
  above?: number
  /** A podPidsLimit to set. */
  limit?: number
  /** More US dollars a month for each node, by the list price of us-east-1. */
  usdPerMonth?: number
  /** If a step of several nodes has a different amount for each: the largest. `bytes` and `usdPerMonth` are then the smallest. */
  most?: { bytes: number; usdPerMonth?: number }
  /** If owner, place or source of a step are not the same for all nodes: the first 20 of them, each with its own amount. The step itself then has none of the three, and the amounts of all. */
  each?: StepSite[]
  /** The kubelet's own words. */
  message?: string
  /** Which of its forms the step has. Absent: the usual one. */
  variant?: StepVariant
}

/**
 * `first`: pulls fail in the cluster. `requested`: it uses no more than it requests. `processes`: it has too many. `idle`: the kubelet may not act. `hung`: a runtime may hang. `secret`: the pod brings credentials. `deleted`: image GC deleted the image. `pool`: the runtime's thin pool. `memory`: a filesystem in memory.
 * `policy`: instanceStorePolicy of a node class; `nvme`: of one that may have instance types without NVMe disks. `limit`: the pod has a limit, which is too small. `needed`: tries before this were evicted. `critical`: the kubelet evicts no such pod. `last`: if the steps before it end nothing. `logrotate`, `auditd`, `writer`: what rotates a log. The others: what fails at a volume.
 */
export type StepVariant =
  | 'first'
  | 'requested'
  | 'processes'
  | 'idle'
  | 'secret'
  | 'deleted'
  | 'hung'
  | 'memory'
  | 'pool'
  | 'policy'
  | 'nvme'
  | 'limit'
  | 'needed'
  | 'critical'
  | 'last'
  | 'logrotate'
  | 'auditd'
  | 'writer'
  | 'slots'
  | 'elsewhere'
  | 'driver'
  | 'filesystem'
  | 'other'

/** What a command does as it stands. `reads`: it changes nothing on a node or in a cluster. `plans`: it writes a plan on the user's machine. */
export type CommandEffect = 'reads' | 'plans' | 'changes' | 'restarts' | 'replaces'

export interface StepCommand {
  /** The cluster. */
  place: string
  command: string
  effect: CommandEffect
  /** Number of nodes that it restarts or replaces. Absent: none, or unknown. */
  nodes?: number
  /** Number of pods that it restarts. Absent: none, or unknown. */
  pods?: number
}

export interface Step {
  kind: StepKind
  action: StepAction
  /** In order. Empty: no command can do it. */
  commands: StepCommand[]
  /** `all`: the failing ends; `part`: it ends only with the other steps; `nothing`: the step shows more. */
  ends: 'all' | 'part' | 'nothing'
  disturbs: 'nothing' | 'pods' | 'kubelet-restart' | 'node-replaced'
}
