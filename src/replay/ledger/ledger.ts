/**
 * What holds a node's disks. The lines always add up to the used bytes. Without a measurement on the node, one line holds
 * everything that only the node can report.
 */

import { byText } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { probePart } from '#facts/probe-parts.ts'
import type { NodeInput } from '#model/input/record.ts'
import {
  areOfOnePool,
  type FilesystemState,
  type NodeLedger,
  type NodePrediction,
} from '#model/prediction.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { countOf } from '#replay/times.ts'
import { balanceLedger, type Entry } from './balance.ts'
import { type Disk, diskUseOf, folderEntries } from './folder-space.ts'
import { freeableOf } from './freeable.ts'
import { imageEntries, snapshotSpace } from './image-space.ts'
import { holderParts } from './parts.ts'
import { largestUse, type PodUse, podUseOf } from './pod-use.ts'

const shownVolumes = 8

/** Null: no filesystem's size is known. */
export function nodeLedger(node: PreparedNode, prediction: NodePrediction): NodeLedger | null {
  const { podStats, imageEvidence, input } = node
  // Of the configuration, only the folder of logs is in what holds the disks.
  const question = ['ledger', imageEvidence, input.configuration?.fields.podLogsDir]
  const held = podStats.once(question, () => heldIn(node))
  if (!held) return null
  return { ...held, freeable: freeableOf(node, held.filesystems, prediction) }
}

function heldIn(node: PreparedNode) {
  const { layout } = node.filesystems
  const use = podUseOf(node)
  const disks: Disk[] = layout === 'shared' ? ['nodefs'] : ['nodefs', 'imagefs']
  const filesystems = disks.flatMap(disk => filesystemLedger(node, disk, use) ?? [])
  if (filesystems.length === 0) return null
  return {
    schema: 'highwater.ledger/1' as const,
    isShared: layout === 'shared',
    filesystems,
    parts: holderParts(node, filesystems, use),
    ...largestUse(use?.pods ?? []),
    volumes: volumesOf(node.input),
    volumesUnread: node.input.errors.find(({ what }) => what === 'volumes')?.message ?? null,
  }
}

/** Volumes sorted by device. */
const volumesOf = ({ volumes }: NodeInput): NodeLedger['volumes'] =>
  volumes
    ?.map(({ VolumeId, Device, VolumeType, Size, Iops }) => ({
      volumeId: VolumeId ?? null,
      device: Device ?? null,
      type: VolumeType ?? null,
      sizeBytes: Size === undefined ? null : Size * gibibyte,
      iops: Iops ?? null,
    }))
    .toSorted((a, b) => byText(a.device ?? '', b.device ?? ''))
    .slice(0, shownVolumes) ?? null

function filesystemLedger(node: PreparedNode, disk: Disk, pods: PodUse | null) {
  const state = node.filesystems[disk]
  if (!state || state.capacityBytes === null || state.availableBytes === null) return null
  const { capacityBytes, availableBytes } = state
  const usedBytes = Math.max(0, capacityBytes - Math.max(0, availableBytes))
  const use = diskUseOf(node)
  const entries = linesByHolder([
    ...(node.filesystems.layout === null ? [] : runtimeEntries(node, disk, pods)),
    ...(use ? folderEntries(node, use, disk, pods) : []),
    ...podEntries(node, disk, pods),
    ...reservedBlocks(node, disk, state),
  ])
  const isMeasured =
    use?.missed === 0 &&
    use.snapshots !== undefined &&
    node.filesystems.layout !== null &&
    !node.host?.unread?.some(({ what = '' }) => probePart(what).is === 'folders')
  return balanceLedger(
    { filesystem: disk, capacityBytes, usedBytes, usedInodes: usedInodesOf(state) },
    entries,
    isMeasured ? 'not-explained' : 'unread',
  )
}

/** Layers of images and containers: on imagefs. With a split runtime, containers' layers are on nodefs. */
function runtimeEntries(node: PreparedNode, disk: Disk, pods: PodUse | null) {
  const { layout } = node.filesystems
  // Datasets of images and layers are beside imagefs, and count for none of its bytes.
  if (areOfOnePool(node.filesystems)) return []
  const holdsImages = layout === 'shared' || disk === 'imagefs'
  const holdsContainers = layout === 'split' ? disk === 'nodefs' : holdsImages
  const snapshots = node.host?.diskUse?.snapshots
  const layers: Entry[] = []
  if (snapshots)
    layers.push({
      holder: 'writable-layers',
      ...snapshotSpace(snapshots, 'running'),
      source: 'ctr',
    })
  else if (pods) layers.push({ holder: 'writable-layers', ...pods.layers, source: 'stats summary' })
  return [...(holdsContainers ? layers : []), ...(holdsImages ? imageEntries(node, pods) : [])]
}

/** Pods' local storage by the statistics, if the node did not measure the folder. */
function podEntries(node: PreparedNode, disk: Disk, pods: PodUse | null) {
  if (!pods || disk !== 'nodefs') return []
  const isMeasured = (holder: string) =>
    node.host?.diskUse?.folders?.some(folder => folder.holder === holder) === true
  const entries: Entry[] = []
  if (!isMeasured('pods'))
    entries.push(
      { holder: 'pod-volumes', ...pods.volumes, source: 'stats summary' },
      { holder: 'pod-folders', ...pods.folders, source: 'stats summary' },
    )
  if (!isMeasured('podLogs') && !areLogsElsewhere(node))
    entries.push({ holder: 'container-logs', ...pods.logs, source: 'stats summary' })
  return entries
}

function areLogsElsewhere({ host }: PreparedNode) {
  const deviceOf = (role: string) => host?.filesystems?.find(one => one.role === role)?.device
  const [logs, nodefs] = [deviceOf('logs'), deviceOf('nodefs')]
  return logs !== undefined && nodefs !== undefined && logs !== nodefs
}

/** Reserved blocks: neither available nor used. Only root can use them. */
function reservedBlocks(
  { summary, host }: PreparedNode,
  disk: Disk,
  { capacityBytes, availableBytes }: FilesystemState,
): Entry[] {
  const ofSummary = disk === 'nodefs' ? countOf(summary?.node?.fs?.usedBytes) : null
  const ofHost = host?.filesystems?.find(({ role }) => role === disk)?.usedBytes
  const used = ofSummary ?? ofHost ?? null
  if (used === null || capacityBytes === null || availableBytes === null) return []
  const bytes = capacityBytes - Math.max(0, availableBytes) - used
  const source = ofSummary === null ? 'df' : 'stats summary'
  return bytes > 0 ? [{ holder: 'reserved-blocks', bytes, source }] : []
}

const usedInodesOf = ({ inodes, inodesFree }: FilesystemState) =>
  inodes === null || inodesFree === null || inodes === 0 ? null : Math.max(0, inodes - inodesFree)

/** One line for each holder, at the position of its first entry. */
function linesByHolder(entries: readonly Entry[]) {
  const lines = new Map<string, Entry>()
  for (const entry of entries) {
    const known = lines.get(entry.holder)
    lines.set(entry.holder, known ? sumOfEntries(known, entry) : entry)
  }
  return [...lines.values()]
}

const sumOfEntries = (a: Entry, b: Entry): Entry => ({
  ...a,
  bytes: a.bytes + b.bytes,
  lowBytes: (a.lowBytes ?? a.bytes) + (b.lowBytes ?? b.bytes),
  highBytes: (a.highBytes ?? a.bytes) + (b.highBytes ?? b.bytes),
  inodes: a.inodes == null || b.inodes == null ? null : a.inodes + b.inodes,
  isPartial: a.isPartial === true || b.isPartial === true,
})
