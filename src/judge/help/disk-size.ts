/** The smallest volume with which image GC acts before eviction, from what the disk holds now. It does not wait for a history. */

import { amountOrNull } from '#base/go/quantity.ts'
import { gibibyte } from '#base/units.ts'
import { monthlyUsd } from '#facts/aws/ebs-prices.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shortName } from '#judge/text.ts'
import type { StepAction } from '#model/finding.ts'
import type { NodeIdentity } from '#model/input/record.ts'
import {
  type FilesystemLedger,
  hasVolumeSize,
  type NodeLedger,
  shareOfVolume,
} from '#model/prediction.ts'

import { lineOf } from './holder-cause.ts'

export const roundBytes = 10 * gibibyte
/** Of a volume, what partitions and metadata of the filesystem take. */
const metadataShare = 0.02
/** Where the configuration is unknown. Image GC that starts above 80 % and frees down to 70 % stays clear of eviction. */
const presetLowPercent = 70

const rootDevice = '/dev/xvda'

/**
 * Device of images, containers and pods. Sources: bottlerocket-os/bottlerocket README, Default Volumes; EC2 user guide, device names on Windows
 * instances.
 */
export function dataDevice({ amiFamily }: Pick<NodeIdentity, 'amiFamily'>) {
  if (amiFamily === 'Windows') return '/dev/sda1'
  return amiFamily === 'Bottlerocket' ? '/dev/xvdb' : rootDevice
}

/** A volume of a nodegroup, a launch template or a node class. `device` null: the data volume, whatever its device. */
export interface DeclaredDevice {
  device: string | null
  isRoot?: boolean
}

/** The declared volume of images, containers and pods. Bottlerocket's root volume is another. */
export function declaredDataVolume<Volume extends DeclaredDevice>(
  volumes: readonly Volume[],
  identity: Pick<NodeIdentity, 'amiFamily'>,
): Volume | undefined {
  const data = dataDevice(identity)
  return (
    volumes.find(({ device }) => device === null || device === data) ??
    (identity.amiFamily === 'Bottlerocket' ? undefined : volumes.find(({ isRoot }) => isRoot))
  )
}

type VolumeSize = Pick<StepAction, 'bytes' | 'place' | 'usdPerMonth'>

/** The disks of hybrid nodes and of other clouds are no EBS volumes: their size is left out. */
export const largerVolume = (
  {
    owner,
    instanceId,
    group,
  }: Pick<NodeIdentity, 'owner' | 'instanceId'> & Partial<Pick<NodeIdentity, 'group'>>,
  size: VolumeSize,
): StepAction => ({
  id: 'larger-disk',
  ...(owner !== 'hybrid' && instanceId !== null && size),
  ...(owner === 'auto-mode' && { place: 'NodeClass' }),
  // Source: kubernetes/kops docs/instance_groups.md rootVolume
  ...(group?.kind === 'InstanceGroup' &&
    size.bytes !== undefined && {
      source: `kops edit instancegroup ${shortName(group.name)} (${size.place === rootDevice ? 'spec.rootVolume.size' : 'spec.volumes'})`,
    }),
})

/**
 * The volume to enlarge. Null: it is none of the known volumes, such as an instance store. Undefined: unknown.
 *
 * @param mount where the disk is mounted on the node; undefined: not read
 */
export function volumeOf(
  { filesystem, capacityBytes }: FilesystemLedger,
  volumes: NodeLedger['volumes'],
  identity: Pick<NodeIdentity, 'amiFamily'>,
  mount?: string,
) {
  const data = dataDevice(identity)
  const sized = (volumes ?? []).flatMap(({ device, sizeBytes }) =>
    device === null || sizeBytes === null ? [] : [{ device, sizeBytes }],
  )
  const alike = sized.filter(({ sizeBytes }) => hasVolumeSize(capacityBytes, sizeBytes))
  if (alike.length === 1) return alike[0]?.device
  if (filesystem === 'imagefs') {
    if (alike.length === 0) return sized.length > 0 ? null : undefined
    // Of volumes of one size, a disk that is not mounted at / is none of the root volume.
    const others = alike.filter(({ device }) => (device === data) === (mount === '/'))
    return mount !== undefined && others.length === 1 ? others[0]?.device : undefined
  }
  const own = sized.find(({ device }) => device === data)
  return own && capacityBytes > shareOfVolume.most * own.sizeBytes ? null : data
}

