/** The logs of a node, and who rotates them. Sources: awslabs/amazon-eks-ami rootfs (logrotate.conf, logrotate-kube-proxy); pkg/kubelet/logs */
import { configurationOf } from '#lab/nodes/configz.ts'
import { imageId, imageNamed } from '#lab/nodes/images.ts'
import { containerId, podUid } from '#lab/nodes/pod-object.ts'
import type { ContainerProfile, PodProfile } from '#lab/nodes/pod-profile.ts'
import { MiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { filesystemsOf } from '#lab/nodes/summary.ts'
import type { MachinePart, RootFile } from './machine.ts'

const weekly = `# see "man logrotate" for details
weekly
rotate 4
create
dateext
compress
include /etc/logrotate.d
`
const kubeProxy = `/var/log/kube-proxy.log {
  copytruncate
  missingok
  rotate 5
  daily
  compress
}
`
const timer = `LoadState=loaded
ActiveState=active
TimersCalendar={ OnCalendar=*-*-* 00:00:00 ; next_elapse=n/a }
LastTriggerUSec=Sat 2026-11-21 00:00:00 UTC
`
const rotatedBytes = 10 * MiB

export function logsPart(profile: NodeProfile, at: string): MachinePart {
  const isByCron = profile.family === 'AL2'
  const logs = profile.pods
    .filter(({ phase }) => phase !== 'Failed')
    .flatMap(pod => pod.containers.map(container => ({ pod, container })))
  return {
    files: {
      '/etc/logrotate.conf': weekly,
      ...(profile.family !== 'Ubuntu' && { '/etc/logrotate.d/kube-proxy': kubeProxy }),
      ...(isByCron && {
        '/etc/cron.daily/logrotate': {
          text: '#!/bin/sh\n/usr/sbin/logrotate /etc/logrotate.conf\n',
          isExecutable: true,
        },
      }),
      ...Object.fromEntries(
        logs.flatMap(({ pod, container }) => filesOf(pod, container, Date.parse(at))),
      ),
    },
    links: Object.fromEntries(
      logs.map(({ pod, container }) => [
        linkOf(pod, container),
        `${folderOf(pod, container)}/0.log`,
      ]),
    ),
    answers: {
      ...(!isByCron && { 'unit.logrotate.timer': timer }),
      'journal.kubelet.service': journalOf(profile, at),
    },
  }
}

const folderOf = (pod: PodProfile, { name }: ContainerProfile) =>
  `/var/log/pods/${pod.namespace}_${pod.name}_${podUid(pod)}/${name}`

const linkOf = (pod: PodProfile, container: ContainerProfile) =>
  `/var/log/containers/${pod.name}_${pod.namespace}_${container.name}-${containerId(pod, container)}.log`

/** What is longer than containerLogMaxSize the kubelet has rotated. */
function filesOf(pod: PodProfile, container: ContainerProfile, atMs: number): [string, RootFile][] {
  const folder = folderOf(pod, container)
  const bytes = container.logsMiB * MiB
  const rotated = Math.trunc(bytes / rotatedBytes)
  return [
    [`${folder}/0.log`, { bytes: bytes - rotated * rotatedBytes, modifiedAtMs: atMs - 5000 }],
    ...Array.from({ length: rotated }, (_, index): [string, RootFile] => {
      const modifiedAtMs = atMs - (index + 1) * 3_600_000
      const stamp = new Date(modifiedAtMs)
        .toISOString()
        .replaceAll(/[-:]/g, '')
        .replace('T', '-')
        .slice(0, 15)
      return [`${folder}/0.log.${stamp}`, { bytes: rotatedBytes, modifiedAtMs }]
    }),
  ]
}

/** What it says every few minutes while its disk is too full. Upstream: image_gc_manager.go, eviction_manager.go */
function journalOf(profile: NodeProfile, at: string): string {
  const { capacityBytes, availableBytes } = filesystemsOf(profile).imagefs
  const usage = 100 - Math.trunc((availableBytes * 100) / capacityBytes)
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } =
    configurationOf(profile)
  const isDue = typeof high === 'number' && usage >= high
  const lowPercent = Number(low)
  const toFree = Math.trunc((capacityBytes * (100 - lowPercent)) / 100) - availableBytes
  const begun = (percent: number, bytes: number) =>
    `image_gc_manager.go:391] "Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=${percent} highThreshold=${high} amountToFree=${bytes} lowThreshold=${low}`
  const rounds = (profile.imageGcRounds ?? []).flatMap(
    ({ minutesAgo, wantedBytes, removed, evicted }) => [
      [minutesAgo, begun(lowPercent + Math.ceil((100 * wantedBytes) / capacityBytes), wantedBytes)],
      ...(removed === undefined ? [] : [[minutesAgo, removal(removed)]]),
      ...(evicted === undefined ? [] : [...evicting, evictedLine(evicted)]).map(line => [
        minutesAgo - 1,
        line,
      ]),
    ],
  ) as [number, string][]
  const now = [
    'kubelet.go:2406] "SyncLoop (PLEG): event for pod"',
    ...(isDue
      ? [
          begun(usage, toFree),
          `kubelet.go:1541] "Image garbage collection failed multiple times in a row" err="Failed to garbage collect required amount of images. Attempted to free ${toFree} bytes, but only found 0 bytes eligible to free."`,
        ]
      : []),
    ...(profile.diskPressure ? evicting : []),
  ]
  return [...rounds, ...now.map(line => [0, line] as const)]
    .map(([minutesAgo, line]) => journalLine(profile, Date.parse(at) - minutesAgo * 60_000, line))
    .join('')
}

const evicting = [
  'eviction_manager.go:366] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"',
  'eviction_manager.go:377] "Eviction manager: must evict pod(s) to reclaim" resourceName="ephemeral-storage"',
]

const evictedLine = (pod: string) =>
  `eviction_manager.go:613] "Eviction manager: pod is evicted successfully" pod="${pod}"`

function removal(image: string) {
  const { name, sizeBytes } = imageNamed(image)
  return `image_gc_manager.go:505] "Removing image to free bytes" imageID="${imageId(name)}" size=${sizeBytes} runtimeHandler=""`
}

/** As journalctl prints it, with klog's own time. */
function journalLine({ name }: NodeProfile, ms: number, line: string) {
  const time = new Date(ms).toISOString()
  const klog = `I${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 19)}.000000`
  return `${time.slice(0, 19)}+0000 ${name} kubelet[900]: ${klog}     900 ${line}\n`
}
