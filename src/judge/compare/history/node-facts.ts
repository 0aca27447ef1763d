/** Facts of a node for one day, at most 4,096 bytes. */

import { by, nodeKey } from '#base/text.ts'
import { rankedSignal } from '#judge/events/evictions.ts'
import { shorten } from '#judge/text.ts'
import type { ComparedFinding, MetNode } from '#model/delta.ts'
import type { FillSeries, NodeFacts } from '#model/history.ts'
import type { DiskLedger, FilesystemState } from '#model/prediction.ts'
import type { AuditedNode, FirstVictims } from '#model/report.ts'
import { mergedRounds, mergeHappenings } from './happenings.ts'

export const nodeFactsMaxBytes = 4096
const textLength = 160
const keptRules = 24
const keptThresholds = 12
const keptHolders = 4
const keptBases = 3

export function rulesByNode(findings: ComparedFinding[]) {
  const rules = new Map<string, string[]>()
  for (const { rule, cluster, nodes } of findings)
    for (const name of nodes.sample) {
      const key = nodeKey(cluster, name)
      const known = rules.get(key)
      if (known) known.push(rule)
      else rules.set(key, [rule])
    }
  return rules
}

/**
 * @param met the same node, named as findings name it
 * @param fill the node's disk readings, this run's included
 */
export function nodeFacts(
  { identity, at, mode, coverage, prediction, details, ...node }: AuditedNode,
  met: MetNode,
  rules: string[],
  runId: string,
  fill: FillSeries | null,
) {
  const { filesystems, imageGC, eviction } = prediction
  const { layout } = filesystems
  const { ledger, firstVictims = [] } = details()
  const thresholds = eviction?.error === null ? eviction.thresholds : null
  const failing = [...new Set(rules)].toSorted()
  const facts: NodeFacts = {
    node: met.name,
    at,
    runId,
    group: met.group,
    coverage,
    mode,
    kubeletVersion: shortText(identity.kubeletVersion),
    instanceType: shortText(identity.instanceType),
    amiFamily: identity.amiFamily,
    layout,
    nodefs: filesystemOf(filesystems.nodefs),
    imagefs: layout === 'shared' ? null : filesystemOf(filesystems.imagefs),
    imageGC: imageGC && {
      enabled: imageGC.enabled,
      highThresholdPercent: imageGC.highThresholdPercent,
      lowThresholdPercent: imageGC.lowThresholdPercent,
      usagePercent: imageGC.usagePercent,
      bytesUntilTrigger: imageGC.bytesUntilTrigger,
      predictedBytes: imageGC.triggered ? imageGC.freedBytes : null,
    },
    thresholds:
      thresholds
        ?.slice(0, keptThresholds)
        .map(({ signal, value, hard, margin }) => ({
          signal,
          value: shorten(value, 24),
          hard,
          margin,
        })) ?? null,
    fill,
    happened: node.happened ?? [],
    rounds: node.rounds ?? [],
    images: node.images ?? [],
    ...(node.pastReleases && { pastReleases: node.pastReleases }),
    imagesSince: node.imagesSince ?? null,
    held: largestHolders(ledger),
    firstVictims: victimsOf(firstVictims),
    beforeEvictions: [],
    rules: failing.slice(0, keptRules),
    missed: shorten(met.missed, textLength),
    leftOut:
      Math.max(0, failing.length - keptRules) +
      Math.max(0, (thresholds?.length ?? 0) - keptThresholds),
  }
  return fitFacts(facts)
}

const largestHolders = (ledger: DiskLedger | undefined): NodeFacts['held'] =>
  (ledger?.filesystems ?? [])
    .flatMap(({ filesystem, lines }) =>
      lines.map(({ holder, bytes }) => ({ filesystem, holder, bytes })),
    )
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, keptHolders)

const victimsOf = (first: FirstVictims[]): NodeFacts['firstVictims'] =>
  first
    .filter(({ signal }) => signal === 'memory.available' || signal === 'nodefs.available')
    .map(({ signal, pods }) => ({
      signal,
      pods: pods.map(({ namespace, name }) => shorten(`${namespace}/${name}`, 120)),
    }))

const shortText = (text: string | null) => text && shorten(text, 60)

const filesystemOf = (filesystem: FilesystemState | null) =>
  filesystem && {
    capacityBytes: filesystem.capacityBytes,
    availableBytes: filesystem.availableBytes,
    inodes: filesystem.inodes,
    inodesFree: filesystem.inodesFree,
  }

