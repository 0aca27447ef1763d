/** Local storage of each pod with kubelet statistics. */

import { type Quantity, quantityNumber } from '#base/go/quantity.ts'
import { byText, withoutEndSlashes } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import {
  claimOfFolder,
  foldersAround,
  isHostLog,
  isLocalVolumeRoot,
  logFolder,
  sharedFolders,
} from '#facts/host-folders.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import {
  type ContainerStatus,
  controllerOf,
  type FilesystemStats,
  isVolumeWritable,
  type KubernetesPod,
  type LocalVolumes,
  type NodeInput,
  type PodSummary,
  volumesElsewhere,
} from '#model/input/record.ts'
import {
  addUse,
  containerOwner,
  type GroupDiskUse,
  type HolderOwner,
  listedOwners,
  type PodDiskUse,
  type PodHolder,
  podOwner,
} from '#model/prediction.ts'
import { containerIdOf, containerStatusesOf, type Pod } from '#replay/pods.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { countOf } from '#replay/times.ts'

const named = { pods: 5, owners: listedOwners, namespaces: 20 }

export interface Amount {
  bytes: number
  /** Null: a part was not read. */
  inodes: number | null
  /** Whether a part of `bytes` was not read. */
  isPartial?: boolean
}

/** The sums over all pods, and the use of each pod. */
export interface PodUse {
  layers: Amount
  logs: Amount
  volumes: Amount
  /** What the kubelet counts to pods and to none of their containers and volumes: hosts files. */
  folders: Amount
  pods: PodDiskUse[]
  /** Each pod of the statistics. `pod` undefined: the API does not list it. */
  measured: MeasuredPod[]
}

interface MeasuredPod {
  stats: PodSummary
  pod: KubernetesPod | undefined
  /** Of `folders`. */
  folderBytes: number
  /** Of several layers, which the sum of the pod has together. */
  layerBytes: number
}

/** Null: no statistics were read. */
export function podUseOf(node: PreparedNode): PodUse | null {
  const stats = node.summary?.pods
  if (!stats) return null
  const objects = new Map(node.pods?.map(pod => [`${pod.namespace}/${pod.name}`, pod]))
  const listed = new Map(
    node.input.pods?.map(pod => [
      `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`,
      pod,
    ]),
  )
  const isPartial = !areMeasured(node, stats)
  const use: PodUse = {
    layers: noAmount(isPartial),
    logs: noAmount(isPartial),
    volumes: noAmount(isPartial),
    folders: noAmount(),
    pods: [],
    measured: [],
  }
  const nodefsBytes = node.filesystems.nodefs?.capacityBytes ?? null
  for (const whole of stats) {
    const { namespace = '', name = '' } = whole.podRef ?? {}
    const key = `${namespace}/${name}`
    const pod = listed.get(key)
    const given = onNodefs(whole, pod, nodefsBytes)
    const object = objects.get(key)
    const found = amountsOf(given, nodefsBytes)
    const raw = withRest(given, restOf(given, found), pod, nodefsBytes)
    const amounts = raw === given ? found : amountsOf(raw, nodefsBytes)
    const layerBytes = bytesOfLayers(raw, amounts)
    if (layerBytes > 0)
      amounts.layers = { bytes: amounts.layers.bytes + layerBytes, inodes: null, isPartial: false }
    addAmount(use.layers, amounts.layers)
    addAmount(use.logs, amounts.logs)
    addAmount(use.volumes, amounts.volumes)
    const folderBytes = hostsFileBytes(raw, amounts)
    use.folders.bytes += folderBytes
    use.measured.push({ stats: raw, pod, folderBytes, layerBytes })
    use.pods.push({
      namespace,
      name,
      owner: pod ? controllerOf(pod) : null,
      bytes: amounts.layers.bytes + amounts.logs.bytes + amounts.volumes.bytes,
      layerBytes: amounts.layers.bytes,
      logBytes: amounts.logs.bytes,
      volumeBytes: amounts.volumes.bytes,
      requestBytes: totalOf(object, 'requests'),
      limitBytes: totalOf(object, 'limits'),
    })
  }
  return use
}

