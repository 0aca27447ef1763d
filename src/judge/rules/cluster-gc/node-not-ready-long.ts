import {
  ageEvidence,
  describe,
  garbageIn,
  nameList,
  oldItems,
  silentNodes,
} from '#judge/garbage/garbage.ts'
import { clusterRule, line, plural } from '#judge/rule.ts'

export const nodeNotReadyLong = clusterRule({
  id: 'node-not-ready-long',
  severity: 'medium',
  needs: ['nodes'],
  fate: 'with',
  title: 'Nodes have long been NotReady and are not deleted',
  why: 'The cloud’s node lifecycle controller deletes a Node only when its instance is gone. A Node whose instance still exists, or that has none, stays: it costs money, holds leases and volumes, and its pods stay in Terminating.',
  fix: 'Find out why its kubelet does not report (node auto repair would replace it), or delete the Node and its instance.',
  sources: [
    'cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go MonitorNodes',
    'pkg/controller/nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth',
  ],

  *judge({ cluster, at, nodes, instances }, { minAgeHours }) {
    const left = oldItems(silentNodes(nodes, instances, at), 'sinceMs', at, minAgeHours).map(
      each => ({ ...each, name: each.node }),
    )
    yield* garbageIn(cluster, 'node', left, (found, { one }) => {
      const reasons = found.map(
        ({ ready, reason }) => `Ready ${ready ?? 'not posted'}${reason ? ` (${reason})` : ''}`,
      )
      return {
        nodes: found.map(({ name }) => name),
        consequence: `${plural(found.length, 'node')} ${one('has', 'have')} not been Ready for more than ${minAgeHours} h, and nothing deletes ${one('it', 'them')} as long as the instance exists${instances ? '' : '; whether it does was not read'}.`,
        evidence: [
          line('object', 'nodes', nameList(found)),
          line('object', 'conditions', [...new Set(reasons)].toSorted().slice(0, 5).join(', ')),
          ...ageEvidence(found, 'sinceMs', at, 'first'),
        ],
        commands: [describe('node', found[0])],
      }
    })
  },
})
