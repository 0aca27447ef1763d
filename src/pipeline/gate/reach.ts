/** Which nodes of a snapshot a changed file would reach. */

import { matchesGlob } from '#base/text.ts'
import type { ChangedFileKind } from '#model/gate.ts'
import { type AmiFamily, matchesCluster, type NodeIdentity } from '#model/input/record.ts'
import type { ChangedPart, Target } from './user-data-parts.ts'

/** What of a node decides whether a file reaches it. */
export interface ReachedNode {
  cluster: string
  identity: Pick<NodeIdentity, 'name' | 'group' | 'amiFamily' | 'operatingSystem' | 'owner'>
  nodeClass: string | null
}

/** A nodegroup, nodepool or node. `file` null: every file that names none itself. */
export interface GroupOption {
  file: string | null
  group: string
}

export interface Reach {
  /** For people: how the nodes were found. */
  how: string
  has(node: ReachedNode): boolean
  /** Why no node of the snapshot is known to be meant. Absent: one is, or would be if there were one. */
  unknown?: string
}

/** Nodes whose kubelet a customer's file can reach. Auto Mode has no user data. Source: EKS user guide, EKS Auto Mode */
export const isReachable = ({ identity }: ReachedNode) =>
  identity.operatingSystem === 'linux' && !['fargate', 'auto-mode'].includes(identity.owner)

/** @param nodes all reachable nodes of the snapshot */
export function reachOf(
  part: ChangedPart,
  options: readonly GroupOption[],
  nodes: readonly ReachedNode[],
): Reach {
  const { cluster, ...named } = part.target
  const names = Object.values(named)
  if (names.length > 0 && !names.includes(''))
    return withinCluster(reachOfTarget(part.target), part.target, { nodes, isNew: true })
  const { file } = part
  const own = options.filter(option => option.file === file)
  const given = own.length > 0 ? own : options.filter(option => option.file === null)
  const path = reachByPath(file, nodes)
  const reach =
    given.length > 0
      ? reachOfGroups(given)
      : reachOfFile(part, path, { isNameless: names.length > 0, nodes })
  const within = withinCluster(reach, { cluster }, { nodes, isNew: false })
  // The name may be a sample, or one of another snapshot. A group and a path are meant.
  return within.unknown !== undefined && (given.length > 0 || path) ? reach : within
}

/** @param isNew whether the file may be for nodes that do not exist yet */
function withinCluster(
  reach: Reach,
  { cluster }: Target,
  { nodes, isNew }: { nodes: readonly ReachedNode[]; isNew: boolean },
): Reach {
  if (cluster === undefined) return reach
  if (cluster === '')
    return { ...reach, how: `${reach.how}, in each cluster: its own is not known` }
  const ofCluster = nodes.filter(node => matchesCluster(cluster, node.cluster))
  const found = new Set(ofCluster.filter(reach.has))
  const what = ofCluster.length === 0 ? 'no node' : 'no such node'
  const isKnown = found.size > 0 || (isNew && ofCluster.length > 0)
  return {
    ...reach,
    how: `cluster ${cluster}, ${reach.how}`,
    has: node => found.has(node),
    ...(!isKnown && { unknown: `the snapshot has ${what} of cluster ${cluster}` }),
  }
}

const reachOfGroups = (given: readonly GroupOption[]): Reach => ({
  how: `--group ${given.map(({ group }) => group).join(', ')}`,
  has: node => given.some(({ group }) => isOfGroup(node, group)),
})

/** Only Karpenter reads its objects. */
const isReaderOf = (kind: ChangedFileKind, { identity, nodeClass }: ReachedNode) =>
  (kind !== 'EC2NodeClass' || nodeClass !== null) &&
  (kind !== 'NodePool' || identity.group.kind === 'NodePool')

function reachOfFile(
  { kind, image: ofPart }: ChangedPart,
  path: ReturnType<typeof reachByPath>,
  { isNameless, nodes }: { isNameless: boolean; nodes: readonly ReachedNode[] },
): Reach {
  if (!path && isNameless) {
    const unnamed = 'its name is not known: --group names its nodes'
    return { how: unnamed, has: () => false, unknown: 'name them with --group' }
  }
  const image = reachByImage(ofPart, nodes)
  // A cluster has nodes of several images.
  const isOfImage = !path || path.isOfCluster ? image.has : () => true
  const { how, has } = path ?? image
  return { how, has: node => isReaderOf(kind, node) && has(node) && isOfImage(node) }
}

/** @param group of `--group` */
export const isOfGroup = ({ identity }: ReachedNode, group: string) =>
  matchesGlob(group, identity.group.name) || matchesGlob(group, identity.name)

export const targetWords = ({ group, nodePool, nodeClass }: Target) =>
  Object.entries({ nodegroup: group, NodePool: nodePool, EC2NodeClass: nodeClass })
    .flatMap(([what, name]) => (name ? [`${what} ${name}`] : []))
    .join(', ')

function reachOfTarget(target: Target): Reach {
  const { group, nodePool, nodeClass } = target
  return {
    how: targetWords(target),
    has: node =>
      (group === undefined ||
        (node.identity.group.kind === 'Nodegroup' && node.identity.group.name === group)) &&
      (nodePool === undefined ||
        (node.identity.group.kind === 'NodePool' &&
          matchesGlob(nodePool, node.identity.group.name))) &&
      (nodeClass === undefined ||
        (node.nodeClass !== null && matchesGlob(nodeClass, node.nodeClass))),
  }
}

/** `nodegroups/general/kubelet.yaml` names the group `general`, `general-user-data.sh` as well. */
function reachByPath(
  file: string,
  nodes: readonly ReachedNode[],
): (Reach & { isOfCluster: boolean }) | null {
  const names = (nameOf: (node: ReachedNode) => string) =>
    namesInPath(file, new Set(nodes.map(nameOf)))
  const groups = names(({ identity }) => identity.group.name)
  const hosts = names(({ identity }) => identity.name)
  const clusters = names(({ cluster }) => cluster)
  if (groups.length + hosts.length + clusters.length === 0) return null
  return {
    isOfCluster: groups.length + hosts.length === 0,
    how: `its path names ${[...clusters, ...(hosts.length > 0 ? hosts : groups)].join(', ')}`,
    has: ({ cluster, identity }) =>
      (clusters.length === 0 || clusters.includes(cluster)) &&
      (hosts.length > 0
        ? hosts.includes(identity.name)
        : groups.length === 0 || groups.includes(identity.group.name)),
  }
}

/** The longest names that the path contains as a whole: `gpu-large` and not `gpu`. */
function namesInPath(file: string, names: ReadonlySet<string>) {
  const found = [...names].filter(name => name !== '' && hasName(file, name))
  return found.filter(name => !found.some(other => other !== name && other.includes(name)))
}

function hasName(file: string, name: string) {
  const at = file.indexOf(name)
  return (
    at >= 0 &&
    /^$|[/._-]/.test(file[at - 1] ?? '') &&
    /^$|[/._-]/.test(file[at + name.length] ?? '')
  )
}

function reachByImage(image: AmiFamily | undefined, nodes: readonly ReachedNode[]): Reach {
  const isReader = ({ identity }: ReachedNode) => identity.amiFamily === image
  return nodes.some(isReader)
    ? { how: `it names no nodes: all whose image is ${image}`, has: isReader }
    : { how: 'it names no nodes: all nodes', has: () => true }
}
