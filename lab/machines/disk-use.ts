/** What a node measures of its own disks: `du` of folders and containerd's snapshots, in the numbers of `/stats/summary`. */
import { imagesOf, sandboxImageOf } from '#lab/nodes/node-object.ts'
import { containerId } from '#lab/nodes/pod-object.ts'
import { imagesBytes, MiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { digits } from '#lab/nodes/random.ts'
import { filesystemsOf, inodesOf } from '#lab/nodes/summary.ts'
import { isThere, sandboxId } from './containerd.ts'
import { runtimeFolder } from './filesystems.ts'
import type { MachinePart } from './machine.ts'

const plugin = (name: string) => `${runtimeFolder}/io.containerd.${name}`
/** Of every node, in MiB. Home folders take what is left of the disk's used part. */
const fixedMiB = {
  '/var/log/journal': 488,
  '/usr': 940,
  '/var/cache': 86,
  [plugin('content.v1.content')]: 3,
  [plugin('metadata.v1.bolt')]: 2,
}
const kubeletMiB = 4
const messagesMiB = 12
const unexplainedMiB = 32
const sandboxBytes = 40_960

export function diskUsePart(profile: NodeProfile): MachinePart {
  const { nodefs } = filesystemsOf(profile)
  const containers = profile.pods
    .filter(({ phase }) => phase === 'Running')
    .flatMap(pod => pod.containers)
  const volumes = sum(profile.pods.map(({ emptyDir }) => emptyDir?.usedMiB ?? 0))
  const logs = sum(containers.map(({ logsMiB }) => logsMiB))
  const folders: Record<string, number> = {
    ...fixedMiB,
    ...profile.disk?.foldersMiB,
    '/var/lib/kubelet': volumes + kubeletMiB,
    '/var/lib/kubelet/pods': volumes,
    '/var/log': fixedMiB['/var/log/journal'] + logs + messagesMiB,
    '/var/log/pods': logs,
  }
  const outside = ['/var/lib/kubelet/pods', '/var/log/journal', '/var/log/pods']
  const counted = sum(
    Object.keys(folders).map(path => (outside.includes(path) ? 0 : folders[path]!)),
  )
  const usedBytes = nodefs.capacityBytes - nodefs.availableBytes
  const besideBytes = usedBytes - (profile.imagefs ? 0 : imagesBytes(profile))
  folders['/home'] = Math.max(0, Math.trunc(besideBytes / MiB) - counted - unexplainedMiB)
  const sizes = Object.entries(folders).map(
    ([path, mib]) => `${path} ${mib * 1024} ${inodesOf(mib * MiB)}`,
  )
  return {
    folders: Object.keys(folders),
    answers: { du: `${sizes.join('\n')}\n`, ...snapshotsOf(profile, imagesBytes(profile)) },
  }
}

/** A layer of each image, the writable layers above, each with its size. Together they have what the runtime says. */
function snapshotsOf(profile: NodeProfile, allBytes: number): Record<string, string> {
  const pods = profile.pods.filter(isThere)
  const sandboxImage = sandboxImageOf(profile).replace(/(\/[^:]*)$/, '$1:latest')
  const writable = pods.flatMap(pod => [
    { key: sandboxId(pod), parent: layerOf(sandboxImage), bytes: sandboxBytes },
    ...pod.containers.map(container => ({
      key: containerId(pod, container),
      parent: layerOf(container.image),
      bytes: container.rootfsMiB * MiB,
    })),
  ])
  const leftBehind = (profile.disk?.leftBehindMiB ?? 0) * MiB
  const images = imagesOf(profile).map(({ names, sizeBytes }) => ({
    key: layerOf(names[1] ?? ''),
    sizeBytes,
  }))
  const left = Math.max(0, allBytes - leftBehind - sum(writable.map(({ bytes }) => bytes)))
  const listed = Math.max(1, sum(images.map(({ sizeBytes }) => sizeBytes)))
  const layers = [
    ...images.map(({ key, sizeBytes }) => ({
      key,
      bytes: Math.trunc((left * sizeBytes) / listed),
    })),
    ...(leftBehind ? [{ key: layerOf('left behind'), bytes: leftBehind }] : []),
  ]
  const usage = [...layers, ...writable].map(
    ({ key, bytes }) => `${key} ${bytes} ${inodesOf(bytes)}`,
  )
  return {
    'ctr.ls': table('KEY PARENT KIND', [
      ...layers.map(({ key }) => `${key} Committed`),
      ...writable.map(({ key, parent }) => `${key} ${parent} Active`),
    ]),
    'ctr.usage': table('KEY SIZE INODES', usage),
  }
}

const layerOf = (image: string) => `sha256:${digits(`layer/${image}`)}`
const table = (head: string, rows: readonly string[]) => `${[head, ...rows].join('\n')}\n`
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
