/**
 * Carries out a plan of deletions, one object after the other, each noted before and after. After a crash, the next run requests begun deletions
 * again. Each deletion names the object's UID, so it cannot delete another object of that name.
 */
import { messageOf } from '#model/error-message.ts'
import type { Approval, Plan, PlannedDeletion } from '#model/plan.ts'
import type { DeletionEntry } from '#model/remediation.ts'
import type { Clock } from './clock.ts'
import type { DeletionOutcome } from './delete-objects.ts'
import { type Journal, Overtaken, pendingDeletion, type RunHead } from './journal.ts'
import type { Lease } from './lease.ts'
import { isOfTheWorld, orPause, Paused } from './pausing.ts'

export interface DeletionRunOptions {
  plan: Plan
  approval: Approval
  journal: Journal
  head: RunHead
  /** By cluster and UID. */
  entries: Map<string, DeletionEntry>
  leases: ReadonlyMap<string, Pick<Lease, 'isHeld'>>
  clock: Clock
  /** Why nothing more may be deleted; null: deletions are allowed. */
  refusal: string | null
  deleteObject(deletion: PlannedDeletion): Promise<Pick<DeletionOutcome, 'state' | 'why'>>
  /** Once aborted, nothing more is sent. */
  stop: AbortSignal
  end: AbortSignal
}

export const deletionKey = ({ cluster, uid }: Pick<PlannedDeletion, 'cluster' | 'uid'>): string =>
  `${cluster}/${uid}`

/** @returns the head as last written to the journal @throws Overtaken, or what the store throws */
export async function runDeletions(options: DeletionRunOptions): Promise<RunHead> {
  const { plan, journal, head, entries, clock } = options
  try {
    for (const deletion of plan.deletions ?? []) {
      const entry = entries.get(deletionKey(deletion)) ?? pendingDeletion(deletion)
      if (['pending', 'deleting', 'failed'].includes(entry.state))
        await carryOut(deletion, entry, options)
    }
  } catch (error) {
    if (!(error instanceof Paused)) throw error
    return noted(journal, { ...head, state: 'paused', why: error.message, endedAt: null })
  }
  const failed = [...entries.values()].filter(({ state }) => state === 'failed').length
  const why = failed === 0 ? null : `${failed} of ${entries.size} objects could not be deleted`
  await journal.noteOver()
  return noted(journal, { ...head, state: 'done', why, endedAt: clock.now().toISOString() })
}

async function noted(journal: Journal, head: RunHead): Promise<RunHead> {
  await journal.noteRun(head)
  return head
}

async function carryOut(
  deletion: PlannedDeletion,
  entry: DeletionEntry,
  options: DeletionRunOptions,
): Promise<void> {
  const { approval, journal, entries, leases, clock, refusal, deleteObject, stop, end } = options
  const now = () => clock.now().toISOString()
  const note = async (next: DeletionEntry) => {
    await journal.noteDeletion(next)
    entries.set(deletionKey(deletion), next)
  }
  orPause(stop)
  orPause(end)
  if (refusal !== null) throw new Paused(refusal)
  if (clock.now().getTime() >= Date.parse(approval.until))
    throw new Paused(`the approval ended at ${approval.until}`)
  if (!leases.get(deletion.cluster)?.isHeld())
    throw new Overtaken(`the lease of cluster ${deletion.cluster} is lost: nothing more is deleted`)
  await note({ ...entry, state: 'deleting', why: null, at: now() })
  const { state, why } = await deleteObject(deletion).catch((error: unknown) => {
    orPause(end)
    if (!isOfTheWorld(error)) throw error
    return { state: 'failed', why: messageOf(error) } as const
  })
  if (state === 'would-delete') throw new Error('an approved deletion was tried only')
  const wasBegun = entry.state !== 'pending' && state === 'gone'
  await note({
    ...entry,
    state,
    why: wasBegun
      ? 'it was already deleted on the second try: this run had begun to delete it'
      : why,
    at: now(),
  })
}
