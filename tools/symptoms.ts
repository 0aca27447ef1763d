/** The index of `docs/rules.md`: what people see on a cluster, and the rules that explain it. */
export const symptoms: Readonly<Record<string, readonly string[]>> = {
  'Pods are refused or evicted before image GC has run': [
    'eviction-before-image-gc',
    'image-gc-never-first',
    'image-gc-disabled',
  ],
  'Pods are evicted although the disk is not full': [
    'useless-eviction',
    'unwatched-inodes',
    'local-storage-limit-exceeded',
    'absolute-threshold-on-mixed-disks',
  ],
  'A node alternates between DiskPressure and Ready': [
    'eviction-loop',
    'short-transition-period',
    'zero-min-reclaim-thrash',
  ],
  'The disk alert fires and nothing is deleted': ['alert-before-image-gc', 'image-gc-dead'],
  'FreeDiskSpaceFailed or ImageGCFailed events': [
    'image-gc-dead',
    'image-gc-frees-little',
    'narrow-gc-band',
    'unreachable-gc-low-threshold',
  ],
  'The disk is full, and the pods and images do not explain it': [
    'unexplained-disk-use',
    'log-debris',
    'dead-container-pile',
    'stranded-disk',
  ],
  'ImagePullBackOff after an image was deleted': [
    'required-image-at-risk',
    'dead-registry',
    'rate-limited-registry',
    'unpinned-sandbox-image',
  ],
  'Pods take minutes to start after a new node joins': ['serialized-pulls', 'image-age-gc-churn'],
  'The most important pod was evicted first': [
    'critical-pod-among-first-victims',
    'pods-without-ephemeral-requests-first',
  ],
  'Processes are OOM-killed before the kubelet evicts': [
    'oom-before-eviction',
    'memory-threshold-too-small',
    'memory-cgroup-leak',
  ],
  'A setting is in a file, and the kubelet does not use it': [
    'lost-on-the-way',
    'changed-not-restarted',
    'lost-default-threshold',
    'container-gc-flags-off-default',
  ],
  'Some nodes of a group behave differently': [
    'peer-drift',
    'version-skew-drift',
    'baseline-drift',
  ],
  'Container logs are gone too early, or are too large': [
    'log-retention-too-short',
    'log-rotation-overshoot',
    'ineffective-log-rotation',
  ],
  'A pod or namespace stays Terminating': [
    'pod-stuck-terminating',
    'stuck-finalizer',
    'blocked-foreground-deletion',
  ],
  'Failed, evicted or completed pods pile up': [
    'failed-pods',
    'evicted-pods',
    'job-without-ttl',
    'terminated-pods-near-threshold',
  ],
  'The bill has volumes that no pod uses': [
    'released-volume',
    'unattached-disk',
    'volume-not-deleted',
  ],
}
