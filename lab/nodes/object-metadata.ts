/** Who an object is, whose it is, and when it was made, with times before the lab's now. */
import type { RawObject } from '#base/raw-object.ts'
import { uidOf } from './random.ts'

/** RFC 3339, to the second. */
export const hoursBefore = (at: string, hours: number) =>
  `${new Date(Date.parse(at) - hours * 3_600_000).toISOString().slice(0, 19)}Z`

export interface Owner {
  apiVersion: string
  kind: string
  name: string
  /** Default: that of such an object in the dependent's own namespace. */
  uid?: string
  /** Default: it waits for the dependent, where it is deleted in the foreground. */
  isFree?: true
}

export interface Named {
  namespace: string
  name: string
  /** Default: it has none. */
  owner?: Owner
  /** Beside that one; nobody's controller. */
  alsoOwnedBy?: Owner
  createdHoursAgo?: number
  /** Its deletion began then. */
  deletedHoursAgo?: number
  finalizers?: string[]
}

/** Every reference to an object finds it by this. */
export const objectUid = (kind: string, { namespace, name }: Pick<Named, 'namespace' | 'name'>) =>
  uidOf(`${kind}/${namespace}/${name}`)

const ownedBy = (
  kind: string,
  namespace: string,
  { apiVersion, kind: of, name, uid, isFree }: Owner,
): RawObject => ({
  apiVersion,
  kind: of,
  name,
  uid: uid ?? objectUid(of, { namespace: kind === 'Lease' ? '' : namespace, name }),
  controller: true,
  blockOwnerDeletion: !isFree,
})

/** Of an object of that kind, as the API server shows it; without a namespace it stands in none. */
export function metadataOf(kind: string, at: string, object: Named): RawObject {
  const {
    namespace,
    name,
    owner,
    alsoOwnedBy,
    createdHoursAgo = 500,
    deletedHoursAgo,
    finalizers,
  } = object
  const others = alsoOwnedBy
    ? [{ ...ownedBy(kind, namespace, alsoOwnedBy), controller: false }]
    : []
  return {
    name,
    ...(namespace !== '' && { namespace }),
    uid: objectUid(kind, { namespace, name }),
    creationTimestamp: hoursBefore(at, createdHoursAgo),
    ...(deletedHoursAgo !== undefined && { deletionTimestamp: hoursBefore(at, deletedHoursAgo) }),
    ...(finalizers && { finalizers }),
    ...(owner && { ownerReferences: [ownedBy(kind, namespace, owner), ...others] }),
  }
}
