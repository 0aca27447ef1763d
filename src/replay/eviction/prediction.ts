/** The prediction's `eviction` of one node: its thresholds against the observations, and one pass. */

import { parseDuration, toMilliseconds } from '#base/go/duration.ts'
import { quantityNumber } from '#base/go/quantity.ts'
import { messageOf } from '#base/operator-error.ts'
import { firstNames } from '#base/text.ts'
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type {
  EvaluatedThreshold,
  EvictionPrediction,
  ImageDeletion,
  Observation,
  Ranking,
  Threshold,
  Unknown,
} from '#model/prediction.ts'
import { podStatsOf } from '#replay/pods.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { passBounds } from './bounds.ts'
import {
  type EvictionConfig,
  getThresholdQuantity,
  isHardThreshold,
  isRefusedLayout,
  isThresholdMet,
  type Observations,
  parseEvictionConfig,
  updateContainerFsThresholds,
} from './thresholds.ts'

/** What garbage collection would remove, as far as known. */
export interface Collectable {
  /** The images, computed on first use. Null: unknown. */
  deletions(): ImageDeletion[] | null
  /** False: collecting these kinds would certainly find nothing. */
  mayRemove(kinds: readonly ReclaimKind[]): boolean
}

const ignoresAllocatable = ({ host }: PreparedNode) =>
  (host?.kubelet?.commandLine ?? []).some(argument =>
    /^--experimental-allocatable-ignore-eviction(=true)?$/.test(argument),
  )

/** The parsed configuration, or upstream's text if it does not parse. */
export function evictionConfigOf(
  configuration: KubeletConfiguration,
  node: PreparedNode,
): EvictionConfig | string {
  const { kubelet, layout } = node
  try {
    const flags = { ignoresAllocatable: ignoresAllocatable(node) }
    const config = parseEvictionConfig(configuration, flags)
    if (!layout || isRefusedLayout(layout, kubelet)) return config
    const { configured, added } = updateContainerFsThresholds(config.thresholds, layout)
    return { ...config, thresholds: [...configured, ...added] }
  } catch (error) {
    return messageOf(error)
  }
}

/** Without the pods of the summary, it is unknown which pods have statistics. */
const arePodsKnown = ({ pods, summary }: PreparedNode) =>
  pods !== null && Array.isArray(summary?.pods)

const observedSignals = (observations: Observations): EvictionPrediction['signals'] =>
  Object.fromEntries(
    Object.entries(observations).map(([signal, { available, capacity, time }]) => [
      signal,
      { availableBytes: available, capacityBytes: capacity, time },
    ]),
  )

/** The parts that a comparison of settings needs. */
export type PredictedPass = Omit<EvictionPrediction, 'rankings' | 'lost'>

export function predictEviction(
  node: PreparedNode,
  config: EvictionConfig,
  collectable: Collectable,
  unknowns: Unknown[],
): PredictedPass {
  const { observations, isUnobserved } = node
  const { thresholds } = config
  const unobserved = new Set(thresholds.map(({ signal }) => signal).filter(isUnobserved))
  if (node.summary)
    for (const signal of unobserved)
      unknowns.push({
        what: `summary: ${signal}`,
        effect: 'whether its threshold is met is not known',
      })
  const outcome = passBounds({
    nowMs: node.atMs,
    readMs: node.readMs,
    kubeletStart: node.kubeletStart,
    reported: node.reported,
    observations,
    unobserved,
    statusUpdateMs: statusUpdateOf(node),
    layout: node.layout,
    isLayoutSure: node.filesystems.layoutCertainty === 'certain',
    canSplit:
      node.input.node.status?.nodeInfo?.containerRuntimeVersion?.startsWith('cri-o') === true,
    pods: node.podsByName,
    podStats: node.podStats,
    config,
    kubelet: node.kubelet,
    isCollectable: collectable.mayRemove,
  })
  unknowns.push(...outcome.unknowns, ...malformedStatistics(node))
  const isKnown = arePodsKnown(node)
  return {
    signals: observedSignals(observations),
    thresholds: evaluatedThresholds(config, node),
    conditions: [...outcome.conditions],
    actsOn: [...outcome.actsOn],
    nodeReclaim: [...outcome.nodeReclaim],
    imageDeletions: outcome.nodeReclaim.includes('images')
      ? withCertaintyOfReclaim(collectable.deletions(), outcome.reclaims)
      : [],
    victims: isKnown ? outcome.victims : null,
    protected: node.pods && [...node.protectedPods],
    error: null,
  }
}

