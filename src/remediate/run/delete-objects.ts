/** Deletes the objects of an approved plan one by one: each is read once more, tried as a dry run, and deleted only if it is unchanged. */
import { RequestFailure } from '#clients/failure.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes.ts'
import { mapOf } from '#model/config-value.ts'
import type { PlannedDeletion } from '#model/plan.ts'
import type { DeletionPolicy } from '#model/policy.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { deletable, deletables, objectPath } from '#remediate/plan/deletions.ts'

/**
 * `gone`: deleted already, perhaps by an earlier attempt; `changed`: not the approved object any more, so it stays; `would-delete`: a dry
 * run succeeded; `failed`: the server refused, or did not answer and might have deleted the object.
 */
export interface DeletionOutcome {
  deletion: PlannedDeletion
  state: 'deleted' | 'would-delete' | 'gone' | 'changed' | 'failed'
  why: string | null
}

export interface DeletionContext {
  kubernetes: Pick<KubernetesClient, 'getJson' | 'deleteObject'>
  /** The policy of today: objects that it no longer allows to delete stay. */
  policy: DeletionPolicy
  now(): Date
  isDryRun: boolean
  options: GetOptions
}

/** @param deletions of one cluster @throws the signal's reason if it is aborted */
export async function* deleteObjects(
  deletions: readonly PlannedDeletion[],
  context: DeletionContext,
): AsyncGenerator<DeletionOutcome> {
  for (const deletion of deletions) {
    context.options.signal.throwIfAborted()
    yield { deletion, ...(await deleteObject(deletion, context)) }
  }
}

type ObjectOutcome = Omit<DeletionOutcome, 'deletion'>

async function deleteObject(
  deletion: PlannedDeletion,
  context: DeletionContext,
): Promise<ObjectOutcome> {
  const { kubernetes, options } = context
  const path = objectPath(deletion)
  try {
    const object = await present(path, context)
    if (object === null) return { state: 'gone', why: null }
    const changed =
      whyChanged(deletion, object, context) ?? (await whyNodeIsThere(deletion, context))
    if (changed !== null) return { state: 'changed', why: changed }
    const resourceVersion = String(mapOf(object.metadata).resourceVersion)
    const { propagationPolicy } = deletables[deletion.kind]
    const wanted = { uid: deletion.uid, resourceVersion, propagationPolicy }
    await kubernetes.deleteObject(path, { ...wanted, isDryRun: true }, options)
    if (context.isDryRun) return { state: 'would-delete', why: null }
    await kubernetes.deleteObject(path, { ...wanted, isDryRun: false }, options)
    return { state: 'deleted', why: null }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof RequestFailure)) throw error
    if (error.status === 404) return { state: 'gone', why: null }
    return { state: error.status === 409 ? 'changed' : 'failed', why: error.message }
  }
}

async function present(
  path: string,
  { kubernetes, options }: DeletionContext,
): Promise<RawObject | null> {
  try {
    const object = await kubernetes.getJson(path, options)
    if (isRawObject(object)) return object
    throw new RequestFailure('body', `the answer to GET ${path} is no object`)
  } catch (error) {
    if (error instanceof RequestFailure && error.status === 404) return null
    throw error
  }
}

function whyChanged(
  deletion: PlannedDeletion,
  object: RawObject,
  { policy, now }: DeletionContext,
): string | null {
  const limit = policy[deletion.kind]
  if (limit === undefined) return `the policy no longer lets ${deletion.kind} go`
  const metadata = mapOf(object.metadata)
  if (metadata.uid !== deletion.uid) return 'it is another object of the same name'
  if (deletion.resourceVersion !== null && metadata.resourceVersion !== deletion.resourceVersion)
    return 'it was changed since the plan was made'
  return deletable(deletion.kind, object, limit.olderThanHours, now().getTime()) === null
    ? 'it is not what the policy lets go any more: it goes on, is being deleted, is held or owned, or is younger'
    : null
}

/** A kubelet that comes back creates its Node object first. */
async function whyNodeIsThere(
  { kind, name }: PlannedDeletion,
  context: DeletionContext,
): Promise<string | null> {
  if (kind !== 'nodeLeases') return null
  const node = await present(objectPath({ resource: 'nodes', namespace: null, name }), context)
  return node === null ? null : 'its node is there again'
}
