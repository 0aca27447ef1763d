/** The API servers that a run calls itself, each connected once, to identify their clusters. */

import { KubernetesClient } from '#clients/kubernetes.ts'
import { untilItFails } from '#model/until-it-fails.ts'
import { clusterIdentity } from '#remediate/cluster-identity.ts'
import type { RemediateOptions } from './options.ts'

export class LiveClusters {
  readonly #options: RemediateOptions
  readonly #clients = new Map<string, Promise<KubernetesClient | null>>()
  readonly #open: KubernetesClient[] = []

  constructor(options: RemediateOptions) {
    this.#options = options
  }

  /** @throws if the API server does not answer, or the answer lacks the identity */
  async identityOf(cluster: string): Promise<string> {
    const { policy, end } = this.#options
    const kubernetes = await this.#clientOf(cluster)
    if (kubernetes === null) throw new Error('it was not found, or cannot be reached')
    return clusterIdentity(kubernetes, { signal: end, timeoutMs: policy.timeoutsMs.list })
  }

  close(): void {
    for (const client of this.#open) client.close()
  }

  #clientOf(cluster: string): Promise<KubernetesClient | null> {
    return untilItFails(this.#clients, cluster, () => this.#found(cluster))
  }

  async #found(cluster: string): Promise<KubernetesClient | null> {
    const { policy, targets } = this.#options
    for await (const { record, endpoint } of await targets([cluster])) {
      if (record.cluster !== cluster || endpoint === null) continue
      const client = new KubernetesClient(endpoint, { pace: policy.pace })
      this.#open.push(client)
      return client
    }
    return null
  }
}
