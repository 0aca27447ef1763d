import { amountOrNull } from '#base/go/quantity.ts'
import { dayMs } from '#base/units.ts'
import { isWithinWindow } from '#judge/events/events.ts'
import {
  bytes,
  type Failing,
  isLinux,
  line,
  type NodeSubject,
  nodeRule,
  placedPod,
  plural,
  reservations,
  seenFirst,
  settingIn,
} from '#judge/rule.ts'
import { podOwner } from '#model/prediction.ts'

const titles = { rejected: 'The kubelet rejected pods that do not fit: no disk is the reason' }

export const requestsAboveAllocatable = nodeRule({
  id: 'requests-above-allocatable',
  family: 'reservations',
  severity: 'high',
  cause: reservations,
  needs: ['allocatable', 'pods'],
  titles,
  title: 'Pods request more than the node offers with its configuration',
  why: 'The kubelet admits its pods again at each start, by the resources that its configuration leaves. Pods that do not fit are rejected (OutOfmemory, OutOfcpu, OutOfpods), and fail, although they ran before. The scheduler puts no pod on the node any more, and after a drain the same pods do not fit on a node of this size.',
  fix: 'Reserve less, or take larger instances; if pods are what is exceeded, raise maxPods (on EKS with prefix delegation), or run fewer on a node.',
  sources: [
    'pkg/kubelet/lifecycle/predicate.go generalFilter',
    'pkg/kubelet/kubelet.go HandlePodAdditions',
    'kubernetes/kubernetes#105523',
  ],
  appliesTo: isLinux,

  *judge({ overRequested = [], pods, at }) {
    yield* rejectedFailings(pods, at)
    if (overRequested.length === 0) return
    const shown = overRequested.map(({ resource, requested, allocatable }) => ({
      resource,
      wanted: amountText(resource, requested),
      left: amountText(resource, allocatable),
    }))
    yield {
      steps: [{ id: 'advice' }, { id: 'read-pods' }],
      seen: `${shown.map(({ resource, wanted, left }) => `the pods request ${resource} ${wanted}, and ${left} is allocatable`).join('; ')}.`,
      consequence: `At its next start the kubelet may reject pods that run: ${shown.map(({ resource, wanted, left }) => `they request ${resource} ${wanted}, and ${left} is allocatable`).join('; ')}.`,
      evidence: shown.flatMap(({ resource, wanted, left }) => [
        line('computed', `requests of the pods ${resource}`, wanted),
        line('computed', `allocatable ${resource} by configuration`, left),
      ]),
    }
  },
})

function amountText(resource: string, text: string) {
  const amount = amountOrNull(text)
  return resource === 'cpu' || resource === 'pods' || amount === null ? text : bytes(amount)
}

/** Of pods that the kubelet did not admit within a day. Their local storage is of another rule. */
function* rejectedFailings(pods: NodeSubject['pods'], at: string): Iterable<Failing> {
  const rejected = (pods ?? []).flatMap(pod => {
    const { phase, reason = '', message = '', startTime = null } = pod.status ?? {}
    const [, resource] = /^OutOf(pods|cpu|memory)$/.exec(reason) ?? []
    return phase === 'Failed' && resource && isWithinWindow(startTime, at, dayMs)
      ? [{ who: placedPod(podOwner(pod, null)), resource, reason, message }]
      : []
  })
  const last = rejected.at(-1)
  if (!last) return
  const [, amounts = ''] = /(, requested: .{1,80})$/.exec(last.message) ?? []
  yield {
    severity: 'medium',
    title: titles.rejected,
    cause:
      last.resource === 'pods'
        ? settingIn('kubelet', 'maxPods')
        : settingIn('workload', `resources.requests.${last.resource}`),
    ...seenFirst(
      `${plural(rejected.length, 'pod')} failed within a day, the last ${last.who}: ${last.reason}${amounts}.`,
      'It is no eviction. The failed pods stay until someone deletes them.',
    ),
    steps: [{ id: 'advice' }],
    evidence: rejected.slice(-5).map(({ who, message }) => line('object', who, message)),
  }
}
