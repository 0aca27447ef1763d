import { durationMs } from '#base/go/duration.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { evictionMonitoringPeriodMs, gcMinutes, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { kubeletSetting, line, nodeRule, shorten } from '#judge/rule.ts'
import type { Severity } from '#model/finding.ts'

export const shortTransitionPeriod = nodeRule({
  id: 'short-transition-period',
  family: 'eviction',
  severity: 'low',
  cause: kubeletSetting('evictionPressureTransitionPeriod'),
  needs: ['configuration'],
  title: 'A node takes pods again too soon after pressure',
  why: `evictionPressureTransitionPeriod is how long a condition stays after the threshold was last met. Shorter than the ${gcMinutes} minutes of its default, one period of image GC, the scheduler sends pods back before anything but eviction has made room: evicted, rescheduled, evicted.`,
  fix: 'Set evictionPressureTransitionPeriod to 5m0s, or leave it out.',
  sources: [
    'pkg/kubelet/eviction/helpers.go nodeConditionsObservedSince',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],

  *judge({ configuration }) {
    const written =
      configuration.evictionPressureTransitionPeriod ??
      configurationDefaults.evictionPressureTransitionPeriod
    const periodMs = durationMs(written)
    if (periodMs === null)
      return yield {
        unknown: `configz: evictionPressureTransitionPeriod "${shorten(written)}" is no duration`,
      }
    if (periodMs >= imageGcPeriodMs) return
    yield {
      consequence:
        periodMs <= 0
          ? 'The kubelet evicts without ever reporting pressure: the node is not tainted, and the scheduler keeps sending pods to it.'
          : `${periodMs / 1000} s after a threshold was last met the node is without pressure and its taint, and takes pods again; image GC looks at the disk only every ${gcMinutes} min.`,
      severity: severityOf(periodMs),
      evidence: [line('configz', 'evictionPressureTransitionPeriod', written)],
      fix: {
        config: {
          evictionPressureTransitionPeriod: configurationDefaults.evictionPressureTransitionPeriod,
        },
      },
    }
  },
})

/** A period (ms) of at most one eviction pass lets the condition change with each observation. */
function severityOf(periodMs: number): Severity {
  if (periodMs <= evictionMonitoringPeriodMs) return 'high'
  return periodMs < 60_000 ? 'medium' : 'low'
}
