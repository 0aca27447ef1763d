/** Which events a list covers. Upstream: pkg/registry/core/event/strategy.go ToSelectableFields. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { WorldCluster } from '#lab/world.ts'
import type { Listing } from './lists.ts'
import { badRequest } from './status.ts'

export function eventsListing(
  cluster: WorldCluster,
  at: string,
  { namespace, fieldSelector }: Selection,
): Listing {
  const inNamespace = everyEvent(cluster, at).filter(
    event => namespace === undefined || textAt(event, 'metadata', 'namespace') === namespace,
  )
  const requirements = requirementsOf(fieldSelector ?? '')
  const events = inNamespace.filter(event =>
    requirements.every(({ field, isEqual, value }) => (field(event) === value) === isEqual),
  )
  return {
    kind: 'EventList',
    count: events.length,
    item: index => events[index]!,
    selected: requirements.length > 0,
  }
}

interface Selection {
  namespace?: string
  fieldSelector: string | null
}

const textAt = (event: RawObject, ...path: string[]) => {
  const found = path.reduce<unknown>(
    (value, key) => (isRawObject(value) ? value[key] : undefined),
    event,
  )
  return typeof found === 'string' ? found : ''
}

const fields: Readonly<Record<string, (event: RawObject) => string>> = {
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      field => [
        `involvedObject.${field}`,
        (event: RawObject) => textAt(event, 'involvedObject', field),
      ],
    ),
  ),
  'metadata.name': event => textAt(event, 'metadata', 'name'),
  'metadata.namespace': event => textAt(event, 'metadata', 'namespace'),
  reason: event => textAt(event, 'reason'),
  reportingComponent: event => textAt(event, 'reportingComponent'),
  source: event => textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
  type: event => textAt(event, 'type'),
}

/** @throws Refusal 400 for what is no selector, or a field that events cannot be selected by */
function requirementsOf(selector: string) {
  return selector.split(',').flatMap(requirement => {
    if (requirement === '') return []
    const [, name = '', operator, value = ''] = /^([\w.]+)(!=|==?)(.*)$/.exec(requirement) ?? []
    if (operator === undefined)
      throw badRequest(`invalid selector: '${selector}'; can't understand '${requirement}'`)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) throw badRequest(`field label not supported: ${name}`)
    return [{ field, isEqual: operator !== '!=', value }]
  })
}

const known = new WeakMap<WorldCluster, RawObject[]>()

/** In the API server's order; made at the first list. */
function everyEvent(cluster: WorldCluster, at: string): RawObject[] {
  const made = known.get(cluster)
  if (made) return made
  const key = (event: RawObject) =>
    `${textAt(event, 'metadata', 'namespace')}/${textAt(event, 'metadata', 'name')}`
  const events = [...(cluster.scenario.events?.(at) ?? [])].sort((a, b) =>
    key(a) < key(b) ? -1 : 1,
  )
  known.set(cluster, events)
  return events
}
