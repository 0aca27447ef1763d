/**
 * Sizes of volumes in changed files, and a node with a disk of that size: as many bytes and inodes are used as now.
 *
 * Source  bottlerocket-os/bottlerocket README, Default Volumes; eksctl pkg/apis/eksctl.io/v1alpha5 defaults.go (Bottlerocket's data volume);
 *         karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go BlockDeviceMapping
 */

import { amountOrNull } from '#base/go/quantity.ts'
import { isRawObject, mapOf, textOfValue } from '#base/raw-object.ts'
import { gibibyte } from '#base/units.ts'
import { placesIn, type YamlPlace } from '#base/yaml-place.ts'
import { volumeSizeMistake } from '#facts/eks/karpenter.ts'
import { isExpression } from '#judge/drift/drift.ts'
import { type DeclaredDevice, dataDevice, declaredDataVolume } from '#judge/help/disk-size.ts'
import type { GateValues } from '#model/gate.ts'
import type { FilesystemStats, NodeIdentity, NodeInput } from '#model/input/record.ts'
import { hasVolumeSize, shareOfVolume } from '#model/prediction.ts'
import {
  type ChangedPart,
  type DeclaredVolume,
  expressionProblem,
  type FileProblem,
  type FileReading,
  fileProblem,
  type Place,
  type Target,
  unnamed,
} from './user-data-parts.ts'

/** Bottlerocket's system volume has at most 4 GiB. A larger one is meant for something else. */
const largestSystemBytes = 8 * gibibyte

/** @param list of mappings; @param keys where each has its device and its size */
export function volumesIn(
  list: YamlPlace,
  { device, size }: { device: string; size: readonly (string | number)[] },
): DeclaredVolume[] {
  return placesIn(list).flatMap(place => {
    const mapping = place.value
    const { value } = place.at(...size)
    if (!isRawObject(mapping) || value === undefined || value === null) return []
    const volume = volumeOf(value, textOfValue(mapping[device] ?? ''), place.lineOf(...size))
    return [{ ...volume, isRoot: mapping.rootVolume === true }]
  })
}

/** @param value GiB, or a quantity in an EC2NodeClass */
export function volumeOf(value: unknown, device: string | null, line: number): DeclaredVolume {
  const written = textOfValue(value)
  const isCount = /^\d+$/.test(written)
  const bytes = isCount ? Number(written) * gibibyte : amountOrNull(written)
  const path = device ? `volumeSize of ${device}` : 'volumeSize'
  return { value, device, bytes: bytes !== null && bytes > 0 ? bytes : null, written, path, line }
}

export const unclearVolumes = (volumes: readonly DeclaredVolume[]): FileProblem[] =>
  volumes
    .filter(({ bytes, written }) => bytes === null && !withUnit.test(written))
    .map(({ path, line }) => expressionProblem(line, path))

const withUnit = /^[\d.]+[A-Za-z]+$/

/** An operation of a patch changes one mapping by its index, so its device is elsewhere. */
export const unnamedVolumes = ({ value, lineOf }: YamlPlace): FileProblem[] =>
  (isRawObject(value) ? Object.entries(value) : [])
    .filter(([, mapping]) => mapOf(mapOf(mapping).ebs).volumeSize !== undefined)
    .map(([index]) => {
      const text =
        'volumeSize is not judged: its device is not in the patch. Give the rendered object.'
      return fileProblem('unread', lineOf(index, 'ebs', 'volumeSize'), text, 'volumeSize')
    })

type Reader = 'EC2NodeClass' | 'ClusterConfig' | 'LaunchTemplate'

/** What each program says of a wrong size. Source: eksctl pkg/apis/eksctl.io/v1alpha5 types.go NodeGroupBase.VolumeSize */
const refusals: Readonly<Record<Reader, string>> = {
  EC2NodeClass: 'The API server refuses spec.blockDeviceMappings',
  ClusterConfig: 'eksctl refuses the whole file',
  LaunchTemplate: 'Refused',
}

export const refusedVolumes = (volumes: readonly DeclaredVolume[], by: Reader): FileProblem[] =>
  volumes.flatMap(({ value, written, path, line }) => {
    const why = isExpression(written) ? null : sizeMistake(value, written, by)
    const text = `${refusals[by]}: ${path} ${why}.`
    return why === null ? [] : [fileProblem('refused', line, text, path)]
  })

function sizeMistake(value: unknown, written: string, by: Reader) {
  if (by === 'EC2NodeClass') return volumeSizeMistake(value)
  const isCount = by === 'ClusterConfig' ? typeof value === 'number' : !withUnit.test(written)
  return isCount ? null : 'must be a whole number of GiB, without a unit'
}

