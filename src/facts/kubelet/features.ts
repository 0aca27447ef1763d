/** Kubelet behaviour by version. Versions are compared only here. No patch release changes any of these behaviours. */

import { oncePerText } from '#base/once.ts'
import { OperatorError } from '#base/operator-error.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import history from './feature-gates.json' with { type: 'json' }

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

/*
 * Feature gates of the kubelet from 1.24 to 1.37 by minor: their defaults, and the gates they depend on.
 *
 * `feature-gates.json` lists each gate with its stages (first minor, maturity, default), and the gates that it
 * needs to be on, by the minor from which it needs them. Gates older than 1.24 start at 1.24.
 *
 * Source  the gates that DefaultMutableFeatureGate holds in cmd/kubelet, at the last patch of each minor: pkg/features/kube_features.go
 *         (with defaultKubernetesFeatureGateDependencies) and client_adapter.go (client-go/features);  apiserver/pkg/features;
 *         apiextensions-apiserver/pkg/features;  controller-manager/pkg/features;  component-base logs/api/v1, metrics/features,
 *         zpages/features and featuregate (AllAlpha, AllBeta)
 */

const { gates: gateHistory, dependencies: gateDependencies } = history

export { gateDependencies, gateHistory }

export type Gate = keyof typeof gateHistory

type GateStage = 'alpha' | 'beta' | 'GA' | 'deprecated'

export interface GateState {
  isOn: boolean
  /** The gate's value cannot be changed. */
  isLocked: boolean
  /** AllAlpha and AllBeta switch all gates of their stage. */
  stage: GateStage
}

const entryForm = /^1\.(\d+) (?:gone|(alpha|beta|GA|deprecated) (on|off)( locked)?)$/

/** The gate's state in this minor; null: the minor has no such gate. */
export const gateState = (name: string, { rulesOfMinor }: KubeletFeatures): GateState | null =>
  statesOf(String(rulesOfMinor)).get(name) ?? null

const statesOf = oncePerText(
  minor =>
    new Map(
      Object.entries(gateHistory).map(([gate, history]) => [gate, stateIn(history, Number(minor))]),
    ),
)

function stateIn(history: string, minor: number): GateState | null {
  let state: GateState | null = null
  for (const entry of history.split(', ')) {
    const [, since, stage, value, lock] = entryForm.exec(entry) ?? []
    if (since === undefined)
      throw new Error(`feature-gates.json: ${JSON.stringify(entry)} is no stage of a gate`)
    if (Number(since) > minor) break
    state =
      stage === undefined
        ? null
        : { isOn: value === 'on', isLocked: lock !== undefined, stage: stage as GateStage }
  }
  return state
}

/** Whether the gate was removed after GA, so that its feature is always on. */
export function isFixedOn(gate: Gate, { rulesOfMinor }: KubeletFeatures): boolean {
  const [, goneIn] = /GA on(?: locked)?, 1\.(\d+) gone$/.exec(gateHistory[gate]) ?? []
  return goneIn !== undefined && Number(goneIn) <= rulesOfMinor
}

export interface GateDependency {
  gate: string
  /** Gates that must be on if `gate` is on. */
  needs: readonly string[]
}

export const dependenciesOfGates = ({ rulesOfMinor }: KubeletFeatures): readonly GateDependency[] =>
  dependenciesIn(String(rulesOfMinor))

const dependenciesIn = oncePerText(minor =>
  Object.entries(gateDependencies)
    .map(([gate, history]) => ({ gate, needs: needsIn(history, Number(minor)) }))
    .filter(({ needs }) => needs.length > 0),
)

function needsIn(history: string, minor: number): string[] {
  let needs: string[] = []
  for (const entry of history.split(', ')) {
    const [since = '', ...gates] = entry.split(' ')
    if (Number(since.slice(2)) > minor) break
    needs = gates
  }
  return needs
}

export type GateSettings = Readonly<Record<string, boolean>> | null

/**
 * Whether a gate is on. A gate that this minor does not have is off, unless it is set.
 * Upstream: component-base/featuregate/feature_gate.go unsafeSetFromMap, setUnsetAlphaGates, setUnsetBetaGates
 */
export function isGateOn(gate: string, settings: GateSettings, features: KubeletFeatures): boolean {
  const own = settingOf(gate, settings)
  if (own !== undefined) return own
  const state = gateState(gate, features)
  if (state === null) return false
  const ofStage = stageSwitch[state.stage] ?? null
  // AllAlpha and AllBeta are themselves gates of these stages, but do not switch each other.
  const isSwitched = ofStage !== null && gate !== 'AllAlpha' && gate !== 'AllBeta'
  return (isSwitched ? settingOf(ofStage, settings) : undefined) ?? state.isOn
}

const stageSwitch: Partial<Record<GateState['stage'], string>> = {
  alpha: 'AllAlpha',
  beta: 'AllBeta',
}

function settingOf(gate: string, settings: GateSettings) {
  const value = settings !== null && Object.hasOwn(settings, gate) ? settings[gate] : undefined
  return typeof value === 'boolean' ? value : undefined
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
