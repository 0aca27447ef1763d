/** Behaviour by kubelet version: the only place where versions are compared. No patch release changes any of it. */

/** The minor that brought each behaviour. Sources are the functions named in the replays that read it. */
const sinceMinor = {
  /** `localStorageCapacityIsolation` is a field. Before, a feature gate of that name. */
  localStorageCapacityIsolationField: 25,
  /** The garbage collector leaves the events of `events.k8s.io` alone too. */
  garbageCollectorIgnoresEventsGroup: 25,
  /** Image GC leaves images alone that the runtime has pinned. */
  imagesCanBePinned: 25,
  /** Feature gates decide on formats and options of the kubelet's own logs. */
  loggingGates: 25,
  /** The logging types are in a package of their own, which error texts name. */
  loggingApiV1: 25,
  /** An eviction message names the threshold and what was available, and words the containers' part anew. */
  evictionMessageNamesThreshold: 26,
  /** Eviction under node pressure sets the pod's condition DisruptionTarget, by the gate PodDisruptionConditions. */
  evictionDisruptionTarget: 26,
  /** A pod refused at admission says `Pod was rejected: `, no longer `Pod `. */
  podWasRejected: 26,
  /** Pod GC deletes terminating pods of a node that is tainted out-of-service. */
  podGcOutOfService: 26,
  /** Pod GC patches a pod to Failed before it deletes it. */
  podGcMarksFailed: 26,
  /** The error about too little freed says how much was eligible. Before, how much was freed. */
  imageGcShortfallNamesEligible: 26,
  /** `evictionHard` is defaulted with the configuration file. Before, with every other field, also where there is no file. */
  evictionHardDefaultedWithFile: 26,
  /** `cpuCFSQuotaPeriod` is 1 ms or longer. Before, 1 µs. */
  cfsQuotaFromMillisecond: 26,
  /** The line that errors name where the kubelet makes its scheme. Before, 32. */
  schemeAtLine33: 26,
  /** The error at the kubelet's start names the reservation and the resource that it could not parse. */
  reservationErrorsInContext: 27,
  podGcEvictedFirst: 27,
  /** `topologyManagerPolicy` no longer needs a gate. */
  topologyManagerUngated: 27,
  /** The error about a range of CPUs that ends before it begins says `>`. Before, `>=`. */
  cpuRangeErrorExact: 27,
  /** A pod's limits count containers that are restartable init containers. */
  podLimitsCountSidecars: 28,
  /**
   * A static CSI volume (not dynamically provisioned) is left to its driver. Before, the controller
   * found no plugin for it and failed.
   */
  staticCsiVolumesDeletedOutside: 28,
  /** `logging.flushFrequency` may be text. Before, nanoseconds only. */
  flushFrequencyInText: 28,
  dropIns: 28,
  imageMaximumGCAge: 29,
  /** `containerfs.available` and `containerfs.inodesFree`. */
  containerfsSignals: 29,
  /** `imagefs.inodesFree` is observed even where the bytes of imagefs are missing. */
  imagefsInodesWithoutBytes: 29,
  /** Drop-ins are merged key by key. Before, each brought all its defaults. */
  dropInMergePatch: 29,
  /** `status.qosClass` decides. Before, the class was computed each time. */
  storedQosClass: 29,
  /** Image GC looks for images before it reads the disk. Before, only once the disk was found full. */
  imagesDetectedBeforeStats: 29,
  /** Images found at the kubelet's start are first detected then. Before, in no time at all, so that no minimum age held them. */
  firstDetectionIsTimed: 29,
  /** Image GC spares the sandbox image only where it is pinned. Before, always. */
  sandboxImageUnprotected: 29,
  imagefsInodesDefault: 30,
  /** The error about too great reservations names them. Before, it named what was left. */
  overReservationNamesReservation: 30,
  containerLogWorkers: 30,
  podLogsDir: 30,
  /** `memorySwap.swapBehavior` is NoSwap or LimitedSwap. Before, LimitedSwap or UnlimitedSwap. */
  noSwapBehavior: 30,
  /** With high threshold 100 a maximum age keeps image GC running. */
  maximumAgeKeepsImageGc: 30,
  /** The error about a missing `ImageMaximumGCAge` gate names the field, no longer the gate. */
  maximumAgeErrorNamesField: 30,
  /** The maximum age of images does not act until the kubelet has run that long. */
  maximumAgeWaitsForUptime: 30,
  /** A container's image is identified by `image_id`, if the runtime reports it. Before: by `image_ref`. */
  containerImageId: 30,
  /** Drop-ins need no variable in the environment. */
  dropInsOnByFlag: 30,
  /** Each entry of `enforceNodeAllocatable` is checked against `cgroupsPerQOS`, and duplicates are refused. */
  enforcementByEntry: 31,
  /** DisruptionTarget no longer needs a gate. */
  disruptionTargetUngated: 31,
  /** Hard evictions kill within 1 s. Before, an override of 0 fell back to the pod's own grace period. */
  immediateEviction: 31,
  windowsMemoryDefault500Mi: 31,
  failCgroupV1: 31,
  /** An in-tree volume is deleted from its storage even when its object is being deleted. */
  honorPvReclaimPolicy: 31,
  /** All feature gates that are refused are named. Before, any one of them. */
  allGateErrorsNamed: 31,
  /** Windows passes over what it has no cgroups for. Before, it refused it. */
  windowsIgnoresCgroups: 31,
  compressibleEnforcement: 32,
  /** A sidecar is killed no earlier than the regular containers of its pod. */
  oomSidecarRule: 32,
  /** Pressure on containerfs collects garbage before it evicts. Before, it had a ranking only. */
  containerfsNodeReclaim: 32,
  evictionMessageNamesInitContainers: 32,
  /** `evictionMaxPodGracePeriod` no longer makes a pod's grace period longer, but for the gate AllowOverwriteTerminationGracePeriodSeconds. */
  softGracePeriodCapped: 32,
  /** After drop-ins are merged, defaulting runs again; `null` removes. */
  dropInsDefaultedAgain: 32,
  /** Unknown feature gates crash the kubelet while it defaults the file. Before, validation named them. */
  gatesReadWhileDefaulting: 32,
  runOnceRefused: 32,
  /** Eviction sees pods with the resources allocated by an in-place resize, by the gate InPlacePodVerticalScaling. */
  evictionUsesAllocatedResources: 32,
  containerLogMaxFilesValidated: 33,
  mergeDefaultEvictionSettings: 33,
  /** A namespace loses its pods first, and nothing else while any is left. */
  orderedNamespaceDeletion: 33,
  /** `imagePullCredentialsVerificationPolicy`, behind a gate. */
  pullCredentialsVerified: 33,
  /** Ranking takes a pod's requests by the standard formula: with restartable init containers and pod-level resources. */
  standardPodRequests: 34,
  /** EKS's Amazon Linux 2023 gives pods time to end when the node shuts down. */
  amiShutsDownGracefully: 34,
  /** `tracing` no longer needs a gate. */
  tracingUngated: 34,
  /** Errors about fields print unsigned numbers in decimal. Before, in hexadecimal. */
  fieldErrorsInDecimal: 34,
  cgroupV1Refused: 35,
  /** A restart of the kubelet leaves containers ready and started that were, but for a gate. Before, until they had been probed again. */
  containerStatusOutlivesRestart: 35,
  /** No gate makes `evictionMaxPodGracePeriod` longer than the pod's grace period any more. */
  softGracePeriodCapUngated: 35,
  /** A request that was approved but never issued is cleaned after a day. */
  csrApprovedUnissuedCleaned: 35,
  /** The error about too little freed names the disk's use, no longer how much was wanted. */
  imageGcShortfallNamesUsage: 35,
  flushFrequencyPositive: 35,
  /** `--pod-infra-container-image` is an unknown flag. */
  sandboxImageFlagRemoved: 35,
  /** The error about a missing `NodeLogQuery` gate names `enableSystemLogQuery`. Before, `enableSystemLogHandler`. */
  logQueryErrorNamesField: 35,
  imageMinimumGCAgeValidated: 36,
  configzNamesItsKind: 36,
  /** The error about `showHiddenMetricsForVersion` names the field, no longer the flag. */
  hiddenMetricsErrorNamesField: 36,
  /** Image patterns are compared as written. Before, with Docker Hub's short names written out. */
  imagePatternsAsWritten: 36,
  memoryReservationPolicy: 36,
  /** A restartable init container is held to its own ephemeral-storage limit. */
  sidecarStorageLimits: 37,
  memoryThrottlingFactorUnset: 37,
  /** The capacity of ephemeral-storage is printed in decimal. Before, with a binary suffix. */
  decimalEphemeralStorage: 37,
  /** A container's share of the pod-level request is never negative. */
  oomShareNotNegative: 37,
  /** Reserved CPU is rounded to whole milli-cores. */
  reservedCpuInMilliCores: 37,
  /** Each resource of each container decides the QoS class alone. Before, the sums did. */
  qosByRequirement: 37,
  /** A CronJob knows its Jobs by the UID of their controller. Before, by its name. */
  cronJobOwnsByUid: 37,
} as const

