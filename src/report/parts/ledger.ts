/** What holds a node's disks, who uses them and what can be freed: for the page, the mail and the terminal alike. */

import { byText } from '#base/text/text-order.ts'
import type { Family, Finding } from '#model/finding/finding.ts'
import type {
  DiskLedger,
  FilesystemLedger,
  Freeable,
  GroupDiskUse,
  LedgerLine,
  PodDiskUse,
} from '#model/prediction/disk-ledger.ts'
import type { Assumptions, AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { consumerRows, groupName, groupText, podText } from './consumers.ts'
import { worstFirst } from './findings.ts'
import { sizeAdvice } from './size-advice.ts'

const nameLimit = 80
const reasonLimit = 300
const briefRows = 4
/** A brief stops at the holders that together hold this part of the used bytes. */
const briefPart = 0.95
const unreadNames = 3

const diskFamilies: ReadonlySet<Family> = new Set(['image-gc', 'eviction', 'logs', 'container-gc'])
const isAboutDisk = ({ family, cause }: Finding) =>
  diskFamilies.has(family) || cause.kind === 'device'

/** Null: no node has a finding about its disk. @param limit of shown nodes; others are counted */
export function ledgersView(
  { document, nodes, assumptions }: Pick<AuditReport, 'document' | 'nodes' | 'assumptions'>,
  limit: number,
  language: Language,
) {
  const { words, line } = language
  const nodesOf = openNodesOf(nodes)
  const nameOf = ({ identity, cluster }: AuditedNode) =>
    words.ledger.onNode(line(identity.name, nameLimit), line(cluster, nameLimit))
  // From the worst finding to the least: the first one counts.
  const ranks = new Map<AuditedNode, number>()
  for (const [rank, finding] of document.findings
    .filter(isAboutDisk)
    .toSorted(worstFirst)
    .entries())
    for (const node of nodesOf(finding)) if (!ranks.has(node)) ranks.set(node, rank)
  const ranked = [...ranks].map(([node, rank]) => ({ node, rank, name: nameOf(node) }))
  if (ranked.length === 0) return null
  const sorted = ranked.toSorted((a, b) => a.rank - b.rank || byText(a.name, b.name))
  const byLedger = Map.groupBy(sorted, ({ node }) => node.details().ledger !== undefined)
  const known = byLedger.get(true) ?? []
  const unread = byLedger.get(false)?.map(({ name }) => name) ?? []
  return {
    nodes: known
      .slice(0, limit)
      .map(({ node, name }) => ({ node, name, ledger: node.details().ledger! }))
      .map(({ node, name, ledger }) => ({
        node,
        name,
        brief: briefOf(node, ledger, language),
        volumes: ledger.volumes?.length ? volumeTexts(ledger, language) : [],
        ledger: {
          ...ledgerView(ledger, language),
          free: [
            ...freeTexts([ledger.freeable], language),
            ...idleImages(node, assumptions, language),
          ],
        },
      })),
    free: freeTexts(freeableOf(nodes), language),
    consumers: consumerRows(nodes, language),
    sizes: sizeAdvice(nodes, assumptions, language),
    leftOut: [
      ...(known.length > limit ? [words.ledger.more(known.length - limit)] : []),
      ...(unread.length > 0
        ? [
            words.ledger.noDisk(
              unread.length,
              unread.slice(0, unreadNames),
              unread.length > unreadNames,
            ),
          ]
        : []),
    ],
  }
}

/** The nodes of a finding: all of its group if it is on all of them, or those that it names. */
function openNodesOf(nodes: readonly AuditedNode[]): (finding: Finding) => readonly AuditedNode[] {
  const byName = new Map(
    nodes.map(node => [JSON.stringify([node.cluster, node.identity.name]), node]),
  )
  const byGroup = Map.groupBy(nodes, ({ cluster, identity: { group } }) =>
    JSON.stringify([cluster, group.kind, group.name]),
  )
  return ({ cluster, subject, nodes: { count, sample } }) => {
    const group = byGroup.get(JSON.stringify([cluster, subject.kind, subject.name])) ?? []
    return group.length === count
      ? group
      : sample.flatMap(name => byName.get(JSON.stringify([cluster, name])) ?? [])
  }
}

/** `Largest: images 11.7 GiB; largest workload: Deployment shop/web 2.1 GiB`, of the fullest disk, or of the disk whose inodes run out. */
export function fillText(node: AuditedNode, ledger: DiskLedger, language: Language): string {
  const { words } = language
  const scarce = scarceInodes(node, ledger)
  const [disk] = ledger.filesystems.toSorted(
    (a, b) => b.usedBytes / b.capacityBytes - a.usedBytes / a.capacityBytes,
  )
  const [largest] = disk === undefined ? [] : largestFirst(disk)
  if (scarce !== undefined) {
    const [most] = inodeRows(scarce, language)
    const title = inodesTitle(scarce, node, ledger, language)
    return words.clauses([...(most === undefined ? [] : [words.ledger.largest(...most)]), title])
  }
  const most = mostPodData(ledger, language)
  if (largest === undefined) return words.clauses([words.unknown, ...most])
  const holder = words.ledger.holders[largest.holder]
  const unread = disk?.lines.find(line => line.holder === 'unread')
  const isUnsure = unread !== undefined && unread !== largest && unread.highBytes > largest.lowBytes
  const amount = amountText(largest, language)
  if (!isUnsure) return words.clauses([words.ledger.largest(holder, amount), ...most])
  const [used, high] = [language.bytes(disk!.usedBytes), language.bytes(unread.highBytes)]
  const rest = unread.lowBytes < unread.highBytes ? words.ledger.upTo(high) : high
  return words.clauses([words.ledger.largestOf(holder, amount, used, rest), ...most])
}

/** The disk whose inodes run out. Undefined: no threshold of inodes is met, or one of bytes comes first. */
function scarceInodes(
  { prediction: { eviction } }: AuditedNode,
  { filesystems, isShared }: DiskLedger,
) {
  const [first] = (eviction?.thresholds ?? [])
    .filter(({ met, signal }) => met === true && /fs\.(?:available|inodesFree)$/.test(signal))
    .toSorted((a, b) => Number(b.hard) - Number(a.hard))
  if (!first?.signal.endsWith('.inodesFree')) return undefined
  const name = isShared || first.signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs'
  return filesystems.find(({ filesystem }) => filesystem === name)
}

/** Holders with their inodes, most first. */
const inodeRows = ({ lines }: FilesystemLedger, { words, count }: Language) =>
  lines
    .flatMap(({ holder, inodes }) => (inodes === null ? [] : [{ holder, inodes }]))
    .toSorted((a, b) => b.inodes - a.inodes)
    .map(({ holder, inodes }): [holder: string, inodes: string] => [
      words.ledger.holders[holder],
      words.ledger.inodes(count(inodes), inodes),
    ])

/** `nodefs: 3,992,000 of 4,000,000 inodes used`. */
function inodesTitle(
  { filesystem, usedInodes }: FilesystemLedger,
  { prediction: { filesystems } }: AuditedNode,
  { isShared }: DiskLedger,
  { words, count }: Language,
) {
  const all = filesystems[filesystem]?.inodes ?? null
  return words.ledger.disk(
    isShared ? words.ledger.oneDisk : filesystem,
    usedInodes === null ? words.unknown : count(usedInodes),
    all === null ? words.unknown : words.ledger.inodes(count(all), all),
  )
}

/** Pod data below this share of the used bytes fills no disk. */
const leastPodData = 0.05

/** The owner with most pod data, with its largest pod if it has several. Empty: it holds next to nothing. */
function mostPodData({ owners, pods, filesystems }: DiskLedger, language: Language) {
  const { words, bytes } = language
  const [owner] = owners
  if (owner === undefined) return []
  const usedBytes = Math.min(...filesystems.map(disk => disk.usedBytes))
  if (owner.bytes < leastPodData * usedBytes) return []
  const most = Math.max(0, ...pods.filter(isOf(owner)).map(pod => pod.bytes))
  const name = `${groupName(owner, language)} ${bytes(owner.bytes)}`
  return [
    words.ledger.mostPodData(
      owner.pods > 1 && most > 0 ? words.ledger.eachAtMost(name, owner.pods, bytes(most)) : name,
    ),
  ]
}

/** Whether a pod is of the group. A pod without a controller is its own owner, by the name that it was made of. */
const isOf =
  (group: GroupDiskUse) =>
  ({ namespace, owner, name }: PodDiskUse) =>
    namespace === group.namespace &&
    (owner === null
      ? group.owner !== null && `Pod ${name}`.startsWith(group.owner)
      : owner === group.owner)

/** One line for each disk, with its largest holders, and one for the owner with most pod data. */
function briefOf(node: AuditedNode, ledger: DiskLedger, language: Language): string[] {
  const { words } = language
  const scarce = scarceInodes(node, ledger)
  const disks = ledger.filesystems.map(disk => {
    if (disk === scarce)
      return words.ledger.brief(
        inodesTitle(disk, node, ledger, language),
        inodeRows(disk, language)
          .slice(0, briefRows)
          .map(([holder, inodes]) => words.ledger.briefRow(inodes, holder)),
      )
    let leftBytes = disk.usedBytes
    const rows = largestFirst(disk).filter((line, index) => {
      const isShown = index === 0 || leftBytes > disk.usedBytes * (1 - briefPart)
      leftBytes -= line.bytes
      return isShown && index < briefRows
    })
    return words.ledger.brief(
      titleOf(disk, ledger, language),
      rows.map(line =>
        words.ledger.briefRow(amountText(line, language), words.ledger.holders[line.holder]),
      ),
    )
  })
  return [...disks, ...(scarce === undefined ? mostPodData(ledger, language) : [])]
}

const largestFirst = ({ lines }: FilesystemLedger) => lines.toSorted((a, b) => b.bytes - a.bytes)

function ledgerView(ledger: DiskLedger, language: Language) {
  return {
    disks: ledger.filesystems.map(disk => ({
      title: titleOf(disk, ledger, language),
      rows: largestFirst(disk).map(line => rowOf(line, language)),
    })),
    pods: ledger.pods.map(pod => podText(pod, language)),
    owners: ledger.owners.map(group => groupText(groupName(group, language), group, language)),
    free: freeTexts([ledger.freeable], language),
    volumes: volumeTexts(ledger, language),
  }
}

/** `/dev/xvda: gp3, 100 GiB, 3,000 IOPS (vol-0a1b)`. */
function volumeTexts(
  { volumes, volumesUnread }: DiskLedger,
  { words: all, line, ...language }: Language,
) {
  const { volumes: words } = all.ledger
  if (volumes === null) return [words.unread(volumesUnread && line(volumesUnread, reasonLimit))]
  if (volumes.length === 0) return [words.none]
  const name = (text: string | null) => (text === null ? null : line(text, nameLimit))
  return volumes.map(({ volumeId, device, type, sizeBytes, iops }) => {
    const size = sizeBytes === null ? null : language.bytes(sizeBytes)
    const rate = iops === null ? null : language.count(iops)
    const text = words.volume(name(device), name(type), size, rate)
    return volumeId === null ? text : `${text} (${name(volumeId)})`
  })
}

/** Lines of plain text, each a sentence or a row. */
export function ledgerText(ledger: DiskLedger, language: Language): string[] {
  const { ledger: words } = language.words
  const { disks, pods, owners, free, volumes } = ledgerView(ledger, language)
  const list = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)]
  return [
    ...disks.flatMap(({ title, rows }) =>
      list(
        title,
        rows.map(({ label, bytes, source }) => `${bytes}  ${label}  [${source}]`),
      ),
    ),
    ...list(words.largestPods, pods),
    ...list(words.largestOwners, owners),
    ...list(words.free.title, free),
    ...list(words.volumes.title, volumes),
  ]
}

