/** Names of clusters, and how patterns match them. */
import { matchesGlob } from '#base/text/glob.ts'

/**
 * Cluster name in a fleet of several accounts or regions.
 * @param account null: the run's own account is unknown
 */
export const fullClusterName = (account: string | null, region: string, name: string) =>
  `${account ?? ownAccount}/${region}/${name}`

const ownAccount = 'this account'
/** Form of a full name. Context names that kubeconfig tools generate do not match. */
const fullName = new RegExp(`^(?:\\d{12}|${ownAccount})/[a-z0-9-]+/([^/]+)$`)

/** `account/region/prod` gives `prod`. */
export const plainClusterName = (cluster: string): string => fullName.exec(cluster)?.[1] ?? cluster

/**
 * Whether a pattern matches a cluster's name in the report, or the last part of `account/region/name`. So patterns for one account and region stay valid
 * after the fleet gets more.
 */
export function matchesCluster(pattern: string, cluster: string): boolean {
  if (matchesGlob(pattern, cluster)) return true
  const [, name] = fullName.exec(cluster) ?? []
  return name !== undefined && matchesGlob(pattern, name)
}
