/**
 * What another kubelet minor changes on a node: whether it starts with the node's files and flags, its settings, and the eviction
 * order.
 */

import { leavesOf } from '#base/raw-object.ts'
import { cgroupVersionOfFamily } from '#facts/eks/ami-defaults.ts'
import { amiFamily } from '#facts/eks/node-identity.ts'
import { type Gate, gateHistory, isFixedOn, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import { behaviorsBetween, flagsRemovedBy, unknownFlagError } from '#facts/kubelet/minor-changes.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeIdentity, NodeInput } from '#model/input/record.ts'
import { messagesOf, type Refusal } from '#model/kubelet/refusal.ts'
import type { ChangedSetting, KubeletUpgrade, Signal, StartSettings } from '#model/prediction.ts'
import { refusalsOf } from './configuration/configuration-change.ts'
import { configzOf, loadConfigFile } from './configuration/configuration-file.ts'
import { type NextStart, predictNextStart } from './configuration/next-start.ts'
import { evictionConfigOf, rankingsOf } from './eviction/prediction.ts'
import { predictAllocatable } from './predict-allocatable.ts'
import { type PreparedNode, prepareNode } from './prepare.ts'

/** The same input, with that kubelet version. */
export const withKubelet = (input: NodeInput, kubeletVersion: string): NodeInput => ({
  ...input,
  node: {
    ...input.node,
    status: { ...input.node.status, nodeInfo: { ...input.node.status?.nodeInfo, kubeletVersion } },
  },
})

/**
 * @param input the node as it is
 * @param takenAt the snapshot's time, for a record without its own
 * @param to a kubelet version, like `v1.35.0`
 */
export function kubeletUpgrade(input: NodeInput, takenAt: string, to: string): KubeletUpgrade {
  const node = prepareNode(input, takenAt, null)
  const { kubeletVersion: from, host, operatingSystem } = node
  const cgroupVersion = host?.kernel?.cgroupVersion ?? cgroupVersionOf(node)
  const kernel = { ...host?.kernel, ...(cgroupVersion !== null && { cgroupVersion }) }
  const start = (read: Host, version: string | null) =>
    predictNextStart({ ...read, kernel }, version, operatingSystem).prediction
  const isFromFiles = host !== null && start(host, from) !== null
  const files = isFromFiles ? host : assumedHost(node)
  const [before, after] = [start(files, from), start(files, to)]
  // The running kubelet took its configuration, so an error of its own minor is one of the assumed file.
  const assumed = isFromFiles ? [] : (before?.errors ?? [])
  return {
    from,
    to,
    errors: [
      ...(after?.errors ?? []).filter(error => !assumed.includes(error)),
      ...removedFlags(host?.kubelet?.commandLine ?? [], to),
    ],
    basis: isFromFiles ? 'files' : after && 'configz',
    changedSettings: changedSettings(before?.settings, after?.settings).filter(
      ({ field }) =>
        field !== 'failCgroupV1' || (cgroupVersion === null && operatingSystem === 'linux'),
    ),
    changedBehaviors: behaviorsBetween(from, to),
    changedGates: changedGates(node, to),
    changedOrders: changedOrders(node, prepareNode(withKubelet(input, to), takenAt, null)),
  }
}

const cgroupVersionOf = ({ input }: PreparedNode): number | null =>
  cgroupVersionOfFamily(amiFamily(input.node.status?.nodeInfo?.osImage ?? ''))

/** A node whose file sets what its running configuration sets beyond the defaults. Without a configuration the node has no file. */
function assumedHost({ input, host, kubeletVersion, operatingSystem }: PreparedNode): Host {
  const printed = Object.entries(input.configuration?.printed ?? {})
  const commandLine = host?.kubelet?.commandLine ?? []
  if (printed.length === 0) return { kubelet: { commandLine } }
  const defaults = configzOf(
    loadConfigFile({}, { kubeletVersion, operatingSystem }),
    featuresOf(kubeletVersion),
  )
  const content = Object.fromEntries(
    printed.filter(([field, value]) => sortedText(value) !== sortedText(defaults[field])),
  )
  const path = flagValue(commandLine, 'config') ?? 'the running configuration'
  return { kubelet: { commandLine, files: [{ path, role: 'config', content }] } }
}

/** Null: pods or their statistics were not read. */
function changedOrders(before: PreparedNode, after: PreparedNode) {
  const [old, now] = [orders(before), orders(after)]
  if (!old || !now) return null
  return [...now]
    .filter(([signal, order]) => (old.get(signal) ?? order) !== order)
    .map(([signal]) => signal)
}

/** The eviction order as text, by signal. */
function orders(node: PreparedNode): ReadonlyMap<Signal, string> | null {
  const { configuration } = node.input
  const config = configuration && evictionConfigOf(configuration.fields, node)
  const rankings = config && typeof config !== 'string' ? rankingsOf(node, config) : null
  return (
    rankings &&
    new Map(
      rankings.map(({ signal, pods }) => [
        signal,
        pods.map(({ namespace, name, rank }) => `${rank} ${namespace}/${name}`).join(),
      ]),
    )
  )
}

/** An unknown flag ends the kubelet. */
const removedFlags = (commandLine: readonly string[], to: string) =>
  flagsRemovedBy(to)
    .filter(flag => flagValue(commandLine, flag) !== null)
    .map(unknownFlagError)

function changedSettings(
  before: StartSettings | null | undefined,
  after: StartSettings | null | undefined,
): ChangedSetting[] {
  if (!before || !after) return []
  const [old, now] = [before, after].map(
    ({ configuration }) => new Map(leavesOf({ ...configuration })),
  )
  return [...new Set([...old!.keys(), ...now!.keys()])].sort().flatMap(field => {
    const setting = { field, before: old!.get(field) ?? null, after: now!.get(field) ?? null }
    const isSame = JSON.stringify(setting.before) === JSON.stringify(setting.after)
    // A new field that is off changes nothing.
    const isNewAndOff = setting.before === null && setting.after === false
    return isSame || isNewAndOff ? [] : [setting]
  })
}

/** Equal for maps whose keys are in another order. */
const sortedText = (value: unknown) => JSON.stringify(leavesOf({ value }))

/** All gates of the kubelet are compared: the replay, or a user, might depend on any of them. */
function changedGates({ features, input }: PreparedNode, to: string): ChangedSetting[] {
  const gates = input.configuration?.fields.featureGates ?? null
  const later = featuresOf(to)
  return (Object.keys(gateHistory) as Gate[]).flatMap(field => {
    const before = isFixedOn(field, features) || isGateOn(field, gates, features)
    const after = isFixedOn(field, later) || isGateOn(field, gates, later)
    return before === after ? [] : [{ field, before, after }]
  })
}

/* Whether the kubelet of one machine starts: with another configuration, or with the files on its disk. */

/**
 * Empty: the node's kubelet would start with the configuration of `input`.
 *
 * @param errorsBefore validation errors with which the kubelet runs: they do not count
 */
export function refusalsOn(
  { node, configuration }: NodeInput,
  kubeletVersion: string | null,
  errorsBefore: () => readonly Refusal[] = () => [],
): Refusal[] {
  if (!configuration) return []
  const errors = refusalsOf(configuration.printed, kubeletVersion)
  const known = () => messagesOf(errorsBefore())
  const added = errors.filter(({ message }) => !known().includes(message))
  if (added.length > 0) return added
  return predictAllocatable(node, configuration.fields, featuresOf(kubeletVersion)).refusals
}

/** The next start with the files of `host`, and the error that depends on the machine: reservations above its capacity. */
export const nextStartOn = (
  node: NodeInput['node'],
  host: Host | null,
  { kubeletVersion, operatingSystem }: Pick<NodeIdentity, 'kubeletVersion' | 'operatingSystem'>,
): NextStart =>
  startOnMachine(predictNextStart(host, kubeletVersion, operatingSystem), node, kubeletVersion)

export function startOnMachine(
  next: NextStart,
  node: NodeInput['node'],
  kubeletVersion: string | null,
): NextStart {
  const { prediction } = next
  const fields = prediction?.settings?.configuration
  if (!prediction || !fields || prediction.errors.length > 0) return next
  const { refusals } = predictAllocatable(node, fields, featuresOf(kubeletVersion))
  return refusals.length === 0
    ? next
    : { ...next, refusals, prediction: { ...prediction, errors: messagesOf(refusals) } }
}
