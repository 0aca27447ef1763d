/** What holds a node's disks, who uses them and what can be freed: for the page, the mail and the terminal alike. */

import { by, nodeKey } from '#base/text.ts'
import type { Family, Finding, HolderNotes, StepActionId } from '#model/finding.ts'
import { splitHost } from '#model/input/image-reference.ts'
import {
  type DiskHolder,
  type DiskLedger,
  type DiskUse,
  type FilesystemLedger,
  type Freeable,
  fullestOf,
  heldLines,
  type LedgerLine,
  type Signal,
} from '#model/prediction.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import {
  consumerRows,
  groupName,
  groupText,
  isLarge,
  isPodOfGroup,
  podText,
  sizeAdvice,
} from './consumers.ts'
import { worstFirst } from './findings.ts'
import { boundsText, isVague, usersText } from './steps.ts'

const nameLimit = 80
const reasonLimit = 300
const imageLimit = 120
const briefRows = 4
/** A brief stops at the holders that together hold this part of the used bytes. */
const briefPart = 0.95
const unreadNames = 3

const diskFamilies: ReadonlySet<Family> = new Set(['image-gc', 'eviction', 'logs', 'container-gc'])

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
  const findingsOf = new Map<AuditedNode, Finding[]>()
  for (const [rank, finding] of document.findings
    .filter(({ family, cause }) => diskFamilies.has(family) || cause.kind === 'device')
    .toSorted(worstFirst)
    .entries())
    for (const node of nodesOf(finding)) {
      if (!ranks.has(node)) ranks.set(node, rank)
      const own = findingsOf.get(node) ?? []
      findingsOf.set(node, own)
      own.push(finding)
    }
  const ranked = [...ranks].map(([node, rank]) => ({ node, rank, name: nameOf(node) }))
  if (ranked.length === 0) return null
  const sorted = ranked.toSorted(
    by(
      ({ rank }) => rank,
      ({ name }) => name,
    ),
  )
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
        brief: briefLines(node, ledger, language),
        volumes: ledger.volumes?.length ? volumeTexts(ledger, language) : [],
        ledger: {
          ...ledgerView(ledger, language, assumptions.holders),
          free: freedTexts(
            (findingsOf.get(node) ?? []).map(finding => [finding, [node]] as const),
            language,
          ),
        },
      })),
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
export function openNodesOf(
  nodes: readonly AuditedNode[],
): (finding: Finding) => readonly AuditedNode[] {
  const byName = new Map(nodes.map(node => [nodeKey(node.cluster, node.identity.name), node]))
  const byGroup = Map.groupBy(nodes, ({ cluster, identity: { group } }) =>
    JSON.stringify([cluster, group.kind, group.name]),
  )
  return ({ cluster, subject, nodes: { count, sample } }) => {
    const group = byGroup.get(JSON.stringify([cluster, subject.kind, subject.name])) ?? []
    return group.length === count
      ? group
      : sample.flatMap(name => byName.get(nodeKey(cluster, name)) ?? [])
  }
}

/** `Largest: images 11.7 GiB; largest workload: Deployment shop/web 2.1 GiB`, of the fullest disk, or of the disk whose inodes run out. @param next what the node runs out of first */
export function fillTexts(
  node: AuditedNode,
  ledger: DiskLedger,
  language: Language,
  next?: Signal,
) {
  const { words } = language
  const scarce = next?.endsWith('.inodesFree')
    ? diskOfSignal(next, ledger)
    : scarceInodes(node, ledger)
  const disk = fullestOf(ledger.filesystems)
  const [largest] = disk === undefined ? [] : largestFirst(disk)
  if (scarce !== undefined) {
    const [most] = inodeRows(scarce, language)
    const title = inodesTitle(scarce, node, ledger, language)
    return [...(most === undefined ? [] : [words.ledger.largest(...most)]), title]
  }
  if (largest === undefined) return [words.unknown, ...mostPodData(ledger, language)]
  const isImages = largest.holder === 'images-in-use' || largest.holder === 'images'
  const most = [
    ...(isImages ? largestImage(ledger, largest.holder, language) : []),
    ...mostPodData(ledger, language),
  ]
  const holder = words.ledger.holders[largest.holder]
  const unread = disk?.lines.find(line => line.holder === 'unread')
  const isUnsure = unread !== undefined && unread !== largest && unread.highBytes > largest.lowBytes
  const amount = boundsText(largest, language)
  if (!isUnsure) return [words.ledger.largest(holder, amount), ...most]
  // Two bounds would add up to more than is used.
  const [used, low, high] = [
    language.bytes(disk!.usedBytes),
    language.bytes(largest.lowBytes),
    language.bytes(largest.highBytes),
  ]
  // Of bounds this far apart, nothing is known but what was not measured.
  if ([largest, unread].every(({ lowBytes, highBytes }) => isVague(lowBytes, highBytes)))
    return [
      words.steps.labelledBy(
        words.ledger.largest(words.ledger.holders.unread, used),
        words.ledger.largest(holder, words.ledger.upTo(high)),
      ),
      ...most,
    ]
  const range = low === high ? amount : words.ledger.between(low, high)
  const rest = unread.lowBytes === unread.highBytes ? language.bytes(unread.highBytes) : null
  return [words.ledger.largestOf(holder, range, used, rest), ...most]
}

