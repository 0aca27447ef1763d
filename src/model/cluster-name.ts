/** Names of clusters, and how patterns match them. */
import { matchesGlob } from './glob.ts'

/**
 * Cluster name in a fleet of several accounts or regions.
 * @param account null: the run's own account is unknown
 */
export const fullClusterName = (account: string | null, region: string, name: string) =>
  `${account ?? ownAccount}/${region}/${name}`

const ownAccount = 'this account'
/** Nothing that a kubeconfig's context is called by its makers looks like it. */
const fullName = new RegExp(`^(?:\\d{12}|${ownAccount})/[a-z0-9-]+/([^/]+)$`)

/** `prod` of `account/region/prod`. */
export const plainClusterName = (cluster: string): string => fullName.exec(cluster)?.[1] ?? cluster

/**
 * A pattern means a cluster by the name that the report has for it, or by the last part of `account/region/name`: what was written for a fleet of one
 * place holds in one of several.
 */
export function matchesCluster(pattern: string, cluster: string): boolean {
  if (matchesGlob(pattern, cluster)) return true
  const [, name] = fullName.exec(cluster) ?? []
  return name !== undefined && matchesGlob(pattern, name)
}
