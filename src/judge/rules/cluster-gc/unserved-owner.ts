import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byPlace, inNamespace, isOld, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { owned, totalOf } from '#judge/garbage/owned.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import type { OwnerGarbage } from '#model/cluster-garbage.ts'

const group = (hoursAgo: number): OwnerGarbage['unserved'][number] => ({
  ...{
    kind: 'ConfigMap',
    namespace: 'shop',
    count: 1,
    names: ['render-1'],
    createdMs: hoursBefore(hoursAgo),
  },
  ...{ owner: 'Site front', apiVersion: 'sites.example.com/v1' },
})
const none = { dangling: [], misplaced: [], blocked: [], orphaned: [] }

export const unservedOwner = clusterRule({
  id: 'unserved-owner',
  severity: 'low',
  needs: ['owners'],
  docs: {
    title: 'Objects name an owner of a kind that no API serves',
    why: 'The garbage collector looks an owner up by its kind. Where no API serves that kind (its CustomResourceDefinition was deleted, or the reference names a version that went with an upgrade) it cannot tell whether the owner is gone, and tries again for ever: such an object is never collected, not even when all of its owners are gone.',
    fix: 'Delete the objects if what they were made for is gone, or take the reference away, or let it name a version that is served.',
    sources: [
      'pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteWorker, isDangling',
      'pkg/controller/garbagecollector/operations.go apiResource',
      'k8s.io/apimachinery pkg/api/meta/restmapper.go RESTMappings',
    ],
  },
  examples: {
    bad: { owners: { ...none, unserved: [group(500)] } },
    good: { owners: { ...none, unserved: [group(3)] } },
  },

  *judge({ cluster, at, owners: { unserved } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const left = unserved.filter(({ createdMs }) => isOld(createdMs, nowMs, minAgeHours)).map(owned)
    for (const [subject, found] of byPlace(left, cluster)) {
      const count = totalOf(found)
      const [first] = found
      yield {
        subject,
        count,
        noun: 'object',
        consequence: `${counted(count, 'object')} of ${subject.name} ${count === 1 ? 'names' : 'name'} an owner of a kind that no API serves: the garbage collector never takes ${count === 1 ? 'it' : 'them'}.`,
        evidence: [
          ...found
            .slice(0, 5)
            .map(({ owner, apiVersion, told }) =>
              line('object', `owner ${owner} of ${apiVersion}`, told),
            ),
          ...oldest(
            found.map(({ createdMs }) => createdMs),
            nowMs,
            'oldest was made',
          ),
        ],
        commands: first
          ? [
              kubectl(
                'get',
                said(first.kind),
                said(first.name),
                ...inNamespace(first.namespace),
                '-o',
                'yaml',
              ),
            ]
          : [],
      }
    }
  },
})