/** The disk whose inodes run out. Undefined: no threshold of inodes is met, or one of bytes comes first. */
function scarceInodes({ prediction: { eviction } }: AuditedNode, ledger: DiskLedger) {
  const [first] = (eviction?.thresholds ?? [])
    .filter(({ met, signal }) => met === true && /fs\.(?:available|inodesFree)$/.test(signal))
    .toSorted(by(({ hard }) => !hard))
  return first?.signal.endsWith('.inodesFree') ? diskOfSignal(first.signal, ledger) : undefined
}

function diskOfSignal(signal: Signal, { filesystems, isShared }: DiskLedger) {
  const name = isShared || signal.startsWith('nodefs.') ? 'nodefs' : 'imagefs'
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
  const most = Math.max(0, ...pods.filter(isPodOfGroup(owner)).map(pod => pod.bytes))
  const name = `${groupName(owner, language)} ${bytes(owner.bytes)}`
  return [
    words.ledger.mostPodData(
      owner.pods > 1 && most > 0 ? words.ledger.eachAtMost(name, owner.pods, bytes(most)) : name,
    ),
  ]
}

/** One line for each disk, with its largest holders, and one for the owner with most pod data. */
function briefLines(node: AuditedNode, ledger: DiskLedger, language: Language): string[] {
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
        words.ledger.briefRow(boundsText(line, language), words.ledger.holders[line.holder]),
      ),
    )
  })
  return [...disks, ...(scarce === undefined ? mostPodData(ledger, language) : [])]
}

const largestFirst = (disk: FilesystemLedger) =>
  heldLines(disk).toSorted((a, b) => b.bytes - a.bytes)

/** Share of the used bytes from which on a holder's row says what writes it and what does not free it. */
const noted = 0.2

export function holderNote(holder: DiskHolder, notes: HolderNotes, { words }: Language): string {
  const { writer, notFreedBy } = notes[holder]
  return words.ledger.note(
    writer,
    notFreedBy.map(act => words.ledger.acts[act]),
  )
}

function ledgerView(ledger: DiskLedger, language: Language, notes: HolderNotes) {
  const capacityBytes = capacityOf(ledger.filesystems)
  const isShown = ({ bytes }: DiskUse) => isLarge(bytes, capacityBytes)
  return {
    disks: ledger.filesystems.map(disk => ({
      title: titleOf(disk, ledger, language),
      rows: largestFirst(disk).map(line => ({
        ...rowOf(line, language),
        note: line.bytes < noted * disk.usedBytes ? null : holderNote(line.holder, notes, language),
      })),
    })),
    images: imageTexts(ledger, language),
    pods: ledger.pods.filter(isShown).map(pod => podText(pod, language)),
    owners: ledger.owners
      .filter(isShown)
      .map(group => groupText(groupName(group, language), group, language)),
    volumes: volumeTexts(ledger, language),
  }
}

