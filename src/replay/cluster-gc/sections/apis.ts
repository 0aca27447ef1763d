/** API groups that did not say what is in them. */
import { discoveryResource } from '#facts/kubernetes/discovery.ts'
import { apiResources } from '#model/api-resources.ts'
import type { ApiGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import type { OpenSection, Section } from '#replay/cluster-gc/section.ts'

export const apis: Section<'apis'> = { resources: [discoveryResource], open: () => new Apis() }

class Apis implements OpenSection<ApiGarbage> {
  readonly #lists: RawObject[] = []

  take(_resource: string, list: RawObject): void {
    if (!Array.isArray(list.resources)) this.#lists.push(list)
  }

  tell(): ApiGarbage {
    return { unanswered: [...apiResources(this.#lists).unanswered].toSorted() }
  }
}
