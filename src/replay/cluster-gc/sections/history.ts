/** Old ReplicaSets and ControllerRevisions. Of each only who owns it and which it is stays. */
import { revisionHistoryLimit } from '#facts/kubernetes/controllers.ts'
import type { HistoryGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import {
  cleanupHistory,
  type RevisionCleanup,
  truncateHistory,
} from '#replay/cluster-gc/controller-revisions.ts'
import { cleanupDeployments } from '#replay/cluster-gc/deployments.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section } from '#replay/cluster-gc/section.ts'
import { controllersIn, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

const kinds = [
  'deployments.apps',
  'replicasets.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'controllerrevisions.apps',
] as const
type Kind = (typeof kinds)[number]

export const history: Section<'history'> = { resources: kinds, open: () => new History() }

class History implements OpenSection<HistoryGarbage> {
  readonly #kept = new Map(kinds.map(kind => [kind as string, new Packed<RawObject>()]))

  take(resource: string, object: RawObject): void {
    const isOwned = resource === 'replicasets.apps' || resource === 'controllerrevisions.apps'
    // One that nobody controls is in nobody's history.
    if (isOwned && controllersIn(object).length === 0) return
    this.#kept.get(resource)?.push(slimOwner(object))
  }

  tell(): HistoryGarbage {
    const of = (kind: Kind) => [...(this.#kept.get(kind) ?? [])]
    const revisions = of('controllerrevisions.apps')
    return {
      deployments: cleanupDeployments(of('deployments.apps'), of('replicasets.apps'))
        .filter(({ limit, oldCount }) => oldCount > (limit ?? revisionHistoryLimit))
        .map(({ deployment, limit, oldCount, waitsFor, exceededSinceMs, kept }) => ({
          ...parts(deployment),
          limit,
          oldReplicaSets: oldCount,
          waitsFor,
          exceededSinceMs,
          kept: kept.length,
        })),
      revisions: [
        ...excessOf('StatefulSet', truncateHistory(of('statefulsets.apps'), null, revisions)),
        ...excessOf('DaemonSet', cleanupHistory(of('daemonsets.apps'), null, revisions)),
      ],
    }
  }
}

function slimOwner(object: RawObject): RawObject {
  const metadata = objectAt(object, 'metadata')
  const revision = textAt(objectAt(metadata, 'annotations'), 'deployment.kubernetes.io/revision')
  const controllers = controllersIn(object)
  return {
    metadata: {
      ...slimMetadata(object, ['generation', 'creationTimestamp', 'deletionTimestamp']),
      ...(objectAt(metadata, 'annotations') && {
        annotations: revision === null ? {} : { 'deployment.kubernetes.io/revision': revision },
      }),
      ...(controllers.length > 0 && { ownerReferences: controllers }),
    },
    spec: slim(objectAt(object, 'spec'), ['replicas', 'revisionHistoryLimit', 'paused']),
    status: slim(objectAt(object, 'status'), [
      'replicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'currentRevision',
      'updateRevision',
    ]),
  }
}

function parts(key: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

const excessOf = (
  kind: 'StatefulSet' | 'DaemonSet',
  found: readonly RevisionCleanup[],
): HistoryGarbage['revisions'] =>
  found.flatMap(({ owner, limit, deletions: { length: excess } }) =>
    excess > 0 ? [{ ...parts(owner), kind, limit, excess }] : [],
  )