/** `Up to 28.1 GiB of unused images on 6 nodes, freed once imageGCHighThresholdPercent is 80`: at most two such sums. Null: no step frees images. */
export function freeableText(
  { document, nodes }: Pick<AuditReport, 'document' | 'nodes'>,
  { words, bytes, line }: Language,
): string | null {
  const nodesOf = openNodesOf(nodes)
  const taken = new Set<AuditedNode>()
  const sums = new Map<string, { bytes: number; nodes: number }>()
  for (const finding of document.findings.toSorted(worstFirst)) {
    const high = finding.fix.config[highThreshold]
    for (const node of high === undefined ? [] : nodesOf(finding)) {
      const freed = taken.has(node) ? 0 : freedByThresholds(node, finding)
      if (freed === 0) continue
      taken.add(node)
      const sum = sums.get(String(high)) ?? { bytes: 0, nodes: 0 }
      sums.set(String(high), { bytes: sum.bytes + freed, nodes: sum.nodes + 1 })
    }
  }
  const shown = [...sums].toSorted(([, a], [, b]) => b.bytes - a.bytes).slice(0, shownSums)
  if (shown.length === 0) return null
  return words.clauses(
    shown.map(([high, sum]) => words.ledger.freeable(bytes(sum.bytes), sum.nodes, line(high, 20))),
  )
}

