/** The shelf: every rule, sorted by id. */
import type { Rule } from '#judge/rule.ts'
import { blockedForegroundDeletion } from './cluster-gc/blocked-foreground-deletion.ts'
import { danglingOwner } from './cluster-gc/dangling-owner.ts'
import { evictedPods } from './cluster-gc/evicted-pods.ts'
import { failedPods } from './cluster-gc/failed-pods.ts'
import { jobHistoryBeyondLimit } from './cluster-gc/job-history-beyond-limit.ts'
import { jobWithoutTtl } from './cluster-gc/job-without-ttl.ts'
import { leftoverLease } from './cluster-gc/leftover-lease.ts'
import { nodeNotReadyLong } from './cluster-gc/node-not-ready-long.ts'
import { nodeWithoutInstance } from './cluster-gc/node-without-instance.ts'
import { orphanedDependent } from './cluster-gc/orphaned-dependent.ts'
import { overdueJobTtl } from './cluster-gc/overdue-job-ttl.ts'
import { pendingCertificateRequest } from './cluster-gc/pending-certificate-request.ts'
import { podStuckTerminating } from './cluster-gc/pod-stuck-terminating.ts'
import { releasedVolume } from './cluster-gc/released-volume.ts'
import { stuckFinalizer } from './cluster-gc/stuck-finalizer.ts'
import { terminatedPodsNearThreshold } from './cluster-gc/terminated-pods-near-threshold.ts'
import { unattachedDisk } from './cluster-gc/unattached-disk.ts'
import { uncollectedCertificateRequest } from './cluster-gc/uncollected-certificate-request.ts'
import { unrenewedLease } from './cluster-gc/unrenewed-lease.ts'
import { volumeHeldInDeletion } from './cluster-gc/volume-held-in-deletion.ts'
import { volumeNotDeleted } from './cluster-gc/volume-not-deleted.ts'
import { diskDiffersFromNodeClass } from './configuration/disk-differs-from-node-class.ts'
import { invalidKubeletConfiguration } from './configuration/invalid-kubelet-configuration.ts'
import { containerGcFlagsOffDefault } from './container-gc/container-gc-flags-off-default.ts'
import { deadContainerPile } from './container-gc/dead-container-pile.ts'
import { unreadNode } from './coverage/unread-node.ts'
import { baselineDrift } from './drift/baseline-drift.ts'
import { changedNotRestarted } from './drift/changed-not-restarted.ts'
import { lostOnTheWay } from './drift/lost-on-the-way.ts'
import { peerDrift } from './drift/peer-drift.ts'
import { versionSkewDrift } from './drift/version-skew-drift.ts'
import { absoluteThresholdOnMixedDisks } from './eviction/absolute-threshold-on-mixed-disks.ts'
import { criticalPodAmongFirstVictims } from './eviction/critical-pod-among-first-victims.ts'
import { evictionDue } from './eviction/eviction-due.ts'
import { evictionLoop } from './eviction/eviction-loop.ts'
import { graceLongerThanFillTime } from './eviction/grace-longer-than-fill-time.ts'
import { inodeGrowth } from './eviction/inode-growth.ts'
import { localStorageLimitExceeded } from './eviction/local-storage-limit-exceeded.ts'
import { lostDefaultThreshold } from './eviction/lost-default-threshold.ts'
import { memoryThresholdTooSmall } from './eviction/memory-threshold-too-small.ts'
import { podsWithoutEphemeralRequestsFirst } from './eviction/pods-without-ephemeral-requests-first.ts'
import { shortTransitionPeriod } from './eviction/short-transition-period.ts'
import { softThresholdWithoutGrace } from './eviction/soft-threshold-without-grace.ts'
import { unreachableMinReclaim } from './eviction/unreachable-min-reclaim.ts'
import { unreachableSoftThreshold } from './eviction/unreachable-soft-threshold.ts'
import { unwatchedImagefs } from './eviction/unwatched-imagefs.ts'
import { unwatchedInodes } from './eviction/unwatched-inodes.ts'
import { unwatchedPids } from './eviction/unwatched-pids.ts'
import { uselessEviction } from './eviction/useless-eviction.ts'
import { zeroMinReclaimThrash } from './eviction/zero-min-reclaim-thrash.ts'
import { alertBeforeImageGc } from './image-gc/alert-before-image-gc.ts'
import { evictionBeforeImageGc } from './image-gc/eviction-before-image-gc.ts'
import { foreignCleaner } from './image-gc/foreign-cleaner.ts'
import { idleImages } from './image-gc/idle-images.ts'
import { imageAgeGcChurn } from './image-gc/image-age-gc-churn.ts'
import { imageGcDead } from './image-gc/image-gc-dead.ts'
import { imageGcDisabled } from './image-gc/image-gc-disabled.ts'
import { imageGcDue } from './image-gc/image-gc-due.ts'
import { imageGcFreesLittle } from './image-gc/image-gc-frees-little.ts'
import { imageGcNeverFirst } from './image-gc/image-gc-never-first.ts'
import { narrowGcBand } from './image-gc/narrow-gc-band.ts'
import { requiredImageAtRisk } from './image-gc/required-image-at-risk.ts'
import { strandedDisk } from './image-gc/stranded-disk.ts'
import { truncatedImageList } from './image-gc/truncated-image-list.ts'
import { unexplainedDiskUse } from './image-gc/unexplained-disk-use.ts'
import { unpinnedSandboxImage } from './image-gc/unpinned-sandbox-image.ts'
import { unreachableGcLowThreshold } from './image-gc/unreachable-gc-low-threshold.ts'
import { deadRegistry } from './image-pull/dead-registry.ts'
import { pullFailingNow } from './image-pull/pull-failing-now.ts'
import { rateLimitedRegistry } from './image-pull/rate-limited-registry.ts'
import { serializedPulls } from './image-pull/serialized-pulls.ts'
import { cgroupV1 } from './kernel/cgroup-v1.ts'
import { memoryCgroupLeak } from './kernel/memory-cgroup-leak.ts'
import { unsupportedVersion } from './kernel/unsupported-version.ts'
import { ineffectiveLogRotation } from './logs/ineffective-log-rotation.ts'
import { invalidLogSize } from './logs/invalid-log-size.ts'
import { logDebris } from './logs/log-debris.ts'
import { logRetentionTooShort } from './logs/log-retention-too-short.ts'
import { logRotationDrift } from './logs/log-rotation-drift.ts'
import { logRotationOvershoot } from './logs/log-rotation-overshoot.ts'
import { allocatableMismatch } from './reservations/allocatable-mismatch.ts'
import { missingEnforcedCgroup } from './reservations/missing-enforced-cgroup.ts'
import { missingSystemReserved } from './reservations/missing-system-reserved.ts'
import { oomBeforeEviction } from './reservations/oom-before-eviction.ts'
import { reservationWithoutEviction } from './reservations/reservation-without-eviction.ts'
import { reservedBelowEksFormula } from './reservations/reserved-below-eks-formula.ts'
import { reservedBelowRealUsage } from './reservations/reserved-below-real-usage.ts'
import { unsafeEnforcedReservation } from './reservations/unsafe-enforced-reservation.ts'

