/** Namespaces in deletion, with what their own conditions say of it. */
import type { NamespaceGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { timeAt } from '#replay/cluster-gc/metadata.ts'
import { namespaceDeletion } from '#replay/cluster-gc/namespaces.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { objectAt } from '#replay/untrusted.ts'

export const namespaces: Section<'namespaces'> = {
  resources: ['namespaces'],
  open: () => new Namespaces(),
}

class Namespaces implements OpenSection<NamespaceGarbage> {
  readonly #going: RawObject[] = []

  take(_resource: string, namespace: RawObject): void {
    if (timeAt(objectAt(namespace, 'metadata'), 'deletionTimestamp') !== null)
      this.#going.push(namespace)
  }

  tell({ features }: SectionContext): NamespaceGarbage {
    return {
      terminating: this.#going.flatMap(namespace => namespaceDeletion(namespace, features) ?? []),
    }
  }
}
