import { gibibyte } from '#base/units.ts'
import { classResource, declaredNode } from '#judge/drift/declared.ts'
import { dataDevice, declaredDataVolume } from '#judge/help/disk-size.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  deviceCause,
  type Failing,
  line,
  type NodeContext,
  type NodeSubject,
  shorten,
} from '#judge/rule.ts'
import type { AmiFamily } from '#model/input/record.ts'
import { type FilesystemState, hasVolumeSize, shareOfVolume } from '#model/prediction.ts'

const titles = {
  notGrown: 'The filesystem is smaller than its volume',
  partition: 'The image of the node gives the disk of its pods a small partition',
  wrong: 'The declared size reached the system volume, not the volume of the containers',
  beside: 'The declared size reached a volume beside that of kubelet and runtime',
}
/** Bottlerocket's system, which never uses more than its image, and the data of kubelet and runtime. */
const bottlerocketDevices = { system: '/dev/xvda', data: '/dev/xvdb' }
/** Images of Bottlerocket have a system volume of 2 or 4 GiB. */
const largestImageBytes = 8 * gibibyte

interface DeclaredVolume {
  where: string
  sizeBytes: number
}

/** All sizes of a declaration. `device` null: of the data volume, whatever its device. */
interface Declaration {
  where: string
  sizes: { device: string | null; isRoot?: boolean; sizeBytes: number }[]
  /** No user data mounts a second volume, because there is none. */
  hasNoUserData?: boolean
}

export const diskDiffersFromNodeClass = contextRule({
  id: 'disk-differs-from-node-class',
  family: 'configuration',
  severity: 'low',
  cause: deviceCause('differs'),
  steps: ['replace-node'],
  titles,
  title: 'The disk of the node has another size than its nodegroup or node class declares',
  why: 'Either the filesystem was not grown to the size of its volume, or the node is older than the declaration. Percentages of thresholds stand for other amounts than planned.',
  fix: 'Too small: correct the device mapping and replace the node; only if its volume is larger, grow partition and filesystem. Too large: declare its size, because a new node gets the declared one.',
  sources: [
    'EKS API reference, Nodegroup diskSize',
    'bottlerocket-os/bottlerocket README, Default Volumes',
    'bottlerocket-os/bottlerocket#2915',
    'karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go BlockDeviceMapping',
  ],
  appliesTo: ({ identity }) =>
    identity.owner === 'karpenter' || identity.owner === 'managed-nodegroup',

  fact: factOf,

  *judge(fact, context) {
    const { capacityBytes } = fact
    const declared =
      fact.owner === 'karpenter'
        ? sizesOfClass(fact.className, context)
        : sizesOfNodegroup(fact, context)
    const wrong = wrongVolumeFailing(fact, declared)
    if (wrong) return yield wrong
    const volume = typeof declared === 'string' ? declared : dataVolume(fact, declared)
    const small = notGrownFailing(fact, volume)
    if (small) return yield small
    if (volume === null) return
    if (typeof volume === 'string') return yield { unknown: volume }
    if (capacityBytes === null) return yield { unknown: 'the capacity of nodefs was not read' }
    if (hasVolumeSize(capacityBytes, volume.sizeBytes)) return
    // The kubelet's files have a volume of their own.
    if (isOfOtherVolume(fact)) return
    const sizes = { declaredBytes: volume.sizeBytes, actualBytes: capacityBytes }
    const place = dataDevice(fact)
    const ownBytes = sizeOf(place, fact.volumes) ?? Math.ceil(capacityBytes / gibibyte) * gibibyte
    yield {
      ...(2 * capacityBytes < volume.sizeBytes && { severity: fact.isUsed ? 'high' : 'medium' }),
      cause: deviceCause('differs', { device: place, ...sizes }),
      // A new node would have the smaller disk.
      steps: [
        capacityBytes > volume.sizeBytes
          ? { id: 'declare-size', place, bytes: ownBytes }
          : { id: 'replace-node', place },
      ],
      consequence: `nodefs has ${bytes(capacityBytes)}, and ${volume.where} declares ${bytes(volume.sizeBytes)}.`,
      evidence: [
        bytesLine('declared', volume.where, volume.sizeBytes),
        bytesLine(fact.sizedBy, 'nodefs capacity', capacityBytes),
        ...volumeEvidence(fact),
      ],
    }
  },
})