/** With their users; unused ones with the last known users. */
function imageTexts({ images = [] }: DiskLedger, language: Language) {
  const { words, line } = language
  const name = (text: string) => line(text, nameLimit)
  return images.map(({ reference, workloads, isInUse, lastUsers = [], ...size }) => {
    const [amount, image] = [boundsText(size, language), line(reference, imageLimit)]
    return isInUse === false
      ? words.ledger.unusedImage(amount, image, usersText(lastUsers, name))
      : words.ledger.usedImage(amount, image, usersText(workloads, name))
  })
}

/** `largest: Deployment shop/web`, of the images in use; without a known user, the image. Empty: others, or others that no pod uses, are as large. */
function largestImage({ images = [] }: DiskLedger, holder: DiskHolder, { words, line }: Language) {
  const name = (text: string) => line(text, nameLimit)
  const [first, second] = images.filter(
    ({ isInUse }) => isInUse === true || holder !== 'images-in-use',
  )
  if (first?.isInUse !== true || second?.highBytes === first.highBytes) return []
  const { reference, workloads } = first
  return [words.steps.image(usersText(workloads, name) ?? name(splitHost(reference).path), null)]
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
export function ledgerText(ledger: DiskLedger, language: Language, holders: HolderNotes): string[] {
  const { ledger: words } = language.words
  const { disks, images, pods, owners, volumes } = ledgerView(ledger, language, holders)
  const free = freeTexts(ledger, language)
  const list = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)]
  return [
    ...disks.flatMap(({ title, rows }) =>
      list(
        title,
        rows.flatMap(({ label, bytes, source, note }) => [
          `${bytes}  ${label}  [${source}]`,
          ...(note === null ? [] : [`  ${note}`]),
        ]),
      ),
    ),
    ...list(words.largestImages, images),
    ...list(words.largestPods, pods),
    ...list(words.largestOwners, owners),
    ...list(words.free.title, free),
    ...list(words.volumes.title, volumes),
  ]
}

type FreeableOn = (node: AuditedNode) => Freeable | null
type Freed = keyof Omit<Language['words']['ledger']['free'], 'title'>

/** What a step of the finding frees on each of its nodes. */
function* freedBy({ fix, steps, cause }: Finding) {
  const high = fix.config[highThreshold]
  const has = (id: StepActionId) => steps.some(({ action }) => action.id === id)
  if (high !== undefined)
    yield {
      part: 'images' as const,
      high: String(high),
      bytesOn: (node: AuditedNode, freeableOn: FreeableOn) =>
        freedByThresholds(node, freeableOn, fix),
    }
  for (const [part, { field, by, holders }] of freedEntries)
    if (
      by.some(has) &&
      (holders === null || (cause.kind === 'holder' && holders.has(cause.holder)))
    )
      yield {
        part,
        high: null,
        bytesOn: (node: AuditedNode, freeableOn: FreeableOn) => freeableOn(node)?.[field] ?? 0,
      }
}

interface FreedPart {
  field: keyof Omit<Freeable, 'deletedNow'>
  by: readonly StepActionId[]
  /** The step can have other causes, too. */
  holders: ReadonlySet<DiskHolder> | null
}

const freedParts: Readonly<Record<Exclude<Freed, 'pressure' | 'image-gc'>, FreedPart>> = {
  images: { field: 'unusedImageBytes', by: ['prune-images'], holders: null },
  containers: { field: 'deadContainerBytes', by: ['prune-dead-containers'], holders: null },
  debris: {
    field: 'debrisBytes',
    by: ['delete-place', 'delete-pod-folder'],
    holders: new Set(['log-debris', 'orphaned-pods']),
  },
}

const freedEntries = Object.entries(freedParts) as [keyof typeof freedParts, FreedPart][]

/** Whether the kubelet can be about to delete images: of the other nodes no details are read. */
const mayDelete = ({ imageGC, eviction }: AuditedNode['prediction']) =>
  imageGC?.triggered === true || eviction?.thresholds.some(({ met }) => met) === true

