/** The controllers that remove known finalizers, and the workloads that show whether such a controller is installed. */

/** The Deployment or StatefulSet in its project's charts and manifests, in any namespace. */
interface ControllerWorkload {
  /** The charts' `app.kubernetes.io/name`. It identifies the workload for certain. */
  label: string
  /** Names that do not depend on the Helm release. */
  name: RegExp
  /** Names with a Helm release's name in front (`karpenter-prod`). Another workload of that release may match, too. */
  like: RegExp
}

interface FinalizerController {
  finalizer: string | RegExp
  controller: string
  /** Null: the controller is part of the control plane. `any`: each driver has its own workload. */
  workload: ControllerWorkload | 'any' | null
  /** In Auto Mode AWS runs the controller outside the cluster, where it cannot be observed. */
  isRunByAutoMode?: true
}

const ebsDriver = {
  controller: "the EBS CSI driver's controller",
  workload: { label: 'aws-ebs-csi-driver', name: /^ebs-csi-controller$/, like: /ebs-csi/ },
  isRunByAutoMode: true,
} as const
const loadBalancers = {
  controller: 'the AWS Load Balancer Controller',
  workload: {
    label: 'aws-load-balancer-controller',
    name: /(^|-)aws-load-balancer-controller$/,
    like: /load-balancer-controller/,
  },
  isRunByAutoMode: true,
} as const

const finalizerControllers: readonly FinalizerController[] = [
  // k8s.io/apimachinery pkg/apis/meta/v1 FinalizerOrphanDependents, FinalizerDeleteDependents
  {
    finalizer: /^(orphan|foregroundDeletion)$/,
    controller: 'the garbage collector',
    workload: null,
  },
  // k8s.io/api/batch/v1 JobTrackingFinalizer
  {
    finalizer: 'batch.kubernetes.io/job-tracking',
    controller: 'the Job controller',
    workload: null,
  },
  // k8s.io/cloud-provider/service/helpers LoadBalancerCleanupFinalizer
  {
    finalizer: 'service.kubernetes.io/load-balancer-cleanup',
    controller: 'the service controller',
    workload: null,
  },
  // karpenter pkg/apis/v1 TerminationFinalizer; karpenter-provider-aws pkg/apis/v1
  {
    finalizer: /^karpenter\.(sh|k8s\.aws)\/termination$/,
    controller: 'Karpenter',
    workload: { label: 'karpenter', name: /(^|-)karpenter$/, like: /karpenter/ },
    isRunByAutoMode: true,
  },
  // aws-load-balancer-controller pkg/k8s/finalizer.go, pkg/service, pkg/ingress
  { finalizer: /^(service|ingress|elbv2)\.k8s\.aws\/resources$/, ...loadBalancers },
  { finalizer: /^group\.ingress\.k8s\.aws\//, ...loadBalancers },
  // external-attacher pkg/controller/util.go GetFinalizerName
  { finalizer: 'external-attacher/ebs-csi-aws-com', ...ebsDriver },
  // pkg/volume/util/finalizer.go PVCProtectionFinalizer, PVProtectionFinalizer
  {
    finalizer: /^kubernetes\.io\/pvc?-protection$/,
    controller: 'the volume protection controller',
    workload: null,
  },
  // component-helpers storage/volume/pv_helpers.go PVDeletionInTreeProtectionFinalizer, PVDeletionProtectionFinalizer
  { finalizer: 'kubernetes.io/pv-controller', controller: 'the volume controller', workload: null },
  {
    finalizer: 'external-provisioner.volume.kubernetes.io/finalizer',
    controller: "its CSI driver's provisioner",
    workload: 'any',
  },
  { finalizer: /^external-attacher\//, controller: "its CSI driver's attacher", workload: 'any' },
  // argo-cd pkg/apis/application/v1alpha1 ResourcesFinalizerName
  {
    finalizer: /^resources-finalizer\.argocd\.argoproj\.io(\/|$)/,
    controller: "Argo CD's application controller",
    workload: {
      label: 'argocd-application-controller',
      name: /argocd-application-controller$/,
      like: /application-controller/,
    },
  },
  // cert-manager pkg/acme; fluxcd/pkg apis/meta
  {
    finalizer: /^(finalizer\.acme|acme)\.cert-manager\.io/,
    controller: 'cert-manager',
    workload: { label: 'cert-manager', name: /(^|-)cert-manager$/, like: /cert-manager/ },
  },
]

export const finalizerController = (finalizer: string): FinalizerController | null =>
  finalizerControllers.find(({ finalizer: of }) =>
    typeof of === 'string' ? of === finalizer : of.test(finalizer),
  ) ?? null

/** Whether a workload may be a controller that removes finalizers. @param label its `app.kubernetes.io/name`; null: none */
export const mayTakeFinalizers = (name: string, label: string | null): boolean =>
  finalizerControllers.some(
    ({ workload }) =>
      workload !== null &&
      workload !== 'any' &&
      (workload.label === label || workload.like.test(name)),
  )
