/** Node facts that fixes need: the running configuration, and settings that override what a fix would write. Equal facts are kept once. */

import { amountOrNull } from '#base/go/quantity.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { linesOf, nodeKey } from '#base/text.ts'
import { canMeasureDisks, inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import { al2BootstrapFields } from '#facts/eks/ami-defaults.ts'
import { isBeingRemoved } from '#facts/eks/karpenter.ts'
import { nodeadmDropIn } from '#facts/eks/kubelet-places.ts'
import { isOfOtherCloud } from '#facts/eks/node-identity.ts'
import { dependsOnSize, fieldOf, isComparedField, meaningOf } from '#facts/kubelet/fields.ts'
import { declaredNode } from '#judge/drift/declared.ts'
import {
  type Declaration,
  type DeclaredNode,
  shownSetting,
  writtenSettings,
} from '#judge/drift/drift.ts'
import { unreadWords } from '#judge/drift/layers.ts'
import type { Origin, Proposal } from '#judge/durable/durable.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import type { Family, Finding, StepAction } from '#model/finding.ts'
import { companions } from './completion.ts'
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
export function shellOfImage(node: NodeSubject['node']): StepNode['shell'] | undefined {
  const { metadata, spec, status } = node
  const osImage = status?.nodeInfo?.osImage ?? ''
  if (osImage.startsWith('Talos')) return 'talos'
  const provider = spec?.providerID ?? ''
  const isClosed =
    isOfOtherCloud(node) || metadata?.labels?.['node.openshift.io/os_id'] !== undefined
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

export class FixFacts {
  readonly #facts = new Map<string, { key: string; fact: FixFact }>()
  readonly #ofNode = new Map<string, string>()
  readonly #sizes = new Map<string, Set<string>>()
  readonly #stepNodes = new Map<string, StepNode>()
  /** Instances that nodes of a cluster name, and those that several do. */
  readonly #claimed = new Set<string>()
  readonly #claimedTwice = new Set<string>()

  take(subject: NodeSubject) {
    const { cluster, identity, node } = subject
    this.#ofNode.set(nodeKey(cluster, identity.name), this.#keyOf(subject))
    const { name, instanceId, owner } = identity
    if (instanceId !== null) {
      const claim = nodeKey(cluster, instanceId)
      if (this.#claimed.has(claim)) this.#claimedTwice.add(claim)
      this.#claimed.add(claim)
    }
    const shell = shellOfImage(node)
    const shellImage = shell === 'pod' ? imageWithShell(node) : null
    this.#stepNodes.set(nodeKey(cluster, name), {
      name,
      instanceId,
      owner,
      hasSessions: inspectTargetOf(identity).isReachable,
      shell: shell === undefined ? shellOf(identity) : shell,
      ...(shell === 'pod' && { providerId: node.spec?.providerID }),
      ...(shellImage !== null && { shellImage }),
      distribution: (['k3s', 'rke2'] as const).find(
        name =>
          identity.kubeletVersion?.includes(`+${name}`) ||
          node.spec?.providerID?.startsWith(`${name}://`),
      ),
      isLeaving: isBeingRemoved(node),
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
      running:
        configuration &&
        Object.fromEntries(
          Object.entries(configuration).filter(
            ([field]) =>
              isComparedField(field) ||
              // These two are not compared, but decide whether a kubelet starts with a fix.
              field === 'shutdownGracePeriodByPodPriority' ||
              field === 'reservedMemory',
          ),
        ),
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
    if (isOwn && !this.#claimedTwice.has(nodeKey(cluster, instanceId))) return found
    const isOfInstance = shell === 'session' || shell === 'container' || shell === 'powershell'
    return { ...found, instanceId: null, hasSessions: false, shell: isOfInstance ? null : shell }
  }

  sizesOf(cluster: string, group: { kind: string; name: string }) {
    return [...(this.#sizes.get(groupKey(cluster, group)) ?? [])].toSorted()
  }
}

/** `ip-10-0-1-12` of `ip-10-0-1-12.ec2.internal` */
const hostOf = (dnsName: string) => dnsName.split('.', 1)[0]

const groupKey = (cluster: string, { kind, name }: { kind: string; name: string }) =>
  JSON.stringify([cluster, kind, name])

/* What stops a fix from its file: a flag or later file overrides it, or the file is not read. */

interface Obstacle {
  path: string
  value: unknown
  isFlag: boolean
  who: string
}

export function actingPart({ config, origin, fact, declaration }: Wish) {
  const isConfiguration = (field: string) => writesConfiguration(origin, field)
  if (
    fact &&
    fact.unread !== null &&
    origin.amiFamily === 'AL2023' &&
    Object.keys(config).some(isConfiguration)
  ) {
    return {
      config: {},
      notes: [
        `What a NodeConfig says does not reach this kubelet: ${fact.unread}. Start it as the image does first.`,
      ],
    }
  }
  const blocking = obstaclesOf(origin, fact, declaration).filter(
    obstacle => isConfiguration(fieldOf(obstacle.path)) && blocks(obstacle, config),
  )
  if (blocking.length === 0) return { config, notes: [] }
  const acting = withoutBlocked(config, blocking)
  const lost = Object.entries(writtenSettings(config)).filter(
    ([path]) => !Object.hasOwn(writtenSettings(acting), path),
  )
  const missing = lost
    .filter(
      ([path, value]) =>
        !(declaration?.settings ?? []).some(
          setting =>
            setting.by === 'config' &&
            setting.path === path &&
            meaningOf(path, setting.value) === meaningOf(path, value),
        ),
    )
    .map(([path, value]) => `${path} ${shownSetting(value)}`)
  const removals = [...Map.groupBy(blocking, ({ who }) => who)].map(
    ([who, of]) =>
      `Take ${shorten(of.map(({ path, value }) => `${path} ${shownSetting(value)}`).join(', '), 200)} away from ${shorten(who, 150)}: what stands there wins over what is written here.`,
  )
  return {
    config: acting,
    notes: linesOf(
      removals,
      missing.length > 0 && `Set here at the same time: ${shorten(missing.join(', '), 300)}.`,
    ),
  }
}

/** Whether the target writes the field into the kubelet's configuration file. Any flag overrides that file. */
function writesConfiguration({ amiFamily, owner }: Origin, field: string) {
  if (amiFamily === 'Bottlerocket' || amiFamily === 'Windows') return false
  return (
    amiFamily !== 'AL2' ||
    owner === 'eksctl' ||
    owner === 'karpenter' ||
    !al2BootstrapFields.has(field)
  )
}

function obstaclesOf(
  { amiFamily }: Origin,
  fact: FixFact | null,
  declaration: Declaration | null,
): Obstacle[] {
  const onNode = (fact?.later ?? [])
    .filter(({ by }) => by === 'flag' || amiFamily === 'AL2023')
    .map(({ path, value, by, where }) => ({
      path,
      value,
      isFlag: by === 'flag',
      who: by === 'flag' ? `the flag ${where}` : where,
    }))
  const declared = (declaration?.settings ?? [])
    .filter(({ by, lostBy, value }) => by === 'flag' && lostBy === null && value !== undefined)
    .map(({ path, value, where }) => ({ path, value, isFlag: true, who: where }))
  // A flag must be removed where it is declared.
  return [
    ...declared,
    ...onNode.filter(({ path, isFlag }) => !isFlag || !declared.some(other => other.path === path)),
  ]
}

/** A flag replaces a whole map; a file replaces only the keys that it contains. */
function blocks({ path, value, isFlag }: Obstacle, config: RawObject) {
  const field = fieldOf(path)
  const set = config[field]
  if (set === undefined) return false
  if (!isRawObject(set)) return meaningOf(path, set) !== meaningOf(path, value)
  const key = path.slice(field.length + 1)
  return (
    (isFlag && field !== 'featureGates') ||
    (Object.hasOwn(set, key) && meaningOf(path, set[key]) !== meaningOf(path, value))
  )
}

function withoutBlocked(config: RawObject, blocking: readonly Obstacle[]): RawObject {
  const whole = new Set(
    blocking
      .filter(
        ({ path, isFlag }) => !path.includes('.') || (isFlag && fieldOf(path) !== 'featureGates'),
      )
      .map(({ path }) => fieldOf(path)),
  )
  for (const fields of companions)
    if (fields.some(field => whole.has(field))) for (const field of fields) whole.add(field)
  const paths = new Set(blocking.map(({ path }) => path))
  return Object.fromEntries(
    Object.entries(config).flatMap(([field, value]): [string, unknown][] => {
      if (whole.has(field)) return []
      if (!isRawObject(value)) return [[field, value]]
      const rest = Object.entries(value).filter(([key]) => !paths.has(`${field}.${key}`))
      return rest.length === 0 ? [] : [[field, Object.fromEntries(rest)]]
    }),
  )
}

/* A nodegroup has one configuration, so the fixes of all its findings must agree. */

export interface Wish extends Proposal {
  fact: FixFact | null
  /** Null: unknown. */
  declaration: Declaration | null
}

export interface Wishes {
  finding: Finding
  nodes: readonly string[]
  actions: readonly StepAction[] | null
  sizes: string[]
  /** The fix for most nodes comes first. */
  wishes: Wish[]
}

/** Families whose fixes restore a declared value, even an unsound one. */
const declaring: readonly Family[] = ['drift', 'configuration']
export const isDeclaring = ({ family }: Finding) => declaring.includes(family)

const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const

/**
 * The group with fixes that agree. A sound value from a rule wins over a declared value.
 * @param findings of one subject, worst first
 */
export function agreeOnFixes(findings: readonly Wishes[]): Wishes[] {
  const group = findings.map(found => ({
    ...found,
    wishes: found.wishes.map(wish => ({ ...wish })),
  }))
  const ordered = [
    ...group.filter(({ finding }) => !isDeclaring(finding)),
    ...group.filter(({ finding }) => isDeclaring(finding)),
  ]
  agreeOnImageGc(ordered)
  const wishes = ordered.flatMap(({ wishes }) => wishes)
  for (const field of new Set(wishes.flatMap(({ config }) => Object.keys(config)))) {
    if (field === high || field === low) continue
    const own = wishes.filter(({ config }) => Object.hasOwn(config, field))
    if (own.some(({ config }) => isRawObject(config[field]))) agreeOnMap(field, own, ordered)
    else if (!dependsOnSize(field))
      for (const wish of own) wish.config = { ...wish.config, [field]: own[0]?.config[field] }
  }
  return group
}

interface Percentages {
  high: number
  low: number
}

function percentagesOf({ config }: Wish): Percentages | null {
  const [start, stop] = [config[high], config[low]]
  return typeof start === 'number' && typeof stop === 'number' ? { high: start, low: stop } : null
}

/** Rules propose the highest sound value per node, so the lowest proposal is sound for all. The band keeps the width that rules propose. */
function agreeOnImageGc(ordered: readonly Wishes[]) {
  const percentagesIn = (found: readonly Wishes[]) =>
    found.flatMap(({ wishes }) => wishes.flatMap(wish => percentagesOf(wish) ?? []))
  const lowestPair = (found: Percentages[]) =>
    found.toSorted((a, b) => a.high - b.high || a.low - b.low)[0]
  const sound = lowestPair(percentagesIn(ordered.filter(({ finding }) => !isDeclaring(finding))))
  const all = lowestPair(percentagesIn(ordered))
  if (!all) return
  const stop = sound ? Math.max(0, Math.min(all.low, all.high - (sound.high - sound.low))) : all.low
  for (const wish of ordered.flatMap(({ wishes }) => wishes))
    if (percentagesOf(wish))
      wish.config = { ...wish.config, [high]: all.high, [low]: Math.min(stop, all.high - 1) }
}

/** A fix of image GC with the lowest percentages among `config` and `all`, which are sound for every one of them. */
export function withLowestImageGc(config: RawObject, all: readonly RawObject[]) {
  if (typeof config[high] !== 'number') return config
  const lowest =
    [config, ...all]
      .filter(one => typeof one[high] === 'number')
      .toSorted((a, b) => Number(a[high]) - Number(b[high]))[0] ?? config
  return { ...config, [high]: lowest[high], [low]: lowest[low] }
}

/** Adds all changed entries to the running ones: some places accept only a whole map. An entry that waits for room is added only to others that wait. */
function agreeOnMap(field: string, own: readonly Wish[], all: readonly Wishes[]) {
  const agreed = new Map<string, Map<string, unknown>>()
  const changed = new Map(own.map(wish => [wish, changesOf(field, wish)]))
  for (const [wish, changes] of changed) {
    const entries = agreed.get(instanceTypeFor(field, wish)) ?? new Map<string, unknown>()
    agreed.set(instanceTypeFor(field, wish), entries)
    for (const [key, value] of changes) {
      const before = entries.get(key)
      if (before === undefined || (dependsOnSize(field) && amount(value) > amount(before)))
        entries.set(key, value)
    }
  }
  const keysOf = ({ wishes }: Wishes) =>
    wishes.flatMap(wish => (changed.get(wish) ?? []).map(([key]) => key))
  const late = all.filter(waitsForRoom)
  const early = all.filter(found => !late.includes(found))
  const soon = new Set(early.flatMap(keysOf))
  for (const found of all) {
    const waiting = (late.includes(found) ? [] : late)
      .filter(one => !new Set(found.nodes).isDisjointFrom(new Set(one.nodes)))
      .flatMap(keysOf)
      .filter(key => !soon.has(key))
    for (const wish of found.wishes.filter(one => changed.has(one))) {
      const entries = [...(agreed.get(instanceTypeFor(field, wish)) ?? [])]
      wish.config = {
        ...wish.config,
        [field]: {
          ...runningMap(field, wish),
          ...mapOf(wish.config[field]),
          ...Object.fromEntries(entries.filter(([key]) => !waiting.includes(key))),
        },
      }
    }
  }
}

/** Its threshold would evict pods at once: room has to be made first. */
const waitsForRoom = ({ actions }: Wishes) =>
  actions?.some(
    ({ id, bytes, isShort }) => id === 'set-fields' && (bytes ?? isShort) !== undefined,
  ) === true

const instanceTypeFor = (field: string, { fact }: Wish) =>
  dependsOnSize(field) ? (fact?.instanceType ?? '') : ''
const runningMap = (field: string, { fact }: Wish) => mapOf(fact?.running?.[field])

const changesOf = (field: string, wish: Wish) =>
  Object.entries(mapOf(wish.config[field])).filter(
    ([key, value]) => meaningOf(field, value) !== meaningOf(field, runningMap(field, wish)[key]),
  )

/** Of two reservations of one resource, the larger one covers both. */
const amount = (value: unknown) => amountOrNull(String(value)) ?? 0
