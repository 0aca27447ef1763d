import { line } from '#judge/evidence.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

export const unansweredApiGroup = clusterRule({
  id: 'unanswered-api-group',
  severity: 'medium',
  needs: ['apis'],
  docs: {
    title: 'API groups do not answer, so no namespace can go',
    why: 'An API group may be served by a program in the cluster (an APIService). While it does not answer, the control plane does not know what is in it: no namespace that is deleted goes, whatever was in it, and the garbage collector neither collects what is in that group nor looks up owners there.',
    fix: 'Bring the Service behind the APIService back, or delete the APIService if what it was for is gone.',
    sources: [
      'pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent',
      'pkg/controller/garbagecollector/garbagecollector.go GetDeletableResources',
    ],
  },
  examples: {
    bad: { apis: { unanswered: ['custom.metrics.k8s.io/v1beta1'] } },
    good: { apis: { unanswered: [] } },
  },

  *judge({ cluster, apis: { unanswered } }) {
    if (unanswered.length === 0) return
    const { length: count } = unanswered
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count,
      noun: 'version of an API group',
      consequence: `${counted(count, 'version')} of API groups did not answer while the cluster was read: until ${count === 1 ? 'it does' : 'they do'}, no namespace that is deleted goes.`,
      evidence: [line('object', 'did not answer', unanswered.slice(0, 10).join(', '))],
      commands: unanswered
        .slice(0, 5)
        .map(version =>
          kubectl(
            'get',
            'apiservice',
            said(version.split('/').toReversed().join('.')),
            '-o',
            'yaml',
          ),
        ),
    }
  },
})
