import { mebibyte } from '#base/units.ts'
import { evictionSeconds } from '#facts/kubelet/periods.ts'
import {
  hardDefaults,
  highestThreshold,
  thresholdEvidence,
  withEntries,
} from '#judge/help/thresholds.ts'
import { bytes, counted, hardThresholds, line, nodeRule } from '#judge/rule.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'

/** What any writer fills between two looks of the eviction manager. */
const least = { bytes: 16 * mebibyte, inodes: 100 }
/** What the disk itself can take in that time, at the baseline of a gp3 volume. */
const fastBytes = evictionSeconds * 125 * mebibyte
/** Share of the disk. An amount above it suits a small disk. */
const smallShare = 0.01
const ofLargeDisk = '5%'

const titles = { small: 'A disk threshold keeps less than 1 % of a large disk' }

export const diskThresholdTooSmall = nodeRule({
  id: 'disk-threshold-too-small',
  family: 'eviction',
  severity: 'high',
  cause: hardThresholds,
  needs: ['configuration', 'eviction'],
  titles,
  title: 'A disk threshold is so small that eviction cannot act in time',
  why: `A quantity without a unit is a number of bytes: nodefs.available "10" is ten bytes, not 10 %. The eviction manager looks every ${evictionSeconds} seconds, and the disk is full before it sees such a threshold met. On a large disk, an amount below 1 % is less than the disk can take in that time.`,
  fix: 'Write the threshold as a percentage, like 10%, or with its unit, like 10Gi.',
  sources: [
    'pkg/kubelet/eviction/helpers.go parseThresholdStatement',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge({ configuration, eviction, identity }) {
    const disks = eviction.thresholds.filter(({ signal }) =>
      /^(nodefs|imagefs|containerfs)\./.test(signal),
    )
    const small = [...Map.groupBy(disks, threshold => threshold.signal).values()].flatMap(own => {
      const largest = highestThreshold(own)
      const isKnown = own.every(({ resolved }) => resolved !== null)
      // The kubelet derives the threshold of containerfs from another one.
      if (!largest || !isKnown || largest.origin?.source === 'kubelet') return []
      const isTinyAmount = isTiny(largest)
      const { capacityBytes } = eviction.signals[largest.signal] ?? {}
      if (!isTinyAmount && !isSmallShare(largest, capacityBytes)) return []
      const shown = isOfInodes(largest)
        ? `${counted(largest.resolved ?? 0)} inodes`
        : bytes(largest.resolved ?? 0)
      return [{ largest, isTinyAmount, shown }]
    })
    const defaults = hardDefaults(identity)
    for (const alike of Map.groupBy(small, one => `${one.isTinyAmount} ${one.shown}`).values()) {
      const { isTinyAmount, shown } = alike[0]!
      const meant = alike.map(({ largest: { signal, value } }) => {
        const usual = isTinyAmount ? (defaults[signal] ?? '10%') : ofLargeDisk
        return [signal, /^([1-9]|[1-4]\d|50)$/.test(value) ? `${value}%` : usual] as const
      })
      yield {
        ...(!isTinyAmount && { severity: 'medium', title: titles.small }),
        consequence: `${meant.map(([signal]) => signal).join(' and ')} ${alike.length === 1 ? 'acts' : 'act'} only below ${shown}: what is written in ${evictionSeconds} s ${isTinyAmount ? 'is more, so the disk is' : 'can be more, so the disk can be'} full before a pod is evicted.`,
        evidence: alike.flatMap(({ largest }) => [
          thresholdEvidence(largest, configuration),
          line('computed', `${largest.signal} is met below`, shown),
        ]),
        fix: withEntries('evictionHard', configuration, Object.fromEntries(meant)),
      }
    }
  },
})

const isOfInodes = ({ signal }: EvaluatedThreshold) => signal.endsWith('.inodesFree')

const isTiny = (threshold: EvaluatedThreshold) =>
  !threshold.value.endsWith('%') &&
  (threshold.resolved ?? 0) < (isOfInodes(threshold) ? least.inodes : least.bytes)

const isSmallShare = (threshold: EvaluatedThreshold, capacityBytes = 0) =>
  !threshold.value.endsWith('%') &&
  !isOfInodes(threshold) &&
  (threshold.resolved ?? 0) < Math.min(fastBytes, smallShare * capacityBytes)