/**
 * What image GC cannot free, what pods request and do not use yet, and one more pull of the largest image fit below the low threshold of
 * image GC. Empty: the disk is large enough for that.
 *
 * @param lowPercent of image GC
 * @param mount of the disk on the node; undefined: not read
 */
export function volumeToWrite(
  disk: FilesystemLedger,
  { parts, namespaces, volumes }: Pick<NodeLedger, 'parts' | 'namespaces' | 'volumes'>,
  amiFamily: NodeIdentity['amiFamily'],
  lowPercent = 100,
  mount?: string,
): VolumeSize {
  const { filesystem, capacityBytes, usedBytes } = disk
  const unused = lineOf(disk, 'images-unused')?.bytes ?? 0
  const pulls = parts
    .filter(part => part.filesystem === filesystem && part.owner?.kind === 'image')
    .map(({ highBytes, lowBytes }) => highBytes ?? lowBytes)
  const requested = (filesystem === 'nodefs' ? namespaces : []).reduce(
    (sum, { bytes, requestBytes }) => sum + Math.max(0, (requestBytes ?? 0) - bytes),
    0,
  )
  const neededBytes = usedBytes - unused + requested + Math.max(0, ...pulls)
  const share = Math.min(lowPercent, presetLowPercent) / 100
  const bytes = Math.ceil(neededBytes / share / roundBytes) * roundBytes
  // A filesystem is a little smaller than its volume.
  if (bytes <= Math.ceil(capacityBytes / gibibyte) * gibibyte) return {}
  const usdPerMonth = monthlyUsd(bytes - capacityBytes, null)
  const place = volumeOf(disk, volumes, { amiFamily }, mount)
  if (place === null) return {}
  return {
    bytes,
    ...(place !== undefined && { place }),
    ...(usdPerMonth !== null && { usdPerMonth }),
  }
}

export const storageIn = (amounts: { [name: string]: string | undefined } | undefined) =>
  amountOrNull(amounts?.['ephemeral-storage']) ?? 0

/** Upstream: pkg/kubelet/eviction/defaults_linux.go nodefs.available */
const defaultEvictionShare = 0.1

/** A disk as the scheduler counts it. Upstream: pkg/kubelet/cm/node_container_manager_linux.go getNodeAllocatableAbsolute, helpers hardEvictionReservation */
export function requestableDisk({
  node: { status },
  eviction,
}: Pick<NodeSubject, 'node' | 'eviction'>) {
  const [capacityBytes, allocatableBytes] = [
    storageIn(status?.capacity),
    storageIn(status?.allocatable),
  ]
  const hard = eviction?.thresholds.find(one => one.hard && one.signal === 'nodefs.available')
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(hard?.value ?? '') ?? []
  const known = percent === undefined ? 0 : Number(percent) / 100
  const share = eviction ? known : defaultEvictionShare
  const isShareKept = allocatableBytes <= (1 - share) * capacityBytes
  return {
    capacityBytes,
    allocatableBytes,
    /** Share of the disk that the hard eviction threshold keeps from pods. A threshold in bytes counts as reserved. */
    evictionShare: isShareKept ? share : 0,
  }
}

/** The smallest volume of which pods can request so many bytes: beside them it has what is reserved and what eviction keeps. */
export function volumeForRequests(
  wantedBytes: number,
  { capacityBytes, allocatableBytes, evictionShare }: ReturnType<typeof requestableDisk>,
): number {
  const reservedBytes = (1 - evictionShare) * capacityBytes - allocatableBytes
  const filesystemBytes = (wantedBytes + reservedBytes) / (1 - evictionShare)
  const bytes = filesystemBytes * (1 + metadataShare)
  return Math.ceil(bytes / roundBytes) * roundBytes
}

/** The first action, with the smallest and the largest amount of all: each node has its own. */
export function withAmounts(actions: readonly StepAction[]): StepAction {
  const sized = actions
    .flatMap(({ bytes, usdPerMonth, most }) => [
      ...(bytes === undefined ? [] : [{ bytes, usdPerMonth }]),
      ...(most ? [most] : []),
    ])
    .map(({ bytes, usdPerMonth }) => ({ bytes, ...(usdPerMonth !== undefined && { usdPerMonth }) }))
    .toSorted((a, b) => a.bytes - b.bytes)
  const [least, most] = [sized[0], sized.at(-1)]
  const { bytes: _, usdPerMonth: __, most: ___, ...action } = actions[0]!
  return { ...action, ...least, ...(most?.bytes !== least?.bytes && { most }) }
}
