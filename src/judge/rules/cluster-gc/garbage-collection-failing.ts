import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byNamespace, oldest } from '#judge/garbage/garbage.ts'
import { kubectl } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

const failure = {
  namespace: 'shop',
  object: 'ConfigMap cart-settings',
  reason: 'OwnerRefInvalidNamespace',
  message:
    'ownerRef [apps/v1/Deployment, namespace: shop, name: cart, uid: 0a1b] does not exist in namespace "shop"',
  count: 3,
  lastMs: hoursBefore(0.2),
}

export const garbageCollectionFailing = clusterRule({
  id: 'garbage-collection-failing',
  severity: 'medium',
  needs: ['events'],
  docs: {
    title: 'The control plane says that it cannot collect',
    why: 'Collectors tell in events what they could not delete, or whose owner is not where its reference says. Of an owner in another namespace the garbage collector finds none, and deletes the object that names it, unless it has another owner who is there.',
    fix: 'Read the message: give the object an owner in its own namespace or none, let the storage driver delete its volume, or mend the webhook that refuses the deletion.',
    sources: [
      'pkg/controller/garbagecollector/graph_builder.go reportInvalidNamespaceOwnerRef',
      'pkg/controller/volume/events/event.go',
      'pkg/controller/controller_utils.go FailedDeletePodReason',
    ],
  },
  examples: { bad: { events: { failures: [failure] } }, good: { events: { failures: [] } } },

  *judge({ at, events: { failures } }) {
    const named = failures.map(each => ({ ...each, name: each.object }))
    for (const [subject, found] of byNamespace(named)) {
      const reasons = [...new Set(found.map(({ reason }) => reason))].toSorted()
      const objects = new Set(found.map(({ object }) => object)).size
      const times = found.reduce((sum, { count }) => sum + count, 0)
      yield {
        subject: subject.name === '' ? { ...subject, name: 'objects of no namespace' } : subject,
        count: objects,
        noun: 'object',
        consequence: `${counted(objects, 'object')} ${subject.name === '' ? 'of no namespace' : `of ${subject.name}`} could not be collected as wanted, ${counted(times, 'time')} within what the API server remembers: ${reasons.join(', ')}.`,
        evidence: [
          ...found
            .slice(0, 5)
            .map(({ object, reason, message }) =>
              line('object', `${reason} on ${object}`, message),
            ),
          ...oldest(
            found.map(({ lastMs }) => lastMs),
            Date.parse(at),
            'last, of the first',
          ),
        ],
        commands: [
          subject.name === ''
            ? kubectl('get', 'events', '-A', `--field-selector=reason=${reasons[0]}`)
            : kubectl('get', 'events', '-n', subject.name, `--field-selector=reason=${reasons[0]}`),
        ],
      }
    }
  },
})
