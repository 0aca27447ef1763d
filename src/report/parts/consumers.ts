/** The largest consumers of local disk: five owners and five pods of each nodegroup, and the namespaces of several owners. */

import { by } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { placedWorkload } from '#model/input/record.ts'
import {
  addUse,
  type DiskHolder,
  type DiskLedger,
  type DiskUse,
  type FilesystemLedger,
  type GroupDiskUse,
  hasVolumeSize,
  type PodDiskUse,
} from '#model/prediction.ts'
import type { Assumptions, AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { costText } from './garbage-words.ts'

const shownPlaces = 10
const shownOfPlace = 5
const nameLimit = 80
/** Consumers below both limits are not listed. */
const least = { bytes: gibibyte, share: 0.01 }

interface Place {
  place: string
  /** Null: the place is a nodegroup or nodepool. */
  namespace: string | null
  whole: GroupDiskUse | null
  owners: Map<string, GroupDiskUse>
  pods: { pod: PodDiskUse; capacityBytes: number }[]
  /** Of all nodes of the place. */
  capacityBytes: number
}

/** Largest places first. Sums are lower bounds: ledgers keep only the largest owners and namespaces. */
export function consumerRows(nodes: readonly AuditedNode[], language: Language) {
  const places = [...placesOf(nodes).values()].toSorted(
    by(
      ({ whole }) => -(whole?.bytes ?? 0),
      ({ place }) => place,
    ),
  )
  const groups = places.filter(({ namespace }) => namespace === null)
  // A namespace of one owner is that owner's row.
  const spaces = places.filter(({ namespace, owners }) => namespace !== null && owners.size > 1)
  return [
    ...groups.slice(0, shownPlaces).flatMap(place => rowsOfGroup(place, language)),
    ...spaces.slice(0, shownPlaces).flatMap(place => rowOfSpace(place, language)),
  ]
}

function placesOf(nodes: readonly AuditedNode[]): Map<string, Place> {
  const places = new Map<string, Place>()
  const addTo = (
    place: string,
    namespace: string | null,
    capacityBytes: number,
    uses: readonly GroupDiskUse[],
  ): Place => {
    const key = JSON.stringify([place, namespace])
    const known = places.get(key) ?? {
      place,
      namespace,
      whole: null,
      owners: new Map(),
      pods: [],
      capacityBytes: 0,
    }
    places.set(key, known)
    known.capacityBytes += capacityBytes
    for (const use of uses) known.whole = joinUse(known.whole, use)
    return known
  }
  for (const { cluster, identity, details } of nodes) {
    const { ledger } = details()
    if (!ledger) continue
    const capacityBytes = ledger.filesystems.reduce((sum, disk) => sum + disk.capacityBytes, 0)
    const group = addTo(`${cluster} / ${identity.group.name}`, null, capacityBytes, ledger.owners)
    group.pods.push(...ledger.pods.map(pod => ({ pod, capacityBytes })))
    for (const use of ledger.namespaces) addTo(cluster, use.namespace, capacityBytes, [use])
    for (const use of ledger.owners)
      for (const { owners } of [group, addTo(cluster, use.namespace, 0, [])]) {
        const key = JSON.stringify([use.namespace, use.owner])
        owners.set(key, joinUse(owners.get(key) ?? null, use))
      }
  }
  return places
}

function joinUse(sum: GroupDiskUse | null, use: GroupDiskUse): GroupDiskUse {
  if (!sum) return { ...use }
  addUse(sum, use, use.pods)
  return sum
}

export const isLarge = (bytes: number, capacityBytes: number) =>
  bytes >= least.bytes || bytes >= least.share * capacityBytes

/** A pod whose owner has no other pod here is part of its owner's row. */
function rowsOfGroup({ place, owners, pods, capacityBytes }: Place, language: Language) {
  const { words, bytes } = language
  const largest = <Use>(uses: readonly Use[], sizeOf: (use: Use) => number) =>
    uses.toSorted(by(use => -sizeOf(use))).slice(0, shownOfPlace)
  const shownOwners = largest(
    [...owners.values()].filter(owner => isLarge(owner.bytes, capacityBytes)),
    owner => owner.bytes,
  ).map(owner => {
    const only = owner.pods === 1 ? pods.find(({ pod }) => isPodOfGroup(owner)(pod))?.pod : null
    return { owner, only }
  })
  const named = new Set(shownOwners.map(({ only }) => only))
  const others = pods.filter(
    ({ pod, capacityBytes }) => !named.has(pod) && isLarge(pod.bytes, capacityBytes),
  )
  return [
    ...shownOwners.map(({ owner, only }) => ({
      ...groupRow(place, groupName(owner, language), owner, language),
      ...(only && { pods: podName(only, language) }),
    })),
    ...largest(others, ({ pod }) => pod.bytes).map(({ pod }) => ({
      ...rowOf(place, podName(pod, language), pod, language),
      pods: words.ledger.podCount(1),
      bytes: bytes(pod.bytes),
    })),
  ]
}

const rowOfSpace = ({ place, namespace, whole, capacityBytes }: Place, language: Language) =>
  !whole || !isLarge(whole.bytes, capacityBytes)
    ? []
    : [groupRow(place, language.words.ledger.namespace(namespace ?? ''), whole, language)]

const groupRow = (place: string, name: string, use: GroupDiskUse, language: Language) => ({
  ...rowOf(place, language.line(name, nameLimit), use, language),
  pods: language.words.ledger.podCount(use.pods),
  bytes: language.words.ledger.atLeast(language.bytes(use.bytes)),
})

function rowOf(place: string, consumer: string, use: DiskUse, { words, line, bytes }: Language) {
  const shown = (amount: number) => (amount > 0 ? bytes(amount) : '')
  return {
    place: line(place, nameLimit),
    consumer,
    written: shown(use.layerBytes),
    logs: shown(use.logBytes),
    volumes: shown(use.volumeBytes),
    asks: words.ledger.asks(...asksOf(use, bytes)),
  }
}

/** Whether a pod is of the group. A pod without a controller is its own owner, by the name that it was made of. */
export const isPodOfGroup =
  (group: GroupDiskUse) =>
  ({ namespace, owner, name }: PodDiskUse) =>
    namespace === group.namespace &&
    (owner === null
      ? group.owner !== null && `Pod ${name}`.startsWith(group.owner)
      : owner === group.owner)

const podName = ({ namespace, name }: PodDiskUse, { line }: Language) =>
  line(`${namespace}/${name}`, nameLimit)

/** Text of a pod: its owner, its disk uses, its request and its limit. */
export function podText(pod: PodDiskUse, language: Language) {
  const { words, bytes, line } = language
  return words.ledger.pod(
    podName(pod, language),
    pod.owner === null ? null : line(pod.owner, nameLimit),
    bytes(pod.bytes),
    ...usesAndAsks(pod, language),
  )
}

/** Text of a group of pods: their number, disk uses, requests and limits. */
export const groupText = (name: string, use: GroupDiskUse, language: Language) =>
  language.words.ledger.group(
    name,
    language.bytes(use.bytes),
    use.pods,
    ...usesAndAsks(use, language),
  )

function usesAndAsks(use: DiskUse, { words, bytes }: Language): [string[], string] {
  const { uses, asks } = words.ledger
  const parts = [
    [use.layerBytes, uses.layer] as const,
    [use.logBytes, uses.log] as const,
    [use.volumeBytes, uses.volume] as const,
  ]
  return [
    parts.filter(([amount]) => amount > 0).map(([amount, text]) => text(bytes(amount))),
    asks(...asksOf(use, bytes)),
  ]
}

function asksOf({ requestBytes, limitBytes }: DiskUse, bytes: Language['bytes']) {
  const shown = (amount: number | null) => (amount === null ? null : bytes(amount))
  return [shown(requestBytes), shown(limitBytes)] as const
}

/** `Deployment shop/web`. */
export const groupName = ({ namespace, owner }: GroupDiskUse, { line }: Language) =>
  line(owner === null ? namespace : placedWorkload(namespace, owner), nameLimit)

/* Volume size per nodegroup or nodepool with which image GC starts before eviction for a week of growth. */

const days = 7
/** Least change that is advised, as a share of the present size. */
const leastChange = 0.1
const shownGroups = 10

/** One sentence for each group whose disks should have another size, the largest change first. */
export function sizeAdvice(
  nodes: readonly AuditedNode[],
  { usdPerGiBMonth }: Assumptions,
  language: Language,
) {
  const { words, line, bytes } = language
  const groups = Map.groupBy(nodes, ({ cluster, identity: { group } }) =>
    JSON.stringify([cluster, group.kind, group.name]),
  )
  return [...groups.values()]
    .flatMap(members => {
      const known = members.flatMap(node => adviceOf(node) ?? [])
      if (known.length === 0) return []
      const presentBytes = Math.max(...known.map(one => one.presentBytes))
      const wantedBytes = Math.max(...known.map(one => one.wantedBytes))
      const change = wantedBytes - presentBytes
      if (Math.abs(change) < leastChange * presentBytes) return []
      const { cluster, identity } = members[0]!
      const { disk } = known[0]!
      const place = line(`${cluster} / ${identity.group.name}${disk}`, nameLimit)
      const billed = members.filter(isBilled).length
      const usd = (Math.abs(change) / gibibyte) * usdPerGiBMonth * billed
      const text = words.ledger.size.advice(
        place,
        bytes(presentBytes),
        bytes(wantedBytes),
        days,
        known.length,
        members.length,
        words.ledger.size.difference(change > 0, costText(usd, language)),
      )
      return [{ text, change, place }]
    })
    .toSorted(
      by(
        ({ change }) => -Math.abs(change),
        ({ place }) => place,
      ),
    )
    .slice(0, shownGroups)
    .map(({ text }) => text)
}

/** Whether EBS volumes can hold the node's disks. Instance store and hybrid nodes cost nothing per GiB. */
const isBilled = ({ identity, details }: AuditedNode) =>
  identity.owner !== 'hybrid' && details().ledger?.volumes?.length !== 0

/** Holders that a larger disk does not end. */
const strangers = new Set<DiskHolder>([
  'not-images',
  'leftover-snapshots',
  'other-namespaces',
  'orphaned-pods',
  'log-debris',
  'host-path',
  'local-volumes',
  'unknown-folder',
  'deleted-open-files',
  'pod-folders',
  'image-volumes',
])
/** Part of a disk from which on strangers are the problem, not the size. */
const largeShare = 0.25

const isHeldByStrangers = ({ lines, capacityBytes }: FilesystemLedger) =>
  lines
    .filter(({ holder }) => strangers.has(holder))
    .reduce((sum, { lowBytes }) => sum + lowBytes, 0) >=
  largeShare * capacityBytes

/** Whether a volume of EBS can be the disk. Images on an instance store of their own have the size of the instance type. */
const canBeVolume = ({ capacityBytes }: FilesystemLedger, { volumes }: DiskLedger) =>
  !volumes?.length ||
  volumes.some(({ sizeBytes }) => sizeBytes === null || hasVolumeSize(capacityBytes, sizeBytes))

/** Null: growth, thresholds or use are not known, or image GC comes after eviction at any size. */
function adviceOf({ prediction, details, growth }: AuditedNode) {
  const { filesystems, imageGC, eviction } = prediction
  const { layout } = filesystems
  const name = layout === 'shared' ? 'nodefs' : 'imagefs'
  const disk = layout === null ? null : filesystems[name]
  const grown = growth?.[name]
  if (disk?.capacityBytes == null || disk.availableBytes === null) return null
  if (!grown?.isSeen || !imageGC?.enabled || !eviction || eviction.error !== null) return null
  const { ledger } = details()
  const held = ledger?.filesystems.find(({ filesystem }) => filesystem === name)
  if (!held || ledger?.freeable.unusedImageBytes == null || isHeldByStrangers(held)) return null
  if (layout !== 'shared' && !canBeVolume(held, ledger)) return null
  const unusedBytes = held.lines.find(({ holder }) => holder === 'images-unused')?.bytes ?? 0
  // Bytes that stay after image GC: images that pods use, and data other than images.
  const stayingBytes = disk.capacityBytes - disk.availableBytes - unusedBytes
  const neededBytes = stayingBytes + grown.bytesPerHour.median * 24 * days
  const hard = eviction.thresholds.filter(
    ({ signal, hard }) => hard && [`${name}.available`, 'imagefs.available'].includes(signal),
  )
  const kept = { share: 0, bytes: 0 }
  for (const { value, resolved } of hard) {
    const amount = resolved ?? 0
    if (value.endsWith('%')) kept.share = Math.max(kept.share, amount / disk.capacityBytes)
    else kept.bytes = Math.max(kept.bytes, amount)
  }
  const high = imageGC.highThresholdPercent / 100
  // Image GC must start before eviction. If both thresholds are percentages, this is true at every size or at none.
  if (high >= 1 - kept.share) return null
  const aheadBytes = kept.bytes / (1 - high)
  const wantedBytes = Math.max(neededBytes / high, aheadBytes)
  return {
    // The disk of images that is none of nodefs.
    disk: layout === 'shared' ? '' : ` / ${name}`,
    presentBytes: disk.capacityBytes,
    wantedBytes: Math.ceil(wantedBytes / gibibyte) * gibibyte,
  }
}
