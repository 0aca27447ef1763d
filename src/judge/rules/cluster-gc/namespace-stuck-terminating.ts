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
    title: 'Namespace stuck in Terminating',
    why: 'A namespace is deleted when all its objects are deleted, in every API group that the server knows. One object with a pending finalizer blocks it. An unavailable API group blocks it too, because its remaining objects are unknown.',
    fix: "The namespace's conditions name the reason. If discovery failed, restore the APIService, or delete it if it is not needed. If content or finalizers remain, find the objects and the controller that removes their finalizers. If the namespace has a finalizer of its own, find the controller that set it. Never clear spec.finalizers: the remaining objects would stay in etcd, unreachable.",
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
        consequence: `${namespace} has been Terminating for ${span(nowMs - sinceMs)}: ${whyNamespaceStays(found)}.`,
        evidence: [
          ...holds.map(({ condition, message }) => ({
            kind: 'object' as const,
            what: condition,
            value: message,
            reasonCount: 1,
          })),
          ...listOf('API groups that do not answer', unanswered),
          ...listOf(
            'what remains',
            remaining.map(({ resource, count }) => `${resource}: ${count}`),
          ),
          ...listOf(
            'finalizers of that',
            held.map(({ finalizer, count }) => `${finalizer}: ${count}`),
          ),
          ...listOf('spec.finalizers', others),
          ...listOf('metadata.finalizers', ownFinalizers),
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

const listOf = (what: string, words: readonly string[]) =>
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
