/** The rights to delete what the policy permits, as a separate role; no role without such rights. */
import type { Policy } from '#model/policy.ts'
import { deletionRights } from '#remediate/plan/deletions.ts'
import { rolesOf } from './grants.ts'
import type { NeededRight } from './permissions.ts'

export const deleterName = 'highwater-deletions'

export const neededToDelete = ({ remediation }: Policy): NeededRight[] =>
  deletionRights(remediation.deletions).map(right => ({
    right,
    purpose: 'nothing: only plans of highwater plan --deletions need it',
  }))

export interface DeletionRole {
  rights: string[]
  /** ClusterRole and binding, for `kubectl apply -f -`. */
  text: string
}

/** Null: the policy permits no deletion. */
export function deletionRole(policy: Policy): DeletionRole | null {
  const rights = neededToDelete(policy).map(({ right }) => right)
  return rights.length === 0 ? null : { rights, text: rolesOf(deleterName, rights).join('---\n') }
}