function malformedStatistics({ activePods, podStats }: PreparedNode): Unknown[] {
  const names = activePods
    .filter(pod => (podStatsOf(podStats, pod)?.malformed.length ?? 0) > 0)
    .map(({ namespace, name }) => `${namespace}/${name}`)
  if (names.length === 0) return []
  const effect = `statistics of ${firstNames(names, 3)} are malformed: their place in the order of eviction is unknown`
  return [{ what: 'summary.pods', effect }]
}

/** The eviction order for every signal with a threshold. Null: pods or statistics are not known. */
export function rankingsOf(node: PreparedNode, { thresholds }: EvictionConfig): Ranking[] | null {
  if (!arePodsKnown(node)) return null
  const signals = new Set(thresholds.map(({ signal }) => signal))
  return [...signals].map(signal => ({ signal, pods: node.rankedPods(signal) }))
}

/** Interval of node status updates, in ms. Upstream: nodeStatusUpdateFrequency. */
function statusUpdateOf({ input }: PreparedNode) {
  try {
    return toMilliseconds(
      parseDuration(input.configuration?.fields.nodeStatusUpdateFrequency ?? defaultStatusUpdate),
    )
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
const defaultStatusUpdate = '10s'

/** The prediction if the configuration does not parse: eviction does not run. */
export const unparsedPass = (
  error: string,
  { observations, pods, protectedPods }: PreparedNode,
): PredictedPass => ({
  signals: observedSignals(observations),
  thresholds: [],
  conditions: [],
  actsOn: [],
  nodeReclaim: [],
  imageDeletions: [],
  victims: [],
  protected: pods && [...protectedPods],
  error,
})

const withCertaintyOfReclaim = (
  deletions: ImageDeletion[] | null,
  reclaims: 'certain' | 'possible',
): ImageDeletion[] | null =>
  reclaims === 'certain' || !deletions
    ? deletions
    : deletions.map(deletion => ({ ...deletion, certainty: 'possible' }))

export const evaluatedThresholds = (
  { thresholds }: EvictionConfig,
  { observations, isUnobserved }: PreparedNode,
): EvaluatedThreshold[] =>
  thresholds.map(threshold =>
    evaluateThreshold(
      threshold,
      observations[threshold.signal] ?? null,
      isUnobserved(threshold.signal),
    ),
  )

function evaluateThreshold(
  threshold: Threshold,
  observed: Observation | null,
  isUnobserved: boolean,
): EvaluatedThreshold {
  const { signal, operator, value, gracePeriodMs, minReclaim } = threshold
  const resolved = resolvedOf(threshold, observed)
  const isMet = () => {
    if (observed) return isThresholdMet(threshold, observed, false)
    return isUnobserved ? null : false
  }
  return {
    signal,
    operator,
    value: value.text,
    resolved,
    hard: isHardThreshold(threshold),
    gracePeriodMs,
    minReclaim: minReclaim?.text ?? '0',
    met: isMet(),
    margin: observed && resolved !== null ? observed.available - resolved : null,
  }
}

/** A quantity needs no capacity. A percentage that is NaN is never met, like 0. Null: not known, or above any machine's size. */
function resolvedOf({ value }: Threshold, observed: Observation | null) {
  if (!('quantity' in value) && !observed) return null
  const resolved = Math.max(0, quantityNumber(getThresholdQuantity(value, observed?.capacity ?? 0)))
  return Number.isFinite(resolved) ? resolved : null
}
