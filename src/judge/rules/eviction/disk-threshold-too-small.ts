import { evictionSeconds } from '#facts/kubelet/periods.ts'
import {
  hardDefaults,
  highestThreshold,
  thresholdEvidence,
  withEntries,
} from '#judge/help/thresholds.ts'
import { bytes, hardThresholds, line, nodeRule } from '#judge/rule.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'

/** What any writer fills between two looks of the eviction manager. */
const least = { bytes: 16 * 1024 ** 2, inodes: 100 }

export const diskThresholdTooSmall = nodeRule({
  id: 'disk-threshold-too-small',
  family: 'eviction',
  severity: 'high',
  cause: hardThresholds,
  needs: ['configuration', 'eviction'],
  title: 'A disk threshold is so small that eviction cannot act in time',
  why: `A quantity without a unit is a number of bytes: nodefs.available "10" is ten bytes, not 10 %. The eviction manager looks every ${evictionSeconds} seconds, and the disk is full before it sees such a threshold met.`,
  fix: 'Write the threshold as a percentage, like 10%, or with its unit, like 10Gi.',
  sources: [
    'pkg/kubelet/eviction/helpers.go parseThresholdStatement',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge({ configuration, eviction, identity }) {
    const disks = eviction.thresholds.filter(({ signal }) =>
      /^(nodefs|imagefs|containerfs)\./.test(signal),
    )
    for (const [signal, thresholds] of Map.groupBy(disks, threshold => threshold.signal)) {
      const largest = highestThreshold(thresholds)
      const isKnown = thresholds.every(({ resolved }) => resolved !== null)
      // The kubelet derives the threshold of containerfs from another one.
      if (!largest || !isKnown || largest.origin?.source === 'kubelet' || !isTiny(largest)) continue
      const { value, resolved } = largest
      const defaults = hardDefaults(identity)
      const meant = /^([1-9]|[1-4]\d|50)$/.test(value) ? `${value}%` : (defaults[signal] ?? '10%')
      const shown = isOfInodes(largest) ? `${resolved} inodes` : bytes(resolved ?? 0)
      yield {
        consequence: `${signal} acts only below ${shown}: what is written in ${evictionSeconds} s is more, so the disk is full before a pod is evicted.`,
        evidence: [
          thresholdEvidence(largest, configuration),
          line('computed', `${signal} is met below`, shown),
        ],
        fix: withEntries('evictionHard', configuration, { [signal]: meant }),
      }
    }
  },
})

const isOfInodes = ({ signal }: EvaluatedThreshold) => signal.endsWith('.inodesFree')

const isTiny = (threshold: EvaluatedThreshold) =>
  !threshold.value.endsWith('%') &&
  (threshold.resolved ?? 0) < (isOfInodes(threshold) ? least.inodes : least.bytes)
