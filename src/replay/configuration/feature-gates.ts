/**
 * Feature gates that a configuration sets.
 *
 * Replays       component-base/featuregate/feature_gate.go  SetFromMap, unsafeSetFromMap
 * Read at       1.29 to 1.37; since 1.31 the error names all refused gates, since 1.35 a gate that is on needs its dependencies
 * Kept exactly  AllAlpha and AllBeta switch the gates of that stage, except gates set by name; an unknown gate hides the
 *               other errors
 * Left out      emulated versions, which no flag of the kubelet sets; the order of errors: by name here, any upstream
 */
import {
  dependenciesOfGates,
  type GateSettings,
  gateState,
  isGateOn,
} from '#facts/kubelet/feature-gates.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'

/** Upstream's error. Null: every gate is known, none is locked to another value, and enabled gates have their dependencies. */
export function featureGateError(settings: GateSettings, features: KubeletFeatures): string | null {
  const set = Object.entries(settings ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const unknown = set.find(([name]) => gateState(name, features) === null)
  if (unknown) return `unrecognized feature gate: ${unknown[0]}`
  const locked = set.flatMap(([name, value]) => {
    const state = gateState(name, features)
    return state?.isLocked && state.isOn !== value
      ? [`cannot set feature gate ${name} to ${value}, feature is locked to ${state.isOn}`]
      : []
  })
  if (locked.length > 0)
    return features.has('allGateErrorsNamed') ? aggregate(locked) : (locked[0] ?? null)
  const missing = dependenciesOfGates(features).flatMap(({ gate, needs }) => {
    const disabled = isGateOn(gate, settings, features)
      ? needs.filter(need => !isGateOn(need, settings, features))
      : []
    return disabled.length > 0
      ? [`${gate} is enabled, but depends on features that are disabled: [${disabled.join(' ')}]`]
      : []
  })
  return missing.length > 0 ? aggregate(missing) : null
}

/** Upstream: utilerrors.Aggregate. */
const aggregate = (errors: readonly string[]) =>
  errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`
