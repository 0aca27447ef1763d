/** All replays of one node: what its kubelet would do with what was read of it. */
import { configurationDefaults } from '#facts/kubelet/configuration-defaults.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { parseDuration } from '#model/duration.ts'
import { type KubeletConfiguration, parseConfigz } from '#model/kubelet-configuration.ts'
import type {
  EvaluatedThreshold,
  EvictionPrediction,
  FilesystemState,
  Filesystems,
  ImageGcPrediction,
  NodePrediction,
  Observation,
  Threshold,
  Unknown,
} from '#model/prediction.ts'
import { quantityNumber } from '#model/quantity.ts'
import { isRawObject, type NodeRecord, type RawObject } from '#model/record.ts'
import { isUnobservedUpstream, makeSignalObservations, type Observations } from '#replay/eviction/observations.ts'
import { getThresholdQuantity, isHardThreshold, isThresholdMet, parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { isGateOn } from './configuration-file.ts'
import { filesystemLayout } from './filesystem-layout.ts'
import { predictImageGc } from './image-gc.ts'
import { predictNextStart } from './next-start.ts'
import { availableAt, countAt, objectAt, textAt } from './untrusted.ts'

/**
 * Never throws, whatever the record holds: what is missing or malformed is null in the answer, and named in its `unknowns`.
 *
 * @param takenAt the snapshot's time, for a record without its own
 */
export function replay(record: NodeRecord, takenAt: string): NodePrediction {
  const unknowns: Unknown[] = []
  const nodeInfo = objectAt(objectAt(record.node, 'status'), 'nodeInfo')
  const kubeletVersion = textAt(nodeInfo, 'kubeletVersion')
  const features = featuresOf(kubeletVersion)
  if (!features.exact) {
    unknowns.push({ what: 'node.status.nodeInfo.kubeletVersion', effect: `the rules of 1.${features.rulesOfMinor} were applied` })
  }

  const configuration = configurationOf(record.configz, unknowns)
  const summary = isRawObject(record.summary) ? record.summary : null
  if (!summary) unknowns.push({ what: 'summary', effect: 'nothing is known of how full the node is' })
  const host = isRawObject(record.host) ? record.host : null
  const isContainerd = textAt(nodeInfo, 'containerRuntimeVersion')?.startsWith('containerd://') ?? false
  const filesystems = filesystemLayout(summary, host, isContainerd)
  nameUnobserved(filesystems, summary, unknowns)

  const operatingSystem = textAt(nodeInfo, 'operatingSystem') === 'windows' ? 'windows' : 'linux'
  const nextStart = predictNextStart(host, kubeletVersion, operatingSystem)
  const prediction: NodePrediction = {
    cluster: record.cluster,
    node: textAt(objectAt(record.node, 'metadata'), 'name') ?? '',
    kubeletVersion,
    at: typeof record.at === 'string' ? record.at : takenAt,
    filesystems,
    imageGC: configuration && imageGcOf(configuration, record.configz, imageGcFilesystem(summary, filesystems), features, unknowns),
    eviction: configuration && evictionOf(configuration, summary, features, unknowns),
    nextStart: nextStart.prediction,
    unknowns,
  }
  unknowns.push(...nextStart.unknowns)
  return prediction
}

function configurationOf(configz: unknown, unknowns: Unknown[]): KubeletConfiguration | null {
  const effect = 'which thresholds the kubelet runs with is not known'
  if (configz === null || configz === undefined) {
    unknowns.push({ what: 'configz', effect })
    return null
  }
  try {
    return parseConfigz(configz)
  } catch (error) {
    unknowns.push({ what: error instanceof Error ? error.message : 'configz', effect })
    return null
  }
}

function nameUnobserved(filesystems: Filesystems, summary: RawObject | null, unknowns: Unknown[]): void {
  const isUnread = (state: FilesystemState | null) => state === null || state.capacityBytes === null || state.availableBytes === null
  if (summary && isUnread(filesystems.nodefs)) unknowns.push({ what: 'summary.node.fs', effect: 'how full nodefs is is not known' })
  if (summary && isUnread(filesystems.imagefs)) {
    unknowns.push({ what: 'summary.node.runtime.imageFs', effect: 'how full imagefs is is not known' })
  }
  if (filesystems.layout === null) {
    unknowns.push({ what: 'filesystems.layout', effect: 'whether images have a filesystem of their own is not known' })
  }
}

/** Upstream takes an absent statistic for 0. One that is there and makes no sense is no statistic at all. */
function imageGcFilesystem(summary: RawObject | null, { imagefs }: Filesystems): FilesystemState | null {
  const stats = objectAt(objectAt(objectAt(summary, 'node'), 'runtime'), 'imageFs')
  const isMalformed = (key: string, parsed: number | null) => stats?.[key] !== undefined && stats[key] !== null && parsed === null
  const isUnusable =
    isMalformed('capacityBytes', countAt(stats, 'capacityBytes')) || isMalformed('availableBytes', availableAt(stats, 'availableBytes'))
  return isUnusable ? null : imagefs
}

function imageGcOf(
  configuration: KubeletConfiguration,
  configz: RawObject | null | undefined,
  imagefs: FilesystemState | null,
  features: KubeletFeatures,
  unknowns: Unknown[],
): ImageGcPrediction | null {
  // configz always shows the percentages; a record written by hand may leave them at their defaults.
  const highThresholdPercent = configuration.imageGCHighThresholdPercent ?? configurationDefaults.imageGCHighThresholdPercent
  const lowThresholdPercent = configuration.imageGCLowThresholdPercent ?? configurationDefaults.imageGCLowThresholdPercent
  if (!Number.isSafeInteger(highThresholdPercent) || !Number.isSafeInteger(lowThresholdPercent)) {
    unknowns.push({
      what: 'imageGC.thresholds',
      effect: 'the image GC thresholds of configz are no whole percentages: when image GC runs is not known',
    })
    return null
  }
  const hasMaximumAge = hasAge(configuration.imageMaximumGCAge) && isMaximumAgeOn(configz, features)
  return predictImageGc({ highThresholdPercent, lowThresholdPercent, hasMaximumAge }, imagefs, features)
}

function hasAge(text: string | undefined): boolean {
  try {
    return text !== undefined && parseDuration(text) !== 0n
  } catch {
    // No kubelet prints a duration that Go cannot read.
    return false
  }
}

function isMaximumAgeOn(configz: unknown, features: KubeletFeatures): boolean {
  const gate = objectAt(objectAt(configz, 'kubeletconfig'), 'featureGates')?.ImageMaximumGCAge
  return isGateOn('ImageMaximumGCAge', { featureGates: typeof gate === 'boolean' ? { ImageMaximumGCAge: gate } : null }, features)
}

function evictionOf(
  configuration: KubeletConfiguration,
  summary: RawObject | null,
  features: KubeletFeatures,
  unknowns: Unknown[],
): EvictionPrediction {
  const signals = summary ? makeSignalObservations(summary, features) : {}
  const thresholds = thresholdsOf(configuration, features)
  if (typeof thresholds === 'string') return { signals, thresholds: [], error: thresholds }
  return { signals, thresholds: thresholds.map(threshold => evaluated(threshold, signals, summary, unknowns)), error: null }
}

/** The thresholds, or upstream's text where it could not parse them. */
function thresholdsOf(configuration: KubeletConfiguration, features: KubeletFeatures): Threshold[] | string {
  try {
    return parseThresholdConfig(configuration, features)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function evaluated(threshold: Threshold, signals: Observations, summary: RawObject | null, unknowns: Unknown[]): EvaluatedThreshold {
  const { signal, operator, value, gracePeriodMs, minReclaim } = threshold
  const observed = signals[signal] ?? null
  const isNeverMet = !observed && summary !== null && isUnobservedUpstream(signal, summary)
  if (!observed && summary && !isNeverMet)
    unknowns.push({ what: `summary: ${signal}`, effect: 'whether its threshold is met is not known' })
  const resolved = resolvedOf(threshold, observed)
  return {
    signal,
    operator,
    value: value.text,
    resolved,
    hard: isHardThreshold(threshold),
    gracePeriodMs,
    minReclaim: minReclaim?.text ?? '0',
    met: observed ? isThresholdMet(threshold, observed, false) : isNeverMet ? false : null,
    margin: observed && resolved !== null ? observed.available - resolved : null,
  }
}

/** A quantity needs no capacity. Null, too, for a number beyond any machine's. A percentage that is not a number is never met, as 0 is not. */
function resolvedOf({ value }: Threshold, observed: Observation | null): number | null {
  if (!('quantity' in value) && !observed) return null
  const resolved = Math.max(0, quantityNumber(getThresholdQuantity(value, observed?.capacity ?? 0)))
  return Number.isFinite(resolved) ? resolved : null
}