/** The line of a setting, or of a volume's size. */
export const withVolumes =
  (lineOf: ChangedPart['lineOf'], volumes: readonly DeclaredVolume[]): ChangedPart['lineOf'] =>
  path =>
    volumes.find(volume => volume.path === path)?.line ?? lineOf(path)

/** Of a launch template or a nodegroup. @param userData what may mount them; @param line of the part */
export function takeVolumes(
  reading: FileReading,
  volumes: DeclaredVolume[],
  { target, userData, line }: { target: Target; userData: string; line: number },
) {
  if (volumes.length === 0) return
  reading.problems.push(...unclearVolumes(volumes))
  reading.parts.push({
    kind: 'LaunchTemplate',
    file: reading.file,
    target,
    volumes,
    refusals: refusedVolumes(volumes, 'LaunchTemplate'),
    mountsDisks: mountsDisks(userData),
    config: {},
    flags: [],
    by: null,
    lineOf: withVolumes(() => line, volumes),
  })
}

export interface DiskChange extends Place {
  values: GateValues
  /** With the disk that the node has as read. */
  undo(node: NodeInput, asRead: NodeInput): NodeInput
  apply(node: NodeInput): NodeInput
}

type Image = Pick<NodeIdentity, 'amiFamily'>

/** The declared volume of images, containers and pods. A later part counts before an earlier one. Null: none. */
const dataVolume = (parts: readonly ChangedPart[], image: Image) =>
  declaredDataVolume(
    parts.flatMap(part => (part.volumes ?? []).map(volume => ({ part, ...volume }))).toReversed(),
    image,
  ) ?? null

type Placed = DeclaredVolume & Pick<Place, 'part'>

/** Size of the data volume where no size is written any more. Sources: #facts/eks/karpenter-storage.ts; EKS API, CreateNodegroup diskSize; eksctl pkg/apis/eksctl.io/v1alpha5 types.go DefaultNodeVolumeSize */
const presetGib = { ClusterConfig: 80, others: 20 }

/** @param earlier the volume that the files had. Null: the snapshot's class had it */
function presetVolume(head: readonly ChangedPart[], earlier: Placed | null): Placed | null {
  const whole = head.find(({ isWhole, kind }) => isWhole && kind === 'EC2NodeClass')
  const isOfClass = earlier === null || earlier.part.kind === 'EC2NodeClass'
  // A part of a class keeps the rest of it. Karpenter knows no device of an image that is not its own.
  const isKnown =
    !isOfClass ||
    (whole?.volumes !== undefined && !whole.isOwnImage && whole.amiFamily !== undefined)
  const part = isOfClass ? whole : earlier?.part
  if (!isKnown || !part) return null
  const gib = part.kind === 'ClusterConfig' ? presetGib.ClusterConfig : presetGib.others
  const written = `${gib} GiB, where no size is written`
  const path = earlier?.path ?? 'volumeSize'
  return { part, value: gib, device: null, bytes: gib * gibibyte, written, path, line: 1 }
}

interface DeclaredVolumes {
  head: readonly ChangedPart[]
  base: readonly ChangedPart[]
  /** Of the snapshot's class, which the change replaces as a whole. */
  volumes: readonly DeclaredDevice[]
}

/** Null: the disk keeps its size, or its change is not known. */
export function diskChange(
  input: NodeInput,
  image: Image,
  { head, base, volumes }: DeclaredVolumes,
): DiskChange | null {
  const earlier = dataVolume(base, image)
  const had = earlier !== null || declaredDataVolume(volumes, image) !== undefined
  const declared = dataVolume(head, image) ?? (had ? presetVolume(head, earlier) : null)
  const bytes = declared?.bytes ?? null
  const before = earlier?.bytes ?? null
  const disk = diskOf(input, image)
  if (!declared || bytes === null || bytes === before || !disk) return null
  const volumeBytes = disk.volumeBytes ?? before
  if (volumeBytes === null && hasVolumeSize(disk.capacityBytes, bytes)) return null
  if (volumeBytes === bytes) return null
  const capacityBytes =
    volumeBytes === null ? bytes : Math.round((disk.capacityBytes * bytes) / volumeBytes)
  return {
    part: declared.part,
    path: declared.path,
    values: {
      before: [`${Math.round((volumeBytes ?? disk.capacityBytes) / gibibyte)} GiB`],
      after: [declared.written],
    },
    apply: node => withDisk(node, capacityBytes / disk.capacityBytes),
    undo: (node, { summary, node: asRead }) => ({ ...node, summary, node: asRead }),
  }
}

