import { amountOrNull } from '#base/go/quantity.ts'
import { bytes, isLinux, line, nodeRule, reservations } from '#judge/rule.ts'

export const requestsAboveAllocatable = nodeRule({
  id: 'requests-above-allocatable',
  family: 'reservations',
  severity: 'high',
  cause: reservations,
  needs: ['allocatable', 'pods'],
  title: 'Pods request more than the node offers with its configuration',
  why: 'The kubelet admits its pods again at each start, by the resources that its configuration leaves. Pods that do not fit are rejected (OutOfmemory, OutOfcpu, OutOfpods), and fail, although they ran before. The scheduler puts no pod on the node any more, and after a drain the same pods do not fit on a node of this size.',
  fix: 'Reserve less, or take larger instances; raise maxPods if pods are what is exceeded.',
  sources: [
    'pkg/kubelet/lifecycle/predicate.go generalFilter',
    'pkg/kubelet/kubelet.go HandlePodAdditions',
    'kubernetes/kubernetes#105523',
  ],
  appliesTo: isLinux,

  *judge({ overRequested = [] }) {
    if (overRequested.length === 0) return
    const shown = overRequested.map(({ resource, requested, allocatable }) => ({
      resource,
      wanted: amountText(resource, requested),
      left: amountText(resource, allocatable),
    }))
    yield {
      steps: [{ id: 'advice' }, { id: 'ask-owner' }],
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