const shownSums = 2
const highThreshold = 'imageGCHighThresholdPercent'

/** Bytes of unused images that image GC deletes with the finding's thresholds. 0: it would not start, or nothing is known. */
function freedByThresholds({ details, prediction }: AuditedNode, { fix }: Finding) {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = fix.config
  const disk = prediction.filesystems.imagefs
  if (disk?.capacityBytes == null || disk.availableBytes === null) return 0
  if ((disk.usedPercent ?? 0) < Number(high)) return 0
  const unusedBytes = details().ledger?.freeable.unusedImageBytes ?? 0
  const target = Number(low ?? prediction.imageGC?.lowThresholdPercent ?? high)
  const wantedBytes = (disk.capacityBytes * (100 - target)) / 100 - disk.availableBytes
  return Math.max(0, Math.round(Math.min(unusedBytes, wantedBytes)))
}

const freeableOf = (nodes: readonly AuditedNode[]) =>
  nodes.flatMap(({ details }) => details().ledger?.freeable ?? [])

const sumOf = (all: readonly Freeable[], field: keyof Freeable) =>
  all.reduce((total, one) => total + (one[field] ?? 0), 0)

function titleOf(
  { filesystem, usedBytes, capacityBytes }: FilesystemLedger,
  { isShared }: DiskLedger,
  { words, bytes }: Language,
) {
  const name = isShared ? words.ledger.oneDisk : filesystem
  return words.ledger.disk(name, bytes(usedBytes), bytes(capacityBytes))
}