/** Null: unknown, or images have a disk of their own. */
function diskOf({ summary, volumes }: NodeInput, image: Image) {
  const { fs, runtime } = summary?.node ?? {}
  const capacityBytes = fs?.capacityBytes ?? 0
  if (capacityBytes <= 0 || runtime?.imageFs?.capacityBytes !== capacityBytes) return null
  const size = volumes?.find(({ Device }) => Device === dataDevice(image))?.Size
  const volumeBytes = size === undefined ? null : size * gibibyte
  // A partition of its own does not grow with its volume.
  const isWhole = volumeBytes === null || capacityBytes >= shareOfVolume.least * volumeBytes
  return isWhole ? { capacityBytes, volumeBytes } : null
}

function withDisk(input: NodeInput, ratio: number) {
  const { node, summary } = input
  const storage = amountOrNull(node.status?.capacity?.['ephemeral-storage'])
  const capacity = {
    ...node.status?.capacity,
    ...(storage !== null && { 'ephemeral-storage': String(Math.round(storage * ratio)) }),
  }
  const withStats = (stats: object | undefined) =>
    Object.fromEntries(
      Object.entries(stats ?? {}).map(([name, one]) => [
        name,
        /^(?:fs|imageFs|containerFs)$/.test(name) ? resized(one, ratio) : one,
      ]),
    )
  const stats = summary?.node
  return {
    ...input,
    node: { ...node, status: { ...node.status, capacity } },
    summary: summary && {
      ...summary,
      node: { ...withStats(stats), ...(stats?.runtime && { runtime: withStats(stats.runtime) }) },
    },
  } as NodeInput
}

function resized(stats: FilesystemStats, ratio: number): FilesystemStats {
  const { capacityBytes = 0, availableBytes = 0, inodes, inodesFree } = stats
  const capacity = Math.round(capacityBytes * ratio)
  const more = Math.round((inodes ?? 0) * (ratio - 1))
  return {
    ...stats,
    capacityBytes: capacity,
    availableBytes: Math.max(0, availableBytes + capacity - capacityBytes),
    ...(inodes !== undefined && { inodes: inodes + more }),
    ...(inodesFree !== undefined && { inodesFree: Math.max(0, inodesFree + more) }),
  }
}

/** Volumes that hold nothing of images, containers and pods, while none for these is declared. */
export function misplacedVolumes(parts: readonly ChangedPart[], image: Image) {
  const { amiFamily } = image
  if (amiFamily === 'other' || dataVolume(parts, image)) return []
  const data = dataDevice(image)
  const isMounted = parts.some(({ mountsDisks }) => mountsDisks === true)
  const whyMisplaced = ({ device, bytes }: DeclaredVolume) => {
    if (device === null) return null
    if (amiFamily !== 'Bottlerocket')
      return isMounted
        ? null
        : `images, containers and pods are on ${data}, and nothing mounts ${device}`
    return (bytes ?? 0) > largestSystemBytes
      ? `Bottlerocket has images, containers and pods on ${data}, and ${device} is its system volume`
      : null
  }
  return parts.flatMap(part =>
    (part.volumes ?? []).flatMap(volume => {
      const why = whyMisplaced(volume)
      const text = `${why}: declare the size for ${data}`
      return why === null ? [] : [{ part, path: volume.path, text }]
    }),
  )
}

/** Whether a text of user data prepares disks itself. */
export const mountsDisks = (text: string) =>
  /\bmount\b|mkfs|\/etc\/fstab|pvcreate|setup-local-disks/.test(text)

/*
 * Sizes of volumes that are written out in HCL.
 * Source: Terraform provider aws, aws_launch_template, aws_eks_node_group; terraform-aws-modules/eks, inputs
 */

