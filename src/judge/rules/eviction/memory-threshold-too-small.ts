import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import { line, nodeRule } from '#judge/rule.ts'
import { hardThresholds } from '#judge/settings.ts'
import { bytes, exactBytes } from '#judge/text.ts'
import { configuredAt, whyUnobserved } from '#judge/thresholds.ts'
import { amountOf, withEntries } from '#judge/values.ts'
import { canBeMet } from '#model/watched-signals.ts'

const evictionSeconds = evictionMonitoringPeriodMs / 1000

export const memoryThresholdTooSmall = nodeRule({
  id: 'memory-threshold-too-small',
  family: 'eviction',
  severity: 'medium',
  cause: hardThresholds,
  needs: ['configuration', 'eviction'],
  title: 'The memory threshold is smaller than the default of the kubelet',
  why: `The eviction manager looks every ${evictionSeconds} seconds. The less memory the threshold keeps, the likelier the kernel runs out between two looks, and kills processes by its own order instead of the kubelet evicting a pod.`,
  fix: 'Set evictionHard memory.available to 100Mi or more; on large nodes with bursts a few hundred MiB.',
  sources: [
    'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
  ],
  appliesTo: ({ identity }) => identity.operatingSystem === 'linux',

  *judge(subject) {
    const { configuration, eviction, identity } = subject
    // Other rules report a threshold that is switched off or lost.
    const thresholds = eviction.thresholds.filter(
      threshold => threshold.signal === 'memory.available' && canBeMet(threshold),
    )
    const sound =
      evictionHardDefaults(identity.kubeletVersion, 'linux')['memory.available'] ?? '100Mi'
    const soundBytes = amountOf(sound, 0) ?? 0
    const largest = thresholds.toSorted((a, b) => (b.resolved ?? 0) - (a.resolved ?? 0))[0]
    if (!largest || (largest.resolved ?? 0) >= soundBytes) return
    if (thresholds.some(({ resolved }) => resolved === null))
      return yield { unknown: whyUnobserved(subject, 'the bytes of memory.available') }
    const resolved = largest.resolved ?? 0
    yield {
      consequence: `Eviction for memory begins only below ${bytes(resolved)}: what is written in ${evictionSeconds} s can be more, and then the kernel's OOM killer chooses.`,
      evidence: [
        configuredAt(largest, configuration),
        line('computed', 'memory.available is met below', exactBytes(resolved)),
        line('computed', "the kubelet's default", sound),
      ],
      fix: { config: withEntries('evictionHard', configuration, { 'memory.available': sound }) },
    }
  },
})
