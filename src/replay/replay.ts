/** All replays of one node. */

import { quantityOrNull } from '#base/go/quantity.ts'
import { amiFamily } from '#facts/eks/node-identity.ts'
import { supportedInput, unsupportedReason } from '#facts/kubelet/features.ts'
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import type { NodeInput } from '#model/input/record.ts'
import {
  type KubeletConfiguration,
  mistakeOf,
  type RunningConfiguration,
} from '#model/kubelet/configuration.ts'
import { messagesOf } from '#model/kubelet/refusal.ts'
import { asItIs, type Fill, type WhatIf } from '#model/plan.ts'
import type {
  ContainerRemoval,
  EvictionPrediction,
  FilesystemState,
  ImageGcPrediction,
  NodePrediction,
  TimelineEvent,
  Unknown,
} from '#model/prediction.ts'
import {
  type ThresholdOriginsInput,
  thresholdOrigins,
  unparsedDurations,
  withConfigurationOnDisk,
  withOrigins,
} from '#replay/configuration/configuration-on-disk.ts'
import type { EvictionConfig } from '#replay/eviction/thresholds.ts'
import { withChanges } from './configuration/configuration-change.ts'
import { type ContainerGcPrediction, deadContainers } from './container-gc.ts'
import {
  type Collectable,
  evaluatedThresholds,
  evictionConfigOf,
  type PredictedPass,
  predictEviction,
  rankingsOf,
  unparsedPass,
} from './eviction/prediction.ts'
import type { StorageLimitExceeded } from './eviction/victims.ts'
import type { RemovedContainer, RemovedContainers } from './image-gc/bounds.ts'
import { type ImageGcPolicy, imageGcPolicyOf } from './image-gc/policy.ts'
import { predictDeleteUnusedImages, predictImageGc } from './image-gc.ts'
import { kubeletUpgrade, nextStartOn, refusalsOn, withKubelet } from './kubelet-upgrade.ts'
import { unusableBytes } from './ledger/freeable.ts'
import { nodeLedger } from './ledger/ledger.ts'
import { oomScores } from './oom-score.ts'
import { overRequested, predictAllocatable, withPodsLimit } from './predict-allocatable.ts'
import { predictTimeline } from './predict-timeline.ts'
import { type PreparedNode, prepareNode } from './prepare.ts'
import { availableOf, countOf } from './times.ts'

/**
 * Never throws. Unknown values are null in the prediction and listed in its `unknowns`.
 *
 * @param takenAt the snapshot's time, for a record without its own
 * @param prepare of `openPreparing`, for a node that is replayed again
 */
export function replay(
  input: NodeInput,
  takenAt: string,
  whatIf: WhatIf = asItIs,
  prepare: typeof prepareNode = prepareNode,
): NodePrediction {
  const { kubelet } = whatIf
  const configured = withConfigurationOnDisk(
    supportedInput(kubelet === undefined ? input : withKubelet(input, kubelet)),
  )
  const unknowns: Unknown[] = [...configured.unknowns]
  const changed = inputAfterStart(configured.input, whatIf)
  const node = prepare(changed, takenAt, whatIf.at, configured.input)
  if (!node.features.exact) {
    unknowns.push({
      what: 'node.status.nodeInfo.kubeletVersion',
      effect:
        unsupportedReason(node.kubeletVersion) ??
        `the rules of 1.${node.features.rulesOfMinor} were applied`,
    })
  }
  const configuration = configurationOf(changed.configuration, unknowns)
  nameUnobserved(node, unknowns)

  const { prediction: containers } = node.containerGc()
  unknowns.push(...node.containerGc().unknowns)
  const settings = configuration && settingsOf(configuration, node)
  if (configuration && !settings?.imageGc) {
    unknowns.push({
      what: 'imageGC.thresholds',
      part: 'imageGC',
      effect: 'the image GC fields of configz cannot be read: when image GC runs is not known',
    })
  }
  const pass = settings && predictPass(node, settings, containers, unknowns)
  const allocatable = allocatableOf(node, configuration, unknowns)
  const nextStart = nextStartOn(node.input.node, node.host, node)
  const prediction: NodePrediction = {
    cluster: input.cluster,
    node: node.name,
    kubeletVersion: node.kubeletVersion,
    at: node.at,
    filesystems: node.filesystems,
    imageGC: pass?.imageGC ?? null,
    eviction:
      pass &&
      configuration &&
      evictionOf(node, configuration, settings, pass.eviction, {
        isOnDisk: configured.isOnDisk,
        settings: nextStart.prediction?.settings ?? null,
      }),
    containerGC: containers && { removals: containers.periodic.removals },
    ...(settings ? localStorageOf(node, settings) : { localStorageEvictions: null }),
    oomScores: oomScoresOf(node, unknowns),
    ...allocatable,
    nextStart: nextStart.prediction,
    ledger: null,
    unknowns: [],
  }
  prediction.ledger = nodeLedger(node, prediction)
  if (configured.isOnDisk && configuration) prediction.configurationOnDisk = configuration
  if (whatIf.changes.length > 0 && configuration)
    prediction.refusals = messagesOf(refusalsOn(changed, node.kubeletVersion))
  if (kubelet !== undefined) prediction.upgrade = kubeletUpgrade(input, takenAt, kubelet)
  if (whatIf.fills.length > 0) {
    prediction.timeline = predictTimeline(node, settings, whatIf, unknowns)
  }
  prediction.unknowns = distinctUnknowns([
    ...unknowns,
    ...nextStart.unknowns.map(unknown => ({ ...unknown, part: 'nextStart' as const })),
  ])
  return prediction
}

