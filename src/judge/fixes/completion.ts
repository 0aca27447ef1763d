/**
 * Completes a fix so that a kubelet starts with it beside the running configuration. Fields that depend on each other are set together.
 * Fields with which a kubelet would not start are left out, with its error.
 *
 * Follows  pkg/kubelet/cm/cpumanager/cpu_manager.go NewManager. The replay's validation decides all other cases.
 */

import { durationMs } from '#base/go/duration.ts'
import { isRawObject, mapOf, type RawObject, withoutKeys } from '#base/raw-object.ts'
import { valueMistakes } from '#facts/kubelet/configuration-values.ts'
import { configurationDefaults, meaningOf } from '#facts/kubelet/fields.ts'
import { shownSetting } from '#judge/drift/drift.ts'
import { shorten } from '#judge/text.ts'
import { messagesOf, type Refusal } from '#model/kubelet/refusal.ts'

/** Why a kubelet would not start with the configuration. */
export type Refusals = (configuration: RawObject, kubeletVersion: string | null) => Refusal[]

/**
 * Completes fixes for one kubelet. Findings share their fixes, and to read a configuration takes 0.15 ms, so each is completed and read once.
 * @param running null: the running configuration is unknown, so defaults are assumed
 */
export function completerFor(
  running: RawObject | null,
  refusalsOf: (configuration: RawObject) => Refusal[],
) {
  const all = { ...configurationDefaults, ...running }
  const refusalsWith = oncePerConfig(config => refusalsOf({ ...all, ...config }))
  return oncePerConfig(config => {
    const fix = new Draft(config, all, refusalsWith)
    for (const step of steps) step(fix)
    return { config: fix.config, refused: fix.refused }
  })
}

function oncePerConfig<Value>(compute: (config: RawObject) => Value): (config: RawObject) => Value {
  const known = new Map<string, Value>()
  return config => {
    const key = JSON.stringify(config)
    const value = known.get(key) ?? compute(config)
    known.set(key, value)
    return value
  }
}

/** Related fields. The kubelet refuses or ignores one field of a list without the others. */
export const companions: readonly (readonly string[])[] = [
  ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
  ['evictionSoft', 'evictionSoftGracePeriod'],
  ['maxParallelImagePulls', 'serializeImagePulls'],
  ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'],
  ['imageMaximumGCAge', 'imageMinimumGCAge'],
  ['enforceNodeAllocatable', 'kubeReservedCgroup', 'systemReservedCgroup', 'reservedSystemCPUs'],
]

const bandPercent = 10
const soundGracePeriod = '1m30s'

/** Keeps a text's quotes, because the quotes may be the mistake. */
const shownAsWritten = (value: unknown) =>
  shorten(typeof value === 'string' ? JSON.stringify(value) : shownSetting(value), 60)

class Draft {
  config: RawObject
  readonly running: RawObject
  readonly refused: string[] = []
  readonly #refusalsWith: (config: RawObject) => Refusal[]

  /** @param refusalsWith the errors of a kubelet with fields beside the running ones */
  constructor(config: RawObject, running: RawObject, refusalsWith: Draft['errorsWith']) {
    this.config = { ...config }
    this.running = running
    this.#refusalsWith = refusalsWith
  }

