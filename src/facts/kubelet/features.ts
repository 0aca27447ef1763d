/** Kubelet behaviour by version. Versions are compared only here. No patch release changes any of these behaviours. */

/** The minor that introduced each behaviour. The replays that read a behaviour name its source. */
const sinceMinor = {
  /** `localStorageCapacityIsolation` is a field. Before, it was a feature gate. */
  localStorageCapacityIsolationField: 25,
  /** The garbage collector also ignores the events of `events.k8s.io`. */
  garbageCollectorIgnoresEventsGroup: 25,
  /** Image GC keeps images that the runtime has pinned. */
  imagesCanBePinned: 25,
  /** Feature gates control formats and options of the kubelet's own logs. */
  loggingGates: 25,
  /** The logging types have their own package, whose name error texts contain. */
  loggingApiV1: 25,
  /** An eviction message contains the threshold and what was available. The containers' part has a new text. */
  evictionMessageNamesThreshold: 26,
  /** Eviction under node pressure sets the pod's condition DisruptionTarget, if the gate PodDisruptionConditions is on. */
  evictionDisruptionTarget: 26,
  /** The message of a pod refused at admission begins with `Pod was rejected: `. Before: `Pod `. */
  podWasRejected: 26,
  /** Pod GC deletes terminating pods of a node that is tainted out-of-service. */
  podGcOutOfService: 26,
  /** Pod GC patches a pod to Failed before it deletes it. */
  podGcMarksFailed: 26,
  /** The error about too few freed bytes contains the eligible bytes. Before, the freed bytes. */
  imageGcShortfallNamesEligible: 26,
  /** `evictionHard` is defaulted only with a configuration file. Before, with all other fields, even without a file. */
  evictionHardDefaultedWithFile: 26,
  /** The minimum of `cpuCFSQuotaPeriod` is 1 ms. Before, 1 µs. */
  cfsQuotaFromMillisecond: 26,
  /** Errors contain line 33 as the place where the kubelet creates its scheme. Before, line 32. */
  schemeAtLine33: 26,
  /** The error at the kubelet's start names the reservation and the resource that it could not parse. */
  reservationErrorsInContext: 27,
  podGcEvictedFirst: 27,
  /** `topologyManagerPolicy` needs no gate. */
  topologyManagerUngated: 27,
  /** The error about a CPU range that ends before it begins contains `>`. Before, `>=`. */
  cpuRangeErrorExact: 27,
  /** A pod's limits include restartable init containers (sidecars). */
  podLimitsCountSidecars: 28,
  /**
   * A static CSI volume (not dynamically provisioned) is left to its driver. Before, the controller
   * found no plugin for the volume and failed.
   */
  staticCsiVolumesDeletedOutside: 28,
  /** `logging.flushFrequency` may be text. Before, it was a number of nanoseconds. */
  flushFrequencyInText: 28,
  dropIns: 28,
  imageMaximumGCAge: 29,
  /** `containerfs.available` and `containerfs.inodesFree`. */
  containerfsSignals: 29,
  /** `imagefs.inodesFree` is observed even if the bytes of imagefs are unknown. */
  imagefsInodesWithoutBytes: 29,
  /** Drop-ins are merged key by key. Before, each one also set all its defaults. */
  dropInMergePatch: 29,
  /** `status.qosClass` decides. Before, the kubelet computed the class each time. */
  storedQosClass: 29,
  /** Image GC detects images before it reads the disk. Before, only after it found the disk full. */
  imagesDetectedBeforeStats: 29,
  /** Images found at the kubelet's start get that time as first detection. Before, they got no time, so no minimum age protected them. */
  firstDetectionIsTimed: 29,
  /** Image GC keeps the sandbox image only if it is pinned. Before, always. */
  sandboxImageUnprotected: 29,
  imagefsInodesDefault: 30,
  /** The error about too large reservations contains the reservations. Before, what was left. */
  overReservationNamesReservation: 30,
  containerLogWorkers: 30,
  podLogsDir: 30,
  /** `memorySwap.swapBehavior`: NoSwap or LimitedSwap. Before: LimitedSwap or UnlimitedSwap. */
  noSwapBehavior: 30,
  /** If the high threshold is 100, a maximum age still keeps image GC running. */
  maximumAgeKeepsImageGc: 30,
  /** The error about a missing `ImageMaximumGCAge` gate contains the field. Before, the gate. */
  maximumAgeErrorNamesField: 30,
  /** The maximum age of images applies only after the kubelet has run for that long. */
  maximumAgeWaitsForUptime: 30,
  /** A container's image is identified by `image_id`, if the runtime reports it. Before, by `image_ref`. */
  containerImageId: 30,
  /** Drop-ins need no environment variable. */
  dropInsOnByFlag: 30,
  /** Each entry of `enforceNodeAllocatable` is checked against `cgroupsPerQOS`, and duplicates are refused. */
  enforcementByEntry: 31,
  /** The condition DisruptionTarget needs no gate. */
  disruptionTargetUngated: 31,
  /** Hard evictions kill within 1 s. Before, an override of 0 fell back to the pod's own grace period. */
  immediateEviction: 31,
  windowsMemoryDefault500Mi: 31,
  failCgroupV1: 31,
  /** An in-tree volume is deleted from its storage even when its object is being deleted. */
  honorPvReclaimPolicy: 31,
  /** The error lists all refused feature gates. Before, any one of them. */
  allGateErrorsNamed: 31,
  /** Windows ignores settings for which it has no cgroups. Before, it refused them. */
  windowsIgnoresCgroups: 31,
  compressibleEnforcement: 32,
  /** A sidecar is killed no earlier than the regular containers of its pod. */
  oomSidecarRule: 32,
  /** Pressure on containerfs collects garbage, then evicts. Before, it only ranked pods. */
  containerfsNodeReclaim: 32,
  evictionMessageNamesInitContainers: 32,
  /** `evictionMaxPodGracePeriod` never lengthens a pod's grace period, unless the gate AllowOverwriteTerminationGracePeriodSeconds is on. */
  softGracePeriodCapped: 32,
  /** Defaults are set again after drop-ins are merged; `null` removes a value. */
  dropInsDefaultedAgain: 32,
  /** Unknown feature gates crash the kubelet while it defaults the file. Before, validation reported them. */
  gatesReadWhileDefaulting: 32,
  runOnceRefused: 32,
  /** Eviction uses the resources allocated by an in-place resize, if the gate InPlacePodVerticalScaling is on. */
  evictionUsesAllocatedResources: 32,
  containerLogMaxFilesValidated: 33,
  mergeDefaultEvictionSettings: 33,
  /** When a namespace is deleted, its pods are deleted before all other objects. */
  orderedNamespaceDeletion: 33,
  /** `imagePullCredentialsVerificationPolicy`, behind a gate. */
  pullCredentialsVerified: 33,
  /** The ranking of pods uses the standard formula for requests: with restartable init containers and pod-level resources. */
  standardPodRequests: 34,
  /** EKS's Amazon Linux 2023 gives pods time to end at a node shutdown. */
  amiShutsDownGracefully: 34,
  /** `tracing` needs no gate. */
  tracingUngated: 34,
  /** Errors about fields print unsigned numbers in decimal. Before, in hexadecimal. */
  fieldErrorsInDecimal: 34,
  cgroupV1Refused: 35,
  /** Containers stay ready and started at a kubelet restart, unless a gate is on. Before, they had to be probed again. */
  containerStatusOutlivesRestart: 35,
  /** No gate lets `evictionMaxPodGracePeriod` lengthen a pod's grace period. */
  softGracePeriodCapUngated: 35,
  /** A certificate request that was approved but never issued is cleaned up after a day. */
  csrApprovedUnissuedCleaned: 35,
  /** The error about too few freed bytes contains the disk's use. Before, the wanted bytes. */
  imageGcShortfallNamesUsage: 35,
  flushFrequencyPositive: 35,
  /** The error about a missing `NodeLogQuery` gate contains `enableSystemLogQuery`. Before, `enableSystemLogHandler`. */
  logQueryErrorNamesField: 35,
  imageMinimumGCAgeValidated: 36,
  configzNamesItsKind: 36,
  /** The error about `showHiddenMetricsForVersion` contains the field. Before, the flag. */
  hiddenMetricsErrorNamesField: 36,
  /** Image patterns are compared as written. Before, Docker Hub's short names were expanded. */
  imagePatternsAsWritten: 36,
  memoryReservationPolicy: 36,
  /** A restartable init container has its own ephemeral-storage limit. */
  sidecarStorageLimits: 37,
  memoryThrottlingFactorUnset: 37,
  /** The capacity of ephemeral-storage is printed in decimal. Before, with a binary suffix. */
  decimalEphemeralStorage: 37,
  /** A container's share of the pod-level request is never negative. */
  oomShareNotNegative: 37,
  /** Reserved CPU is rounded to whole milli-cores. */
  reservedCpuInMilliCores: 37,
  /** Each resource of each container decides the QoS class. Before, the sums decided. */
  qosByRequirement: 37,
  /** A CronJob finds its Jobs by the UID of their controller. Before, by the controller's name. */
  cronJobOwnsByUid: 37,
} as const

