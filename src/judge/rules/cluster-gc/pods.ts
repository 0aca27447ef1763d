import {
  ageEvidence,
  byFrequency,
  controllersOf,
  deleteObjects,
  garbageIn,
  getYaml,
  nameList,
  oldOf,
  reasonOf,
  sharesOf,
  whyPodStays,
} from '#judge/garbage/garbage.ts'
import { reads } from '#judge/garbage/kubectl.ts'
import { type ClusterFailing, clusterRule, line, lines, percent, plural } from '#judge/rule.ts'
import type {
  ClusterPrediction,
  PodGarbage,
  TerminatedPod,
} from '#model/finding/cluster-garbage.ts'
import type { Policy } from '#model/policy.ts'

export const evictedPods = clusterRule({
  id: 'evicted-pods',
  severity: 'low',
  needs: ['pods'],
  fate: 'with',
  title: 'Pods that their nodes evicted stay',
  why: 'The kubelet fails a pod that it evicts and never deletes it; a ReplicaSet makes another and leaves the old one. They pile up as fast as the pressure comes back, until pod GC takes them, evicted ones first.',
  fix: 'End the pressure that evicts (the findings of the family eviction say how), then delete what it left.',
  sources: [
    'pkg/kubelet/eviction/eviction_manager.go evictPod',
    'pkg/controller/podgc/gc_controller.go byEvictionAndCreationTimestamp',
  ],

  judge: (cluster, policy) => stayingPods(cluster, policy, true),
})

export const failedPods = clusterRule({
  id: 'failed-pods',
  severity: 'low',
  needs: ['pods'],
  fate: 'with',
  title: 'Failed pods stay',
  why: 'Nothing deletes a failed pod but its own controller, and a ReplicaSet leaves it: pod GC waits for thousands in the whole cluster. Until then they fill lists and dashboards, and their logs hold disk on their nodes.',
  fix: 'Look why they failed, then delete them, or what made them.',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminated',
    'pkg/controller/controller_utils.go FilterActivePods',
  ],

  judge: (cluster, policy) => stayingPods(cluster, policy, false),
})

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
      ...(isAssumed && { confidence: 'likely' as const }),
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

export const podStuckTerminating = clusterRule({
  id: 'pod-stuck-terminating',
  severity: 'medium',
  needs: ['pods'],
  fate: 'held',
  title: 'Pods are stuck in Terminating',
  why: 'A pod that is being deleted goes when its kubelet has ended it and its finalizers are gone. Where either does not come, it stays: its StatefulSet makes no other, its volumes stay attached, its node does not drain.',
  fix: 'Bring the node back or delete it; where it is off for certain, taint it node.kubernetes.io/out-of-service. Of a finalizer, look for the controller that should take it away. Delete by force only what certainly does not run.',
  sources: [
    'pkg/controller/podgc/gc_controller.go gcTerminating, gcOrphaned',
    'pkg/kubelet/kubelet_pods.go PodCouldHaveRunningContainers',
  ],

  *judge({ cluster, at, pods: { terminating } }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(terminating, 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'pod in deletion', left, (found, { all, one }) => {
      const reasons = byFrequency(found, whyPodStays)
      return {
        consequence: `${all('pod')} ${one('does', 'do')} not go: ${reasons[0]?.[0]}.`,
        evidence: [
          ...reasons.slice(0, 5).map(([reason, pods]) => reasonOf(reason, pods)),
          controllersOf(found),
          ...ageEvidence(found, 'sinceMs', at, 'grace period was over'),
        ],
        commands: [getYaml('pod', found[0])],
      }
    })
  },
})

type WithPods = Pick<ClusterPrediction, 'at' | 'cluster'> & {
  pods: NonNullable<ClusterPrediction['pods']>
}

/** Reasons of pods that node pressure or node shutdown ended, not their containers. Upstream: pkg/kubelet/eviction (Evicted), nodeshutdown (Terminated, NodeShutdown), lifecycle (Preempting). */
const byNode: ReadonlySet<string | null> = new Set([
  'Evicted',
  'NodeShutdown',
  'Terminated',
  'Preempting',
  'NodeLost',
  'Shutdown',
])

/** A failed pod that still exists. `debris`: the pod failed because of its node. */
function failedPodKind({
  phase,
  reason,
  isBeingDeleted,
}: TerminatedPod): 'debris' | 'failed' | null {
  if (phase !== 'Failed' || isBeingDeleted) return null
  return byNode.has(reason) ? 'debris' : 'failed'
}

/** @param isDebris true: pods that their node ended; false: the other failed pods */
function stayingPods(
  { cluster, at, pods: { terminated, threshold, excess } }: WithPods,
  { clusterGarbage: { minAgeHours } }: Policy,
  isDebris: boolean,
): Iterable<ClusterFailing> {
  const failed = terminated
    .filter(pod => failedPodKind(pod) === (isDebris ? 'debris' : 'failed'))
    // A pod that the kubelet refused or evicted may have no container that ended.
    .map(pod => ({ ...pod, endedMs: pod.finishedMs ?? pod.createdMs }))
  const left = oldOf(failed, 'endedMs', at, minAgeHours)
  const noun = isDebris ? 'evicted pod' : 'failed pod'
  return garbageIn(cluster, noun, left, (found, { all, one, subject }) => ({
    consequence: `${all(noun)} ${one('stays', 'stay')} as long as what owns ${one('it', 'them')}: ${whenDeleted(threshold, excess)}.`,
    evidence: lines(
      line('object', `${noun}s`, found.length),
      sharesOf(
        'reasons',
        found.map(({ reason }) => reason ?? 'its containers failed'),
      ),
      controllersOf(found),
      ...ageEvidence(found, 'endedMs', at, 'first'),
      line('object', 'pods', nameList(found)),
      threshold.isAssumed && line('object', 'threshold of pod GC', thresholdText(threshold)),
    ),
    commands: [
      reads('get', 'pods', '-n', subject.name, '--field-selector=status.phase=Failed'),
      deleteObjects('pods', subject.name, found),
    ],
  }))
}

const thresholdText = ({ pods, isAssumed }: PodGarbage['threshold']): string =>
  isAssumed ? `${pods}, upstream's default: EKS does not say` : `${pods}, as EKS says`

function whenDeleted({ pods, isAssumed }: PodGarbage['threshold'], excess: number) {
  if (pods <= 0) return 'pod GC deletes never'
  const limit = `${pods}${isAssumed ? ' (assumed)' : ''}`
  if (excess <= 0)
    return `pod GC deletes not before more than ${limit} pods of the cluster have finished`
  return `of all that have finished pod GC keeps ${limit}, and deletes the first ${excess} in its next round, these or others`
}
