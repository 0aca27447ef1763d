/** The leases of all clusters of a plan, by the identity of the cluster, not by its name. */
import pMap from 'p-map'
import { OperatorError } from '#base/operator-error.ts'
import { messageOf } from '#base/text/error-message.ts'
import type { Plan } from '#model/plan/plan.ts'
import { type Lease, type LeaseOptions, sightLease, takeLease } from './lease.ts'

const atOnce = 10

const clustersOf = ({ steps }: Plan) => [...new Set(steps.map(({ cluster }) => cluster))].sort()

/**
 * The journal of a begun run contains the identities, so the run can continue or be rolled back while an API server is away.
 * @param known by the plan's cluster names; undefined: a new run, or one of an older version
 * @param isBegun a cluster without an identity is then named by its name
 * @throws OperatorError if a cluster's identity is unknown
 */
export async function identitiesOf(
  plan: Plan,
  known: Readonly<Record<string, string>> | undefined,
  isBegun: boolean,
  identityOf: (cluster: string) => Promise<string>,
): Promise<Record<string, string>> {
  const found = await pMap(
    clustersOf(plan),
    async (cluster): Promise<[string, string]> => {
      if (known?.[cluster] !== undefined) return [cluster, known[cluster]]
      try {
        return [cluster, await identityOf(cluster)]
      } catch (error) {
        if (isBegun) return [cluster, cluster]
        throw new OperatorError(
          `Which cluster ${cluster} is was not read, and so not whether another apply changes it: ${messageOf(error)}. Nothing was sent. It takes list on namespaces (highwater permissions --remediate)`,
          { isBadInput: false, cause: error },
        )
      }
    },
    { concurrency: atOnce },
  )
  return Object.fromEntries(found)
}

/**
 * @param into by the plan's names. If a lease cannot be taken, the leases taken before are in it and have to be released
 * @throws OperatorError if another run holds a lease, or what the store throws
 */
export async function takeLeases(
  identities: Readonly<Record<string, string>>,
  into: Map<string, Lease>,
  options: Omit<LeaseOptions, 'cluster' | 'identity' | 'seen'>,
): Promise<void> {
  const { store, clock } = options
  const named = Map.groupBy(Object.entries(identities), ([, identity]) => identity)
  // One fixed order, so that two runs that want several clusters do not wait for each other.
  const wanted = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  // All at once, so that the leases of a crashed run are waited for together.
  const sightings = await pMap(wanted, ([identity]) => sightLease({ store, identity, clock }), {
    concurrency: atOnce,
  })
  for (const [index, [identity, names]] of wanted.entries()) {
    const clusters = names.map(([cluster]) => cluster)
    const lease = await takeLease({
      ...options,
      cluster: clusters.join(', '),
      identity,
      seen: sightings[index],
    })
    for (const cluster of clusters) into.set(cluster, lease)
  }
}
