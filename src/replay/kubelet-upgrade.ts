/**
 * What another kubelet minor changes on a node: whether it starts with the node's files and flags, its settings, and the eviction
 * order.
 */
import { type Gate, gateHistory, isFixedOn, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import type { NodeInput } from '#model/node-input.ts'
import type {
  ChangedSetting,
  KubeletUpgrade,
  NextStartPrediction,
  Signal,
} from '#model/prediction.ts'
import { refusalsOf } from './configuration/configuration-change.ts'
import { predictNextStart } from './configuration/next-start.ts'
import { evictionConfigOf, rankingsOf } from './eviction/prediction.ts'
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
  const before = predictNextStart(host, from, operatingSystem).prediction
  const after = predictNextStart(host, to, operatingSystem).prediction
  return {
    from,
    to,
    errors: [
      ...(after?.errors ?? refusalsOf(input.configuration, { kubeletVersion: to })),
      ...removedFlags(host?.kubelet?.commandLine ?? [], to),
    ],
    isFromFiles: after !== null,
    changedSettings: changedSettings(before, after),
    changedGates: changedGates(node, to),
    changedOrders: changedOrders(node, prepareNode(withKubelet(input, to), takenAt, null)),
  }
}

/** Null: pods or their statistics were not read. */
function changedOrders(before: PreparedNode, after: PreparedNode): Signal[] | null {
  const [old, now] = [orders(before), orders(after)]
  if (old === null || now === null) return null
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

const sandboxFlag = 'pod-infra-container-image'

/** Flags that the new minor removed (in 1.35). An unknown flag ends the kubelet. Upstream: cmd/kubelet/app/options/options.go AddFlags. */
const removedFlags = (commandLine: readonly string[], to: string): string[] =>
  featuresOf(to).has('sandboxImageFlagRemoved') && flagValue(commandLine, sandboxFlag) !== null
    ? [`failed to parse kubelet flag: unknown flag: --${sandboxFlag}`]
    : []

function changedSettings(
  before: NextStartPrediction | null,
  after: NextStartPrediction | null,
): ChangedSetting[] {
  if (!before?.settings || !after?.settings) return []
  const old = new Map(Object.entries(before.settings.configuration))
  const now = new Map(Object.entries(after.settings.configuration))
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap(field => {
    const setting = { field, before: old.get(field) ?? null, after: now.get(field) ?? null }
    const isSame = JSON.stringify(setting.before) === JSON.stringify(setting.after)
    return isSame ? [] : [setting]
  })
}

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
