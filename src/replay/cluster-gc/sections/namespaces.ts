/** Namespaces in deletion, with what their own conditions say of it. */
import type { NamespaceGarbage } from '#model/cluster-garbage.ts'
import { isOf } from '#model/cluster-objects.ts'
import type { ClusterObject, Namespace } from '#model/kubernetes.ts'
import { timeOf } from '#replay/cluster-gc/metadata.ts'
import { namespaceDeletion } from '#replay/cluster-gc/namespaces.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'

export const namespaces: Section<'namespaces'> = {
  resources: ['namespaces'],
  open: () => new Namespaces(),
}

class Namespaces implements OpenSection<NamespaceGarbage> {
  readonly #going: Namespace[] = []

  take(resource: string, namespace: ClusterObject): void {
    if (!isOf('namespaces', resource, namespace)) return
    if (timeOf(namespace.metadata?.deletionTimestamp) !== null) this.#going.push(namespace)
  }

  tell({ features }: SectionContext): NamespaceGarbage {
    return {
      terminating: this.#going.flatMap(namespace => namespaceDeletion(namespace, features) ?? []),
    }
  }
}