/** The pod's sum counts its emptyDirs wherever they lie. Upstream: pkg/kubelet/server/stats/volume_stat_calculator.go, IsLocalEphemeralVolume */
function onNodefs(
  raw: PodSummary,
  pod: KubernetesPod | undefined,
  nodefsBytes: number | null,
): PodSummary {
  const usedBytes = countOf(raw['ephemeral-storage']?.usedBytes)
  const elsewhere = volumesElsewhere(raw, pod, nodefsBytes)
  if (usedBytes === null || elsewhere.length === 0) return raw
  const sum = elsewhere.reduce((total, one) => total + (countOf(one.usedBytes) ?? 0), 0)
  return { ...raw, 'ephemeral-storage': { usedBytes: Math.max(0, usedBytes - sum) } }
}

function amountsOf(raw: PodSummary, nodefsBytes: number | null) {
  const amounts = { layers: noAmount(), logs: noAmount(), volumes: noAmount() }
  for (const { rootfs, logs } of raw.containers ?? []) {
    add(amounts.layers, rootfs)
    add(amounts.logs, logs)
  }
  // A volume in memory, or on a disk of its own, has another capacity than nodefs.
  for (const volume of raw.volume ?? [])
    if (!volume.pvcRef && countOf(volume.capacityBytes) === nodefsBytes)
      add(amounts.volumes, volume)
  return amounts
}

/** What the pod's sum counts beside its parts is in the one layer or the first emptyDir without statistics. Of layers and logs without, it is unknown in which. */
function withRest(
  raw: PodSummary,
  usedBytes: number,
  pod: KubernetesPod | undefined,
  nodefsBytes: number | null,
) {
  const { containers = [], volume = [] } = raw
  if (usedBytes < leastHostsFile || nodefsBytes === null || areLogsUnmeasured(raw)) return raw
  const [unmeasured, ...others] = withoutLayer(raw)
  if (others.length > 0) return raw
  if (unmeasured) {
    const filled = { ...unmeasured, rootfs: { usedBytes } }
    return { ...raw, containers: containers.map(one => (one === unmeasured ? filled : one)) }
  }
  const names = new Set(volume.map(({ name }) => name))
  const own = pod?.spec?.volumes?.find(
    ({ name, emptyDir }) => emptyDir && emptyDir.medium !== 'Memory' && !names.has(name),
  )
  if (!own) return raw
  const { name } = own
  return { ...raw, volume: [...volume, { name, usedBytes, capacityBytes: nodefsBytes }] }
}

const withoutLayer = ({ containers = [] }: PodSummary) =>
  containers.filter(({ rootfs }) => countOf(rootfs?.usedBytes) === null)

const areLogsUnmeasured = ({ containers = [] }: PodSummary) =>
  containers.some(({ logs }) => countOf(logs?.usedBytes) === null)

/** Of several layers without statistics, by the sum of the pod. */
function bytesOfLayers(raw: PodSummary, amounts: PodAmounts) {
  const rest = restOf(raw, amounts)
  const isTold = withoutLayer(raw).length > 1 && !areLogsUnmeasured(raw)
  return isTold && rest >= leastHostsFile ? rest : 0
}

const leastHostsFile = gibibyte

type PodAmounts = Record<'layers' | 'logs' | 'volumes', Amount>

const restOf = (raw: PodSummary, { layers, logs, volumes }: PodAmounts) =>
  (countOf(raw['ephemeral-storage']?.usedBytes) ?? 0) - layers.bytes - logs.bytes - volumes.bytes

/** Zero: less than the difference that two measurements of one pod can have, or other parts of the pod were not measured. */
function hostsFileBytes(raw: PodSummary, amounts: PodAmounts) {
  const { layers, logs, volumes } = amounts
  const rest = restOf(raw, amounts)
  const isPartial = [layers, logs, volumes].some(one => one.isPartial === true)
  return isPartial || rest < leastHostsFile ? 0 : rest
}

const noAmount = (isPartial = false): Amount => {
  const inodes = isPartial ? null : 0
  return { bytes: 0, inodes, isPartial }
}

/** The kubelet measures a container within this time of its start. Upstream: cadvisor --housekeeping-interval, and the period of stats. */
const measuredAfterMs = 2 * 60_000

/** Whether all pods that run have statistics. */
function areMeasured({ input, readMs }: PreparedNode, stats: readonly PodSummary[]) {
  if (!input.pods) return stats.length > 0
  const uids = new Set(stats.map(({ podRef }) => podRef?.uid))
  const runsSince = (pod: KubernetesPod) =>
    containerStatusesOf(pod).map(({ state }) => Date.parse(state?.running?.startedAt ?? ''))
  return input.pods.every(
    pod =>
      uids.has(pod.metadata?.uid) ||
      !runsSince(pod).some(startedMs => startedMs < readMs - measuredAfterMs),
  )
}

