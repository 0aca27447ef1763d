import { diskReason } from '#judge/help/holders.ts'
import { type Reclaimable, reclaimableAtMost } from '#judge/help/reclaimable.ts'
import { configuredAt, whyUnobserved } from '#judge/help/thresholds.ts'
import { amountOf } from '#judge/help/values.ts'
import { type Failing, isLinux, line, nodeRule, type Satisfied } from '#judge/rule.ts'
import { bounded, bytes, counted, exactBytes, nameLength } from '#judge/text.ts'
import { canBeMet } from '#model/kubelet/watched-signals.ts'
import type { EvaluatedThreshold, FilesystemLayout, Signal } from '#model/prediction/prediction.ts'

type EvictionSubject = Satisfied<'configuration' | 'eviction'>
const signals: readonly Signal[] = [
  'nodefs.available',
  'imagefs.available',
  'containerfs.available',
]
const shown = 3

export const uselessEviction = nodeRule({
  id: 'useless-eviction',
  family: 'eviction',
  severity: 'high',
  cause: { kind: 'world', event: 'growth', subject: null },
  steps: [{ id: 'look-on-node' }],
  needs: ['configuration', 'eviction'],
  title: 'Evicting every pod would not make enough room',
  why: 'The kubelet can delete images, dead containers, and pods with their logs, writable layers and emptyDir volumes, and nothing else. Where files of the host, hostPath volumes or what runs beside Kubernetes hold the disk, it evicts pod after pod, the node stays under DiskPressure, and no pod comes back.',
  fix: 'Log in to the node and find what fills the disk (du on its mount points: journals, core dumps, hostPath folders, package caches). Delete it, or replace the node with one that has a larger disk. No threshold helps; cordon the node so that no new pod is scheduled to it.',
  sources: [
    'pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs, podDiskUsage',
    'pkg/kubelet/eviction/eviction_manager.go reclaimNodeLevelResources, evictPod',
    'kubernetes/kubernetes#115201',
    'kubernetes/kubernetes#66961',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { eviction, filesystems } = subject
    const { layout } = filesystems
    const found = new Map<string, Short>()
    for (const threshold of eviction.thresholds.filter(
      threshold => signals.includes(threshold.signal) && canBeMet(threshold),
    )) {
      const room = roomOf(threshold, subject)
      if (room === null) {
        if (threshold.met !== false)
          yield {
            unknown: whyUnobserved(subject, `how far ${threshold.signal} is from its threshold`),
          }
        continue
      }
      // Enough is available: eviction would only have to free what is written from now on.
      if (room.missingBytes <= 0) continue
      const most =
        layout === null
          ? 'the layout of the filesystems is not known'
          : reclaimableAtMost(threshold.signal, layout, subject)
      if (typeof most === 'string') {
        if (threshold.met)
          yield { unknown: `whether eviction can bring ${threshold.signal} back: ${most}` }
        continue
      }
      const shortBytes = room.missingBytes - most.bytes
      if (shortBytes <= 0 || layout === null) continue
      // Each disk is reported once, by the threshold that is short of the most bytes.
      const disk = diskOf(threshold.signal, layout)
      if ((found.get(disk)?.shortBytes ?? 0) < shortBytes)
        found.set(disk, { threshold, ...room, most, shortBytes })
    }
    for (const short of found.values())
      yield { ...diskReason(subject, short.threshold.signal), ...failing(short, subject) }
  },
})

interface Room {
  capacityBytes: number
  availableBytes: number
  /** The threshold is no longer met when this many bytes are available. */
  neededBytes: number
  missingBytes: number
}

interface Short extends Room {
  threshold: EvaluatedThreshold
  most: Reclaimable
  shortBytes: number
}

/** Null: the capacity or the available bytes were not observed. */
function roomOf(
  { signal, resolved, margin, minReclaim }: EvaluatedThreshold,
  { eviction }: EvictionSubject,
): Room | null {
  const capacityBytes = eviction.signals[signal]?.capacityBytes
  if (!capacityBytes || resolved === null || margin === null) return null
  const reclaim = amountOf(minReclaim, capacityBytes) ?? 0
  const availableBytes = resolved + margin
  // The rule unreachable-min-reclaim reports a minimum reclaim beyond the whole disk.
  const neededBytes = resolved + reclaim < capacityBytes ? resolved + reclaim : resolved
  return { capacityBytes, availableBytes, neededBytes, missingBytes: neededBytes - availableBytes }
}

function diskOf(signal: Signal, layout: FilesystemLayout): string {
  if (layout === 'shared') return 'nodefs'
  if (signal === 'containerfs.available') return layout === 'split' ? 'nodefs' : 'imagefs'
  return signal === 'nodefs.available' ? 'nodefs' : 'imagefs'
}

function failing(short: Short, { configuration, filesystems }: EvictionSubject): Failing {
  const { threshold, capacityBytes, availableBytes, neededBytes, missingBytes, most } = short
  const { signal, met } = threshold
  const otherBytes = capacityBytes - availableBytes - most.bytes
  const largest = most.pods.toSorted((a, b) => (b.usage ?? 0) - (a.usage ?? 0)).slice(0, shown)
  const gives = `all images and ${counted(most.pods.length, 'pod')} that may be evicted give back ${bytes(most.bytes)} at most`
  return {
    severity: met ? 'high' : 'medium',
    confidence: filesystems.layoutCertainty === 'certain' ? 'certain' : 'likely',
    consequence: met
      ? `${signal} needs ${bytes(missingBytes)} more, and ${gives}: the kubelet evicts one pod after the other, and the node stays under DiskPressure. ${bytes(otherBytes)} or more are held by something else.`
      : `Once ${signal} is met, it stays met until ${bytes(neededBytes)} are available; ${gives}, so it never ends. ${bytes(otherBytes)} or more are held by something else.`,
    evidence: [
      configuredAt(threshold, configuration),
      line('configz', `evictionMinimumReclaim.${signal}`, threshold.minReclaim),
      line('summary', `${signal} now`, exactBytes(availableBytes)),
      line('computed', `${signal} needed to end it`, exactBytes(neededBytes)),
      line('computed', 'images and layers, at most', exactBytes(most.imageBytes)),
      line(
        'computed',
        'pods that may be evicted',
        `${exactBytes(most.podBytes)} in ${counted(most.pods.length, 'pod')}`,
      ),
      line('computed', 'logs of dead containers, at most', exactBytes(most.deadLogBytes)),
      line('computed', 'held by something else, at least', exactBytes(otherBytes)),
      line('summary', 'capacity', exactBytes(capacityBytes)),
      ...largest.map(({ namespace, name, usage }) =>
        line(
          'computed',
          `pod ${bounded(`${namespace}/${name}`, nameLength)}`,
          `holds ${exactBytes(usage ?? 0)}`,
        ),
      ),
    ],
  }
}