function evictionOf(
  node: PreparedNode,
  configuration: KubeletConfiguration,
  { eviction }: Settings,
  pass: PredictedPass,
  { isOnDisk, settings }: Pick<ThresholdOriginsInput, 'isOnDisk' | 'settings'>,
): EvictionPrediction {
  const { kubeletVersion, operatingSystem, host, input } = node
  const osImage = input.node.status?.nodeInfo?.osImage ?? ''
  const origins = thresholdOrigins({
    configuration,
    kubeletVersion,
    operatingSystem,
    amiFamily: amiFamily(osImage),
    host,
    settings,
    isOnDisk,
  })
  return {
    ...pass,
    thresholds: withOrigins(pass.thresholds, origins),
    lost: origins.lost,
    rankings: typeof eviction === 'string' ? [] : rankingsOf(node, eviction),
  }
}

/** A configuration parsed once, to be replayed on any number of nodes of that version. */
export interface Settings {
  /** Null: the image GC fields cannot be parsed. */
  imageGc: ImageGcPolicy | null
  /** A text: upstream's error, because the eviction maps do not parse. */
  eviction: EvictionConfig | string
}

export const settingsOf = (configuration: KubeletConfiguration, node: PreparedNode): Settings => ({
  imageGc: imageGcPolicyOf(configuration, node.kubelet),
  eviction: evictionConfigOf(configuration, node),
})

/** Image GC and one eviction pass, each from the node as read. Comparisons of settings use this. */
export function predictPass(
  node: PreparedNode,
  { imageGc, eviction }: Settings,
  containers: ContainerGcPrediction | null,
  unknowns: Unknown[],
): { imageGC: ImageGcPrediction | null; eviction: PredictedPass } {
  const predicted =
    imageGc && predictImageGc(imageGc, imageGcFilesystem(node), node.images, node.kubelet)
  if (predicted) unknowns.push(...predicted.unknowns)
  return {
    imageGC: predicted?.prediction ?? null,
    eviction:
      typeof eviction === 'string'
        ? unparsedPass(eviction, node)
        : predictEviction(
            node,
            eviction,
            collectableOf(node, imageGc, containers, unknowns),
            unknowns,
          ),
  }
}

