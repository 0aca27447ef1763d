import { shortInodes } from '#judge/help/space-errors.ts'
import { entryLine, lostDefaults, unobserved, withEntries } from '#judge/help/thresholds.ts'
import { hardThresholds, isLinux, kubeletSetting, line, nodeRule } from '#judge/rule.ts'
import { isWatched } from '#model/prediction.ts'

export const unwatchedInodes = nodeRule({
  id: 'unwatched-inodes',
  family: 'eviction',
  severity: 'medium',
  cause: hardThresholds,
  effect: 'threshold-lost',
  needs: ['configuration', 'eviction'],
  title: 'A filesystem can run out of inodes unseen',
  why: 'No inodesFree threshold is in force on it. Many small files use up its inodes while bytes are left: writes fail with "no space left on device", and the node shows no DiskPressure. Image GC looks at bytes only.',
  fix: 'Set evictionHard nodefs.inodesFree (imagefs.inodesFree where images have a disk of their own) to 5%, together with the other signals of the map.',
  sources: [
    'pkg/kubelet/eviction/helpers.go makeSignalObservations',
    'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { configuration, eviction, filesystems } = subject
    const { layout, layoutCertainty } = filesystems
    const isLost = (signal: string) =>
      lostDefaults(subject)?.lost.some(([lost]) => lost === signal) ?? false
    const unwatched: ('nodefs' | 'imagefs')[] = []
    for (const filesystem of ['nodefs', 'imagefs'] as const) {
      // On a shared disk nodefs stands for imagefs too.
      if (filesystem === 'imagefs' && layout === 'shared') continue
      const isSeen = isWatched(`${filesystem}.inodesFree`, eviction.thresholds, layout)
      const inodes = filesystems[filesystem]?.inodes ?? null
      // lost-default-threshold reports defaults that evictionHard removed. Others were switched off or have no default.
      if (isSeen === true || inodes === 0 || isLost(`${filesystem}.inodesFree`)) continue
      if (isSeen === null || inodes === null || (filesystem === 'imagefs' && layout === null))
        yield unobserved(subject, `whether the inodes of ${filesystem} are counted and watched`)
      else unwatched.push(filesystem)
    }
    if (unwatched.length === 0) return
    const signals = unwatched.map(filesystem => `${filesystem}.inodesFree`)
    const short = shortInodes(subject, signals)
    yield {
      ...(short && { severity: 'high' as const, seen: short.seen, steps: short.steps }),
      cause: kubeletSetting(`evictionHard.${signals[0]}`),
      consequence: `${signals.join(' and ')} can reach 0 without DiskPressure, taint or eviction: no file can be created then, whatever bytes are left.`,
      confidence: layoutCertainty === 'certain' ? 'certain' : 'likely',
      evidence: [
        ...unwatched.flatMap(filesystem => [
          entryLine('evictionHard', `${filesystem}.inodesFree`, configuration),
          line('summary', `${filesystem} inodes`, String(filesystems[filesystem]?.inodes)),
          line(
            'computed',
            `${filesystem} inodes free`,
            filesystems[filesystem]?.inodesFree ?? 'not known',
          ),
        ]),
        ...(short?.evidence ?? []),
      ],
      fix: withEntries(
        'evictionHard',
        configuration,
        Object.fromEntries(signals.map(signal => [signal, '5%'])),
      ),
    }
  },
})
