/** What a node measures of its own disks: `du` of folders and containerd's snapshots, in the numbers of `/stats/summary`. */
import { imagesBytes, imagesOf, layersOf, listedSandboxImage } from '#lab/nodes/images.ts'
import { containerId } from '#lab/nodes/pod-object.ts'
import { MiB, type NodeProfile } from '#lab/nodes/profile.ts'
import { digits, randomOf } from '#lab/nodes/random.ts'
import { filesystemsOf, inodesOf } from '#lab/nodes/summary.ts'
import { sandboxId } from './containerd.ts'
import { runtimeFolder } from './filesystems.ts'
import type { MachinePart } from './machine.ts'

const plugin = (name: string) => `${runtimeFolder}/io.containerd.${name}`
/** In MiB, from and to. Home folders take what is left of the disk's used part. */
const spans: Readonly<Record<string, readonly [least: number, most: number]>> = {
  '/var/log/journal': [212, 824],
  '/var/cache': [38, 264],
  [plugin('content.v1.content')]: [2, 11],
  [plugin('metadata.v1.bolt')]: [1, 4],
}
/** Of the operating system: the same on each node of an image. */
const systemMiB = { least: 910, most: 1090 }

const between = (text: string, least: number, most: number) =>
  Math.round(least + randomOf(text)() * (most - least))

const kubeletMiB = 4
const messages = [5, 31] as const
const unexplainedMiB = 32

export function diskUsePart(profile: NodeProfile): MachinePart {
  const { nodefs } = filesystemsOf(profile)
  const containers = profile.pods
    .filter(({ phase }) => phase === 'Running')
    .flatMap(pod => pod.containers)
  const volumes = sum(profile.pods.map(({ emptyDir }) => emptyDir?.usedMiB ?? 0))
  const logs = sum(containers.map(({ logsMiB }) => logsMiB))
  const own = (path: string, [least, most]: readonly [number, number]) =>
    between(`${path}/${profile.name}`, least, most)
  const hostMiB = Object.fromEntries(
    Object.entries(spans).map(([path, span]) => [path, own(path, span)]),
  )
  const folders: Record<string, number> = {
    '/usr': between(`/usr/${profile.family}`, systemMiB.least, systemMiB.most),
    ...hostMiB,
    ...profile.disk?.foldersMiB,
    '/var/lib/kubelet': volumes + kubeletMiB,
    '/var/lib/kubelet/pods': volumes,
    '/var/log': hostMiB['/var/log/journal']! + logs + own('messages', messages),
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
    answers: { du: `${sizes.join('\n')}\n`, ...snapshotsOf(profile) },
  }
}

/** A layer of each image, the writable layers above, each with its size. Together they have what the runtime says. */
function snapshotsOf(profile: NodeProfile): Record<string, string> {
  const sandboxLayer = layerOf(listedSandboxImage(profile))
  const writable = layersOf(profile.pods).flatMap(({ pod, sandboxBytes, containers }) => [
    { key: sandboxId(pod), parent: sandboxLayer, bytes: sandboxBytes },
    ...containers.map(({ container, bytes }) => ({
      key: containerId(pod, container),
      parent: layerOf(container.image),
      bytes,
    })),
  ])
  const leftBehind = (profile.disk?.leftBehindMiB ?? 0) * MiB
  const layers = [
    ...imagesOf(profile).map(({ name, unpackedBytes }) => ({
      key: layerOf(name),
      bytes: unpackedBytes,
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
