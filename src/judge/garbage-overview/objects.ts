/** Namespaces, owners, finalizers, and what the collectors say themselves. */
import { isOld } from '#judge/garbage/garbage.ts'
import { heldObjects } from '#judge/garbage/held-objects.ts'
import { whyFinalizersStay, whyNamespaceStays } from '#judge/garbage/holders.ts'
import { owned } from '#judge/garbage/owned.ts'
import type {
  ApiGarbage,
  FinalizerGarbage,
  NamespaceGarbage,
  OwnedGroup,
  OwnerGarbage,
} from '#model/cluster-garbage.ts'
import type { GarbageRow } from '#model/garbage-overview.ts'
import { byItself, heldBy, type Lying, type Moment, rowOf } from './row.ts'

export const namespaceRows = ({ terminating }: NamespaceGarbage, moment: Moment): GarbageRow[] =>
  rowOf(
    'terminating-namespaces',
    terminating.map(({ namespace: whose, sinceMs }) => ({ whose, sinceMs })),
    heldBy(terminating.map(whyNamespaceStays)),
    moment,
  )

/** Since when they do not answer is not known. */
export const apiRows = ({ unanswered }: ApiGarbage, moment: Moment): GarbageRow[] =>
  rowOf(
    'unanswered-groups',
    unanswered.map(whose => ({ whose, sinceMs: null })),
    { is: 'never' },
    moment,
  )

export function ownerRows(
  { dangling, unserved, misplaced, blocked, orphaned }: OwnerGarbage,
  moment: Moment,
): GarbageRow[] {
  const lying = ({ kind, namespace, count, createdMs }: OwnedGroup): Lying => ({
    whose: placed(namespace, kind),
    sinceMs: createdMs,
    count,
  })
  const doomed = misplaced.filter(({ fate }) => fate === 'delete' || fate === 'may-delete')
  const isLate = ({ createdMs, fate }: (typeof doomed)[number]) =>
    fate === 'delete' && isOld(createdMs, moment.nowMs, moment.minAgeHours)
  return [
    ...rowOf('dangling-objects', dangling.map(lying), { is: 'late' }, moment),
    ...rowOf('unserved-owners', unserved.map(lying), { is: 'never' }, moment),
    ...rowOf(
      'foreign-owners',
      doomed.map(lying),
      doomed.some(isLate) ? { is: 'late' } : byItself([]),
      moment,
    ),
    ...rowOf(
      'foreign-references',
      misplaced.filter(({ fate }) => fate === 'remove-reference').map(lying),
      { is: 'with' },
      moment,
    ),
    ...rowOf(
      'namespaced-owners',
      misplaced.filter(({ is }) => is === 'namespaced-owner').map(lying),
      { is: 'never' },
      moment,
    ),
    ...rowOf(
      'blocked-owners',
      blocked.map(({ kind, namespace, name, sinceMs }) => ({
        whose: placed(namespace, `${kind} ${name}`),
        sinceMs,
      })),
      heldBy(
        blocked.map(
          ({ dependents }) =>
            dependents.map(each => owned(each).told).join(', ') || 'nothing that was listed',
        ),
      ),
      moment,
    ),
    ...rowOf(
      'orphaned-objects',
      orphaned.map(({ kind, namespace, createdMs }) => ({
        whose: placed(namespace, kind),
        sinceMs: createdMs,
      })),
      { is: 'never' },
      moment,
    ),
  ]
}

export function finalizerRows(finalizers: FinalizerGarbage, moment: Moment): GarbageRow[] {
  const own = heldObjects(finalizers, moment.nowMs, moment.kinds)
  return rowOf(
    'held-objects',
    own.map(({ kind, namespace, sinceMs }) => ({ whose: placed(namespace, kind), sinceMs })),
    heldBy(own.map(({ finalizers }) => whyFinalizersStay(finalizers))),
    moment,
  )
}

const placed = (namespace: string, what: string): string =>
  namespace === '' ? what : `${namespace}: ${what}`
