/**
 * Feature gates of the kubelet from 1.24 to 1.37 by minor: their defaults, and the gates they depend on.
 *
 * `feature-gates.json` lists each gate with its stages (first minor, maturity, default), and the gates that it
 * needs to be on, by the minor from which it needs them. Gates older than 1.24 start at 1.24.
 *
 * Source  the gates that DefaultMutableFeatureGate holds in cmd/kubelet, at the last patch of each minor: pkg/features/kube_features.go
 *         (with defaultKubernetesFeatureGateDependencies) and client_adapter.go (client-go/features);  apiserver/pkg/features;
 *         apiextensions-apiserver/pkg/features;  controller-manager/pkg/features;  component-base logs/api/v1, metrics/features,
 *         zpages/features and featuregate (AllAlpha, AllBeta)
 */

import { oncePerText } from '#base/once.ts'
import history from './feature-gates.json' with { type: 'json' }
import type { KubeletFeatures } from './features.ts'

const { gates: gateHistory, dependencies: gateDependencies } = history

export { gateDependencies, gateHistory }

export type Gate = keyof typeof gateHistory

type GateStage = 'alpha' | 'beta' | 'GA' | 'deprecated'

export interface GateState {
  isOn: boolean
  /** The gate's value cannot be changed. */
  isLocked: boolean
  /** AllAlpha and AllBeta switch all gates of their stage. */
  stage: GateStage
}

const entryForm = /^1\.(\d+) (?:gone|(alpha|beta|GA|deprecated) (on|off)( locked)?)$/

/** The gate's state in this minor; null: the minor has no such gate. */
export const gateState = (name: string, { rulesOfMinor }: KubeletFeatures): GateState | null =>
  statesOf(String(rulesOfMinor)).get(name) ?? null

const statesOf = oncePerText(
  minor =>
    new Map(
      Object.entries(gateHistory).map(([gate, history]) => [gate, stateIn(history, Number(minor))]),
    ),
)

function stateIn(history: string, minor: number) {
  let state: GateState | null = null
  for (const entry of history.split(', ')) {
    const [, since, stage, value, lock] = entryForm.exec(entry) ?? []
    if (since === undefined)
      throw new Error(`feature-gates.json: ${JSON.stringify(entry)} is no stage of a gate`)
    if (Number(since) > minor) break
    state =
      stage === undefined
        ? null
        : { isOn: value === 'on', isLocked: lock !== undefined, stage: stage as GateStage }
  }
  return state
}

/** Whether the gate was removed after GA, so that its feature is always on. */
export function isFixedOn(gate: Gate, { rulesOfMinor }: KubeletFeatures): boolean {
  const [, goneIn] = /GA on(?: locked)?, 1\.(\d+) gone$/.exec(gateHistory[gate]) ?? []
  return goneIn !== undefined && Number(goneIn) <= rulesOfMinor
}

export interface GateDependency {
  gate: string
  /** Gates that must be on if `gate` is on. */
  needs: readonly string[]
}

export const dependenciesOfGates = ({ rulesOfMinor }: KubeletFeatures): readonly GateDependency[] =>
  dependenciesIn(String(rulesOfMinor))

const dependenciesIn = oncePerText(minor =>
  Object.entries(gateDependencies)
    .map(([gate, history]) => ({ gate, needs: needsIn(history, Number(minor)) }))
    .filter(({ needs }) => needs.length > 0),
)

function needsIn(history: string, minor: number) {
  let needs: string[] = []
  for (const entry of history.split(', ')) {
    const [since = '', ...gates] = entry.split(' ')
    if (Number(since.slice(2)) > minor) break
    needs = gates
  }
  return needs
}

export type GateSettings = Readonly<Record<string, boolean>> | null

/**
 * Whether a gate is on. A gate that this minor does not have is off, unless it is set.
 * Upstream: component-base/featuregate/feature_gate.go unsafeSetFromMap, setUnsetAlphaGates, setUnsetBetaGates
 */
export function isGateOn(gate: string, settings: GateSettings, features: KubeletFeatures): boolean {
  const own = settingOf(gate, settings)
  if (own !== undefined) return own
  const state = gateState(gate, features)
  if (!state) return false
  const ofStage = stageSwitch[state.stage] ?? null
  // AllAlpha and AllBeta are themselves gates of these stages, but do not switch each other.
  const isSwitched = ofStage !== null && gate !== 'AllAlpha' && gate !== 'AllBeta'
  return (isSwitched ? settingOf(ofStage, settings) : undefined) ?? state.isOn
}

const stageSwitch: Partial<Record<GateState['stage'], string>> = {
  alpha: 'AllAlpha',
  beta: 'AllBeta',
}

function settingOf(gate: string, settings: GateSettings) {
  const value = settings && Object.hasOwn(settings, gate) ? settings[gate] : undefined
  return typeof value === 'boolean' ? value : undefined
}
