/** Images on a node's disk. One reference has one size, whichever node has it. */
import type { PodProfile } from './pod-profile.ts'
import { availableBytes, type Family, GiB, MiB, type NodeProfile } from './profile.ts'
import { digits } from './random.ts'

export interface LabImage {
  name: string
  digest: string
  /** Compressed, as the runtime and the Node object have it. */
  sizeBytes: number
  /** What its layers take of the disk. */
  unpackedBytes: number
}

/** As containerd's configuration names it. Source: awslabs/amazon-eks-ami, bottlerocket-core-kit, containerd. */
const sandboxImages: Readonly<Record<Family, string>> = {
  AL2: '602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.10',
  AL2023: 'localhost/kubernetes/pause',
  Hybrid: 'registry.k8s.io/pause:3.10',
  Ubuntu: 'registry.k8s.io/pause:3.10',
  Bottlerocket: 'localhost/kubernetes/pause:0.1.0',
  'Auto Mode': 'localhost/kubernetes/pause:0.1.0',
  Windows: 'mcr.microsoft.com/oss/kubernetes/pause:3.9',
  Fargate: '602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.10',
}
export const sandboxImageOf = ({ family }: Pick<NodeProfile, 'family'>) => sandboxImages[family]
export const listedSandboxImage = (profile: Pick<NodeProfile, 'family'>) =>
  sandboxImageOf(profile).replace(/(\/[^:]*)$/, '$1:latest')

/** Unpacked MiB, from and to, by a part of the name. */
const sizes: readonly [part: string, least: number, most: number][] = [
  ['602401143452.', 54, 128],
  ['library/redis:', 117, 131],
  ['aws-for-fluent-bit:', 318, 352],
  ['shop/checkout:', 520, 640],
  ['batch/report:', 372, 428],
  ['media/thumbnails:', 1890, 1990],
  ['shop/search:', 1210, 1330],
  ['web/storefront:', 790, 910],
  ['data/etl:', 1600, 1790],
  ['ml/recommender:', 3980, 4290],
  ['ml/score-', 15_200, 25_400],
  ['services/part-', 1650, 3840],
]
const otherSizes = [140, 620] as const
const sandboxImageBytes = 318_731
/** Weights hardly compress. */
const modelRatio = 1.25
const isModel = (name: string) => name.includes('/models/')

export function unpackedBytesOf(name: string): number {
  const [, least, most] = sizes.find(([part]) => name.includes(part)) ?? ['', ...otherSizes]
  const share = parseInt(digits(`size/${name}`).slice(0, 6), 16) / 0xff_ff_ff
  return Math.round((least + share * (most - least)) * MiB)
}

export function imageNamed(name: string, compressedBytes?: number): LabImage {
  const digest = digits(name)
  // Layers of programs compress to a half or a third.
  const ratio = isModel(name) ? modelRatio : 2 + (parseInt(digest.slice(0, 3), 16) % 900) / 1000
  const sizeBytes =
    compressedBytes ??
    (name.includes('/pause') ? sandboxImageBytes : Math.round(unpackedBytesOf(name) / ratio))
  return { name, digest, sizeBytes, unpackedBytes: Math.round(sizeBytes * ratio) }
}

const ecr = '111122223333.dkr.ecr.us-east-1.amazonaws.com'
/** Releases that ran before today's and that image GC has not deleted. */
const olderImages = [
  ...[11, 10, 9, 8, 7, 6].map(month => `${ecr}/shop/checkout:2026.${month}.1`),
  ...['5.1', '5.0', '4.9', '4.8'].map(release => `${ecr}/batch/report:${release}`),
  ...[811, 808, 797, 790].map(release => `${ecr}/web/storefront:${release}`),
  ...[88, 87, 85].map(release => `${ecr}/media/thumbnails:${release}`),
  ...['8.14.3', '8.13.4'].map(version => `${ecr}/shop/search:${version}`),
  ...['7.2', '7.0'].map(version => `public.ecr.aws/docker/library/redis:${version}`),
].map(name => imageNamed(name))
const onLargeDisks = ['13', '12', '11'].map(release =>
  imageNamed(`${ecr}/ml/recommender:${release}`),
)
const largeDiskBytes = 50 * GiB
/** Above it the kubelet has deleted what no container uses. */
const collectedPercent = 84
/** Of the disk, and in all: what no rule calls idle. */
const mostUnused = { percent: 14, bytes: 8 * GiB }