/** What garbage collection for eviction would remove: dead containers, then the images that only those containers used. */
function collectableOf(
  node: PreparedNode,
  imageGc: ImageGcPolicy | null,
  containers: ContainerGcPrediction | null,
  unknowns: Unknown[],
): Collectable {
  const removed = removedContainers(node, containers)
  // Log directories of deleted pods are removed together with the containers.
  const isContainerFree =
    containers !== null &&
    [...containers.underEviction.removals, ...containers.underEviction.possible].every(
      ({ id }) => node.removedSince.get(id)?.isSure === true,
    ) &&
    areFlagsKnown(node) &&
    areLogsKnown(node)
  let images: ReturnType<typeof predictDeleteUnusedImages> | null = null
  const deletions = () => {
    if (!imageGc) return null
    if (!images) {
      images = predictDeleteUnusedImages(imageGc, node.imagesWithout(removed))
      unknowns.push(...images.unknowns)
    }
    return images.prediction.deletions
  }
  return {
    deletions,
    mayRemove: (kinds: readonly ReclaimKind[]) =>
      kinds.some(kind =>
        kind === 'containers'
          ? !isContainerFree
          : deletions()?.length !== 0 || !node.images.isComplete,
      ),
  }
}

/** If the runtime or the flags of container GC were not read, every dead container is possibly removed, and none certainly. */
function removedContainers(
  node: PreparedNode,
  containers: ContainerGcPrediction | null,
): RemovedContainers {
  const removal = { earliestMs: node.atMs, latestMs: node.atMs }
  const removalEntries = (ids: string[], isSure: boolean): [string, RemovedContainer][] =>
    ids.map(id => [id, { isSure, removal }])
  if (!containers || !areFlagsKnown(node))
    return new Map(removalEntries(deadContainers(node.input), false))
  const idsOf = (removals: readonly ContainerRemoval[]) =>
    removals.filter(({ kind }) => kind === 'container').map(({ id }) => id)
  const { removals, possible } = containers.underEviction
  return new Map([
    ...removalEntries(idsOf(possible), false),
    ...removalEntries(idsOf(removals), true),
  ])
}

const areFlagsKnown = ({ host }: PreparedNode) => host?.kubelet?.commandLine !== undefined
const areLogsKnown = ({ host }: PreparedNode) => host?.podLogDirectories !== undefined

function configurationOf(running: RunningConfiguration | null, unknowns: Unknown[]) {
  const mistake = running && mistakeOf(running)
  if (mistake === null && running) {
    unknowns.push(...unparsedDurations(running.fields))
    return running.fields
  }
  unknowns.push({
    what: mistake ?? 'configz',
    effect:
      'which thresholds the kubelet runs with is not known, so image GC, eviction and allocatable are not',
  })
  return null
}

function nameUnobserved({ filesystems, summary }: PreparedNode, unknowns: Unknown[]) {
  const isUnread = (state: FilesystemState | null) =>
    state === null || state.capacityBytes === null || state.availableBytes === null
  const isDiskRead = !isUnread(filesystems.nodefs) || !isUnread(filesystems.imagefs)
  if (!summary) {
    const effect = isDiskRead
      ? 'what memory, processes and pods use is not known'
      : 'nothing is known of how full the node is'
    unknowns.push({ what: 'summary', effect })
  }
  if (summary || isDiskRead) {
    const nameOf = (inSummary: string, role: string) =>
      summary ? `summary.${inSummary}` : `host.filesystems ${role}`
    if (isUnread(filesystems.nodefs))
      unknowns.push({
        what: nameOf('node.fs', 'nodefs'),
        effect: 'how full nodefs is is not known',
      })
    if (isUnread(filesystems.imagefs))
      unknowns.push({
        what: nameOf('node.runtime.imageFs', 'imagefs'),
        effect: 'how full imagefs is is not known',
      })
  }
  if (filesystems.layout === null) {
    unknowns.push({
      what: 'filesystems.layout',
      effect: 'whether images have a filesystem of their own is not known',
    })
  }
}

/** Upstream takes an absent statistic as 0. A malformed statistic counts as not observed. */
function imageGcFilesystem({ summary, filesystems }: PreparedNode) {
  const stats = summary?.node?.runtime?.imageFs
  const isMalformed = (given: number | undefined, parsed: number | null) =>
    given !== undefined && parsed === null
  const isUnusable =
    isMalformed(stats?.capacityBytes, countOf(stats?.capacityBytes)) ||
    isMalformed(stats?.availableBytes, availableOf(stats?.availableBytes))
  return isUnusable ? null : filesystems.imagefs
}

