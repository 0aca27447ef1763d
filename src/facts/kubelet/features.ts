/** Kubelet behaviour by version. Versions are compared only here. No patch release changes any of these behaviours. */

import { OperatorError } from '#base/operator-error.ts'
import type { NodeInput } from '#model/input/record.ts'

/** The minor that introduced each behaviour. The replays that read a behaviour name its source. */
const sinceMinor = {
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
  /** Memory of huge pages is not available. Before, the kubelet counts it as available. */
  hugePagesNotAvailable: 37,
  /** A CronJob finds its Jobs by the UID of their controller. Before, by the controller's name. */
  cronJobOwnsByUid: 37,
} as const

export type Feature = keyof typeof sinceMinor

export const minorOfFeature = (feature: Feature): number => sinceMinor[feature]

/** Minors that were compared with upstream's answers; a test compares them with the folders of test/vectors. */
export const supportedMinors = { first: 29, last: 37 } as const

export interface KubeletFeatures {
  minor: number | null
  /** The minor is supported. False for an unknown version: the rules of the newest minor apply. */
  exact: boolean
  rulesOfMinor: number
  has(feature: Feature): boolean
}

const { first, last } = supportedMinors

/** @param kubeletVersion as the node reports it: `v1.34.1-eks-0000000`. */
export function featuresOf(kubeletVersion: string | null): KubeletFeatures {
  const minor = minorOf(kubeletVersion)
  return (
    supported[(minor ?? 0) - first] ??
    featuresOfMinor(minor, Math.min(Math.max(minor ?? last, first), last))
  )
}

const featuresOfMinor = (minor: number | null, rulesOfMinor: number): KubeletFeatures => ({
  minor,
  exact: minor === rulesOfMinor,
  rulesOfMinor,
  has: feature => rulesOfMinor >= sinceMinor[feature],
})

const supported = Array.from({ length: last - first + 1 }, (_, index) =>
  featuresOfMinor(first + index, first + index),
)

function minorOf(kubeletVersion: string | null) {
  const [, minor] = /^v?1\.(\d{1,4})(?:[.+-]|$)/.exec(kubeletVersion ?? '') ?? []
  return minor === undefined ? null : Number(minor)
}

/* Which kubelets are judged: those of the minors whose replay was compared with upstream's answers (test/vectors). */

/** Why nothing is predicted for the kubelet; null: its minor is supported, or the node reports no version. */
export function unsupportedReason(kubeletVersion: string | null): string | null {
  const { minor, exact } = featuresOf(kubeletVersion)
  return exact || minor === null
    ? null
    : `Kubernetes 1.${minor} is not supported: 1.${supportedMinors.first} to 1.${supportedMinors.last} are`
}

/** @throws OperatorError if highwater does not know the minor */
export function requireSupported(kubeletVersion: string): void {
  const reason = unsupportedReason(kubeletVersion)
  if (reason !== null) throw new OperatorError(reason)
}

/** The input without what only a supported kubelet's rules can read; the reason is among its errors. */
export function supportedInput(input: NodeInput): NodeInput {
  const message = unsupportedReason(input.node.status?.nodeInfo?.kubeletVersion ?? null)
  if (message === null) return input
  return {
    ...input,
    configuration: null,
    host: null,
    errors: [...input.errors, { what: 'configz', message }, { what: 'host', message }],
  }
}
