/** A plan of deletions: objects of a saved fleet that the policy permits to delete, oldest first. It changes no node. */

import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeInput } from '#model/node-input.ts'
import { OperatorError } from '#model/operator-error.ts'
import {
  type DeletionKind,
  deletionKinds,
  type NotDeleted,
  type Plan,
  type PlannedDeletion,
} from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { ClusterRecord, ObjectsRecord, RawObject, SnapshotHeader } from '#model/record.ts'
import type { Selection } from '#model/selection.ts'
import { byText } from '#model/text-order.ts'
import { savedFleet } from '#pipeline/fleet.ts'
import { deletable, deletables, mostDeletions } from '#remediate/plan/deletions.ts'
import { planOfDeletions } from '#remediate/plan/plan.ts'
import { nodeInput } from '#snapshot/node-input.ts'
import { prune } from '#snapshot/prune.ts'
import type { PlanResult } from './result.ts'

export interface DeletionRequest {
  selection: Selection
  policy: Policy
  signal?: AbortSignal
}

/** @throws OperatorError if the policy permits no deletion, or only a part of a cluster is selected */
export async function makeDeletionPlan(
  file: string,
  { selection, policy, signal }: DeletionRequest,
): Promise<PlanResult> {
  const kinds = deletionKinds.filter(kind => policy.remediation.deletions[kind] !== undefined)
  if (kinds.length === 0)
    throw new OperatorError(
      `The policy lets nothing be deleted: remediation.deletions names what may go, of ${deletionKinds.join(', ')}, and from which age on`,
    )
  if (selection.nodes.length + selection.nodegroups.length > 0)
    throw new OperatorError(
      '--deletions looks through whole clusters: which node is gone shows only beside all the others. Leave --node and --nodegroup out',
    )
  const found = new Deletions(policy, kinds)
  const inputErrors: string[] = []
  for await (const record of savedFleet(file, selection, signal)) {
    if (record.kind === 'Malformed') inputErrors.push(`line ${record.line}: ${record.message}`)
    else if (record.kind === 'Snapshot') found.takeHead(record)
    else if (record.kind === 'Cluster') found.takeCluster(record)
    else if (record.kind === 'Node') found.takeNode(nodeInput(prune(record)))
    else found.takeObjects(prune(record))
  }
  const plan = found.close(file)
  return { plan, inputErrors, unread: found.unread }
}

interface SeenCluster {
  nodes: Set<string>
  resources: Set<string>
  /** Messages by `ReadError.what`. */
  errors: Map<string, string>
}

class Deletions {
  readonly #policy: Policy['remediation']['deletions']
  readonly #kinds: readonly DeletionKind[]
  readonly #clusters = new Map<string, SeenCluster>()
  readonly #found = new Map<string, PlannedDeletion>()
  #head: SnapshotHeader | null = null

  constructor({ remediation }: Policy, kinds: readonly DeletionKind[]) {
    this.#policy = remediation.deletions
    this.#kinds = kinds
  }

  takeHead(head: SnapshotHeader): void {
    this.#head = head
  }

  takeCluster({ cluster, errors = [] }: ClusterRecord): void {
    const seen = this.#cluster(cluster)
    for (const { what, message } of errors) seen.errors.set(what, message)
  }

  takeNode({ cluster, node, pods }: NodeInput): void {
    const seen = this.#cluster(cluster)
    seen.nodes.add(nodeIdentity(node).name)
    if (pods === null) return
    seen.resources.add('pods')
    for (const pod of pods) this.#take(cluster, 'failedPods', { ...pod })
  }

  takeObjects({ cluster, resource, items }: ObjectsRecord): void {
    this.#cluster(cluster).resources.add(resource)
    const kind = this.#kinds.find(one => deletables[one].resource === resource)
    if (kind !== undefined) for (const item of items) this.#take(cluster, kind, item)
  }

  close(file: string): Plan {
    const head = this.#head
    if (head === null)
      throw new OperatorError(
        `${file} does not begin with a snapshot's first line, so it is not known when it was taken`,
      )
    const all = [...this.#found.values()]
      .filter(deletion => deletion.kind !== 'nodeLeases' || this.#isNodeGone(deletion))
      .sort(oldestFirst)
    const { takenAt, account = null, region = null } = head
    return planOfDeletions({ takenAt, account, region }, all.slice(0, mostDeletions), [
      ...this.#unread(),
      ...beyond(all.slice(mostDeletions)),
    ])
  }

  /** Number of unread kinds of objects, over all clusters. */
  get unread(): number {
    return [...this.#unread()].length
  }

  #cluster(cluster: string): SeenCluster {
    const seen = this.#clusters.get(cluster) ?? {
      nodes: new Set(),
      resources: new Set(),
      errors: new Map(),
    }
    this.#clusters.set(cluster, seen)
    return seen
  }

  #take(cluster: string, kind: DeletionKind, object: RawObject): void {
    const limit = this.#policy[kind]
    if (limit === undefined || this.#head === null) return
    const found = deletable(kind, object, limit.olderThanHours, Date.parse(this.#head.takenAt))
    if (found !== null)
      this.#found.set(`${cluster} ${kind} ${found.uid}`, {
        cluster,
        kind,
        resource: deletables[kind].resource,
        ...found,
      })
  }

  #isNodeGone({ cluster, name }: PlannedDeletion): boolean {
    const seen = this.#clusters.get(cluster)
    return seen !== undefined && whyNodesUnknown(seen) === null && !seen.nodes.has(name)
  }

  *#unread(): Iterable<NotDeleted> {
    for (const [cluster, seen] of [...this.#clusters].sort(([a], [b]) => byText(a, b)))
      for (const kind of this.#kinds) {
        const { resource } = deletables[kind]
        const { resources, errors } = seen
        const why =
          errors.get(resource) ??
          (resources.has(resource)
            ? null
            : 'it was not read (policy clusterGarbage, or a missing right)')
        const ofNodes = kind === 'nodeLeases' ? whyNodesUnknown(seen) : null
        if (why !== null) yield { cluster, resource, why: why.slice(0, 500) }
        else if (ofNodes !== null)
          yield {
            cluster,
            resource,
            why: `which nodes there are is not known: ${ofNodes.slice(0, 400)}`,
          }
      }
  }
}

/** An empty list of nodes leaves a record without items. Without that record, the list might be unread. */
const whyNodesUnknown = ({ nodes, resources, errors }: SeenCluster): string | null =>
  errors.get('nodes') ??
  (nodes.size > 0 || resources.has('nodes') ? null : 'the snapshot has no list of them')

const oldestFirst = (a: PlannedDeletion, b: PlannedDeletion): number =>
  b.ageSeconds - a.ageSeconds ||
  byText(a.cluster, b.cluster) ||
  byText(a.resource, b.resource) ||
  byText(a.uid, b.uid)

const beyond = (more: readonly PlannedDeletion[]): NotDeleted[] =>
  [...Map.groupBy(more, ({ cluster, resource }) => JSON.stringify([cluster, resource]))]
    .sort(([a], [b]) => byText(a, b))
    .flatMap(([, some]) => {
      const [first] = some
      return first
        ? [
            {
              cluster: first.cluster,
              resource: first.resource,
              why: `${some.length} more than one plan takes (${mostDeletions}): make the next one when this is done`,
            },
          ]
        : []
    })
