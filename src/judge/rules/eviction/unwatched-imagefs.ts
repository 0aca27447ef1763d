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
  type Failing,
  hardThresholds,
  kubeletSetting,
  line,
  lines,
  type NodeSubject,
  nodeRule,
  type Satisfied,
} from '#judge/rule.ts'

import type { Policy } from '#model/policy.ts'
import type { FilesystemState } from '#model/prediction.ts'

const diskSignals: readonly string[] = ['nodefs.available', 'imagefs.available']

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
    const { identity, configuration, eviction, filesystems } = subject
    if (eviction.thresholds.some(({ signal }) => signal === 'imagefs.available')) return
    if (filesystems.layout === null)
      return yield {
        unknown: `whether images have a filesystem of their own: ${whyUnobserved(subject, 'the layout of the filesystems')}`,
      }
    if (filesystems.layout === 'shared') return yield oneDiskFailing(subject, policy)
    const hardValue = configuration.evictionHard?.['imagefs.available']
    const softValue = configuration.evictionSoft?.['imagefs.available']
    const threshold = hardDefaults(identity)['imagefs.available'] ?? '15%'
    const isShort = isShortOfInodes(filesystems.imagefs)
    const signal = isShort ? 'imagefs.inodesFree' : 'imagefs.available'
    yield {
      severity: unwatchedSeverity(filesystems.imagefs),
      consequence:
        'When the image filesystem is full the kubelet sees no pressure: no DiskPressure, no taint, no eviction. Only image GC frees space, if it is switched on; where it cannot, pulls and writes of containers fail with "no space left on device".',
      confidence: filesystems.layoutCertainty === 'certain' ? 'certain' : 'likely',
      evidence: lines(
        line('configz', 'evictionHard.imagefs.available', switchedOffText(hardValue)),
        line('configz', 'evictionSoft.imagefs.available', switchedOffText(softValue)),
        line(
          'computed',
          'filesystems',
          filesystems.layout === 'split'
            ? 'split: images on their own, containers on nodefs'
            : 'imagefs: the runtime has its own',
        ),
        ...sizeLines('image filesystem', filesystems.imagefs),
      ),
      cause: kubeletSetting(`evictionHard.${signal}`),
      fix: {
        config: {
          evictionHard: {
            ...configuration.evictionHard,
            'imagefs.available': threshold,
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

function oneDiskFailing(
  { identity, configuration, filesystems }: Satisfied<'configuration' | 'eviction'>,
  policy: Policy,
): Failing {
  const threshold = hardDefaults(identity)['nodefs.available'] ?? '10%'
  return {
    title: 'The disk is watched by no eviction threshold',
    severity: unwatchedSeverity(filesystems.nodefs),
    consequence:
      'When the disk is full the kubelet sees no pressure: no DiskPressure, no taint, no eviction. Only image GC frees space, if it is switched on; where it cannot, pulls and writes of containers, their logs and the node itself fail with "no space left on device".',
    evidence: lines(
      ...diskSignals.map(signal =>
        line(
          'configz',
          `evictionHard.${signal}`,
          switchedOffText(configuration.evictionHard?.[signal]),
        ),
      ),
      line('computed', 'filesystems', 'shared: one disk for all'),
      ...sizeLines('disk', filesystems.nodefs),
    ),
    cause: kubeletSetting('evictionHard.nodefs.available'),
    fix: {
      config: {
        evictionHard: { ...configuration.evictionHard, 'nodefs.available': threshold },
        ...imageGcBeside(threshold, configuration, policy),
      },
    },
  }
}

const switchedOffText = (value: string | undefined) =>
  value === undefined ? 'absent' : `${value} (never met: switched off)`

const sizeLines = (name: string, disk: FilesystemState | null) =>
  (['capacity', 'available'] as const).flatMap(what => {
    const amount = disk?.[`${what}Bytes`] ?? null
    return amount === null ? [] : [bytesLine('summary', `${name} ${what}`, amount)]
  })
