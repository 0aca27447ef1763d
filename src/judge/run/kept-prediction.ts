/** A prediction in little memory: its objects take 2.6 KB of a node, and most of them differ from those of other nodes by numbers alone. */

import { sharedValue } from '#base/once.ts'
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
  type AuditedNode,
  type AuditedPrediction,
  type AuditedSettings,
  type FirstVictims,
  type ImageGcSetting,
  imageGcFields,
  type OffThreshold,
} from '#model/report.ts'

/** An object with numbers. Nodes share the values in it that have none. */
interface Shape<Value> {
  first: Value
  /** Keys of numbers, and their places among all numbers of the prediction. */
  numbers: [key: keyof Value, at: number][]
  parts: [key: keyof Value, shape: Shape<Value[keyof Value]>][]
}

/** Then most nodes have texts of their own, as in errors. */
const mostShapes = 1024

/** For the nodes of one audit. */
function openKeptPredictions(): (prediction: AuditedPrediction) => AuditedPrediction {
  const shapes = new Map<string, Shape<AuditedPrediction>>()
  return prediction => {
    const numbers: number[] = []
    const key = JSON.stringify(prediction, (_key, value) =>
      typeof value === 'number' ? numbers.push(value) : value,
    )
    const shape = shapes.get(key) ?? shapeOf(prediction, { count: 0 })
    if (shapes.size < mostShapes) shapes.set(key, shape)
    return new KeptPrediction(shape, numbers.slice())
  }
}

class KeptPrediction implements AuditedPrediction {
  readonly #shape: Shape<AuditedPrediction>
  readonly #numbers: readonly number[]

  constructor(shape: Shape<AuditedPrediction>, numbers: readonly number[]) {
    this.#shape = shape
    this.#numbers = numbers
  }

  get filesystems() {
    return this.#part('filesystems')
  }

  get imageGC() {
    return this.#part('imageGC')
  }

  get eviction() {
    return this.#part('eviction')
  }

  get settings() {
    return this.#part('settings')
  }

  #part<Key extends keyof AuditedPrediction>(key: Key): AuditedPrediction[Key] {
    const { first, parts } = this.#shape
    const [, part] = parts.find(([of]) => of === key) ?? []
    if (!part) return first[key]
    return withNumbers(part, this.#numbers) as AuditedPrediction[Key]
  }
}

/** In the order in which JSON writes the numbers. */
function shapeOf<Value>(first: Value, before: { count: number }): Shape<Value> {
  const shape: Shape<Value> = { first, numbers: [], parts: [] }
  for (const key in first) {
    const value = first[key]
    if (typeof value === 'number') shape.numbers.push([key, before.count++])
    if (typeof value !== 'object' || value === null) continue
    const part = shapeOf(value, before) as Shape<Value[keyof Value]>
    if (part.numbers.length + part.parts.length > 0) shape.parts.push([key, part])
  }
  return shape
}

function withNumbers<Value>({ first, numbers, parts }: Shape<Value>, all: readonly number[]) {
  const copy = (Array.isArray(first) ? [...first] : { ...first }) as Record<keyof Value, unknown>
  for (const [key, at] of numbers) copy[key] = all[at]
  for (const [key, part] of parts) copy[key] = withNumbers(part, all)
  return copy as Value
}

/* The part of a prediction that the report keeps. Most nodes of a fleet share settings and origins, so each is kept once. */

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
  'pid.available',
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

/* Keeps values once that are equal on many nodes. For nodes that were read back from a file, also all texts. */

export type SharedParts = ReturnType<typeof openSharedParts>

/** For the nodes of one audit, even if they come from several files. */
export function openSharedParts() {
  const texts = new Map<string, string>()
  const withTexts = <Value extends object>(value: Value) => shareTexts(value, texts)
  const predictionOf = openKeptPredictions()
  return {
    /** The same parsed value. Its texts are replaced by equal texts of earlier values. */
    withTexts,
    /** Shares the parts of a node that was parsed from JSON. */
    nodeOf(node: Omit<AuditedNode, 'details'>) {
      withTexts(node)
      const { identity, outcomes, prediction } = node
      return {
        ...node,
        identity: { ...identity, group: sharedValue(identity.group) },
        outcomes: sharedValue(outcomes),
        prediction: predictionOf(prediction),
      }
    },
  }
}

/** Parsed JSON has a separate string for each value, but signals, times and names repeat thousands of times. */
function shareTexts<Value extends object>(value: Value, texts: Map<string, string>) {
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === 'string') {
      const known = texts.get(part)
      if (known === undefined) texts.set(part, part)
      else (value as Record<string, unknown>)[key] = known
    } else if (typeof part === 'object' && part !== null) shareTexts(part, texts)
  }
  return value
}
