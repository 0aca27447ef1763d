import { longestImageBackOffMs, pullErrors } from '#facts/kubelet/pull-errors.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded, counted } from '#judge/text.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'

const shown = 10
const pod = (state: object) => ({
  metadata: { namespace: 'shop', name: 'web' },
  status: { containerStatuses: [{ name: 'web', image: 'shop/web:1', state }] },
})

export const pullFailingNow = nodeRule({
  id: 'pull-failing-now',
  family: 'image-pull',
  severity: 'high',
  needs: ['pods'],
  docs: {
    title: 'Containers wait for an image that cannot be pulled',
    why: `The pod does not run. The kubelet tries again after 10 s, then after twice as long each time, up to ${longestImageBackOffMs / 60_000} min; each attempt counts against the limits of the registry.`,
    fix: 'Look at the message: a wrong name, missing credentials, a registry that is out of reach or that limits its pulls. An image that GC has deleted must be in a registry that the node can reach.',
    sources: ['pkg/kubelet/images/image_manager.go EnsureImageExists', 'pkg/kubelet/images/types.go', 'kubernetes#103643'],
  },
  examples: {
    bad: { pods: [pod({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop/web:1"' } })] },
    good: { pods: [pod({ waiting: { reason: 'ContainerCreating' } })] },
  },

  *judge({ pods }) {
    const waiting = pods.flatMap(waitingOf)
    const [first] = waiting
    if (first === undefined) return
    yield {
      consequence: `${counted(waiting.length, 'container')} of ${counted(new Set(waiting.map(({ pod }) => pod)).size, 'pod')} cannot start, the first ${bounded(first.pod, 300)} for ${bounded(first.image, 200)}: the kubelet tries again at most ${longestImageBackOffMs / 60_000} min after the last attempt, without end.`,
      evidence: waiting.slice(0, shown).map(({ pod, image, reason, message }) => ({
        what: bounded(`pod ${pod} ${reason}`, 300),
        value: bounded(`${image}${message === '' ? '' : `: ${message}`}`),
      })),
    }
  },
})

function waitingOf({ metadata, status }: KubernetesPod) {
  const statuses = [status?.initContainerStatuses, status?.containerStatuses, status?.ephemeralContainerStatuses]
  return statuses.flatMap(list =>
    (list ?? []).flatMap(({ image = '', state }) => {
      const { reason, message } = state?.waiting ?? {}
      if (reason === undefined || !pullErrors.has(reason)) return []
      const text = typeof message === 'string' ? message : ''
      return [{ pod: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, image, reason, message: text }]
    }),
  )
}
