import { type ClusterFailing, line, lines } from '#judge/rule.ts'
import type {
  ClusterPrediction,
  PodGarbage,
  TerminatedPod,
} from '#model/finding/cluster-garbage.ts'
import type { Policy } from '#model/policy.ts'
import {
  ageEvidence,
  controllersOf,
  deleteObjects,
  garbageIn,
  nameList,
  oldOf,
  sharesOf,
} from './garbage.ts'
import { reads } from './kubectl.ts'

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
export function stayingPods(
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

export const thresholdText = ({ pods, isAssumed }: PodGarbage['threshold']): string =>
  isAssumed ? `${pods}, upstream's default: EKS does not say` : `${pods}, as EKS says`

function whenDeleted({ pods, isAssumed }: PodGarbage['threshold'], excess: number) {
  if (pods <= 0) return 'pod GC deletes never'
  const limit = `${pods}${isAssumed ? ' (assumed)' : ''}`
  if (excess <= 0)
    return `pod GC deletes not before more than ${limit} pods of the cluster have finished`
  return `of all that have finished pod GC keeps ${limit}, and deletes the first ${excess} in its next round, these or others`
}