const rowOf = (line: LedgerLine, language: Language) => ({
  label: language.words.ledger.holders[line.holder],
  bytes: amountText(line, language),
  inodes: line.inodes === null ? '' : language.count(line.inodes),
  source: language.words.ledger.sources[line.source],
})

/** `12 GiB` if measured, else the bounds: `up to 12 GiB`, `5 GiB to 12 GiB`. */
function amountText({ lowBytes, highBytes }: LedgerLine, { words, bytes }: Language) {
  const [low, high] = [bytes(lowBytes), bytes(highBytes)]
  if (low === high) return high
  return lowBytes === 0 ? words.ledger.upTo(high) : words.ledger.between(low, high)
}

const wholeFields = [
  'unusedImageBytes',
  'deadContainerBytes',
  'unrotatedLogBytes',
  'debrisBytes',
] as const
const freeFields = ['nextImageGcBytes', ...wholeFields, 'unusableBytes'] as const

/** @param all of one node, or of the fleet: sums of the known values. A value that is known of none is unknown */
function freeTexts(all: readonly Freeable[], { words, bytes }: Language) {
  const { free } = words.ledger
  return freeFields.flatMap(field => {
    const amount = sumOf(all, field)
    if (amount > 0) return [free[field](bytes(amount))]
    const isUnknown = all.length > 0 && all.every(one => one[field] === null)
    return isUnknown ? [free[field](free.unknown)] : []
  })
}

/** Images without a container for `idleImageDays` or longer, as far as earlier runs show. */
function idleImages(
  { at, images = [] }: AuditedNode,
  { idleImageDays }: Assumptions,
  { words, bytes }: Language,
) {
  const sum = images
    .filter(([, , since]) => since != null && daysBetween(since, at) >= idleImageDays)
    .reduce((total, [, size]) => total + size, 0)
  return sum === 0 ? [] : [words.ledger.free.idleImageBytes(bytes(sum), idleImageDays)]
}

const daysBetween = (earlier: string, later: string) =>
  (Date.parse(later.slice(0, 10)) - Date.parse(earlier)) / 86_400_000
