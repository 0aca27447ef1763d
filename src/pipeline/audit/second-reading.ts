/**
 * Reads the nodes with the least headroom a second time, at the end of reading: a first rate of growth within one run.
 * Only `stats/summary` is requested, at the pace of the first reading.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pMap from 'p-map'
import { byText } from '#base/text.ts'
import { collectNodes } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { rateBetween } from '#judge/compare/history/fill.ts'
import type { KubernetesNode, NodeRecord } from '#model/input/record.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import type { AuditedNode, TakenNode } from '#model/report.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'
import { collectOptionsOf, type LiveOptions } from './fleet.ts'

/** Minimum milliseconds between the two readings of a node. */
const apartMs = 60_000
/** Nodes with more headroom are far from eviction: they are not worth a minute's wait. */
const mostHeadroomPercent = 15
/** Maximum share of the remaining reading time for waiting. */
const waitingShare = 1 / 4

export interface SecondReading {
  /** Registers a cluster of the run. */
  expect(target: ClusterTarget): void
  /** Registers a node of the first reading. */
  take(node: TakenNode, object: KubernetesNode): void
  /** Waits, then reads. @param isKnown whether growth is known from earlier runs. @returns growth of the nodes that answered */
  read(isKnown: (node: TakenNode) => boolean): Promise<Map<TakenNode, Pick<AuditedNode, 'growth'>>>
}

export interface SecondReadingOptions
  extends Pick<LiveOptions, 'policy' | 'selection' | 'signal' | 'now'> {
  /** Reading time that is left. */
  remainingMs: () => number
  /** @param nodes number to read again; 0: no node has little headroom and unknown growth. @param waitMs null: no time is left to wait */
  onWait?: (nodes: number, waitMs: number | null) => void
  /** Default: the machine's timer. It throws when the signal is aborted. */
  sleep?: (durationMs: number, signal: AbortSignal) => Promise<void>
}

interface ReadingCandidate {
  node: TakenNode
  object: KubernetesNode
  headroomPercent: number
}

export function openSecondReading(options: SecondReadingOptions): SecondReading {
  const { policy, signal, remainingMs, onWait, now = () => new Date() } = options
  const { sleep = async (ms, until) => delay(ms, undefined, { signal: until }) } = options
  const targets = new Map<string, ClusterTarget>()
  const candidates = new Map<string, ReadingCandidate[]>()
  return {
    expect: target => void targets.set(target.record.cluster, target),
    take(node, object) {
      if (collectorsIn(policy, node.cluster).length === 0) return
      const headroomPercent = headroomOf(node)
      if (headroomPercent === null || headroomPercent < 0) return
      if (headroomPercent > mostHeadroomPercent) return
      const { cluster } = node
      candidates.set(
        cluster,
        [...(candidates.get(cluster) ?? []), { node, object, headroomPercent }]
          .toSorted(byHeadroom)
          .slice(0, policy.secondReadings),
      )
    },
    async read(isKnown) {
      const chosen = [...candidates.values()].flat().filter(({ node }) => !isKnown(node))
      if (chosen.length === 0) {
        onWait?.(0, null)
        return new Map()
      }
      const lastMs = Math.max(...chosen.map(({ node }) => Date.parse(node.at)))
      const waitMs = Math.max(0, lastMs + apartMs - now().getTime())
      const hasTime = waitMs + policy.timeoutsMs.summary <= waitingShare * remainingMs()
      onWait?.(chosen.length, hasTime ? waitMs : null)
      if (!hasTime) return new Map()
      try {
        await sleep(waitMs, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        return new Map()
      }
      return readAgain(chosen, targets, options)
    },
  }
}

const byHeadroom = (a: ReadingCandidate, b: ReadingCandidate) =>
  a.headroomPercent - b.headroomPercent || byText(a.node.identity.name, b.node.identity.name)

/** The smallest margin above a disk threshold, in percent of that disk's capacity; null: unknown. */
function headroomOf({ prediction: { eviction, filesystems } }: TakenNode) {
  const percents = (eviction?.thresholds ?? []).flatMap(({ signal, margin }) => {
    const disk = signal === 'nodefs.available' ? filesystems.nodefs : filesystems.imagefs
    const isDisk = signal === 'nodefs.available' || signal === 'imagefs.available'
    const capacityBytes = disk?.capacityBytes ?? 0
    return isDisk && margin !== null && capacityBytes > 0 ? [(100 * margin) / capacityBytes] : []
  })
  return percents.length === 0 ? null : Math.min(...percents)
}

async function readAgain(
  chosen: ReadingCandidate[],
  targets: ReadonlyMap<string, ClusterTarget>,
  options: SecondReadingOptions,
) {
  const growth = new Map<TakenNode, Pick<AuditedNode, 'growth'>>()
  const clusters = Map.groupBy(chosen, ({ node }) => node.cluster)
  await pMap(
    clusters,
    async ([cluster, members]) => {
      const target = targets.get(cluster)
      if (!target?.endpoint) return
      const firsts = new Map(members.map(({ node }) => [node.identity.name, node]))
      for await (const record of summariesOf(target, members, options)) {
        const input = nodeInput(record)
        const { filesystems } = replay(input, record.at ?? '')
        const first = firsts.get(record.node.metadata?.name ?? '')
        if (first && record.at)
          growth.set(first, { growth: rateBetween(first, record.at, filesystems) })
      }
    },
    { concurrency: options.policy.pace.clusters },
  )
  return growth
}

/** Collectors of disk usage. None in mode ssm: nodes answer by a script there, which reads far more than the disks. */
const collectorsIn = (policy: Policy, cluster: string) =>
  collectorsOf[readModeOf(policy, cluster)].filter(({ answers }) =>
    answers.every(answer => answer === 'summary'),
  )

async function* summariesOf(
  target: ClusterTarget,
  members: ReadingCandidate[],
  options: SecondReadingOptions,
): AsyncGenerator<NodeRecord> {
  const { cluster } = target.record
  const collectors = collectorsIn(options.policy, cluster)
  if (!target.endpoint) return
  yield* collectNodes(
    cluster,
    target.endpoint,
    members.map(({ object }) => object),
    { ...collectOptionsOf(target, { ...options, depth: 'nodes' }, noInspector), collectors },
  )
}

const noInspector = () => {
  throw new Error('A second reading asks kubelets only')
}