function add(sum: Amount, stats: FilesystemStats | undefined) {
  const bytes = countOf(stats?.usedBytes)
  const inodes = countOf(stats?.inodesUsed)
  addAmount(sum, { bytes: bytes ?? 0, inodes, isPartial: bytes === null })
}

function addAmount(sum: Amount, { bytes, inodes, isPartial = false }: Amount) {
  sum.bytes += bytes
  sum.inodes = inodes === null || sum.inodes === null ? null : sum.inodes + inodes
  sum.isPartial ||= isPartial
}

/** Null: no container sets such a value. */
function totalOf(pod: Pod | undefined, kind: 'requests' | 'limits') {
  const set = (pod?.containers ?? [])
    .map(container => container[kind].get('ephemeral-storage'))
    .filter((quantity): quantity is Quantity => quantity !== undefined)
  return set.length === 0 ? null : set.reduce((sum, quantity) => sum + quantityNumber(quantity), 0)
}

/** Sorted by size, largest first; equal sizes by name. */
export function largestUse(pods: readonly PodDiskUse[]) {
  const used = pods.filter(({ bytes }) => bytes > 0)
  return {
    pods: used
      .toSorted((a, b) => b.bytes - a.bytes || byText(keyOf(a), keyOf(b)))
      .slice(0, named.pods),
    owners: groupUse(used, ({ owner, name }) => owner ?? `Pod ${name}`).slice(0, named.owners),
    namespaces: groupUse(used, () => null).slice(0, named.namespaces),
  }
}

const keyOf = ({ namespace, name }: PodDiskUse) => `${namespace}/${name}`

function groupUse(pods: readonly PodDiskUse[], ownerOf: (pod: PodDiskUse) => string | null) {
  const groups = new Map<string, GroupDiskUse>()
  for (const pod of pods) {
    const { namespace, bytes, layerBytes, logBytes, volumeBytes, requestBytes, limitBytes } = pod
    const owner = ownerOf(pod)
    const key = `${namespace}/${owner ?? ''}`
    const group = groups.get(key)
    if (!group) {
      const amounts = { bytes, layerBytes, logBytes, volumeBytes, requestBytes, limitBytes }
      groups.set(key, { namespace, owner, ...amounts, pods: 1 })
    } else addUse(group, pod, 1)
  }
  const sorted = [...groups].toSorted(([a, x], [b, y]) => y.bytes - x.bytes || byText(a, b))
  return sorted.map(([, group]) => group)
}

/* Owners of disk space among the pods that the API lists for the node. What a node reports of any other pod has no owner. */

export type PodsByUid = ReadonlyMap<string, KubernetesPod>

/** UID of the pod's folders and cgroup. Of a static pod it is the hash of its manifest. */
export const uidOnNode = ({ metadata }: KubernetesPod): string =>
  metadata?.annotations?.['kubernetes.io/config.hash'] ?? metadata?.uid ?? ''

export const podsByUid = (pods: readonly KubernetesPod[] | null): PodsByUid =>
  new Map(pods?.map(pod => [uidOnNode(pod), pod]))

export function volumeOwner(byUid: PodsByUid, uid: string): HolderOwner | null {
  const pod = byUid.get(uid)
  return pod ? podOwner(pod, null) : null
}

/**
 * Pods that mount the folder, or the nearest one around it, by hostPath, and can write there; else those that mount a folder in it. `owner` null:
 * they are of several workloads. Pods of `kube-system`, and those that have ended, count if there is no other: kube-proxy mounts /var/log. Null: no
 * pod does.
 */
export function hostPathAt(
  pods: readonly KubernetesPod[] | null,
  folder: string,
): { owner: HolderOwner | null } | null {
  const around = podsMounting(pods, path => coversFolder(path, folder))
  const nearest = Math.max(...around.map(({ path }) => path.length))
  const inside = around.length > 0 ? [] : podsMounting(pods, path => isPartOf(path, folder))
  const found = [...around.filter(({ path }) => path.length === nearest), ...inside]
  const others = preferred(found, ({ owner }) => owner.namespace !== 'kube-system')
  const [first, ...rest] = preferred(others, ({ hasEnded }) => !hasEnded)
  if (!first) return null
  const isOne = rest.every(({ owner }) => workloadOf(owner) === workloadOf(first.owner))
  return { owner: isOne ? first.owner : null }
}