function localStorageOf(
  node: PreparedNode,
  { eviction }: Settings,
): Pick<NodePrediction, 'localStorageEvictions' | 'nearOwnLimits'> {
  if (!node.pods || !node.summary || !node.layout || typeof eviction === 'string')
    return { localStorageEvictions: null }
  if (!eviction.localStorageCapacityIsolation) return { localStorageEvictions: [] }
  const withPodName = ({ pod: { namespace, name }, ...of }: StorageLimitExceeded) => ({
    namespace,
    name,
    ...of,
  })
  const near = node.nearLimits().map(withPodName)
  return {
    localStorageEvictions: node.overLimits().map(withPodName),
    ...(near.length > 0 && { nearOwnLimits: near }),
  }
}

function oomScoresOf(node: PreparedNode, unknowns: Unknown[]) {
  const { input, pods, activePods, podStats, kubelet } = node
  if (!pods) {
    unknowns.push({
      what: 'pods',
      effect: 'whom the kubelet would evict, and the OOM scores, are not known',
    })
    return null
  }
  const memory = quantityOrNull(input.node.status?.capacity?.memory)?.safeInteger ?? null
  const scores =
    memory === null
      ? [null]
      : podStats.once(['oom', activePods, kubelet, memory], () =>
          activePods.map(pod => oomScores(pod, memory, kubelet)),
        )
  if (!scores.includes(null)) return scores.flatMap(ofPod => ofPod ?? [])
  unknowns.push({ what: 'node.status.capacity.memory', effect: 'the OOM scores are not known' })
  return null
}

function allocatableOf(
  node: PreparedNode,
  configuration: KubeletConfiguration | null,
  unknowns: Unknown[],
): Pick<NodePrediction, 'allocatable' | 'overRequested'> {
  if (!configuration) return { allocatable: null }
  const predicted = predictAllocatable(node.input.node, configuration, node.features)
  unknowns.push(...predicted.unknowns)
  const { allocatable } = predicted
  const over = allocatable && overRequested(node, allocatable)
  return { allocatable, ...(over && over.length > 0 && { overRequested: over }) }
}

/** The node after a start of its kubelet with the changes. */
const inputAfterStart = (input: NodeInput, { changes }: WhatIf) =>
  withPodsLimit(withChanges(input, changes), input.configuration?.fields ?? null)

function distinctUnknowns(unknowns: readonly Unknown[]) {
  const seen = new Set<string>()
  return unknowns.filter(({ what, effect }) => seen.size !== seen.add(`${what}\n${effect}`).size)
}

/* A day of a node whose disks grow, under settings of image GC and eviction that the node does not run with. */

export interface SettingDay {
  /** By the likely course. Null: the disks or the settings are unknown. */
  timeline: TimelineEvent[] | null
  isUnderDiskPressure: boolean
  /** Below the highest eviction threshold of each disk. Null: unknown. */
  unusableBytes: number | null
}

/** @param fields the running configuration with other settings of image GC and eviction */
export function settingDay(
  node: PreparedNode,
  fields: KubeletConfiguration,
  fills: readonly Fill[],
): SettingDay {
  const settings = settingsOf(fields, node)
  const { eviction } = settings
  const { layout } = node.filesystems
  const disks = (layout === 'shared' ? ['nodefs'] : ['nodefs', 'imagefs']) as 'nodefs'[]
  const filesystems = disks.flatMap(filesystem => {
    const capacityBytes = node.filesystems[filesystem]?.capacityBytes ?? null
    return capacityBytes === null ? [] : [{ filesystem, capacityBytes }]
  })
  const isKnown =
    typeof eviction !== 'string' && layout !== null && filesystems.length === disks.length
  return {
    timeline: predictTimeline(node, settings, { fills, isLikelyCourse: true }, []),
    isUnderDiskPressure: node.reported.DiskPressure?.isTrue === true,
    unusableBytes: isKnown
      ? unusableBytes(
          filesystems,
          { thresholds: evaluatedThresholds(eviction, node), error: null },
          layout === 'shared',
        )
      : null,
  }
}
