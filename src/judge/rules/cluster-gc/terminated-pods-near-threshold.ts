import { byFrequency, thresholdText } from '#judge/garbage/garbage.ts'
import { clusterRule, line, percent, plural } from '#judge/rule.ts'

/** The rule fails from this share of the threshold on. */
const nearShare = 0.8
const goesFirst = 5

export const terminatedPodsNearThreshold = clusterRule({
  id: 'terminated-pods-near-threshold',
  severity: 'medium',
  needs: ['pods'],
  fate: 'threshold',
  title: 'Finished pods are about to be deleted by number',
  why: 'Above the threshold pod GC deletes the oldest finished pods of the whole cluster, evicted ones first, whatever they are: the logs and exit codes of a Job that somebody still waits for among them.',
  fix: 'Let finished pods end on their own terms: a time to live on Jobs, smaller histories of CronJobs, failed pods deleted. EKS lets the threshold itself be set (kubeControllerManagerConfig).',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminated',
    'EKS API reference, KubeControllerManagerConfig',
  ],

  *judge({ cluster, pods: { terminated, threshold, excess } }) {
    const { pods: limit, isAssumed } = threshold
    const { length: count } = terminated
    if (limit <= 0 || count < nearShare * limit) return
    const first = terminated
      .slice(0, goesFirst)
      .map(({ namespace, name }) => `${namespace}/${name}`)
    const namespaces = byFrequency(terminated, ({ namespace }) => namespace)
      .slice(0, 5)
      .map(([namespace, { length }]) => `${namespace}: ${length}`)
    const share = percent((count / limit) * 100)
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count,
      noun: 'finished pod',
      ...(isAssumed && { confidence: 'likely' }),
      consequence:
        excess > 0
          ? `Pod GC deletes ${plural(excess, 'finished pod')} in its next round, within 20 s: ${first[0]} goes first.`
          : `After ${plural(limit - count + 1, 'more finished pod')} pod GC begins to delete the oldest: ${first[0]} goes first.`,
      evidence: [
        line('object', 'finished pods', `${count}, ${share} of the threshold`),
        line('object', 'threshold', thresholdText(threshold)),
        line('object', 'where', namespaces.join(', ')),
        line('object', 'go first', first.join(', ')),
      ],
      commands: [],
    }
  },
})