/** `Up to 28.1 GiB of unused images on 6 nodes, freed once imageGCHighThresholdPercent is 80`: at most two sums, each by a step of the report. */
function freedTexts(
  findings: Iterable<readonly [Finding, readonly AuditedNode[]]>,
  { words, bytes, line }: Language,
): string[] {
  // Details are read from a file.
  const known = new Map<AuditedNode, Freeable | null>()
  const freeableOn = (node: AuditedNode) => {
    if (!known.has(node)) known.set(node, node.details().ledger?.freeable ?? null)
    return known.get(node) ?? null
  }
  const taken = new Map<string, Set<AuditedNode>>()
  const sums = new Map<
    string,
    { freed: Freed; high: string | null; bytes: number; nodes: number }
  >()
  const add = (part: string, freed: Freed, high: string | null, node: AuditedNode, bytes = 0) => {
    const counted = taken.get(part) ?? new Set()
    taken.set(part, counted)
    if (bytes === 0) return
    counted.add(node)
    const key = JSON.stringify([freed, high])
    const sum = sums.get(key) ?? { freed, high, bytes: 0, nodes: 0 }
    sums.set(key, { ...sum, bytes: sum.bytes + bytes, nodes: sum.nodes + 1 })
  }
  const asked = new Set<AuditedNode>()
  for (const [finding, nodes] of findings) {
    const freed = [...freedBy(finding)]
    for (const node of nodes) {
      if (!asked.has(node)) {
        asked.add(node)
        const now = mayDelete(node.prediction) ? freeableOn(node)?.deletedNow : undefined
        if (now) add('images', now.why, null, node, now.bytes)
      }
      for (const { part, high, bytesOn } of freed)
        if (!taken.get(part)?.has(node)) add(part, part, high, node, bytesOn(node, freeableOn))
    }
  }
  return [...sums.values()]
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, shownSums)
    .map(({ freed, high, ...sum }) =>
      words.ledger.free[freed](bytes(sum.bytes), sum.nodes, high && line(high, 20)),
    )
}

/** Of all nodes. Null: no step of the report frees anything. */
export function freeableText(
  { document, nodes }: Pick<AuditReport, 'document' | 'nodes'>,
  language: Language,
): string | null {
  const nodesOf = openNodesOf(nodes)
  const sorted = document.findings.toSorted(worstFirst)
  const texts = freedTexts(
    sorted.map(finding => [finding, nodesOf(finding)] as const),
    language,
  )
  return texts.length === 0 ? null : texts.join('. ')
}

const shownSums = 2
const highThreshold = 'imageGCHighThresholdPercent'

/** Bytes of unused images that image GC deletes with the finding's thresholds. 0: it would not start, or nothing is known. */
function freedByThresholds(node: AuditedNode, freeableOn: FreeableOn, fix: Finding['fix']) {
  const { prediction } = node
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = fix.config
  const disk = prediction.filesystems.imagefs
  if (disk?.capacityBytes == null || disk.availableBytes === null) return 0
  if ((disk.usedPercent ?? 0) < Number(high)) return 0
  const unusedBytes = freeableOn(node)?.unusedImageBytes ?? 0
  const target = Number(low ?? prediction.imageGC?.lowThresholdPercent ?? high)
  const wantedBytes = (disk.capacityBytes * (100 - target)) / 100 - disk.availableBytes
  return Math.max(0, Math.round(Math.min(unusedBytes, wantedBytes)))
}

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
  bytes: boundsText(line, language),
  inodes: line.inodes === null ? '' : language.count(line.inodes),
  source: language.words.ledger.sources[line.source],
})

/** Of one node without a report, by no step but the kubelet's own: the two largest sums. */
const freeTexts = (
  { filesystems, freeable: { deletedNow, deadContainerBytes, debrisBytes } }: DiskLedger,
  { words, bytes }: Language,
) =>
  [
    { freed: deletedNow?.why ?? 'image-gc', amount: deletedNow?.bytes ?? 0 },
    { freed: 'containers' as const, amount: deadContainerBytes ?? 0 },
    { freed: 'debris' as const, amount: debrisBytes ?? 0 },
  ]
    .filter(({ amount }) => amount > 0 && isLarge(amount, capacityOf(filesystems)))
    .toSorted((a, b) => b.amount - a.amount)
    .slice(0, shownSums)
    .map(({ freed, amount }) => words.ledger.free[freed](bytes(amount), 0))

const capacityOf = (filesystems: DiskLedger['filesystems']) =>
  filesystems.reduce((sum, { capacityBytes }) => sum + capacityBytes, 0)
