/** PersistentVolumes that are folders of nodes. They come after the nodes: those with such claims wait for them. */
import type { Keep } from '#base/keep.ts'
import { isPlainPath } from '#base/text.ts'
import { claimOfFolder, isLocalVolumeRoot, sharedFolders } from '#facts/host-folders.ts'
import type {
  KubernetesPod,
  NodeInput,
  NodeRecord,
  ObjectsInput,
  PersistentVolume,
} from '#model/input/record.ts'

export function openLocalVolumes(keep: Keep) {
  const byCluster = new Map<string, Map<string, string>>()
  const waiting: (() => NodeRecord)[] = []
  return {
    take({ cluster, resource, items }: ObjectsInput): void {
      if (resource !== 'persistentvolumes') return
      const volumes = byCluster.get(cluster) ?? new Map<string, string>()
      byCluster.set(cluster, volumes)
      for (const { spec, status } of items as PersistentVolume[]) {
        const path = (spec?.local ?? spec?.hostPath)?.path
        const { namespace, name } = spec?.claimRef ?? {}
        const folder = path?.replace(/(?<=.)\/+$/, '') ?? ''
        const isOwn = isPlainPath(folder) && !sharedFolders.has(folder)
        if (isOwn && namespace && name && (status?.phase ?? 'Bound') === 'Bound')
          volumes.set(`${namespace}/${name}`, folder)
      }
    },
    /** The node with those of its cluster, if they were read. */
    added(input: NodeInput): NodeInput {
      const localVolumes = byCluster.get(input.cluster)
      return localVolumes ? { ...input, localVolumes } : input
    },
    /** Whether the node has to wait. */
    defer(record: NodeRecord, input: NodeInput): boolean {
      const isWaiting = !byCluster.has(record.cluster) && mayHaveLocalVolumes(input)
      if (isWaiting) waiting.push(keep(record))
      return isWaiting
    },
    deferred: (): readonly (() => NodeRecord)[] => waiting,
  }
}

/** Whether a pod has a claim that is no disk of its own by its size, or a measured folder looks like one. */
function mayHaveLocalVolumes({ pods, summary, host }: NodeInput): boolean {
  const nodeBytes = summary?.node?.fs?.capacityBytes
  const ofOwnDisk = new Set(
    summary?.pods?.flatMap(({ podRef, volume = [] }) =>
      volume.flatMap(({ pvcRef, capacityBytes }) =>
        pvcRef && capacityBytes !== nodeBytes ? `${podRef?.namespace}/${pvcRef.name}` : [],
      ),
    ),
  )
  const isLocal = ({ metadata, spec }: KubernetesPod) =>
    spec?.volumes?.some(
      ({ persistentVolumeClaim: claim }) =>
        claim && !ofOwnDisk.has(`${metadata?.namespace}/${claim.claimName}`),
    )
  return (
    pods?.some(isLocal) === true ||
    host?.diskUse?.folders?.some(
      ({ path = '' }) => isLocalVolumeRoot(path) || claimOfFolder(path) !== null,
    ) === true
  )
}
