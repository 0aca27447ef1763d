/** PersistentVolumes that are folders of nodes. They come after the nodes: those with such claims wait for them. */
import type { Keep } from '#base/keep.ts'
import { isDnsName, isPlainPath, withoutEndSlashes } from '#base/text.ts'
import {
  claimOfFolder,
  foldersAround,
  isLocalVolumeRoot,
  isOfRuntime,
  logFolder,
  sharedFolders,
} from '#facts/host-folders.ts'
import {
  claimsElsewhere,
  type KubernetesPod,
  type NodeInput,
  type NodeRecord,
  type ObjectsInput,
  type PersistentVolume,
  type ReleasedFolder,
} from '#model/input/record.ts'

export function openLocalVolumes(keep: Keep) {
  const byCluster = new Map<string, ReturnType<typeof noVolumes>>()
  const waiting: (() => NodeRecord)[] = []
  return {
    take({ cluster, resource, items }: ObjectsInput) {
      if (resource !== 'persistentvolumes') return
      const volumes = byCluster.get(cluster) ?? noVolumes()
      byCluster.set(cluster, volumes)
      const { ofClaims, places, released } = volumes
      for (const volume of items as PersistentVolume[]) {
        const found = releasedFolder(volume)
        if (found) {
          const ofHost = released.get(found.host) ?? []
          released.set(found.host, ofHost)
          ofHost.push(found.folder)
        }
        const { spec, status } = volume
        const folder = withoutEndSlashes((spec?.local ?? spec?.hostPath)?.path ?? '')
        const { namespace = '', name = '' } = spec?.claimRef ?? {}
        const isOwn =
          isPlainPath(folder) &&
          folder !== logFolder &&
          !sharedFolders.has(folder) &&
          !isOfRuntime(folder)
        const isNamed = isDnsName(namespace) && isDnsName(name)
        if (!isOwn || !isNamed || (status?.phase ?? 'Bound') !== 'Bound') continue
        ofClaims.set(`${namespace}/${name}`, folder)
        for (const around of foldersAround(folder)) places.set(around, places.get(around) ?? false)
        places.set(folder, true)
      }
    },
    /** The node with those of its cluster, if they were read. */
    added(input: NodeInput) {
      const localVolumes = byCluster.get(input.cluster)
      return localVolumes ? { ...input, localVolumes } : input
    },
    /** Whether the node has to wait. */
    defer(record: NodeRecord, input: NodeInput) {
      const isWaiting = !byCluster.has(record.cluster) && mayHaveLocalVolumes(input)
      if (isWaiting) waiting.push(keep(record))
      return isWaiting
    },
    deferred: (): readonly (() => NodeRecord)[] => waiting,
  }
}

const noVolumes = () => ({
  ofClaims: new Map<string, string>(),
  places: new Map<string, boolean>(),
  released: new Map<string, ReleasedFolder[]>(),
})

/** Null: in use, no folder of a node, or of which node is unknown. */
function releasedFolder({
  metadata,
  spec,
  status,
}: PersistentVolume): { host: string; folder: ReleasedFolder } | null {
  const { name: volume = '' } = metadata ?? {}
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  // The name of a folder can be long: the one around it is shown.
  const place = foldersAround(withoutEndSlashes((spec?.local ?? spec?.hostPath)?.path ?? '')).at(-1)
  const isReleased = status?.phase === 'Released' || status?.phase === 'Failed'
  if (!isReleased || place === undefined || !isPlainPath(place)) return null
  if (![volume, namespace, name].every(isDnsName)) return null
  const [host, ...others] = (spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [])
    .flatMap(({ matchExpressions = [] }) => matchExpressions)
    .flatMap(({ key, operator, values = [] }) =>
      key === 'kubernetes.io/hostname' && operator === 'In' ? values : [],
    )
  return host === undefined || others.length > 0
    ? null
    : { host, folder: { volume, claim: `${namespace}/${name}`, place } }
}

/** Share of a disk from which on somebody asks what holds it. */
const leastUsed = 0.6

/** Whether a measured folder looks like a volume, the node is short of disk, or a claim of a node in trouble is no disk of its own by its size. */
function mayHaveLocalVolumes({ node, pods, summary, host }: NodeInput) {
  const isFilling = [summary?.node?.fs, summary?.node?.runtime?.imageFs].some(
    ({ capacityBytes = 0, availableBytes = 0, inodes = 0, inodesFree = 0 } = {}) =>
      availableBytes < (1 - leastUsed) * capacityBytes || inodesFree < (1 - leastUsed) * inodes,
  )
  const ofOwnDisk = claimsElsewhere(summary, summary?.node?.fs?.capacityBytes)
  const isInTrouble =
    !summary || isFilling || pods?.some(({ status }) => status?.reason === 'Evicted')
  const isLocal = ({ metadata, spec }: KubernetesPod) =>
    spec?.volumes?.some(
      ({ persistentVolumeClaim: claim }) =>
        claim && !ofOwnDisk.has(`${metadata?.namespace}/${claim.claimName}`),
    )
  return (
    (isInTrouble && pods?.some(isLocal) === true) ||
    // Folders of deleted claims, which no pod mounts.
    node?.status?.conditions?.some(
      ({ type, status }) => type === 'DiskPressure' && status === 'True',
    ) === true ||
    host?.diskUse?.folders?.some(
      ({ path = '' }) => isLocalVolumeRoot(path) || claimOfFolder(path) !== null,
    ) === true
  )
}
