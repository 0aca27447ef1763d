import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { hard } from '#judge/example.ts'
import { nodeRule } from '#judge/rule.ts'
import { imageGcBeside, isWatched, whyUnobserved } from '#judge/thresholds.ts'

export const lostDefaultThreshold = nodeRule({
  id: 'lost-default-threshold',
  family: 'eviction',
  severity: 'high',
  needs: ['configuration', 'eviction'],
  docs: {
    title: 'A default eviction threshold is lost, and nothing watches in its place',
    why: 'A kubelet configuration that sets evictionHard replaces the whole map of defaults: each signal that it does not name is off. What that signal would have watched can then run full without any eviction.',
    fix: 'Name every signal in evictionHard, the defaults too, or set mergeDefaultEvictionSettings: true (kubelet 1.33 and later). A signal that shall be off is written as 0%.',
    sources: [
      'cmd/kubelet/app/server.go loadConfigFile',
      'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
      'kubernetes/website#36960',
      'bottlerocket-os/bottlerocket#3350',
    ],
  },
  examples: {
    bad: {
      configuration: { evictionHard: { 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' } },
      thresholds: [hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)],
    },
    good: { thresholds: [hard('memory.available', 1), hard('nodefs.available', 10), hard('nodefs.inodesFree', 5)] },
  },
  appliesTo: ({ identity }) => identity.operatingSystem === 'linux',

  *judge(subject, policy) {
    const { identity, configuration, eviction, filesystems } = subject
    if (featuresOf(identity.kubeletVersion).minor === null) {
      yield { unknown: 'node: its status names no kubelet version that is known, so the defaults of that version are not known' }
      return
    }
    const present = configuration.evictionHard ?? {}
    const absent = Object.entries(evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem)).filter(
      // A key that is there but off (0%, 100%) was switched off on purpose.
      ([signal]) => !Object.hasOwn(present, signal),
    )
    const lost = absent.filter(([signal]) => isWatched(signal, eviction.thresholds, filesystems.layout) === false)
    for (const [signal] of absent)
      if (isWatched(signal, eviction.thresholds, filesystems.layout) === null)
        yield { unknown: `whether another threshold watches for ${signal}: ${whyUnobserved(subject, 'the layout of the filesystems')}` }
    if (lost.length === 0) return
    const added = Object.fromEntries(lost)
    const imagefs = added['imagefs.available']
    const dependsOnLayout = lost.some(([signal]) => signal.startsWith('imagefs.') || signal.startsWith('nodefs.'))
    yield {
      consequence: `Nothing watches ${lost.map(([signal]) => signal).join(', ')}: ${lost.map(([signal]) => consequenceOf(signal)).join('; ')}.`,
      confidence: dependsOnLayout && filesystems.layoutCertainty !== 'certain' ? 'likely' : 'certain',
      evidence: [
        ...lost.map(([signal, value]) => ({ what: `configz evictionHard.${signal}`, value: `absent (the kubelet's default is ${value})` })),
        { what: 'configz evictionHard', value: Object.keys(present).toSorted().join(', ') || 'absent: no hard thresholds at all' },
        { what: 'filesystems', value: filesystems.layout ?? 'layout not known' },
      ],
      fix: {
        config: {
          evictionHard: { ...present, ...added },
          ...(imagefs === undefined ? {} : imageGcBeside(imagefs, configuration.imageGCHighThresholdPercent ?? 85, policy)),
        },
      },
    }
  },
})

function consequenceOf(signal: string): string {
  if (signal === 'memory.available') return 'without it the kernel kills processes before the kubelet evicts a pod'
  return signal.endsWith('.inodesFree')
    ? `${signal} can reach 0 without DiskPressure, and files can then not be created`
    : `${signal} can reach 0 without DiskPressure, and writes then fail`
}