/** Those of which it is true. If it is of none, all. */
function preferred<One>(all: readonly One[], isPreferred: (one: One) => boolean): readonly One[] {
  const some = all.filter(isPreferred)
  return some.length > 0 ? some : all
}

interface HostMount {
  path: string
  owner: PodHolder
  hasEnded: boolean
}

const podsMounting = (
  pods: readonly KubernetesPod[] | null,
  isMounted: (path: string) => boolean,
): HostMount[] =>
  (pods ?? []).flatMap(pod =>
    (pod.spec?.volumes ?? []).flatMap(({ name = '', hostPath }) => {
      const path = withoutEndSlashes(hostPath?.path ?? '')
      const isOwn = path && !sharedFolders.has(path) && isMounted(path)
      return isOwn && isVolumeWritable(pod, name)
        ? [{ path, owner: podOwner(pod, name), hasEnded: isTerminalPhase(pod.status?.phase) }]
        : []
    }),
  )

const workloadOf = ({ namespace, workload, pod }: PodHolder) => `${namespace}/${workload ?? pod}`

const mostClaims = 3

/**
 * The PersistentVolumes in a folder, or around it, with the claims of this node's pods. Claims that no pod has here are not named: another node may
 * have a volume of the same path. A folder in which a provisioner keeps its volumes counts if the PersistentVolumes were not read. `owner` null:
 * pods of several workloads, or none. Null: no PersistentVolume is known there.
 */
export function localVolumesAt(
  { pods, localVolumes }: Pick<NodeInput, 'pods' | 'localVolumes'>,
  folder: string,
): { owner: PodHolder | null; claims: string[] } | null {
  const isThere = (path: string) =>
    path === folder ||
    isInside(folder, path) ||
    (isInside(path, folder) && !sharedFolders.has(folder))
  const isOf = (claim: string) => {
    const path = localVolumes?.ofClaims.get(claim)
    return path === undefined ? !localVolumes && claimOfFolder(folder) === claim : isThere(path)
  }
  const owners: PodHolder[] = []
  const mounted = new Set<string>()
  for (const pod of pods ?? [])
    for (const { name = '', persistentVolumeClaim } of pod.spec?.volumes ?? []) {
      const claim = `${pod.metadata?.namespace}/${persistentVolumeClaim?.claimName}`
      if (!persistentVolumeClaim || !isOf(claim)) continue
      owners.push(podOwner(pod, name))
      mounted.add(claim)
    }
  // A node may write any name of a claim into that of a folder: only its pods show that it is theirs.
  const isKnown =
    mounted.size > 0 ||
    (localVolumes
      ? isVolumePlace(folder, localVolumes)
      : isLocalVolumeRoot(folder) || claimOfFolder(folder) !== null)
  if (!isKnown) return null
  const isOne = new Set(owners.map(workloadOf)).size === 1
  const claims = [...mounted].toSorted(byText).slice(0, mostClaims)
  return { owner: isOne ? owners[0]! : null, claims }
}

const isVolumePlace = (folder: string, { places }: LocalVolumes) =>
  (places.has(folder) && !sharedFolders.has(folder)) ||
  foldersAround(folder).some(around => places.get(around) === true)

const coversFolder = (path: string, folder: string) =>
  path === folder || (isInside(folder, path) && !isHostLog(folder))

const isPartOf = (path: string, folder: string) =>
  isInside(path, folder) && !sharedFolders.has(folder) && folder !== logFolder

const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}/`)

/** Of the containers with these ids, and of those that ran before. */
export function ownersByContainer(
  pods: readonly KubernetesPod[] | null,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, HolderOwner> {
  const owners = new Map<string, HolderOwner>()
  for (const pod of ids.size === 0 ? [] : (pods ?? []))
    for (const status of containerStatusesOf(pod))
      for (const id of [containerIdOf(status), lastIdOf(status)])
        if (ids.has(id)) owners.set(id, containerOwner(pod, status.name ?? ''))
  return owners
}

/** Of the container that ran before. */
const lastIdOf = ({ lastState }: ContainerStatus) =>
  containerIdOf({ containerID: lastState?.terminated?.containerID })
