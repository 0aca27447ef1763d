import { nearMemorySteps } from '#judge/help/memory-reason.ts'
import { shortInodes } from '#judge/help/space-errors.ts'
import {
  hasManyInodes,
  hasMuchMemory,
  imageGcBeside,
  isShortOfInodes,
  lostDefaults,
  unwatchedSeverity,
  whyUnobserved,
} from '#judge/help/thresholds.ts'
import {
  hardThresholds,
  isLinux,
  kubeletSetting,
  line,
  nodeRule,
  type Satisfied,
} from '#judge/rule.ts'
import type { Filesystems } from '#model/prediction.ts'

export const lostDefaultThreshold = nodeRule({
  id: 'lost-default-threshold',
  family: 'eviction',
  severity: 'high',
  cause: hardThresholds,
  effect: 'threshold-lost',
  needs: ['configuration', 'eviction'],
  title: 'A default eviction threshold is lost, and nothing watches in its place',
  why: 'A kubelet configuration that sets evictionHard replaces the whole map of defaults: each signal that it does not name is off. What that signal would have watched can then run full without any eviction.',
  fix: 'Name every signal in evictionHard, the defaults too, or set mergeDefaultEvictionSettings: true (kubelet 1.33 and later). A signal that shall be off is written as 0%.',
  sources: [
    'cmd/kubelet/app/server.go loadConfigFile',
    'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
    'kubernetes/website#36960',
    'bottlerocket-os/bottlerocket#3350',
  ],
  appliesTo: isLinux,

  *judge(subject, policy) {
    const { configuration, filesystems } = subject
    const defaults = lostDefaults(subject)
    if (!defaults)
      return yield {
        unknown:
          'node: its status names no kubelet version that is known, so the defaults of that version are not known',
      }
    const { lost, open } = defaults
    for (const signal of open)
      yield {
        unknown: `whether another threshold watches for ${signal}: ${whyUnobserved(subject, 'the layout of the filesystems')}`,
      }
    const present = configuration.evictionHard ?? {}
    if (lost.length === 0) return
    const added = Object.fromEntries(lost)
    const imagefs = added['imagefs.available']
    const dependsOnLayout = lost.some(
      ([signal]) => signal.startsWith('imagefs.') || signal.startsWith('nodefs.'),
    )
    const short = shortInodes(
      subject,
      lost.map(([signal]) => signal),
    )
    const memory = 'memory.available' in added ? nearMemorySteps(subject) : []
    yield {
      ...(memory.length > 0 && { steps: [{ id: 'set-fields' as const }, ...memory] }),
      ...(short && { seen: short.seen, steps: short.steps }),
      ...(isFarFromFull(lost, subject) && { severity: 'medium' }),
      cause: kubeletSetting(`evictionHard.${mostUrgentSignal(lost, filesystems)}`),
      consequence: `Nothing watches ${lost.map(([signal]) => signal).join(', ')}: ${consequencesOf(lost, filesystems.layout)}.`,
      confidence:
        dependsOnLayout && filesystems.layoutCertainty !== 'certain' ? 'likely' : 'certain',
      evidence: [
        ...lost.map(([signal, value]) =>
          line('configz', `evictionHard.${signal}`, `absent (the kubelet's default is ${value})`),
        ),
        line(
          'configz',
          'evictionHard',
          Object.keys(present).toSorted().join(', ') || 'absent: no hard thresholds at all',
        ),
        line('computed', 'filesystems', filesystems.layout ?? 'layout not known'),
        ...(short?.evidence ?? []),
      ],
      fix: {
        config: {
          evictionHard: { ...present, ...added },
          ...(imagefs === undefined ? {} : imageGcBeside(imagefs, configuration, policy)),
        },
      },
    }
  },
})

type Lost = readonly (readonly [string, string])[]

/** Whether half is left of all that lost a threshold: bytes, inodes or memory. */
const isFarFromFull = (lost: Lost, subject: Satisfied<'eviction'>) =>
  lost.every(([signal]) => {
    const { filesystems } = subject
    if (signal === 'memory.available') return hasMuchMemory(subject)
    const name =
      signal.startsWith('imagefs.') && filesystems.layout !== 'shared' ? 'imagefs' : 'nodefs'
    if (signal.endsWith('.inodesFree')) return hasManyInodes(filesystems[name])
    return /^(?:image|node)fs\./.test(signal) && unwatchedSeverity(filesystems[name]) === 'medium'
  })

/** The signal of a disk that is short of inodes, else `imagefs.available`, else the first. */
function mostUrgentSignal(lost: Lost, filesystems: Filesystems) {
  const isShort = ([signal]: Lost[0]) =>
    (signal === 'imagefs.inodesFree' && isShortOfInodes(filesystems.imagefs)) ||
    (signal === 'nodefs.inodesFree' && isShortOfInodes(filesystems.nodefs))
  const found = lost.find(isShort) ?? lost.find(([signal]) => signal === 'imagefs.available')
  return (found ?? lost[0])?.[0]
}

const consequences = {
  // The rule unwatched-imagefs states it.
  'own disk': 'imagefs.available: see unwatched-imagefs',
  memory: 'without it the kernel kills processes before the kubelet evicts a pod',
  inodes: 'can reach 0 without DiskPressure, and files can then not be created',
  bytes: 'can reach 0 without DiskPressure, and writes then fail',
}

const consequencesOf = (lost: Lost, layout: Filesystems['layout']): string =>
  [...Map.groupBy(lost, ([signal]) => kindOf(signal, layout))]
    .map(([kind, alike]) => {
      if (kind === 'own disk' || kind === 'memory') return consequences[kind]
      const isOfAll = alike.length > 1 && alike.length === lost.length
      const signals = isOfAll ? 'they' : alike.map(([signal]) => signal).join(' and ')
      return `${signals} ${consequences[kind]}`
    })
    .join('; ')

function kindOf(signal: string, layout: Filesystems['layout']): keyof typeof consequences {
  if (signal === 'imagefs.available' && layout !== 'shared' && layout !== null) return 'own disk'
  if (signal === 'memory.available') return 'memory'
  return signal.endsWith('.inodesFree') ? 'inodes' : 'bytes'
}
