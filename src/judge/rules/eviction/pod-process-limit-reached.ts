import { largestPod } from '#judge/help/deletion.ts'
import { processesOf, usualProcessLimit } from '#judge/help/processes.ts'
import {
  isLinux,
  kubeletSetting,
  line,
  type NodeSubject,
  nodeRule,
  seenFirst,
  shortPodName,
} from '#judge/rule.ts'

/** Share of the limit from which on a pod is near it: the kubelet's statistics count processes, the limit threads, too. */
const reached = 0.9

/** 0: no limit. NaN: unknown. */
const limitOf = (configuration: NodeSubject['configuration']) =>
  configuration ? Math.max(0, configuration.podPidsLimit ?? 0) : NaN

export const podProcessLimitReached = nodeRule({
  id: 'pod-process-limit-reached',
  family: 'eviction',
  severity: 'high',
  cause: kubeletSetting('podPidsLimit'),
  steps: ['raise-process-limit'],
  needs: ['configuration', 'summary'],
  title: 'A pod is at its limit of processes (podPidsLimit), or near it',
  why: 'podPidsLimit is the most processes and threads of each pod. At the limit fork and pthread_create fail with "Resource temporarily unavailable": the pod crashes or hangs, while the node has process ids enough and reports no pressure. The statistics of a pod count its processes, not its threads: a pod that is at the limit by its threads is not seen here.',
  fix: 'Raise podPidsLimit to what the pods of the node need, or find why this pod starts so many processes. A running pod keeps its limit: delete it after the change.',
  sources: [
    'pkg/kubelet/cm/pod_container_manager_linux.go EnsureExists',
    'kubernetes.io/docs/concepts/policy/pid-limiting',
  ],
  appliesTo: subject => isLinux(subject) && limitOf(subject.configuration) !== 0,

  *judge(subject) {
    const limit = limitOf(subject.configuration)
    const largest = largestPod(subject, processesOf)
    if (!largest || largest.amount < reached * limit) return
    const { owner, amount } = largest
    const name = shortPodName({ namespace: owner.namespace, name: owner.pod })
    yield {
      ...seenFirst(
        `Pod ${name} has ${amount} processes, and podPidsLimit is ${limit}.`,
        `${amount < limit ? 'At the limit, threads included,' : 'It can start no more:'} fork and pthread_create fail with "Resource temporarily unavailable".`,
      ),
      evidence: [
        line('configz', 'podPidsLimit', limit),
        line('summary', `processes of ${name}`, amount),
      ],
      ...(limit < usualProcessLimit
        ? {
            steps: [{ id: 'set-fields' }, { id: 'raise-process-limit', owner }],
            fix: { config: { podPidsLimit: usualProcessLimit } },
          }
        : { steps: [{ id: 'raise-process-limit', owner, above: limit }] }),
    }
  },
})
