/**
 * Old ReplicaSets of a Deployment beyond its history limit.
 *
 * Replays       pkg/controller/deployment/sync.go                  cleanupDeployment, sync
 *               pkg/controller/deployment/rolling.go, recreate.go  when it is called
 *               pkg/controller/deployment/util/deployment_util.go  DeploymentComplete, ReplicaSetsByRevision, Revision
 * Read at       1.24 to 1.37; alike in all
 * Kept exactly  those of the lowest revisions are looked at, and one that still has replicas is passed over without another in its place; of a limit
 *               of 2^31 − 1 there is none; a revision that is not written is 0
 * Left out      which ReplicaSet has the Deployment's own template: templates are pruned, so it is known by its revision; adoption; rollbacks
 */
import { revisionHistoryLimit } from '#facts/kubernetes/controllers.ts'
import type { Certainty } from '#model/prediction.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'
import {
  compareTexts,
  compareTimes,
  controllerOf,
  groupBy,
  integerAt,
  keyOf,
  type ObjectMetadata,
  parseMetadata,
} from './metadata.ts'

export interface ReplicaSetCleanup {
  /** `namespace/name` */
  deployment: string
  /** Null: none. */
  limit: number | null
  /** Of old ReplicaSets that are not being deleted. */
  oldCount: number
  /** Why none is deleted now. */
  waitsFor: 'nothing' | 'deletion' | 'rollout'
  /** When the first ReplicaSet was made that brought more than the limit: since then no rollout was complete. Null: there are no more, or it is not known. */
  exceededSinceMs: number | null
  /** `namespace/name`, lowest revision first; `possible` where revisions are not known. */
  deletions: { replicaSet: string; certainty: Certainty }[]
  /** Beyond the limit, but kept. */
  kept: { replicaSet: string; because: 'replicas' | 'status-not-current' }[]
}

interface ReplicaSet {
  metadata: ObjectMetadata
  /** Null where it cannot be read. */
  revision: bigint | null
  keptBecause: 'replicas' | 'status-not-current' | null
}

const noLimit = 2 ** 31 - 1

export function cleanupDeployments(
  deployments: readonly unknown[],
  replicaSets: readonly unknown[],
): ReplicaSetCleanup[] {
  const owned = groupBy(
    replicaSets.map(parseReplicaSet).filter(parsed => parsed !== null),
    ({ metadata }) => controllerOf(metadata)?.uid,
  )
  return deployments.flatMap(deployment => {
    const metadata = parseMetadata(deployment)
    return metadata ? [cleanupDeployment(deployment, metadata, owned.get(metadata.uid) ?? [])] : []
  })
}

function cleanupDeployment(
  deployment: unknown,
  metadata: ObjectMetadata,
  owned: ReplicaSet[],
): ReplicaSetCleanup {
  const spec = objectAt(deployment, 'spec')
  const limit = integerAt(spec, 'revisionHistoryLimit') ?? revisionHistoryLimit
  const current = revisionOf(deployment)
  const isPaused = spec?.paused === true
  const waitsFor =
    metadata.deletedMs !== null
      ? 'deletion'
      : isPaused || isComplete(deployment, metadata)
        ? 'nothing'
        : 'rollout'
  const old = owned
    .filter(({ revision }) => current === null || revision !== current)
    .filter(isAlive)
  const isOrdered = owned.every(({ revision }) => revision !== null)
  const beyondLimit = (replicaSets: ReplicaSet[]) => {
    const count =
      limit === noLimit || waitsFor !== 'nothing' ? 0 : Math.max(0, replicaSets.length - limit)
    // Without an order, any of them may be the lowest.
    return replicaSets.toSorted(byRevision).slice(0, isOrdered || count === 0 ? count : undefined)
  }
  // A paused Deployment whose template was changed has no ReplicaSet of its own yet: then all are old.
  const excess = beyondLimit(isPaused ? owned.filter(isAlive) : old)
  const isSure = isOrdered && owned.some(({ revision }) => revision === current)
  const sure = new Set(isSure ? beyondLimit(old) : [])
  return {
    deployment: keyOf(metadata),
    limit: limit === noLimit ? null : limit,
    oldCount: old.length,
    waitsFor,
    exceededSinceMs: exceededSinceMs(owned.filter(isAlive), old.length - limit),
    deletions: excess
      .filter(({ keptBecause }) => keptBecause === null)
      .map(each => ({
        replicaSet: keyOf(each.metadata),
        certainty: sure.has(each) ? 'certain' : 'possible',
      })),
    kept: excess.flatMap(each =>
      each.keptBecause ? [{ replicaSet: keyOf(each.metadata), because: each.keptBecause }] : [],
    ),
  }
}

/** Each rollout makes one, and the end of each leaves no more than the limit: as many as there are beyond it, so many rollouts are without an end. */
function exceededSinceMs(replicaSets: readonly ReplicaSet[], excess: number): number | null {
  if (excess <= 0) return null
  const newestFirst = replicaSets
    .map(({ metadata }) => metadata.createdMs)
    .toSorted((a, b) => compareTimes(b, a))
  return newestFirst[excess - 1] ?? null
}

const isAlive = ({ metadata }: ReplicaSet): boolean => metadata.deletedMs === null

function parseReplicaSet(raw: unknown): ReplicaSet | null {
  const metadata = parseMetadata(raw)
  if (!metadata) return null
  const status = objectAt(raw, 'status')
  const hasReplicas =
    (integerAt(objectAt(raw, 'spec'), 'replicas') ?? 1) !== 0 ||
    (integerAt(status, 'replicas') ?? 0) !== 0
  const isStale = metadata.generation > (integerAt(status, 'observedGeneration') ?? 0)
  return {
    metadata,
    revision: revisionOf(raw),
    keptBecause: hasReplicas ? 'replicas' : isStale ? 'status-not-current' : null,
  }
}

/** Null where it is no number, or where annotations were not kept. */
function revisionOf(object: unknown): bigint | null {
  const annotations = objectAt(objectAt(object, 'metadata'), 'annotations')
  if (!annotations) return null
  const text = textAt(annotations, 'deployment.kubernetes.io/revision') ?? '0'
  return /^[+-]?\d+$/.test(text) ? BigInt(text) : null
}

function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  if (a.revision !== null && b.revision !== null && a.revision !== b.revision)
    return a.revision < b.revision ? -1 : 1
  return (
    compareTimes(a.metadata.createdMs, b.metadata.createdMs) ||
    compareTexts(a.metadata.name, b.metadata.name)
  )
}

function isComplete(deployment: unknown, { generation }: ObjectMetadata): boolean {
  const status = objectAt(deployment, 'status')
  const replicas = integerAt(objectAt(deployment, 'spec'), 'replicas') ?? 1
  const isAll = (key: string) => (integerAt(status, key) ?? 0) === replicas
  return (
    isAll('updatedReplicas') &&
    isAll('replicas') &&
    isAll('availableReplicas') &&
    (integerAt(status, 'observedGeneration') ?? 0) >= generation
  )
}
