import { by } from '#base/text.ts'
import { amountOf, hardDefaults, raisedBy } from '#judge/help/thresholds.ts'
import { bytes, cohortRule, hardThresholds, line, percent, plural, shorten } from '#judge/rule.ts'

/** Disks are mixed from this ratio on. Filesystem overhead alone makes a smaller difference. */
const mixedRatio = 2
const signals = ['nodefs.available', 'imagefs.available'] as const

export const absoluteThresholdOnMixedDisks = cohortRule({
  id: 'absolute-threshold-on-mixed-disks',
  family: 'eviction',
  severity: 'low',
  cause: hardThresholds,
  needs: ['configuration', 'eviction', 'disks'],
  title: 'One quantity is the eviction threshold of disks of very different sizes',
  why: 'What is a tenth of a large disk is half of a small one: the small nodes of the group evict while they are half empty, or the large ones have next to no room left.',
  fix: 'Write disk thresholds as percentages where a group has disks of several sizes, or divide the group.',
  sources: ['pkg/kubelet/eviction/api/types.go GetThresholdQuantity'],

  cohort: () => '',

  fact: ({ configuration, disks, identity }) =>
    (['evictionHard', 'evictionSoft'] as const).flatMap(map =>
      signals.flatMap(signal => {
        const value = configuration[map]?.[signal]
        const capacityBytes =
          disks[signal === 'nodefs.available' ? 'nodefs' : 'imagefs']?.capacityBytes
        return value === undefined || value.endsWith('%') || !capacityBytes
          ? []
          : [
              {
                what: `${map}.${signal}`,
                value,
                capacityBytes,
                preset: map === 'evictionHard' ? (hardDefaults(identity)[signal] ?? null) : null,
              },
            ]
      }),
    ),

  *judge(members) {
    const all = members.flatMap(({ node, fact }) => fact.map(absolute => ({ node, ...absolute })))
    for (const [, alike] of Map.groupBy(all, ({ what, value }) => JSON.stringify([what, value]))) {
      const sorted = alike.toSorted(
        by(
          ({ capacityBytes }) => capacityBytes,
          ({ node }) => node,
        ),
      )
      const [smallest, largest] = [sorted[0], sorted.at(-1)]
      if (!smallest || !largest || largest.capacityBytes < mixedRatio * smallest.capacityBytes)
        continue
      const { what, value, preset } = smallest
      const shareOf = (capacity: number) => ((amountOf(value, capacity) ?? 0) / capacity) * 100
      const share = (capacity: number) => percent(shareOf(capacity))
      const isRaised =
        preset !== null &&
        shareOf(smallest.capacityBytes) >= raisedBy.unmet * Number.parseFloat(preset)
      yield {
        nodes: alike.map(({ node }) => node).toSorted(),
        failing: {
          ...(isRaised && { severity: 'medium' as const }),
          consequence: `${shorten(value)} is ${share(smallest.capacityBytes)} of the smallest disk (${bytes(smallest.capacityBytes)}) and ${share(largest.capacityBytes)} of the largest (${bytes(largest.capacityBytes)}) among ${plural(alike.length, 'node')} of one group.`,
          evidence: [
            line('configz', `${what}`, value),
            ...Object.entries({ smallest, largest }).map(([which, { capacityBytes, node }]) =>
              line('computed', `${which} disk`, `${bytes(capacityBytes)} (${shorten(node)})`),
            ),
          ],
        },
      }
    }
  },
})
