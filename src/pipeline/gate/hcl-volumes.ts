/**
 * Sizes of volumes that are written out in HCL.
 * Source: Terraform provider aws, aws_launch_template, aws_eks_node_group; terraform-aws-modules/eks, inputs
 */
import { type FileReading, fileProblem, unnamed } from './changed-part.ts'
import { takeVolumes, volumeOf } from './volumes.ts'

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
export function takeHclVolumes(reading: FileReading, text: string, whole: string): void {
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
      reading.problems.push(fileProblem('unread', line, noDevice, 'volumeSize'))
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
    else reading.problems.push(fileProblem('unread', line, ambiguousText(path), path))
  }
}

const noDevice = 'volumeSize is not judged: its device is not written out beside it.'
const ambiguousText = (path: string) =>
  `${path} is not judged: this file has several sizes, and does not say of which nodegroup each is. Give the plan as JSON.`

interface Block {
  /** The line before its bracket. */
  head: string
  start: number
}

/** The innermost first. */
function blocksAround(text: string, at: number) {
  const blocks: Block[] = []
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