export type Feature = keyof typeof sinceMinor

const oldestMinor = 24
const newestMinor = 37
/** Older minors follow the same tables, but were not compared with upstream's answers (test/vectors). */
const oldestProvedMinor = 29

export interface KubeletFeatures {
  minor: number | null
  /** False: the rules of another minor are used (the newest for an unknown version, the nearest outside 1.24 to 1.37). */
  exact: boolean
  /** The replay of this minor was compared with upstream's answers. */
  isProved: boolean
  rulesOfMinor: number
  has(feature: Feature): boolean
}

const cache = new Map<number | null, KubeletFeatures>()

/** @param kubeletVersion as the node reports it, `v1.34.1-eks-0000000`. */
export function featuresOf(kubeletVersion: string | null): KubeletFeatures {
  const minor = minorOf(kubeletVersion)
  const known = cache.get(minor)
  if (known) return known
  const rulesOfMinor =
    minor === null ? newestMinor : Math.min(Math.max(minor, oldestMinor), newestMinor)
  const features: KubeletFeatures = {
    minor,
    exact: minor === rulesOfMinor,
    isProved: minor === rulesOfMinor && minor >= oldestProvedMinor,
    rulesOfMinor,
    has: feature => rulesOfMinor >= sinceMinor[feature],
  }
  // Versions come from outside: only the minors that exist are worth keeping.
  if (features.exact || minor === null) cache.set(minor, features)
  return features
}

function minorOf(kubeletVersion: string | null): number | null {
  const [, minor] = /^v?1\.(\d{1,4})(?:[.+-]|$)/.exec(kubeletVersion ?? '') ?? []
  return minor === undefined ? null : Number(minor)
}
