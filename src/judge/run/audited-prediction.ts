/** The part of a prediction that the report keeps. Most nodes of a fleet share settings and origins, so each is kept once. */

import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults, evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { nameLength, shorten } from '#judge/rule.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { fargateReason } from '#judge/subject/subject.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type {
  EvaluatedThreshold,
  EvictionPrediction,
  ImageGcPrediction,
  NodePrediction,
  RankedPod,
  Signal,
  ThresholdOrigin,
} from '#model/prediction.ts'
import {
  type AuditedPrediction,
  type AuditedSettings,
  type FirstVictims,
  type ImageGcSetting,
  imageGcFields,
  type OffThreshold,
} from '#model/report.ts'
import { openKeptPredictions } from './kept-prediction.ts'

export function openAuditedPredictions(): (
  subject: NodeSubject,
  prediction: NodePrediction,
) => AuditedPrediction {
  const keep = openKeptPredictions()
  return (subject, { filesystems, imageGC, eviction }) =>
    keep({
      filesystems,
      imageGC: imageGC && withoutImages(imageGC),
      eviction: eviction && {
        signals: withoutTimes(eviction.signals),
        thresholds: eviction.thresholds,
        lost: eviction.lost,
        error: eviction.error,
      },
      settings: settingsOf(subject, eviction?.error === null ? eviction : null),
    })
}

const withoutTimes = (signals: EvictionPrediction['signals']) =>
  Object.fromEntries(
    Object.entries(signals).map(([signal, { availableBytes, capacityBytes }]) => [
      signal,
      { availableBytes, capacityBytes },
    ]),
  )

const namedVictims = 3
const reportedSignals: ReadonlySet<Signal> = new Set([
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
])

/** Empty: the order of eviction is unknown. */
export function firstVictims({ rankings, protected: spared }: EvictionPrediction): FirstVictims[] {
  if (!rankings) return []
  const never = new Set(spared?.map(({ namespace, name }) => `${namespace}/${name}`))
  const reported = rankings.filter(({ signal }) => reportedSignals.has(signal))
  // Signals of one disk have one order.
  const orders = new Set(reported.map(({ pods }) => pods))
  const victims = new Map([...orders].map(pods => [pods, victimsIn(pods, never)]))
  return reported.map(({ signal, pods }) => ({ signal, ...victims.get(pods)! }))
}

function victimsIn(ranked: readonly RankedPod[], never: ReadonlySet<string>) {
  const order = ranked.filter(({ namespace, name }) => !never.has(`${namespace}/${name}`))
  const pods = order
    .slice(0, namedVictims)
    .map(({ namespace, name, rank }) => ({
      namespace: shorten(namespace, nameLength),
      name: shorten(name, nameLength),
      rank,
    }))
  const first = order.filter(({ rank }) => rank === order[0]?.rank)
  const isUnmeasured = first.length > 0 && first.every(({ usage }) => usage === null)
  return { pods, alike: first.length, ...(isUnmeasured && { isUnmeasured }) }
}

const withoutImages = ({
  deletions: _deletions,
  kept: _kept,
  ...shown
}: ImageGcPrediction): AuditedPrediction['imageGC'] => shown

function settingsOf(
  { identity, isConfigurationOnDisk, configuration, imageGC, missing }: NodeSubject,
  eviction: EvictionPrediction | null,
): AuditedSettings {
  const { minor } = featuresOf(identity.kubeletVersion)
  const isFargate = identity.owner === 'fargate'
  return {
    isOnDisk: isConfigurationOnDisk,
    kubeletMinor: minor === null ? null : `1.${minor}`,
    hardDefaults:
      minor === null
        ? null
        : evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem),
    off: eviction && configuration ? disabledThresholds(configuration, eviction.thresholds) : [],
    imageGC:
      imageGC && configuration && imageGcFields.map(field => imageGcSetting(field, configuration)),
    missing: {
      ...(eviction === null && { eviction: isFargate ? fargateReason : missing.eviction }),
      ...(imageGC === null && { imageGC: isFargate ? fargateReason : missing.imageGC }),
    },
  }
}

/** The kubelet accepts no containerfs thresholds. It copies those of the underlying filesystem. */
function disabledThresholds(
  { evictionHard = {}, evictionSoft = {} }: KubeletConfiguration,
  thresholds: EvaluatedThreshold[],
): OffThreshold[] {
  const isOff = ([signal, value]: [string, string]) =>
    !signal.startsWith('containerfs.') &&
    !thresholds.some(threshold => threshold.signal === signal && threshold.value === value)
  const disabledIn = (map: Record<string, string>, hard: boolean) =>
    Object.entries(map)
      .filter(isOff)
      .map(([signal, value]) => ({ signal, hard, value }))
  return [...disabledIn(evictionHard, true), ...disabledIn(evictionSoft, false)]
}

/** No image sets these fields, and the file that sets them was not read. A default value most likely means unset. */
function imageGcSetting(
  field: ImageGcSetting['field'],
  configuration: KubeletConfiguration,
): ImageGcSetting {
  const preset = String(configurationDefaults[field])
  const value = String(configuration[field] ?? preset)
  const origin: ThresholdOrigin =
    value === preset
      ? { source: 'upstream default', certainty: 'likely', path: null }
      : { source: 'configured', certainty: 'certain', path: null }
  return { field, value, preset, origin }
}