export const rules: readonly Rule[] = [
  absoluteThresholdOnMixedDisks,
  alertBeforeImageGc,
  allocatableMismatch,
  baselineDrift,
  blockedForegroundDeletion,
  cgroupV1,
  changedNotRestarted,
  containerGcFlagsOffDefault,
  criticalPodAmongFirstVictims,
  danglingOwner,
  deadContainerPile,
  deadRegistry,
  diskDiffersFromNodeClass,
  evictedPods,
  evictionBeforeImageGc,
  evictionDue,
  evictionLoop,
  failedPods,
  foreignCleaner,
  graceLongerThanFillTime,
  idleImages,
  imageAgeGcChurn,
  imageGcDead,
  imageGcDisabled,
  imageGcDue,
  imageGcFreesLittle,
  imageGcNeverFirst,
  ineffectiveLogRotation,
  inodeGrowth,
  invalidKubeletConfiguration,
  invalidLogSize,
  jobHistoryBeyondLimit,
  jobWithoutTtl,
  leftoverLease,
  localStorageLimitExceeded,
  logDebris,
  logRetentionTooShort,
  logRotationDrift,
  logRotationOvershoot,
  lostDefaultThreshold,
  lostOnTheWay,
  memoryCgroupLeak,
  memoryThresholdTooSmall,
  missingEnforcedCgroup,
  missingSystemReserved,
  narrowGcBand,
  nodeNotReadyLong,
  nodeWithoutInstance,
  oomBeforeEviction,
  orphanedDependent,
  overdueJobTtl,
  peerDrift,
  pendingCertificateRequest,
  podStuckTerminating,
  podsWithoutEphemeralRequestsFirst,
  pullFailingNow,
  rateLimitedRegistry,
  releasedVolume,
  requiredImageAtRisk,
  reservationWithoutEviction,
  reservedBelowEksFormula,
  reservedBelowRealUsage,
  serializedPulls,
  shortTransitionPeriod,
  softThresholdWithoutGrace,
  strandedDisk,
  stuckFinalizer,
  terminatedPodsNearThreshold,
  truncatedImageList,
  unattachedDisk,
  uncollectedCertificateRequest,
  unexplainedDiskUse,
  unpinnedSandboxImage,
  unreachableGcLowThreshold,
  unreachableMinReclaim,
  unreachableSoftThreshold,
  unreadNode,
  unrenewedLease,
  unsafeEnforcedReservation,
  unsupportedVersion,
  unwatchedImagefs,
  unwatchedInodes,
  unwatchedPids,
  uselessEviction,
  versionSkewDrift,
  volumeHeldInDeletion,
  volumeNotDeleted,
  zeroMinReclaimThrash,
]