function factOf({ identity, node, disks, ledger, host, filesystems }: NodeSubject) {
  const device = host?.filesystems?.find(({ role }) => role === 'nodefs')?.device
  return {
    owner: identity.owner,
    group: identity.group.name,
    amiFamily: identity.amiFamily,
    className: declaredNode({ identity, node }).nodeClass.name,
    template: declaredNode({ identity, node }).template,
    // The kubelet writes it into its Node object, too. Upstream: pkg/kubelet/cm/container_manager_linux.go GetCapacity
    capacityBytes: disks?.nodefs?.capacityBytes ?? capacityOf(node),
    sizedBy: disks?.nodefs?.capacityBytes == null ? ('node' as const) : ('summary' as const),
    /** The device of nodefs, if it is one of the device mapper. */
    mapped: device?.startsWith('/dev/mapper/') ? shorten(device, 100) : null,
    /** Whether the node showed the device of nodefs. */
    isRead: device !== undefined,
    /** One disk for all. */
    isShared: filesystems.layout === 'shared',
    isUsed: isHalfFull(disks?.nodefs ?? null),
    imagefsBytes: disks?.imagefs?.capacityBytes ?? null,
    /** Block devices that the node showed. Null: it was not read. */
    devices:
      host?.diskUse?.devices?.map(({ bytes = 0, isUsed = true }) => ({ bytes, isUsed })) ?? null,
    /** Volumes without ids, so that equal facts are kept once. The node's ledger has the ids. */
    volumes: ledger?.volumes?.map(({ volumeId: _, ...volume }) => volume) ?? null,
    volumesUnread: ledger?.volumesUnread ?? null,
  }
}

type NodeDisk = ReturnType<typeof factOf>

function capacityOf({ status }: NodeSubject['node']): number | null {
  const text = status?.capacity?.['ephemeral-storage']
  return text === undefined ? null : amountOf(text, 0)
}

/** Whether half of a disk is used: one of less than half of its declared size would have room. */
const isHalfFull = (disk: FilesystemState | null) =>
  disk !== null && 2 * (disk.availableBytes ?? 0) < (disk.capacityBytes ?? 0)

/**
 * A filesystem that is smaller than its volume. Null: it is not, or is not known. A node with partitions of its own has no filesystem of the
 * declared size, neither before nor after its volume grows.
 */
