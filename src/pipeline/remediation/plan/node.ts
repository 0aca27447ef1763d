/** Plans the configuration of one node: checks it, predicts what the kubelet does with it, and decides which file is written. */

import { once } from '#base/once.ts'
import {
  leavesOf,
  mapOf,
  mergedValue,
  patchBetween,
  type RawObject,
  valueAt,
} from '#base/raw-object.ts'
import { byText, firstNames } from '#base/text.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { type FieldFacts, fieldOf, isKnownField, meaningOf } from '#facts/kubelet/fields.ts'
import { keepsContainerStatus } from '#facts/kubelet/restart.ts'
import { fieldValues, shownSetting } from '#judge/drift/drift.ts'
import { runningMeaning, startFact } from '#judge/drift/layers.ts'
import { shorten } from '#judge/text.ts'
import type { Host } from '#model/input/inspection.ts'
import type { ClusterRecord, NodeIdentity, NodeInput } from '#model/input/record.ts'
import { type KubeletConfiguration, mistakeOf } from '#model/kubelet/configuration.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'
import { messagesOf } from '#model/kubelet/refusal.ts'
import { actsAtOnce, type ConfigurationChange, type ExpectedSetting } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { NextStartPrediction, NodePrediction } from '#model/prediction.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import type { FleetPods } from '#remediate/pods.ts'
import { setKubeletConfig } from '#remediate/remedies/set-kubelet-config.ts'
import { kubeletStartedAt, otherSettings } from '#remediate/verify/verify.ts'
import { refusalsOf, withChanges } from '#replay/configuration/configuration-change.ts'
import { nextStartOn, refusalsOn } from '#replay/kubelet-upgrade.ts'
import { replay } from '#replay/replay.ts'
import type { NodeOutcome } from './builder.ts'
import type { PlannedNode } from './effect.ts'
import { actWords, pullsOf, stateOf, whyUnsure } from './state.ts'

/* Whether a kubelet starts with a change, and whether the start changes nothing else. */

/** A node of the snapshot. */
export interface ReadNode {
  record: NodeInput
  takenAt: string
  identity: NodeIdentity
  /** KubeletConfiguration as it runs; null: not read. */
  running: RawObject | null
  releaseVersion: string | null
  /** Of the record, replayed when it is first asked for. */
  prediction: () => NodePrediction
}

/** The fields of a patch with their resulting values. */
export const changesOf = (patch: RawObject, { running }: ReadNode): ConfigurationChange[] =>
  Object.entries(patch).map(([field, value]) => ({
    path: [field],
    value: mergedValue(running?.[field], value) ?? undefined,
  }))

/**
 * Static CPU and memory managers keep a state that must match the reservations, else the next start fails.
 * Upstream: pkg/kubelet/cm/cpumanager/policy_static.go validateState; pkg/kubelet/cm/memorymanager/memory_manager.go validateReservedMemory
 */
function reservationTrap(running: RawObject, patch: RawObject): string | null {
  const patchHasKey = (field: string, key: string) => Object.hasOwn(mapOf(patch[field]), key)
  const isReserved = (key: string) =>
    patchHasKey('kubeReserved', key) || patchHasKey('systemReserved', key)
  if (running.cpuManagerPolicy === 'static' && isReserved('cpu'))
    return 'its CPU manager is static: the state that it keeps would not fit other reservations, and the kubelet would not start'
  if (
    /^static$/i.test(String(running.memoryManagerPolicy ?? '')) &&
    (isReserved('memory') || patchHasKey('evictionHard', 'memory.available'))
  )
    return 'its memory manager is static: reservedMemory has to be the sum of the reservations and the threshold, or the kubelet would not start'
  return null
}

/** The kubelet's error if it would not start; null: it starts. */
function invalidOf(node: ReadNode, patch: RawObject): string | null {
  const { record, identity } = node
  const { kubeletVersion } = identity
  const features = featuresOf(kubeletVersion)
  const fields: Readonly<Record<string, FieldFacts>> = configurationStructs.KubeletConfiguration
  const unknown = Object.keys(patch).find(
    field => fields[field] === undefined || !isKnownField(fields[field], features),
  )
  if (unknown !== undefined) return `it does not know ${unknown}, and would ignore it`
  const changed = withChanges(record, changesOf(patch, node))
  const before = once(() => refusalsOf(record.configuration?.printed ?? null, kubeletVersion))
  const refusals = refusalsOn(changed, kubeletVersion, before)
  if (refusals.length > 0) return messagesOf(refusals).join('; ')
  return changed.configuration && mistakeOf(changed.configuration)
}

/**
 * Changes of the running configuration after the restart. Returns the reason as text if the change cannot be planned.
 * @param host has the planned files; the record has the present files
 */
