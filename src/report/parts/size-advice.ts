/** Volume size per nodegroup or nodepool with which image GC starts before eviction for a week of growth. */

import { byText } from '#base/text/text-order.ts'
import type { DiskHolder, DiskLedger } from '#model/prediction/disk-ledger.ts'
import type { Assumptions, AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { costText } from './garbage-words.ts'

const days = 7
const gibibyte = 1024 ** 3
/** Least change that is advised, as a share of the present size. */
const leastChange = 0.1
const shownGroups = 10
const nameLimit = 80

/** One sentence for each group whose disks should have another size, the largest change first. */
export function sizeAdvice(
  nodes: readonly AuditedNode[],
  { usdPerGiBMonth }: Assumptions,
  language: Language,
): string[] {
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
      const place = line(`${cluster} / ${identity.group.name}`, nameLimit)
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
    .toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change) || byText(a.place, b.place))
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

const isHeldByStrangers = ({ filesystems }: DiskLedger): boolean =>
  filesystems.some(
    ({ lines, capacityBytes }) =>
      lines
        .filter(({ holder }) => strangers.has(holder))
        .reduce((sum, { lowBytes }) => sum + lowBytes, 0) >=
      largeShare * capacityBytes,
  )

/** Null: growth, thresholds or use are not known, or image GC comes after eviction at any size. */
function adviceOf({ prediction, details, growth }: AuditedNode) {
  const { filesystems, imageGC, eviction } = prediction
  const { layout } = filesystems
  const name = layout === 'shared' ? 'nodefs' : 'imagefs'
  const disk = layout === null ? null : filesystems[name]
  const grown = growth?.[name]
  if (disk?.capacityBytes == null || disk.availableBytes === null) return null
  if (!grown?.isSeen || !imageGC?.enabled || eviction === null || eviction.error !== null)
    return null
  const { ledger } = details()
  const unusedBytes = ledger?.freeable.unusedImageBytes ?? null
  if (ledger === undefined || unusedBytes === null || isHeldByStrangers(ledger)) return null
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
    presentBytes: disk.capacityBytes,
    wantedBytes: Math.ceil(wantedBytes / gibibyte) * gibibyte,
  }
}