/** As the runtime knows it. */
export const imageId = (name: string) => `sha256:${digits(`image/${name}`)}`

/** By digest, and by tag. */
export const namesOf = ({ name, digest }: LabImage): [string, string] => [
  `${name.replace(/:[^:/]*$/, '')}@sha256:${digest}`,
  name,
]

/** What the images take that a profile lists as unused. */
export const unusedBytes = ({ disk }: Pick<NodeProfile, 'disk'>) =>
  sumOf(Object.entries(disk?.unusedImages ?? {}).map(([name, bytes]) => imageNamed(name, bytes)))

/** The images on its disk, the largest first. */
export function imagesOf(profile: NodeProfile): LabImage[] {
  const { unusedImages = {} } = profile.disk ?? {}
  const named = new Set([
    ...Object.keys(unusedImages),
    ...profile.pods.flatMap(pod => pod.containers.map(container => container.image)),
    listedSandboxImage(profile),
  ])
  const images = [...named].map(name => imageNamed(name, unusedImages[name]))
  return [...images, ...unusedBeside(profile, images, named)].sort(
    (a, b) => b.sizeBytes - a.sizeBytes,
  )
}

/** Older releases, as many as fit into what the profile leaves for images. */
function unusedBeside(
  profile: NodeProfile,
  images: readonly LabImage[],
  named: ReadonlySet<string>,
): LabImage[] {
  const { capacityBytes, usedPercent } = profile.imagefs ?? profile.nodefs
  if (['Windows', 'Fargate'].includes(profile.family)) return []
  if (usedPercent >= collectedPercent || profile.diskPressure || profile.disk?.unusedImages)
    return []
  let left = Math.min(
    imagesTargetBytes(profile) - sumOf(images) - writtenBytes(profile.pods),
    (capacityBytes * mostUnused.percent) / 100,
    mostUnused.bytes,
  )
  const start = parseInt(digits(`older/${profile.name}`).slice(0, 2), 16) % olderImages.length
  const candidates = [
    ...(capacityBytes >= largeDiskBytes ? onLargeDisks : []),
    ...olderImages.slice(start),
    ...olderImages.slice(0, start),
  ]
  return candidates.filter(({ name, unpackedBytes }) => {
    if (named.has(name) || unpackedBytes > left) return false
    left -= unpackedBytes
    return true
  })
}

/** What the profile says that images take of the disk, about. */
export function imagesTargetBytes({
  nodefs,
  imagefs = nodefs,
}: Pick<NodeProfile, 'nodefs' | 'imagefs'>) {
  const usedBytes = imagefs.capacityBytes - availableBytes(imagefs)
  return Math.trunc((usedBytes * (imagefs.imagesPercent ?? 80)) / 100)
}

/** What snapshots take of the disk that has the images: layers of images, and what containers wrote. */
export const imagesBytes = (profile: NodeProfile): number =>
  sumOf(imagesOf(profile)) + writtenBytes(profile.pods) + (profile.disk?.leftBehindMiB ?? 0) * MiB

const sandboxBytes = 40_960
/** Of an evicted pod the kubelet has removed both. */
export const isThere = ({ phase }: PodProfile) => phase !== 'Failed'

/** Writable layers: of a pod's sandbox, and of each container. */
export const layersOf = (pods: readonly PodProfile[]) =>
  pods
    .filter(isThere)
    .map(pod => ({
      pod,
      sandboxBytes,
      containers: pod.containers.map(container => ({
        container,
        bytes: container.rootfsMiB * MiB,
      })),
    }))

export const writtenBytes = (pods: readonly PodProfile[]) =>
  layersOf(pods).reduce(
    (sum, { sandboxBytes, containers }) =>
      sum + containers.reduce((total, { bytes }) => total + bytes, sandboxBytes),
    0,
  )

const sumOf = (images: readonly LabImage[]) =>
  images.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0)
