/**
 * Objects whose labels or annotations show the kind of their controller. One without an owner was orphaned, by `--cascade=orphan` or by hand:
 * a controller with a matching selector would have adopted it again.
 *
 * Follows       pkg/controller/deployment/util/deployment_util.go  RevisionAnnotation, DefaultDeploymentUniqueLabelKey
 *               pkg/controller/daemon/util/daemonset_util.go       CreatePodTemplate
 *               pkg/apis/apps, pkg/apis/batch                      labels and annotations that controllers put on what they make
 *               pkg/controller/controller_ref_manager.go           ClaimObject: adoption
 * Left out      whether a selector fits
 */
import type { ClusterObject } from '#model/kubernetes.ts'

type OrphanMark = [where: 'annotations' | 'labels', key: string, controllerKind: string]

const marks: Readonly<Record<string, readonly OrphanMark[]>> = {
  'replicasets.apps': [['annotations', 'deployment.kubernetes.io/revision', 'Deployment']],
  'jobs.batch': [['annotations', 'batch.kubernetes.io/cronjob-scheduled-timestamp', 'CronJob']],
  pods: [
    ['labels', 'pod-template-hash', 'ReplicaSet'],
    ['labels', 'batch.kubernetes.io/controller-uid', 'Job'],
    ['labels', 'apps.kubernetes.io/pod-index', 'StatefulSet'],
    ['labels', 'statefulset.kubernetes.io/pod-name', 'StatefulSet'],
    // `controller-revision-hash` alone does not distinguish the two.
    ['labels', 'pod-template-generation', 'DaemonSet'],
  ],
}

/** The kind of the controller; null: nothing shows that there was one. @param resource `plural` or `plural.group` */
export function madeBy(resource: string, object: ClusterObject): string | null {
  // Only StatefulSets and DaemonSets create ControllerRevisions.
  if (resource === 'controllerrevisions.apps') return 'StatefulSet or DaemonSet'
  const metadata = object.metadata
  const found = marks[resource]?.find(([where, key]) => metadata?.[where]?.[key] !== undefined)
  return found?.[2] ?? null
}