/** The whole value, since a part of an expression is no size. */
const size = /\b(disk_size|volume_size)"?[ \t]*=(?!=)([^\n,}]*)/g
const device = /\bdevice_name"?[ \t]*=(?!=)[ \t]*"([^"$\n]+)"/
const ofNodegroup = /aws_eks_node_group"|node_groups?\b/
const ofTemplate = /aws_launch_template"|block_device_mappings/
/** Source: terraform-aws-modules/eks, modules/eks-managed-node-group, disk_size */
const ofModule = /\beks_managed_node_group/
const ownTemplate =
  'the module makes a launch template, which takes the size from block_device_mappings, unless use_custom_launch_template is false.'
const ebs = /\bebs\W{0,9}$/
/** Each size has a search for its blocks. */
const most = { sizes: 60, blocks: 20, head: 500 }

/** @param text without comments; @param whole with the user data */
export function takeHclVolumes(reading: FileReading, text: string, whole: string) {
  const sizes = [...text.matchAll(size)]
  const found = sizes.slice(0, most.sizes).flatMap(match => {
    const written = (match[2] ?? '').trim().replace(/^"(.*)"$/, '$1')
    const blocks = blocksAround(text, match.index)
    const [own, mapping] = blocks
    const heads = blocks.map(({ head }) => head).join('\n')
    const line = text.slice(0, match.index).split('\n').length
    const isOfDisk = match[1] === 'disk_size'
    const isOfNodes = isOfDisk
      ? ofNodegroup.test(heads)
      : ofTemplate.test(heads) && ebs.test(own?.head ?? '')
    if (!isOfNodes || written === 'null') return []
    if (
      isOfDisk &&
      ofModule.test(heads) &&
      !/\b(?:use_custom|create)_launch_template\b/.test(text)
    ) {
      reading.problems.push(fileProblem('no-effect', line, ownTemplate, 'volumeSize'))
      return []
    }
    const [, name] = device.exec(blockFrom(text, mapping?.start ?? 0)) ?? []
    if (!isOfDisk && name === undefined) {
      const text = 'volumeSize is not judged: its device is not written out beside it.'
      reading.problems.push(fileProblem('unread', line, text, 'volumeSize'))
      return []
    }
    return [{ volume: volumeOf(written, isOfDisk ? null : (name ?? ''), line), heads }]
  })
  if (sizes.length > most.sizes)
    reading.problems.push(
      fileProblem('unread', 1, `Only the first ${most.sizes} sizes are judged.`),
    )
  if (found.length === 0) return
  const groups = groupsIn(text)
  const placed = found.map(({ volume, heads }) => {
    const [, name] = /"aws_(?:launch_template|eks_node_group)"[ \t]+"([^"]+)"/.exec(heads) ?? []
    const isNamed = ({ resource, template }: (typeof groups)[number]) =>
      name !== undefined && name === (volume.device === null ? resource : template)
    return { volume, target: groups.find(isNamed)?.target ?? unnamed }
  })
  const unknown = placed.filter(({ target }) => target === unnamed).map(({ volume }) => volume)
  for (const { volume, target } of placed) {
    const { device, line, path } = volume
    const sameDevice = unknown.filter(one => one.device === device)
    const isClear = new Set(sameDevice.map(({ written }) => written)).size < 2
    if (target !== unnamed || isClear)
      takeVolumes(reading, [volume], { target, userData: whole, line })
    else {
      const text = `${path} is not judged: this file has several sizes, and does not say of which nodegroup each is. Give the plan as JSON.`
      reading.problems.push(fileProblem('unread', line, text, path))
    }
  }
}

/** The innermost first. `head`: the line before its bracket. */
function blocksAround(text: string, at: number) {
  const blocks: { head: string; start: number }[] = []
  let closed = 0
  for (let start = at; start >= 0 && blocks.length < most.blocks; start--) {
    if (text[start] === '}') closed++
    if (text[start] !== '{' || closed-- > 0) continue
    closed = 0
    const before = text.slice(Math.max(0, start - most.head), start)
    blocks.push({ head: before.slice(before.lastIndexOf('\n') + 1), start })
  }
  return blocks
}

/** The text of a block, up to its end. */
function blockFrom(text: string, start: number) {
  let open = 0
  for (let end = start; end < text.length; end++) {
    if (text[end] === '{') open++
    if (text[end] === '}' && --open === 0) return text.slice(start, end)
  }
  return text.slice(start)
}

/** Nodegroups whose name is written out. */
const groupsIn = (text: string) =>
  text
    .split(/^resource[ \t]+"aws_eks_node_group"[ \t]+/m)
    .slice(1)
    .flatMap(rest => {
      const [body = ''] = rest.split(/^\}/m, 1)
      const [, resource] = /^"([^"]+)"/.exec(body) ?? []
      const [, group] = /\bnode_group_name[ \t]*=[ \t]*"([^"$]+)"/.exec(body) ?? []
      const [, cluster = ''] = /\bcluster_name[ \t]*=[ \t]*"([^"$]+)"/.exec(body) ?? []
      const [, template] = /\baws_launch_template\.([\w-]+)/.exec(body) ?? []
      return resource === undefined || group === undefined
        ? []
        : [{ resource, template, target: { cluster, group } }]
    })