function notGrownFailing(
  { amiFamily, capacityBytes, sizedBy, volumes, mapped, isRead, isShared }: NodeDisk,
  declared: DeclaredVolume | string | null,
): Failing | null {
  const device = dataDevice({ amiFamily })
  const volume = volumes?.find(one => one.device === device)?.sizeBytes ?? null
  if (volume === null || capacityBytes === null || capacityBytes >= shareOfVolume.least * volume)
    return null
  const declaredBytes = typeof declared === 'object' ? (declared?.sizeBytes ?? null) : null
  const isWhole =
    amiFamily === 'Bottlerocket' ||
    volume === declaredBytes ||
    (declaredBytes !== null && capacityBytes >= shareOfVolume.least * declaredBytes)
  if (!isWhole) return null
  const sizes = { declaredBytes: volume, actualBytes: capacityBytes }
  const evidence = [
    bytesLine(sizedBy, 'nodefs capacity', capacityBytes),
    ...volumeEvidence({ volumes, volumesUnread: null }),
  ]
  if (mapped !== null)
    return {
      severity: 'medium',
      title: titles.partition,
      cause: deviceCause('own-partition', { device: mapped, ...sizes }),
      steps: [{ id: 'grow-partition', place: mapped, bytes: volume }],
      consequence: `nodefs is the logical volume ${mapped} with ${bytes(capacityBytes)}, on the volume ${device} with ${bytes(volume)}: it does not grow with its volume, at no boot.`,
      evidence: [...evidence, line('host', 'nodefs device', mapped)],
    }
  const system = volumes?.find(one => one.device === bottlerocketDevices.system)?.sizeBytes ?? 0
  // Bottlerocket 1.13.0 makes its data partition in the rest of a larger system volume: no boot grows it.
  if (amiFamily === 'Bottlerocket' && capacityBytes < system)
    return {
      severity: 'high',
      title: titles.notGrown,
      cause: deviceCause('differs', { device, ...sizes }),
      steps: [{ id: 'map-volume', place: bottlerocketDevices.system }],
      consequence: `The filesystem of containers has ${bytes(capacityBytes)} and fits on ${bottlerocketDevices.system} with ${bytes(system)}: its partition may be there, and ${device} with ${bytes(volume)} is not used.`,
      evidence: [...evidence, mappingLine(bottlerocketDevices.system, 2 * gibibyte)],
    }
  const small = { severity: 'medium', title: titles.notGrown, evidence } as const
  // EC2Launch extends the drive at the first boot alone.
  if (amiFamily === 'Windows')
    return {
      ...small,
      cause: deviceCause('differs', { device, ...sizes }),
      steps: [{ id: 'replace-node', place: device }],
      consequence: `The volume ${device} has ${bytes(volume)}, and drive C: ${bytes(capacityBytes)}: the rest is used by nothing.`,
    }
  // Without the node, only Bottlerocket shows on which disk it is: the kubelet may have a partition or an instance store of its own.
  const isKnown = isRead || amiFamily === 'Bottlerocket'
  const read = isKnown ? [] : [{ id: 'read-devices' as const }]
  if (!isKnown && !isShared)
    return {
      ...small,
      cause: deviceCause('differs', { device, ...sizes }),
      steps: read,
      consequence: `The volume ${device} has ${bytes(volume)}, and the filesystem of the kubelet ${bytes(capacityBytes)}: it has a partition or a disk of its own, or it was not grown.`,
    }
  return {
    ...small,
    cause: deviceCause('not-grown', { device, ...sizes }),
    steps: [...read, { id: 'reboot', place: device, bytes: volume }],
    consequence: `The volume ${device} has ${bytes(volume)}, and its filesystem ${bytes(capacityBytes)}: the rest is used by nothing until the filesystem grows, at the next boot.`,
  }
}

/** Whether another volume than that of the data device has the size of nodefs. */
const isOfOtherVolume = ({ amiFamily, capacityBytes, volumes }: NodeDisk): boolean =>
  (volumes ?? []).some(
    ({ device, sizeBytes }) =>
      device !== dataDevice({ amiFamily }) &&
      sizeBytes !== null &&
      hasVolumeSize(capacityBytes ?? 0, sizeBytes),
  )

