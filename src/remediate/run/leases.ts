/** The leases of all clusters of a plan, by the identity of the cluster, not by its name. */
import pMap from 'p-map'
import { messageOf } from '#model/error-message.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Plan } from '#model/plan.ts'
import { type Lease, type LeaseOptions, sightLease, takeLease } from './lease.ts'

const atOnce = 10

const clustersOf = ({ steps, deletions = [] }: Plan): string[] =>
  [...new Set([...steps, ...deletions].map(({ cluster }) => cluster))].sort()

/**
 * Of a run that was begun its journal knows them: it can be gone on with, and taken back, while an API server is away.
 * @param known by the plan's names; undefined: the run is new, or was begun by an older version
 * @param isBegun then a cluster without an identity is named by its name
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
 * @param into by the plan's names; those that were taken before one could not be are in it, too, and have to be given back
 * @throws OperatorError when another one holds one, or what the store throws
 */
export async function takeLeases(
  identities: Readonly<Record<string, string>>,
  into: Map<string, Lease>,
  options: Omit<LeaseOptions, 'cluster' | 'identity' | 'seen'>,
): Promise<void> {
  const { store, clock } = options
  const named = Map.groupBy(Object.entries(identities), ([, identity]) => identity)
  // In one order, so that of two that want several clusters neither waits for the other.
  const wanted = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  // All at once, so that those of one that died are waited for together.
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