const isTooLong = (facts: NodeFacts) => Buffer.byteLength(JSON.stringify(facts)) > nodeFactsMaxBytes

/** Drops images and rules first, then thresholds, as that day's findings and snapshot contain them. Disk readings, stored nowhere else, go last. */
function fitFacts(facts: NodeFacts) {
  let kept = facts
  while (isTooLong(kept) && kept.images.length > 0)
    kept = { ...kept, images: kept.images.slice(0, -1) }
  if (isTooLong(kept)) {
    const { pastReleases: _, ...others } = kept
    kept = others
  }
  // Without the images, later readings cannot tell since when they are unused.
  if (kept.images.length < facts.images.length && kept.images.length === 0)
    kept = { ...kept, imagesSince: null }
  while (isTooLong(kept) && kept.rules.length > 0)
    kept = { ...kept, rules: kept.rules.slice(0, -1), leftOut: kept.leftOut + 1 }
  while (isTooLong(kept) && kept.beforeEvictions.length > 0)
    kept = { ...kept, beforeEvictions: kept.beforeEvictions.slice(1) }
  while (isTooLong(kept) && kept.thresholds?.length)
    kept = { ...kept, thresholds: kept.thresholds.slice(0, -1), leftOut: kept.leftOut + 1 }
  if (isTooLong(kept)) kept = { ...kept, missed: shorten(kept.missed, 20) }
  while (isTooLong(kept) && kept.happened.length > 0)
    kept = { ...kept, happened: kept.happened.slice(1) }
  while (isTooLong(kept) && kept.fill?.readings.length)
    kept = { ...kept, fill: { ...kept.fill, readings: kept.fill.readings.slice(1) } }
  return kept
}

const eventsOf = (earlier: NodeFacts, now: NodeFacts) => ({
  happened: mergeHappenings(earlier.happened, now.happened),
  rounds: mergedRounds(earlier.rounds, now.rounds),
})

/** If a pod was evicted between two readings, the earlier one is kept as a basis, with the pod rankings of the scarce resources. */
function evictionBases(earlier: NodeFacts, now: NodeFacts) {
  const evictions = eventsOf(earlier, now).happened.filter(
    ({ what, at }) =>
      what === 'evicted' &&
      Date.parse(at) > Date.parse(earlier.at) &&
      Date.parse(at) <= Date.parse(now.at),
  )
  const { at, thresholds, held } = earlier
  if (evictions.length === 0 || !thresholds) return earlier.beforeEvictions
  const signals = evictions.flatMap(({ resource = '' }) => rankedSignal(resource) ?? [])
  const firstVictims = earlier.firstVictims.filter(({ signal }) =>
    signals.some(one => one === signal),
  )
  return [...earlier.beforeEvictions, { at, thresholds, held, firstVictims }].slice(-keptBases)
}

/** Adds a later, lighter reading to the lines of the last run's day. New nodes get a line. */
export const withObservation = (before: NodeFacts[], now: NodeFacts[]) =>
  joinByNode(before, now, (earlier, facts) => {
    const { fill, images, pastReleases, imagesSince } = facts
    // The round that the earlier reading predicted is over.
    const imageGC = earlier.imageGC && { ...earlier.imageGC, predictedBytes: null }
    return fitFacts({
      ...earlier,
      ...eventsOf(earlier, facts),
      imageGC,
      fill,
      images,
      ...(pastReleases && { pastReleases }),
      imagesSince,
    })
  })

/** Merges the lines of one day. A later reading replaces an earlier one, but an unread node keeps the day's earlier facts. */
export const mergedDay = (before: NodeFacts[], now: NodeFacts[]) =>
  joinByNode(before, now, (earlier, facts) =>
    facts.coverage !== 'notRead' || earlier.coverage === 'notRead'
      ? fitFacts({
          ...facts,
          ...eventsOf(earlier, facts),
          beforeEvictions: evictionBases(earlier, facts),
        })
      : fitFacts({ ...earlier, ...eventsOf(earlier, facts) }),
  )

function joinByNode(
  before: NodeFacts[],
  now: NodeFacts[],
  join: (earlier: NodeFacts, now: NodeFacts) => NodeFacts,
) {
  const day = new Map(before.map(facts => [facts.node, facts]))
  for (const facts of now) {
    const earlier = day.get(facts.node)
    day.set(facts.node, earlier ? join(earlier, facts) : facts)
  }
  return [...day.values()].toSorted(by(({ node }) => node))
}
