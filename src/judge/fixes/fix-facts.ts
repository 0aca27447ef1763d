/** Node facts that fixes need: the running configuration, and settings that override what a fix would write. Equal facts are kept once. */

import type { RawObject } from '#base/raw-object.ts'
import { nodeKey } from '#base/text.ts'
import { canMeasureDisks, inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import { isBeingRemoved } from '#facts/eks/karpenter.ts'
import { nodeadmDropIn } from '#facts/eks/kubelet-places.ts'
import { isComparedField } from '#facts/kubelet/fields.ts'
import { declaredNode } from '#judge/drift/declared.ts'
import type { DeclaredNode } from '#judge/drift/drift.ts'
import { unreadWords } from '#judge/drift/layers.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { StepNode } from './steps.ts'

/** A source on the node that sets a field after the user data's drop-in. */
export interface Later {
  path: string
  value: unknown
  by: 'flag' | 'drop-in'
  where: string
}

export interface FixFact {
  node: DeclaredNode
  instanceType: string | null
  /** Null: the running configuration was not read. */
  running: RawObject | null
  later: Later[]
  unread: string | null
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1)
/** Drop-ins with later names win over that of nodeadm. */
const nodeadmName = baseName(nodeadmDropIn)

/** Fields that are not compared but decide whether a kubelet starts with a fix. */
const decidesStart = (field: string) =>
  field === 'shutdownGracePeriodByPodPriority' || field === 'reservedMemory'

const runningOf = (configuration: KubeletConfiguration): RawObject =>
  Object.fromEntries(
    Object.entries(configuration).filter(
      ([field]) => isComparedField(field) || decidesStart(field),
    ),
  )

/** The part that does not follow from the running configuration. */
function factWithoutRunning(subject: NodeSubject): Omit<FixFact, 'running'> {
  const start = subject.startFact()
  const unreadFile = start?.unread.find(({ path }) => baseName(path) === nodeadmName)
  const later = Object.entries(start?.said ?? {}).flatMap(([path, said]): Later[] => {
    const last = said.at(-1)
    if (
      !last ||
      last.by === 'file' ||
      (last.by === 'drop-in' && baseName(last.where) <= nodeadmName)
    )
      return []
    return [{ path, value: last.value, by: last.by, where: last.where }]
  })
  return {
    node: declaredNode(subject),
    instanceType: subject.identity.instanceType,
    later,
    unread: unreadFile ? unreadWords(unreadFile) : null,
  }
}

/** Nodes that are no instances have ssh by custom. Those of Bottlerocket and Fargate have none; AWS runs those of Auto Mode. */
export function shellOf(identity: NodeSubject['identity']): StepNode['shell'] {
  const { instanceId, operatingSystem, owner, amiFamily } = identity
  if (canMeasureDisks(identity)) return 'session'
  if (owner === 'fargate' || owner === 'auto-mode') return null
  const isWindows = operatingSystem === 'windows'
  if (instanceId !== null) return isWindows ? 'powershell' : 'container'
  return isWindows || amiFamily === 'Bottlerocket' ? null : 'ssh'
}

/** By what the node says of its image: k3d runs that of K3s, kind names itself and its runtime, AKS and GKE their cloud. The container has the node's name. Undefined: it says nothing. */
export function shellOfImage({
  metadata,
  spec,
  status,
}: NodeSubject['node']): StepNode['shell'] | undefined {
  const osImage = status?.nodeInfo?.osImage ?? ''
  if (osImage.startsWith('Talos')) return 'talos'
  const provider = spec?.providerID ?? ''
  const isClosed =
    /^(?:azure|gce):/.test(provider) || metadata?.labels?.['node.openshift.io/os_id'] !== undefined
  if (isClosed && !osImage.startsWith('Windows')) return 'pod'
  const name = metadata?.name ?? ''
  const isOfK3s = osImage.startsWith('K3s ')
  if (isOfK3s && name.startsWith('k3d-')) return 'docker'
  if (/^kind:\/\/docker\/[^/]+\//.test(provider) && provider.endsWith(`/${name}`)) return 'docker'
  // Of kind on Podman or nerdctl, a container, too.
  return isOfK3s || provider.startsWith('kind://') ? null : undefined
}

/** An image with a shell that the node lists: where a disk is full, no other can be pulled. It runs with all rights of the node, so only the official ones count. */
const imageWithShell = ({ status }: NodeSubject['node']): string | null =>
  status?.images
    ?.flatMap(({ names = [] }) => names)
    .find(name =>
      /^(?:docker\.io|public\.ecr\.aws\/docker)\/library\/(?:busybox|alpine|ubuntu|debian)(?::[\w.-]+|@sha256:[\da-f]{64})$/.test(
        name,
      ),
    ) ?? null

/** By the kubelet's version, `v1.34.1+k3s1`, or by the provider: `k3s://name`. */
const distributionOf = ({ identity, node }: Pick<NodeSubject, 'identity' | 'node'>) =>
  (['k3s', 'rke2'] as const).find(
    name =>
      identity.kubeletVersion?.includes(`+${name}`) ||
      node.spec?.providerID?.startsWith(`${name}://`),
  )

export class FixFacts {
  readonly #facts = new Map<string, { key: string; fact: FixFact }>()
  readonly #ofNode = new Map<string, string>()
  readonly #sizes = new Map<string, Set<string>>()
  readonly #stepNodes = new Map<string, StepNode>()
  #twice: ReadonlySet<string> | null = null

  take(subject: NodeSubject) {
    const { cluster, identity } = subject
    this.#ofNode.set(nodeKey(cluster, identity.name), this.#keyOf(subject))
    const { name, instanceId, owner } = identity
    const shell = shellOfImage(subject.node)
    const shellImage = shell === 'pod' ? imageWithShell(subject.node) : null
    this.#stepNodes.set(nodeKey(cluster, name), {
      name,
      instanceId,
      owner,
      hasSessions: inspectTargetOf(identity).isReachable,
      shell: shell === undefined ? shellOf(identity) : shell,
      ...(shell === 'pod' && { providerId: subject.node.spec?.providerID }),
      ...(shellImage !== null && { shellImage }),
      distribution: distributionOf(subject),
      isLeaving: isBeingRemoved(subject.node),
    })
    const group = groupKey(cluster, identity.group)
    const sizes = this.#sizes.get(group) ?? new Set()
    this.#sizes.set(group, sizes.add(identity.instanceType ?? ''))
  }

  /** The stored key, not an equal copy: keys are long. */
  #keyOf(subject: NodeSubject) {
    const { configuration } = subject
    const fact = {
      ...factWithoutRunning(subject),
      running: configuration && runningOf(configuration),
    }
    const key = JSON.stringify(fact)
    const known = this.#facts.get(key) ?? { key, fact }
    this.#facts.set(key, known)
    return known.key
  }

  factOfMost(cluster: string, nodes: readonly string[]) {
    const keys = nodes.flatMap(node => this.#ofNode.get(nodeKey(cluster, node)) ?? [])
    const ranked = [...Map.groupBy(keys, key => key)].toSorted(
      ([a, of], [b, others]) => others.length - of.length || (a < b ? -1 : 1),
    )
    return this.#facts.get(ranked[0]?.[0] ?? '')?.fact ?? null
  }

  /** A node whose kubelet names the instance of another has none: a command would go to that. */
  stepNode(cluster: string, node: string, dnsNameOf: (instanceId: string) => string | undefined) {
    const found = this.#stepNodes.get(nodeKey(cluster, node)) ?? null
    if (found === null || found.instanceId === null) return found
    const { instanceId, name, shell } = found
    const dnsName = dnsNameOf(instanceId) ?? name
    const isOwn = [dnsName, instanceId].some(one => hostOf(one) === hostOf(name))
    if (isOwn && !this.#claimedTwice().has(instanceId)) return found
    const isOfInstance = shell === 'session' || shell === 'container' || shell === 'powershell'
    return { ...found, instanceId: null, hasSessions: false, shell: isOfInstance ? null : shell }
  }

  #claimedTwice() {
    if (this.#twice) return this.#twice
    const ids = [...this.#stepNodes.values()].flatMap(({ instanceId }) => instanceId ?? [])
    const once = new Set<string>()
    const isAgain = (id: string) => once.has(id) || !once.add(id)
    this.#twice = new Set(ids.filter(isAgain))
    return this.#twice
  }

  sizesOf(cluster: string, group: { kind: string; name: string }) {
    return [...(this.#sizes.get(groupKey(cluster, group)) ?? [])].toSorted()
  }
}

/** `ip-10-0-1-12` of `ip-10-0-1-12.ec2.internal` */
const hostOf = (dnsName: string) => dnsName.split('.', 1)[0]

const groupKey = (cluster: string, { kind, name }: { kind: string; name: string }) =>
  JSON.stringify([cluster, kind, name])
