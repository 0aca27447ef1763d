/** Whether a kubelet starts with a change, and whether the start changes nothing else. */

import { once } from '#base/once.ts'
import { mapOf, mergedValue, type RawObject } from '#base/raw-object.ts'
import { byText, firstNames } from '#base/text.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { type FieldFacts, fieldOf, isKnownField, meaningOf } from '#facts/kubelet/fields.ts'
import { fieldValues, shownSetting } from '#judge/drift/drift.ts'
import { runningMeaning, startFact } from '#judge/drift/layers.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeIdentity, NodeInput } from '#model/input/record.ts'
import { type KubeletConfiguration, mistakeOf } from '#model/kubelet/configuration.ts'
import { configurationStructs } from '#model/kubelet/fields.ts'
import { messagesOf } from '#model/kubelet/refusal.ts'
import type { ConfigurationChange } from '#model/plan.ts'
import type { NextStartPrediction, NodePrediction } from '#model/prediction.ts'
import { refusalsOf, withChanges } from '#replay/configuration/configuration-change.ts'
import { nextStartOn, refusalsOn } from '#replay/kubelet-upgrade.ts'

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
export function reservationTrap(running: RawObject, patch: RawObject): string | null {
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
export function invalidOf(node: ReadNode, patch: RawObject): string | null {
  const { record } = node
  const { kubeletVersion } = node.identity
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

const fieldsOf = ({ configuration }: NodeInput) => configuration?.fields ?? {}

/**
 * Changes of the running configuration after the restart. Returns the reason as text if the change cannot be planned.
 * @param host has the planned files; the record has the present files
 */
export function startOf(
  node: ReadNode,
  patch: RawObject,
  host: Host,
): ConfigurationChange[] | string {
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
  const wanted = fieldsOf(withChanges(record, changes))
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
