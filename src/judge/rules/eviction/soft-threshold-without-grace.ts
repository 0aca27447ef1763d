import { durationMs } from '#base/go/duration.ts'
import { hardEviction, withEntries } from '#judge/help/thresholds.ts'
import { kubeletSetting, line, nodeRule, shorten } from '#judge/rule.ts'

const soundGracePeriod = '90s'

export const softThresholdWithoutGrace = nodeRule({
  id: 'soft-threshold-without-grace',
  family: 'eviction',
  severity: 'medium',
  cause: kubeletSetting('evictionSoftGracePeriod'),
  needs: ['configuration', 'eviction'],
  title: 'A soft eviction threshold has no grace period, and so is a hard one',
  why: 'The kubelet tells hard from soft by the grace period alone. With 0s it evicts at the first pass below the threshold, and from 1.31 on gives pods no time to end.',
  fix: 'Give the signal a time in evictionSoftGracePeriod, or move the threshold to evictionHard where that is meant.',
  sources: [
    'pkg/kubelet/eviction/helpers.go isHardEvictionThreshold',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge({ identity, configuration, eviction }) {
    const { evictionSoft = {}, evictionSoftGracePeriod = {} } = configuration
    for (const threshold of eviction.thresholds.filter(({ hard }) => hard)) {
      const { signal } = threshold
      const [value, grace] = [evictionSoft[signal], evictionSoftGracePeriod[signal]]
      if (value === undefined || grace === undefined || durationMs(grace) !== 0) continue
      if (threshold.value !== value) continue
      yield {
        consequence: `At the first pass below ${shorten(value)} of ${signal} pods are ${hardEviction(identity)}: nothing waits for the signal to recover.`,
        evidence: [
          line('configz', `evictionSoft.${signal}`, value),
          line('configz', `evictionSoftGracePeriod.${signal}`, grace),
        ],
        fix: withEntries('evictionSoftGracePeriod', configuration, { [signal]: soundGracePeriod }),
      }
    }
  },
})
