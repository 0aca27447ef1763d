/** What another kubelet minor changes on a node: whether it starts with the files and flags there, and which settings it then runs with. */
import { type Gate, gateHistory, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import type { NodeInput } from '#model/node-input.ts'
import type { ChangedSetting, KubeletUpgrade, NextStartPrediction } from '#model/prediction.ts'
import { refusalsOf } from './configuration/configuration-change.ts'
import { predictNextStart } from './configuration/next-start.ts'
import type { PreparedNode } from './prepare.ts'

/** The input of a node on which that kubelet runs. */
export const withKubelet = (input: NodeInput, kubeletVersion: string): NodeInput => ({
  ...input,
  node: {
    ...input.node,
    status: { ...input.node.status, nodeInfo: { ...input.node.status?.nodeInfo, kubeletVersion } },
  },
})

/** @param node as it is */
export function kubeletUpgrade(node: PreparedNode, to: string): KubeletUpgrade {
  const { kubeletVersion: from, host, operatingSystem, input } = node
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
  }
}

const sandboxFlag = 'pod-infra-container-image'

/** Upstream: cmd/kubelet/app/options/options.go AddFlags. Removed in 1.35; an unknown flag ends the kubelet. */
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

/** Gates that the replay, or a user, may care about are all those of the kubelet. */
function changedGates({ features, input }: PreparedNode, to: string): ChangedSetting[] {
  const gates = input.configuration?.fields.featureGates ?? null
  const later = featuresOf(to)
  return (Object.keys(gateHistory) as Gate[]).flatMap(field => {
    const before = isGateOn(field, gates, features)
    const after = isGateOn(field, gates, later)
    return before === after ? [] : [{ field, before, after }]
  })
}
