/**
 * Old ControllerRevisions of StatefulSets and DaemonSets beyond their history limit.
 *
 * Replays       pkg/controller/statefulset/stateful_set_control.go  truncateHistory
 *               pkg/controller/daemon/update.go                     cleanupHistory
 *               pkg/controller/history/controller_history.go        byRevision
 * Read at       1.24 to 1.37; alike in all
 * Kept exactly  a StatefulSet does not count live revisions; a DaemonSet counts them, but for one that it must keep takes the next
 * Left out      which revision has the DaemonSet's own template: it is the highest; adoption; a negative limit, on which 1.28 and before crash
 */
import { revisionHistoryLimit } from '#facts/kubernetes/controllers.ts'
import type { Certainty } from '#model/prediction.ts'
import type { RawObject } from '#model/record.ts'
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

export interface RevisionCleanup {
  /** `namespace/name` */
  owner: string
  limit: number
  /** How many count against the limit; null where pods that may use them were not read. */
  count: number | null
  /** `namespace/name`, lowest revision first; `possible` where pods were not read, or revisions are equal or not known. */
  deletions: { revision: string; certainty: Certainty }[]
}

interface Revision {
  metadata: ObjectMetadata
  /** Null where it was not kept. */
  revision: number | null
  hash: string
}

/** @param pods null: not read */
export function truncateHistory(
  statefulSets: readonly unknown[],
  pods: readonly unknown[] | null,
  revisions: readonly unknown[],
): RevisionCleanup[] {
  return histories(statefulSets, pods, revisions).map(
    ({ key, limit, status, isCurrent, owned, hashes }) => {
      const live = new Set([
        textAt(status, 'currentRevision'),
        textAt(status, 'updateRevision'),
        ...(hashes ?? []),
      ])
      const history = owned.filter(({ metadata }) => !live.has(metadata.name))
      const deletions = limit < 0 ? [] : history.slice(0, Math.max(0, history.length - limit))
      return {
        owner: key,
        limit,
        count: hashes && history.length,
        deletions: told(deletions, () => isCurrent && hashes !== null),
      }
    },
  )
}

/** @param pods null: not read */
export function cleanupHistory(
  daemonSets: readonly unknown[],
  pods: readonly unknown[] | null,
  revisions: readonly unknown[],
): RevisionCleanup[] {
  return histories(daemonSets, pods, revisions).map(({ key, limit, isCurrent, owned, hashes }) => {
    const old = owned.slice(0, -1)
    const toKill = Math.max(0, old.length - limit)
    const killable = old.filter(({ hash }) => !hashes?.has(hash))
    // Nothing but the revision orders them: of equals at the limit, any may be the one.
    const last = killable[toKill - 1]?.revision
    const next = killable[toKill]?.revision
    const deletions = killable.filter(({ revision }, index) => index < toKill || revision === last)
    const isSure = ({ revision }: Revision) => isCurrent && hashes !== null && revision !== next
    return { owner: key, limit, count: old.length, deletions: told(deletions, isSure) }
  })
}

interface History {
  key: string
  limit: number
  status: RawObject | null
  /** The controller has seen the latest specification, and all revisions are known. */
  isCurrent: boolean
  /** Lowest first. */
  owned: Revision[]
  /** Of the owner's pods; null where they were not read. */
  hashes: Set<string> | null
}

function histories(
  owners: readonly unknown[],
  pods: readonly unknown[] | null,
  revisions: readonly unknown[],
): History[] {
  const revisionsByOwner = groupBy(
    revisions.map(parseRevision).filter(revision => revision !== null),
    controllerUidOf,
  )
  const podsByOwner =
    pods &&
    groupBy(
      pods.map(parseRevision).filter(pod => pod !== null),
      controllerUidOf,
    )
  return owners.flatMap(owner => {
    const metadata = parseMetadata(owner)
    if (!metadata) return []
    const status = objectAt(owner, 'status')
    const owned = (revisionsByOwner.get(metadata.uid) ?? []).toSorted(byRevision)
    const isObserved = (integerAt(status, 'observedGeneration') ?? 0) >= metadata.generation
    return {
      key: keyOf(metadata),
      limit: integerAt(objectAt(owner, 'spec'), 'revisionHistoryLimit') ?? revisionHistoryLimit,
      status,
      isCurrent: isObserved && owned.every(({ revision }) => revision !== null),
      owned,
      hashes: podsByOwner && new Set((podsByOwner.get(metadata.uid) ?? []).map(({ hash }) => hash)),
    }
  })
}

const controllerUidOf = ({ metadata }: Revision) => controllerOf(metadata)?.uid

/** A pod tells in the same label which revision it is of. */
function parseRevision(raw: unknown): Revision | null {
  const metadata = parseMetadata(raw)
  const hash = textAt(objectAt(objectAt(raw, 'metadata'), 'labels'), 'controller-revision-hash')
  return metadata && { metadata, revision: integerAt(raw, 'revision'), hash: hash ?? metadata.name }
}

const told = (
  revisions: Revision[],
  isSure: (revision: Revision) => boolean,
): RevisionCleanup['deletions'] =>
  revisions.map(each => ({
    revision: keyOf(each.metadata),
    certainty: isSure(each) ? 'certain' : 'possible',
  }))

const byRevision = (a: Revision, b: Revision): number =>
  (a.revision ?? 0) - (b.revision ?? 0) ||
  compareTimes(a.metadata.createdMs, b.metadata.createdMs) ||
  compareTexts(a.metadata.name, b.metadata.name)