function startOf(node: ReadNode, patch: RawObject, host: Host): ConfigurationChange[] | string {
  const { record, identity } = node
  const changes = changesOf(patch, node)
  // Bottlerocket renders its settings anew with each change, so the restart changes nothing else.
  if (identity.amiFamily === 'Bottlerocket') return changes
  const next = nextStartOn(record.node, host, identity)
  const why =
    whyNoStart(next.prediction) ??
    (next.prediction ? null : (next.unknowns[0]?.effect ?? 'its files were not read'))
  if (why !== null) return why
  // With mergeDefaultEvictionSettings the kubelet adds the defaults to the map evictionHard.
  const evictionHard = next.prediction?.settings?.configuration.evictionHard
  if (Object.hasOwn(patch, 'mergeDefaultEvictionSettings') && !Object.hasOwn(patch, 'evictionHard'))
    changes.push({ path: ['evictionHard'], value: evictionHard })
  const wanted = withChanges(record, changes).configuration?.fields ?? {}
  const differing = differences(next.prediction, wanted, identity)
  const ofPatch = differing.find(path => Object.hasOwn(patch, fieldOf(path)))
  const said = ofPatch === undefined ? undefined : next.prediction?.settings?.said[ofPatch]?.at(-1)
  if (ofPatch !== undefined)
    return `${ofPatch} would still not be as wanted: ${said ? `${said.where} says` : 'its files come to'} ${shownAt(ofPatch, next.prediction)}`
  if (differing.length === 0) return changes
  const shown = differing.map(path => `${path} to ${shownAt(path, next.prediction)}`)
  return `a restart would change more than this: ${firstNames(shown, 5)}. What its files say does not run yet; settle that first`
}

function whyNoStart(prediction: NextStartPrediction | null) {
  if (!prediction) return null
  const [error] = prediction.errors
  if (error !== undefined) return `its kubelet would not start with the files on its disk: ${error}`
  return prediction.settings?.isCommandLineKnown === true
    ? null
    : "the kubelet's command line was not read: a flag may override the files"
}

/** Paths whose value from the files is not the wanted one. With reserved CPUs, CPU reservations are left out: the kubelet changes them. */
function differences(
  nextStart: NextStartPrediction | null,
  wanted: KubeletConfiguration,
  identity: NodeIdentity,
) {
  const start = startFact(nextStart)
  if (!start) return []
  const expected = fieldValues(wanted, identity)
  const isEdited = (path: string) =>
    Boolean(wanted.reservedSystemCPUs) && /^(kube|system)Reserved\.cpu$/.test(path)
  return [...new Set([...Object.keys(expected), ...Object.keys(start.comesTo)])]
    .filter(
      path =>
        !isEdited(path) &&
        meaningOf(path, start.comesTo[path], identity.kubeletVersion) !==
          runningMeaning(expected, path),
    )
    .sort(byText)
}

const shownAt = (path: string, nextStart: NextStartPrediction | null) =>
  shownSetting(startFact(nextStart)?.comesTo[path])

export interface PlanRules {
  policy: Policy
  allowActAtOnce: boolean
  fleet: FleetPods
}

export const noInstance = 'the Node object names no instance that SSM would know'

export const refusedNode = (why: string, because?: 'invalid' | 'unread'): NodeOutcome => ({
  state: 'refused',
  why: shorten(why, 1000),
  ...(because !== undefined && { because }),
})

/** A refusal by a remedy. If too little of the node was read, it contains the read error. */
export function refusedChange(
  { refused: why, isUnread }: { refused: string; isUnread?: true },
  { errors = [] }: NodeInput,
): NodeOutcome {
  if (!isUnread) return refusedNode(why)
  const failed = errors.find(({ what }) => what === 'host' || what === 'runtime')
  return refusedNode(`${why}${failed ? `: ${failed.message}` : ' (mode ssm or both)'}`, 'unread')
}