/** A size was declared for a volume on which neither images nor pods are. Null: it was not, or is not known. */
function wrongVolumeFailing(node: NodeDisk, declared: Declaration | string | null): Failing | null {
  const { amiFamily, capacityBytes, volumes } = node
  const isBottlerocket = amiFamily === 'Bottlerocket'
  const known = typeof declared === 'string' ? null : declared
  const wrong = isBottlerocket ? systemVolume(node, known) : soleDeclaredVolume(node, known)
  if (capacityBytes === null || !wrong) return null
  const data = dataDevice(node)
  const dataBytes = sizeOf(data, volumes) ?? capacityBytes
  // A filesystem is a little smaller than its volume. A larger one is on another.
  const isLarger = dataBytes < shareOfVolume.least * wrong.sizeBytes
  if (!isLarger || capacityBytes > shareOfVolume.most * dataBytes) return null
  const consequence = `Images, containers and pods have ${data} with ${bytes(dataBytes)}.`
  const isSeen = isBottlerocket || node.devices !== null
  // User data may mount it, so nothing is written before somebody looks.
  const isCertain = isSeen || known?.hasNoUserData === true
  const unseen = isCertain ? '' : ', unless their user data mounts it'
  return {
    severity: isSeen || (isCertain && node.isUsed) ? 'high' : 'medium',
    ...(isBottlerocket ? { title: titles.wrong } : { title: titles.beside, confidence: 'likely' }),
    cause: deviceCause('wrong-volume', {
      device: data,
      declaredBytes: wrong.sizeBytes,
      actualBytes: dataBytes,
    }),
    steps: isCertain
      ? [
          {
            id: 'map-volume',
            place: data,
            bytes: wrong.sizeBytes,
            ...(!isBottlerocket && { message: wrong.device }),
          },
        ]
      : [{ id: 'read-devices' }],
    consequence: isBottlerocket
      ? `${consequence} The ${bytes(wrong.sizeBytes)} of ${wrong.device} are for Bottlerocket itself, which uses no more than its image: the rest is lost.`
      : `${consequence} The ${bytes(wrong.sizeBytes)} of ${wrong.device} are a second volume, which nodes of ${amiFamily} do not use${unseen}.`,
    evidence: [
      bytesLine(node.sizedBy, 'nodefs capacity', capacityBytes),
      ...(known ? [bytesLine('declared', `${known.where}, ${wrong.device}`, wrong.sizeBytes)] : []),
      ...(isCertain ? [mappingLine(data, wrong.sizeBytes)] : []),
      ...volumeEvidence(node),
    ],
  }
}

const mappingLine = (device: string, sizeBytes: number) =>
  line(
    'declared',
    'mapping to write',
    `deviceName: ${device}, ebs: {volumeSize: ${Math.round(sizeBytes / gibibyte)}Gi}`,
  )

interface Volume {
  device: string
  sizeBytes: number
}

const sizeOf = (wanted: string, volumes: NodeDisk['volumes']) =>
  volumes?.find(({ device }) => device === wanted)?.sizeBytes ?? null

/** That of Bottlerocket, if it is larger than an image of it. */
function systemVolume({ volumes }: NodeDisk, declared: Declaration | null): Volume | null {
  const { system: device } = bottlerocketDevices
  const byDeclaration = declared?.sizes.find(one => one.device === null || one.device === device)
  const sizeBytes = sizeOf(device, volumes) ?? (volumes ? null : (byDeclaration?.sizeBytes ?? null))
  return sizeBytes !== null && sizeBytes > largestImageBytes ? { device, sizeBytes } : null
}

const ofAmazonLinux: ReadonlySet<AmiFamily> = new Set(['AL2', 'AL2023'])

/** The only declared volume, or attached one where no declaration was read, if it is not that of the system, which Amazon Linux has for everything. Null also if a filesystem is on it. */
function soleDeclaredVolume(node: NodeDisk, declared: Declaration | null): Volume | null {
  const { amiFamily, volumes, imagefsBytes, devices } = node
  const [only, ...others] = declared?.sizes ?? mappedVolumes(volumes)
  if (!ofAmazonLinux.has(amiFamily) || !only || others.length > 0) return null
  const { device, isRoot, sizeBytes } = only
  if (device === null || device === dataDevice(node) || isRoot === true) return null
  const isAttached = volumes === null || sizeOf(device, volumes) !== null
  const isMounted = devices?.some(one => one.isUsed && hasVolumeSize(one.bytes, sizeBytes)) === true
  const isOfImages = imagefsBytes !== null && hasVolumeSize(imagefsBytes, sizeBytes)
  return isAttached && !isMounted && !isOfImages ? { device: shorten(device, 40), sizeBytes } : null
}

/** Beside the root. The EBS CSI driver gives PersistentVolumes names of two letters (/dev/xvdaa). */
const mappedVolumes = (volumes: NodeDisk['volumes']): Declaration['sizes'] =>
  (volumes ?? []).flatMap(({ device, sizeBytes }) =>
    sizeBytes !== null && /^\/dev\/(?:sd|xvd)[b-z]$/.test(device ?? '')
      ? [{ device, sizeBytes }]
      : [],
  )

