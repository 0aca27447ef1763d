import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { isOld, oldest } from '#judge/garbage/garbage.ts'
import { finalizersOf, whyNamespaceStays } from '#judge/garbage/holders.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { span } from '#judge/text.ts'
import type { NamespaceGarbage } from '#model/cluster-garbage.ts'
import { byText } from '#model/text-order.ts'

type Terminating = NamespaceGarbage['terminating'][number]

const going = (hoursAgo: number): Terminating => ({
  namespace: 'old-monitoring',
  sinceMs: hoursBefore(hoursAgo),
  holds: [
    {
      condition: 'NamespaceDeletionDiscoveryFailure',
      reason: 'DiscoveryFailed',
      message:
        'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery',
    },
  ],
  ...{ remaining: [], held: [], unanswered: ['custom.metrics.k8s.io/v1beta1'] },
  finalizers: ['kubernetes'],
  ownFinalizers: [],
  mayWaitForPods: false,
})

export const namespaceStuckTerminating = clusterRule({
  id: 'namespace-stuck-terminating',
  severity: 'medium',
  needs: ['namespaces'],
  docs: {
    title: 'Namespaces hang in deletion',
    why: 'A namespace goes when all that is in it has gone, of every API group that the server knows. One object with a finalizer that nobody takes away holds it, and so does one API group whose server does not answer: then it is not known what is left, in any namespace.',
    fix: "The namespace's own conditions say what holds it. Of a failed discovery: bring the API service back, or delete it if nobody wants it. Of content or finalizers that remain: find the objects, and the controller that should let them go. Of a finalizer of its own: the controller that set it. Never clear spec.finalizers: what is left would stay for good, out of sight.",
    sources: [
      'pkg/controller/namespace/deletion/namespaced_resources_deleter.go',
      'pkg/controller/namespace/deletion/status_condition_utils.go',
    ],
  },
  examples: {
    bad: { namespaces: { terminating: [going(60)] } },
    good: { namespaces: { terminating: [going(0.5)] } },
  },

  *judge({ at, namespaces: { terminating } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const left = terminating
      .filter(({ sinceMs }) => isOld(sinceMs, nowMs, minAgeHours))
      .toSorted((a, b) => byText(a.namespace, b.namespace))
    for (const found of left) {
      const { namespace, sinceMs, holds, remaining, held, unanswered, ownFinalizers } = found
      const others = finalizersOf(found)
      yield {
        subject: { kind: 'Namespace', namespace: null, name: namespace },
        count: 1,
        noun: 'namespace in deletion',
        consequence: `${namespace} has been going for ${span(nowMs - sinceMs)}: ${whyNamespaceStays(found)}.`,
        evidence: [
          ...holds.map(({ condition, message }) => ({
            kind: 'object' as const,
            what: condition,
            value: message,
            reasonCount: 1,
          })),
          ...told('API groups that do not answer', unanswered),
          ...told(
            'what remains',
            remaining.map(({ resource, count }) => `${resource}: ${count}`),
          ),
          ...told(
            'finalizers of that',
            held.map(({ finalizer, count }) => `${finalizer}: ${count}`),
          ),
          ...told('spec.finalizers', others),
          ...told('metadata.finalizers', ownFinalizers),
          ...oldest([sinceMs], nowMs, 'was deleted'),
        ],
        commands: [
          ...unanswered
            .slice(0, shown)
            .map(version => kubectl('get', 'apiservice', said(apiService(version)), '-o', 'yaml')),
          ...remaining
            .slice(0, shown)
            .map(({ resource }) => kubectl('get', said(resource), '-n', namespace, '-o', 'yaml')),
          kubectl('get', 'namespace', said(namespace), '-o', 'yaml'),
        ],
      }
    }
  },
})

const shown = 3

const told = (what: string, words: readonly string[]) =>
  words.length === 0
    ? []
    : [
        line(
          'object',
          what,
          `${words.slice(0, 10).join(', ')}${words.length > 10 ? ` and ${words.length - 10} more` : ''}`,
        ),
      ]

/** `v1beta1.custom.metrics.k8s.io`. Source: kube-aggregator, APIService names. */
const apiService = (groupVersion: string): string => groupVersion.split('/').toReversed().join('.')