export function planNode(node: ReadNode, patch: RawObject, rules: PlanRules): NodeOutcome {
  const { record, takenAt, identity, running } = node
  if (!running) return refusedNode('its running configuration was not read', 'unread')
  const features = featuresOf(identity.kubeletVersion)
  if (!features.exact)
    return refusedNode(
      `what a kubelet ${identity.kubeletVersion ?? 'of unknown version'} would refuse is not known here`,
    )
  const trap = reservationTrap(running, patch)
  if (trap !== null) return refusedNode(trap)
  const invalid = invalidOf(node, patch)
  if (invalid !== null)
    return refusedNode(
      `kubelet ${identity.kubeletVersion} would not start with it: ${invalid}`,
      'invalid',
    )
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refusedNode(noInstance)

  const osImage = record.node.status?.nodeInfo?.osImage ?? ''
  const { host } = record
  const change = setKubeletConfig(
    { identity, osImage, releaseVersion: node.releaseVersion, host, running },
    patch,
  )
  if ('refused' in change) return refusedChange(change, record)
  const changes = startOf(node, patch, change.host)
  if (typeof changes === 'string') return refusedNode(changes)

  const before = stateOf(record, node.prediction(), rules.policy)
  // At its restart the kubelet forgets when it first saw each image and when each image was last used.
  const changedRecord = withChanges({ ...record, host: withoutFiles(host), known: null }, changes)
  const prediction = replay(changedRecord, takenAt)
  const after = stateOf(changedRecord, prediction, rules.policy)
  const unsure = whyUnsure(patch, prediction)
  if (!rules.allowActAtOnce && unsure !== null) return refusedNode(unsure)
  const acting = (after.evictsNow ?? []).filter(signal => !before.evictsNow?.includes(signal))
  if (!rules.allowActAtOnce && actsAtOnce({ before, after }))
    return refusedNode(
      `it would act at once on what is there now: ${acting.map(signal => actWords(signal, prediction)).join('; ')} (kubernetes#83612). Make room first, or ask for it with --allow-act-at-once`,
    )
  const { host: _host, staysSet = [], says, ...file } = change
  const expect = expectedOf(changes, running)
  return {
    state: 'planned',
    planned: {
      change: file,
      instanceId,
      expect,
      expectBack: expect
        .filter(({ field }) => !staysSet.includes(field))
        .map(({ field }) => ({ field, value: valueAt(running, field) ?? null })),
      others: otherSettings(record, expect),
      kubeletStartedAt: kubeletStartedAt(record),
      before,
      after,
      blast: rules.fleet.blastOf(record, isStatusKept(running, features)),
      pulls: pullsOf(prediction),
      ...(says !== undefined && { says }),
      ...healthOf(record, identity),
    },
  }
}

/**
 * A change that leaves the kubelet alone: it does the same before and after, but that it does not delete a pinned image.
 * @param value of the changed place, as a reading of the node shows it
 */
export function plannedFile(
  node: ReadNode,
  planned: Pick<PlannedNode, 'change' | 'instanceId' | 'says'>,
  value: { before: unknown; after: unknown },
  { policy }: PlanRules,
): NodeOutcome {
  const { record, identity } = node
  const state = stateOf(record, node.prediction(), policy)
  const field = planned.change.path
  return {
    state: 'planned',
    planned: {
      kubeletStartedAt: null,
      before: state,
      after: state,
      blast: null,
      pulls: [],
      ...healthOf(record, identity),
      ...planned,
      expect: [{ field, value: value.after }],
      expectBack: [{ field, value: value.before }],
    },
  }
}

/** The node's health, which together with its pods decides the wave. */
const healthOf = ({ node }: NodeInput, { ready }: NodeIdentity) => ({
  isReady: ready === 'True',
  hasPressure: (node.status?.conditions ?? []).some(
    ({ type, status }) => /Pressure$/.test(type ?? '') && status === 'True',
  ),
})

/** The result of the files is known already, and loading them again would take most of the time. */
export const withoutFiles = (host: Host | null): Host | null =>
  host?.kubelet ? { ...host, kubelet: { ...host.kubelet, files: [] } } : host

/** Whether ready containers stay ready during a restart of this kubelet. */
export const isStatusKept = (running: RawObject, features: KubeletFeatures) =>
  keepsContainerStatus(features, mapOf(running.featureGates))

function expectedOf(
  changes: readonly ConfigurationChange[],
  running: RawObject,
): ExpectedSetting[] {
  const fields = changes.map(({ path: [field = ''] }) => field)
  const present = Object.fromEntries(
    Object.entries(running).filter(([field]) => fields.includes(field)),
  )
  const wanted = changes.flatMap(({ path: [field = ''], value }) =>
    value === undefined ? [] : [[field, value] as const],
  )
  return leavesOf(patchBetween(present, Object.fromEntries(wanted))).map(([field, value]) => ({
    field,
    value,
  }))
}

export const readNode = (
  given: Pick<ReadNode, 'record' | 'takenAt' | 'identity' | 'releaseVersion'>,
): ReadNode => ({
  ...given,
  running: given.record.configuration?.printed ?? null,
  prediction: once(() => replay(given.record, given.takenAt)),
})

/** Adds the AMI releases of a cluster, by `cluster/nodegroup`. */
export function addReleases(releases: Map<string, string>, { cluster, nodegroups }: ClusterRecord) {
  for (const { nodegroupName, releaseVersion } of Array.isArray(nodegroups) ? nodegroups : [])
    if (typeof nodegroupName === 'string' && typeof releaseVersion === 'string')
      releases.set(`${cluster}/${nodegroupName}`, releaseVersion)
}
