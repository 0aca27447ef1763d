import {
  ageEvidence,
  garbageIn,
  inGroups,
  inNamespace,
  oldItems,
  reasonOf,
} from '#judge/garbage/garbage.ts'
import { clusterWord, readCommand } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'

export const orphanedDependent = clusterRule({
  id: 'orphaned-dependent',
  severity: 'low',
  needs: ['owners'],
  fate: 'never',
  title: 'Objects of a deleted controller have no owner',
  why: 'Deletion of an owner with --cascade=orphan leaves its dependents without an owner. A new controller with a matching selector adopts them. Otherwise they are never updated, replaced or garbage collected; orphaned pods and ReplicaSets keep running.',
  fix: 'Create the controller again with a matching selector, or delete the objects.',
  sources: [
    'pkg/controller/garbagecollector/garbagecollector.go orphanDependents',
    'pkg/controller/controller_ref_manager.go ClaimObject',
  ],

  *judge({ cluster, at, owners: { orphaned } }, { minAgeHours }) {
    const left = oldItems(orphaned, 'createdMs', at, minAgeHours)
    yield* garbageIn(cluster, 'orphan', left, (found, { all, one }) => {
      const kindOf = ({ kind, controllerKind }: (typeof found)[0]) =>
        `${kind} without its ${controllerKind}`
      const running = found.filter(({ replicas }) => (replicas ?? 0) > 0)
      const { kind, name, namespace } = found[0]
      return {
        confidence: 'likely',
        consequence: `${all('object')} ${one('was', 'were')} made by a controller that is gone or has let go${running.length > 0 ? `; ${stillRuns(running, found.length)}` : ''}.`,
        evidence: [
          ...inGroups(found, kindOf)
            .slice(0, 5)
            .map(([what, objects]) => reasonOf(what, objects)),
          ...ageEvidence(found, 'createdMs', at, 'oldest was made'),
        ],
        commands: [
          readCommand(
            'get',
            clusterWord(kind),
            clusterWord(name),
            ...inNamespace(namespace),
            '--show-labels',
          ),
        ],
      }
    })
  },
})

function stillRuns(running: readonly { kind: string }[], count: number) {
  const arePods = running.every(({ kind }) => kind === 'Pod')
  if (count === 1) return arePods ? 'it may still run' : 'pods of it may still run'
  return arePods ? `${running.length} may still run` : `pods of ${running.length} may still run`
}
