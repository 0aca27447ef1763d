import {
  hardDefaults,
  imageGcBeside,
  isShortOfInodes,
  lostDefaults,
  unwatchedSeverity,
  whyUnobserved,
} from '#judge/help/thresholds.ts'
import {
  bytesLine,
  hardThresholds,
  kubeletSetting,
  line,
  type NodeSubject,
  nodeRule,
} from '#judge/rule.ts'
import type { FilesystemState } from '#model/prediction.ts'

const diskSignals: readonly string[] = ['nodefs.available', 'imagefs.available']
const maps = ['evictionHard', 'evictionSoft'] as const
const layouts = {
  shared: 'shared: one disk for all',
  split: 'split: images on their own, containers on nodefs',
  imagefs: 'imagefs: the runtime has its own',
}

export const unwatchedImagefs = nodeRule({
  id: 'unwatched-imagefs',
  family: 'eviction',
  severity: 'high',
  cause: hardThresholds,
  effect: 'threshold-lost',
  needs: ['configuration', 'eviction'],
  policy: ['assumedGrowthPercent'],
  title: 'The image disk is watched by no eviction threshold',
  why: 'Images have a filesystem of their own, and no imagefs.available threshold is in force. nodefs thresholds do not see it: when it is full the node stays Ready without DiskPressure, while pulls and writes of containers fail. One disk for all is watched by either; with both switched off by none.',
  fix: 'Set evictionHard imagefs.available (and imagefs.inodesFree), together with the other signals of the map: it is replaced as a whole.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go synchronize',
    'pkg/kubelet/stats/provider.go HasDedicatedImageFs',
    'awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go',
  ],
  appliesTo: subject =>
    subject.identity.operatingSystem === 'linux' &&
    (subject.filesystems.layout !== 'shared' || isUnwatchedDisk(subject)),

  *judge(subject, policy) {
    const { configuration, eviction, filesystems } = subject
    const { layout } = filesystems
    if (eviction.thresholds.some(({ signal }) => signal === 'imagefs.available')) return
    if (layout === null)
      return yield {
        unknown: `whether images have a filesystem of their own: ${whyUnobserved(subject, 'the layout of the filesystems')}`,
      }
    const isShared = layout === 'shared'
    const [name, disk, shown] = isShared
      ? (['nodefs', filesystems.nodefs, 'disk'] as const)
      : (['imagefs', filesystems.imagefs, 'image filesystem'] as const)
    const threshold =
      hardDefaults(subject.identity)[`${name}.available`] ?? (isShared ? '10%' : '15%')
    const isShort = !isShared && isShortOfInodes(disk)
    const written = isShared
      ? diskSignals.map(signal => ['evictionHard', signal] as const)
      : maps.map(map => [map, 'imagefs.available'] as const)
    const isLikely = !isShared && filesystems.layoutCertainty !== 'certain'
    yield {
      ...(isShared && { title: 'The disk is watched by no eviction threshold' }),
      severity: unwatchedSeverity(disk),
      consequence: `When the ${shown} is full the kubelet sees no pressure: no DiskPressure, no taint, no eviction. Only image GC frees space, if it is switched on; where it cannot, pulls and writes of containers${isShared ? ', their logs and the node itself' : ''} fail with "no space left on device".`,
      ...(isLikely && { confidence: 'likely' }),
      evidence: [
        ...written.map(([map, signal]) =>
          line('configz', `${map}.${signal}`, switchedOffText(configuration[map]?.[signal])),
        ),
        line('computed', 'filesystems', layouts[layout]),
        ...sizeLines(shown, disk),
      ],
      cause: kubeletSetting(`evictionHard.${name}.${isShort ? 'inodesFree' : 'available'}`),
      fix: {
        config: {
          evictionHard: {
            ...configuration.evictionHard,
            [`${name}.available`]: threshold,
            ...(isShort && { 'imagefs.inodesFree': '5%' }),
          },
          ...imageGcBeside(threshold, configuration, policy),
        },
      },
    }
  },
})

/** True if no threshold watches the one disk. lost-default-threshold reports defaults that evictionHard removed. */
function isUnwatchedDisk({ configuration, eviction, ...subject }: NodeSubject) {
  if (!configuration || !eviction) return false
  const isLost =
    lostDefaults({ ...subject, configuration, eviction })?.lost.some(([signal]) =>
      diskSignals.includes(signal),
    ) ?? false
  return !isLost && !eviction.thresholds.some(({ signal }) => diskSignals.includes(signal))
}

const switchedOffText = (value: string | undefined) =>
  value === undefined ? 'absent' : `${value} (never met: switched off)`

const sizeLines = (name: string, disk: FilesystemState | null) =>
  (['capacity', 'available'] as const).flatMap(what => {
    const amount = disk?.[`${what}Bytes`] ?? null
    return amount === null ? [] : [bytesLine('summary', `${name} ${what}`, amount)]
  })