const volumeEvidence = ({ volumes, volumesUnread }: Pick<NodeDisk, 'volumes' | 'volumesUnread'>) =>
  volumes?.map(({ device, type, sizeBytes, iops }) => {
    const size = sizeBytes === null ? 'unknown size' : bytes(sizeBytes)
    const value = `${shorten(type ?? 'unknown type', 20)}, ${size}, ${iops ?? 'unknown'} IOPS`
    return line('object', `EBS volume ${shorten(device ?? '?', 40)}`, value)
  }) ?? [
    volumesUnread === null
      ? line('object', 'EBS volumes', 'unknown')
      : line('unread', 'EBS volumes', shorten(volumesUnread)),
  ]

/** Null: no size is declared for the volume of kubelet and runtime. */
function dataVolume(node: NodeDisk, declared: Declaration | null): DeclaredVolume | null {
  const found = declaredDataVolume(declared?.sizes ?? [], node)
  return !found || !declared ? null : { where: declared.where, sizeBytes: found.sizeBytes }
}

/** Reads the launch template version of the node. Null and text as in sizesOfNodegroup. */
function sizesOfTemplate(
  { template: { id, version } }: NodeDisk,
  { launchTemplates, why }: NodeContext,
): Declaration | string {
  if (!launchTemplates) return why('launchTemplates')
  if (id === null || version === null) return 'no label of the node names its launch template'
  const found = launchTemplates.find(
    ({ launchTemplateId, versionNumber }) =>
      launchTemplateId === id && String(versionNumber) === version,
  )
  const where = `launch template ${shorten(found?.launchTemplateName ?? id, 128)} version ${shorten(version, 20)}`
  if (!found?.volumes) return `the volumes of ${where} were not read`
  return {
    where,
    sizes: found.volumes.flatMap(({ deviceName = null, sizeGiB }) =>
      sizeGiB ? [{ device: deviceName, sizeBytes: sizeGiB * gibibyte }] : [],
    ),
  }
}

/** Null: no size is declared. A text: why the size is unknown. */
function sizesOfNodegroup(node: NodeDisk, context: NodeContext): Declaration | string | null {
  const { group } = node
  const nodegroup = context.nodegroups?.find(({ nodegroupName }) => nodegroupName === group)
  if (!nodegroup) return context.why('nodegroups')
  if (nodegroup.launchTemplate) return sizesOfTemplate(node, context)
  const where = `nodegroup ${shorten(group, 100)}`
  return nodegroup.diskSize
    ? { where, sizes: [{ device: null, sizeBytes: nodegroup.diskSize * gibibyte }] }
    : null
}

/** A text: why the sizes are unknown. */
function sizesOfClass(name: string | null, context: NodeContext): Declaration | string {
  const all = context.objects(classResource)
  if (!all) return context.why(classResource)
  const found = all.find(({ metadata }) => name !== null && metadata?.name === name)
  if (!found) return 'the EC2NodeClass of this node is not among those read'
  const { instanceStorePolicy, blockDeviceMappings = [], userData } = found.spec ?? {}
  if (instanceStorePolicy === 'RAID0')
    return 'the kubelet may use the instance store (instanceStorePolicy RAID0)'
  const sizes: Declaration['sizes'] = []
  for (const { deviceName = null, rootVolume, ebs } of blockDeviceMappings) {
    if (!ebs?.volumeSize) continue
    const sizeBytes = amountOf(ebs.volumeSize, 0)
    if (sizeBytes === null) return `the volume size ${shorten(ebs.volumeSize, 40)} is no quantity`
    sizes.push({ device: deviceName, isRoot: rootVolume === true, sizeBytes })
  }
  const where = `EC2NodeClass ${shorten(name ?? '', 100)}`
  return { where, sizes, hasNoUserData: userData === undefined }
}
