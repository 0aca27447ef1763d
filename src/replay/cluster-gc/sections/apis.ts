/** API groups that did not say what is in them. */
import { discoveryResource } from '#facts/kubernetes/discovery.ts'
import { apiResources } from '#model/api-resources.ts'
import type { ApiGarbage } from '#model/cluster-garbage.ts'
import { isOf } from '#model/cluster-objects.ts'
import type { ApiResourceList, ClusterObject } from '#model/kubernetes.ts'
import type { OpenSection, Section } from '#replay/cluster-gc/section.ts'

export const apis: Section<'apis'> = { resources: [discoveryResource], open: () => new Apis() }

class Apis implements OpenSection<ApiGarbage> {
  readonly #lists: ApiResourceList[] = []

  take(resource: string, list: ClusterObject): void {
    if (isOf(discoveryResource, resource, list) && list.resources === undefined)
      this.#lists.push(list)
  }

  tell(): ApiGarbage {
    return { unanswered: [...apiResources(this.#lists).unanswered].toSorted() }
  }
}
