/** Which digest an image's name stands for, as the nodes of a cluster show it: so an approval names bytes, and no tag that moves. */
import { splitTag } from '#model/image-reference.ts'
import type { NodeInput } from '#model/node-input.ts'

export class FleetImageDigests {
  /** By cluster and name with its tag. */
  readonly #digests = new Map<string, Set<string>>()

  takeNode({ cluster, node, runtime }: NodeInput): void {
    for (const { names = [] } of node.status?.images ?? []) this.#take(cluster, names)
    for (const { repoTags = [], repoDigests = [] } of runtime?.images ?? [])
      this.#take(cluster, [...repoTags, ...repoDigests])
  }

  /** `sha256:…`, one for each different image that nodes hold under that name. */
  digestsOf(cluster: string, name: string): string[] {
    return [...(this.#digests.get(`${cluster} ${name}`) ?? [])].sort()
  }

  #take(cluster: string, names: readonly string[]): void {
    const digests = names.filter(name => digested.test(name))
    for (const name of names.filter(one => !one.includes('@')))
      for (const other of digests) {
        const [repository, digest = ''] = other.split('@')
        if (repository !== splitTag(name).repository) continue
        const key = `${cluster} ${name}`
        this.#digests.set(key, (this.#digests.get(key) ?? new Set()).add(digest))
      }
  }
}

const digested = /^[^@]+@sha256:[a-f0-9]{64}$/