  /** The errors of a kubelet with these fields beside the running ones; not those that it has without them. */
  errorsWith(config: RawObject) {
    const errors = this.#refusalsWith(config)
    if (errors.length === 0) return errors
    const known = messagesOf(this.#refusalsWith({}))
    return errors.filter(({ message }) => !known.includes(message))
  }

  hasField(field: string) {
    return Object.hasOwn(this.config, field)
  }

  value(field: string) {
    return this.hasField(field) ? this.config[field] : this.running[field]
  }

  map(field: string) {
    return mapOf(this.value(field))
  }

  set(field: string, value: unknown) {
    this.config = { ...this.config, [field]: value }
  }

  /** Sets a field that the fix leaves open, if that ends an error of the kubelet. */
  mend(field: string, value: unknown) {
    const errors = this.hasField(field) ? [] : this.errorsWith(this.config)
    if (errors.length === 0) return
    const left = this.errorsWith({ ...this.config, [field]: value })
    if (left.length < errors.length) this.set(field, value)
  }

  drop(fields: readonly string[], why: string) {
    const dropped = fields.filter(field => this.hasField(field))
    if (dropped.length === 0) return
    this.refused.push(
      `Left out, ${why}: ${dropped.map(field => `${shorten(field, 60)} ${shownAsWritten(this.config[field])}`).join(', ')}.`,
    )
    this.config = withoutKeys(this.config, dropped)
  }

  dropKey(field: string, key: string, why: string) {
    const map = this.config[field]
    if (!isRawObject(map) || !Object.hasOwn(map, key)) return
    this.refused.push(`Left out, ${why}: ${shorten(`${field} ${key}`, 80)}.`)
    const rest = withoutKeys(map, [key])
    if (Object.keys(rest).length > 0) this.set(field, rest)
    else this.config = withoutKeys(this.config, [field])
  }
}

const steps: readonly ((fix: Draft) => void)[] = [
  rightValues,
  completePercentages,
  pairSoftThresholds,
  fix => fix.mend('serializeImagePulls', false),
  pairShutdownPeriods,
  dropUnreservedManagers,
  dropRefusedGates,
  dropRefused,
]

/** Leaves out what a kubelet refuses, with the fields that depend on it. */
function dropRefused(fix: Draft) {
  for (;;) {
    const [error] = fix.errorsWith(fix.config)
    if (!error) return
    const all = Object.keys(fix.config)
    const named = all.filter(field => error.fields.some(one => one === field))
    const group = companions.find(some => some.some(field => named.includes(field))) ?? named
    fix.drop(named.length > 0 ? group : all, refusalText(error))
  }
}

const refusalText = ({ message }: Refusal) =>
  `a kubelet does not start with it (${shorten(message)})`

function rightValues(fix: Draft) {
  for (const [field, value] of Object.entries(fix.config)) {
    const [mistake] = valueMistakes(field, value)
    if (mistake)
      fix.drop(
        [field],
        `a kubelet takes ${mistake.wanted} for ${shorten(mistake.path.join('.'), 80)}`,
      )
    else if (value === null) fix.drop([field], 'null is no value to set')
    else if (isRawObject(value) && Object.values(value).includes(null)) dropNulls(fix, field, value)
  }
}

/** Null marks a key that must not run. The key can only be removed where it is set. */
function dropNulls(fix: Draft, field: string, map: RawObject) {
  for (const key of Object.keys(map))
    if (map[key] === null) fix.dropKey(field, key, 'to be taken away where it is set')
  const running = mapOf(fix.running[field])
  const left = Object.entries(mapOf(fix.config[field]))
  if (left.every(([key, value]) => meaningOf(field, value) === meaningOf(field, running[key])))
    fix.config = withoutKeys(fix.config, [field])
}

/** Always sets both, because on new nodes an unset percentage may be the image's value. */
function completePercentages(fix: Draft) {
  const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const
  if (!fix.hasField(high) && !fix.hasField(low)) return
  const start = Number(fix.value(high))
  const stop = Number(fix.value(low))
  fix.set(high, start)
  fix.set(low, stop < start || fix.hasField(low) ? stop : Math.max(0, start - bandPercent))
}

/** A soft threshold without a grace period stops the kubelet. A grace period without a threshold has no effect. */
function pairSoftThresholds(fix: Draft) {
  const [soft, grace] = ['evictionSoft', 'evictionSoftGracePeriod'] as const
  if (fix.hasField(soft)) {
    const signals = Object.keys(fix.map(soft))
    const running = mapOf(fix.running[grace])
    const own = mapOf(fix.config[grace])
    const all = signals.map(signal => [signal, own[signal] ?? running[signal] ?? soundGracePeriod])
    if (signals.length > 0) fix.set(grace, { ...own, ...Object.fromEntries(all) })
  }
  if (!fix.hasField(grace)) return
  for (const signal of Object.keys(fix.map(grace)))
    if (!Object.hasOwn(fix.map(soft), signal))
      fix.dropKey(grace, signal, 'there is no soft threshold that it is for')
  if (fix.hasField(grace) && !fix.hasField(soft)) fix.set(soft, fix.map(soft))
}

/** Both are written together: a new node may have another value of the one that is not set. */
function pairShutdownPeriods(fix: Draft) {
  const both = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const
  if (!both.some(field => fix.hasField(field))) return
  if (durationMs(`${fix.value(both[0])}`) === 0) fix.mend(both[1], '0s')
  for (const field of both) fix.set(field, fix.value(field))
}

const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0

/** The static managers need reservations, else the kubelet does not start. */
function dropUnreservedManagers(fix: Draft) {
  const reserves = ['kubeReserved', 'systemReserved'].some(
    map => !['', '0'].includes(meaningOf(map, fix.map(map).cpu)),
  )
  if (fix.value('cpuManagerPolicy') === 'static' && !reserves && !fix.value('reservedSystemCPUs'))
    fix.drop(
      ['cpuManagerPolicy', 'kubeReserved', 'systemReserved'],
      'the static CPU manager needs reserved CPU',
    )
  if (fix.value('memoryManagerPolicy') === 'Static' && !isFilled(fix.value('reservedMemory')))
    fix.drop(['memoryManagerPolicy'], 'the static memory manager needs reservedMemory')
}

/** Gates that decide whether other fields are refused or required. A fix leaves them out. */
const gatesOfOtherFields =
  /^(AllAlpha|AllBeta|ImageMaximumGCAge|GracefulNodeShutdown.*|CustomCPUCFSQuotaPeriod|RotateKubeletServerCertificate|NodeSwap|KubeletCrashLoopBackOffMax|NodeLogQuery|MemoryQoS|TopologyManager.*|KubeletEnsureSecretPulledImages|KubeletTracing|Logging.*|UserNamespaces.*|DynamicResourceAllocation|CPUManager.*|MemoryManager)$/

function dropRefusedGates(fix: Draft) {
  const field = 'featureGates'
  const running = mapOf(fix.running[field])
  for (const [gate, value] of Object.entries(mapOf(fix.config[field]))) {
    if (running[gate] === value) continue
    const [error] = fix.errorsWith({ [field]: { ...running, [gate]: value } })
    if (error) fix.dropKey(field, gate, refusalText(error))
    else if (gatesOfOtherFields.test(gate)) fix.dropKey(field, gate, 'other fields depend on it')
  }
}