export type Feature = keyof typeof sinceMinor

export const minorOfFeature = (feature: Feature): number => sinceMinor[feature]

const oldestMinor = 24
const newestMinor = 37
/** Minors that were compared with upstream's answers; a test compares them with the folders of test/vectors. */
export const supportedMinors = { first: 29, last: newestMinor } as const

export interface KubeletFeatures {
  minor: number | null
  /** The minor is supported. False for an unknown version: the rules of the newest minor apply. */
  exact: boolean
  rulesOfMinor: number
  has(feature: Feature): boolean
}

const cache = new Map<number | null, KubeletFeatures>()

/** @param kubeletVersion as the node reports it: `v1.34.1-eks-0000000`. */
export function featuresOf(kubeletVersion: string | null): KubeletFeatures {
  const minor = minorOf(kubeletVersion)
  const known = cache.get(minor)
  if (known) return known
  const rulesOfMinor =
    minor === null ? newestMinor : Math.min(Math.max(minor, oldestMinor), newestMinor)
  const features: KubeletFeatures = {
    minor,
    exact: minor === rulesOfMinor && minor >= supportedMinors.first,
    rulesOfMinor,
    has: feature => rulesOfMinor >= sinceMinor[feature],
  }
  // Versions come from outside, so only existing minors are cached.
  if (features.exact || minor === null) cache.set(minor, features)
  return features
}

function minorOf(kubeletVersion: string | null): number | null {
  const [, minor] = /^v?1\.(\d{1,4})(?:[.+-]|$)/.exec(kubeletVersion ?? '') ?? []
  return minor === undefined ? null : Number(minor)
}
