/**
 * Completes a fix so that a kubelet starts with it beside the running configuration. Fields that depend on each other are set together.
 * Fields that cannot be made to fit are left out, with the reason.
 *
 * Follows  pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration;  pkg/kubelet/eviction/helpers.go ParseThresholdConfig;
 *          pkg/kubelet/cm/cpumanager/cpu_manager.go NewManager
 */
import { valueMistakes } from '#facts/kubelet/configuration-values.ts'
import { dependenciesOfGates, gateState, isGateOn } from '#facts/kubelet/feature-gates.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { meaningOf } from '#facts/kubelet/setting-meaning.ts'
import { shownSetting } from '#judge/drift/drift.ts'
import { bounded } from '#judge/text.ts'
import { durationMs } from '#judge/values.ts'
import { isMap, mapOf } from '#model/config-value.ts'
import type { RawObject } from '#model/record.ts'

export interface Completion {
  config: RawObject
  refused: string[]
}

/** @param running null: the running configuration is unknown, so defaults are assumed */
export function completed(
  config: RawObject,
  running: RawObject | null,
  kubeletVersion: string | null,
): Completion {
  const fix = new Draft(
    config,
    { ...configurationDefaults, ...running },
    featuresOf(kubeletVersion),
  )
  for (const step of steps) step(fix)
  return { config: fix.config, refused: fix.refused }
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
const shownAsWritten = (value: unknown): string =>
  bounded(typeof value === 'string' ? JSON.stringify(value) : shownSetting(value), 60)

class Draft {
  config: RawObject
  readonly running: RawObject
  readonly features: KubeletFeatures
  readonly refused: string[] = []

  constructor(config: RawObject, running: RawObject, features: KubeletFeatures) {
    this.config = { ...config }
    this.running = running
    this.features = features
  }

  sets(field: string): boolean {
    return Object.hasOwn(this.config, field)
  }

  value(field: string): unknown {
    return this.sets(field) ? this.config[field] : this.running[field]
  }

  map(field: string): RawObject {
    const value = this.value(field)
    return mapOf(value)
  }

  text(field: string): string {
    const value = this.value(field)
    return typeof value === 'string' ? value : ''
  }

  set(field: string, value: unknown): void {
    this.config = { ...this.config, [field]: value }
  }

  drop(fields: readonly string[], why: string): void {
    const dropped = fields.filter(field => this.sets(field))
    if (dropped.length === 0) return
    this.refused.push(
      `Left out, ${why}: ${dropped.map(field => `${bounded(field, 60)} ${shownAsWritten(this.config[field])}`).join(', ')}.`,
    )
    this.config = Object.fromEntries(
      Object.entries(this.config).filter(([field]) => !dropped.includes(field)),
    )
  }

  dropKey(field: string, key: string, why: string): void {
    const map = this.config[field]
    if (!isMap(map) || !Object.hasOwn(map, key)) return
    this.refused.push(`Left out, ${why}: ${bounded(`${field} ${key}`, 80)}.`)
    const rest = Object.entries(map).filter(([other]) => other !== key)
    this.config = Object.fromEntries(
      Object.entries(this.config).filter(([other]) => other !== field || rest.length > 0),
    )
    if (rest.length > 0) this.set(field, Object.fromEntries(rest))
  }
}

const steps: readonly ((fix: Draft) => void)[] = [
  rightValues,
  percentages,
  softThresholds,
  imageAges,
  parallelPulls,
  shutdown,
  enforcement,
  reservedCpus,
  managers,
  featureGates,
]

function rightValues(fix: Draft): void {
  for (const [field, value] of Object.entries(fix.config)) {
    const [mistake] = valueMistakes(field, value)
    if (mistake !== undefined)
      fix.drop(
        [field],
        `a kubelet takes ${mistake.wanted} for ${bounded(mistake.path.join('.'), 80)}`,
      )
    else if (value === null) fix.drop([field], 'null is no value to set')
    else if (isMap(value) && Object.values(value).includes(null)) withoutNulls(fix, field, value)
  }
}

/** Null marks a key that must not run. The key can only be removed where it is set. */
function withoutNulls(fix: Draft, field: string, map: RawObject): void {
  for (const key of Object.keys(map))
    if (map[key] === null) fix.dropKey(field, key, 'to be taken away where it is set')
  const running = mapOf(fix.running[field])
  const left = Object.entries(fix.sets(field) ? fix.map(field) : {})
  if (left.every(([key, value]) => meaningOf(field, value) === meaningOf(field, running[key])))
    fix.config = Object.fromEntries(Object.entries(fix.config).filter(([other]) => other !== field))
}

/** Always sets both, because on new nodes an unset percentage may be the image's value. */
function percentages(fix: Draft): void {
  const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const
  if (!fix.sets(high) && !fix.sets(low)) return
  const start = Number(fix.value(high))
  const stop = Number(fix.value(low))
  const fits = stop < start
  if (!fits && fix.sets(low)) {
    fix.drop(
      [high, low],
      `image GC must stop below where it starts, and ${stop} is not below ${start}`,
    )
  } else if (!fits && start <= 0) fix.drop([high], 'image GC cannot stop below 0 %')
  else {
    fix.set(high, start)
    fix.set(low, fits ? stop : Math.max(0, start - bandPercent))
  }
}

/** A soft threshold without a grace period stops the kubelet. A grace period without a threshold has no effect. */
function softThresholds(fix: Draft): void {
  const [soft, grace] = ['evictionSoft', 'evictionSoftGracePeriod'] as const
  if (fix.sets(soft)) {
    const signals = Object.keys(fix.map(soft))
    const running = mapOf(fix.running[grace])
    const own = fix.sets(grace) ? fix.map(grace) : {}
    if (signals.length > 0) {
      const all = Object.fromEntries(
        signals.map(signal => [signal, own[signal] ?? running[signal] ?? soundGracePeriod]),
      )
      fix.set(grace, { ...own, ...all })
    }
  }
  if (!fix.sets(grace)) return
  for (const signal of Object.keys(fix.map(grace)))
    if (!Object.hasOwn(fix.map(soft), signal))
      fix.dropKey(grace, signal, 'there is no soft threshold that it is for')
  if (fix.sets(grace) && !fix.sets(soft)) fix.set(soft, fix.map(soft))
}

function imageAges(fix: Draft): void {
  const [most, least] = ['imageMaximumGCAge', 'imageMinimumGCAge'] as const
  const maximum = durationMs(fix.text(most)) ?? 0
  // Upstream: SetDefaults_KubeletConfiguration: 0s means unset.
  const minimum =
    durationMs(fix.text(least)) || durationMs(configurationDefaults.imageMinimumGCAge ?? '') || 0
  if (maximum > 0 && maximum <= minimum)
    fix.drop([most, least], `the maximum age must be above the minimum age, ${minimum / 1000}s`)
  if (maximum > 0 && !isOn(fix, 'ImageMaximumGCAge'))
    fix.drop([most], 'it needs the feature gate ImageMaximumGCAge')
}

function parallelPulls(fix: Draft): void {
  const [parallel, serial] = ['maxParallelImagePulls', 'serializeImagePulls'] as const
  if (!(Number(fix.value(parallel) ?? 1) > 1 && fix.value(serial) === true)) return
  if (fix.sets(serial)) fix.drop([serial, parallel], 'pulls cannot be serialized and parallel')
  else if (fix.sets(parallel)) fix.set(serial, false)
}

function shutdown(fix: Draft): void {
  const [total, critical] = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const
  if (!fix.sets(total) && !fix.sets(critical)) return
  if (!isOn(fix, 'GracefulNodeShutdown'))
    fix.drop([total, critical], 'it needs the feature gate GracefulNodeShutdown')
  if (isFilled(fix.value('shutdownGracePeriodByPodPriority')))
    fix.drop([total, critical], 'shutdownGracePeriodByPodPriority excludes it')
  if (!fix.sets(total) && !fix.sets(critical)) return
  const [all = 0, ofCritical = 0] = [total, critical].map(field => durationMs(fix.text(field)) ?? 0)
  if (ofCritical <= all) {
    if (fix.text(total) !== '' && fix.text(critical) !== '')
      for (const field of [total, critical]) fix.set(field, fix.text(field))
  } else if (all === 0 && fix.sets(total) && !fix.sets(critical)) fix.set(critical, '0s')
  else
    fix.drop(
      [total, critical],
      `critical pods cannot have more of the time than there is, ${fix.text(total)}`,
    )
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0

const enforced = ['kube-reserved', 'system-reserved'] as const
const cgroupOf = {
  'kube-reserved': 'kubeReservedCgroup',
  'system-reserved': 'systemReservedCgroup',
} as const

function enforcement(fix: Draft): void {
  const field = 'enforceNodeAllocatable'
  const value = fix.value(field)
  const entries = Array.isArray(value) ? value.map(String) : []
  for (const base of enforced) {
    const cgroup = cgroupOf[base]
    const names = [base, `${base}-compressible`]
    if (!entries.some(entry => names.includes(entry))) continue
    if (fix.text(cgroup) === '')
      fix.drop([field, cgroup], `${base} cannot be enforced without ${cgroup}`)
    if (names.every(name => entries.includes(name))) fix.drop([field], `${base} is enforced twice`)
  }
  if (entries.includes('none') && entries.length > 1) fix.drop([field], 'none stands alone')
  if (
    entries.some(entry => entry.endsWith('-compressible')) &&
    !fix.features.has('compressibleEnforcement')
  )
    fix.drop([field], 'not known to a kubelet of this version')
}

function reservedCpus(fix: Draft): void {
  const cgroups = ['kubeReservedCgroup', 'systemReservedCgroup']
  if (fix.text('reservedSystemCPUs') === '' || cgroups.every(cgroup => fix.text(cgroup) === ''))
    return
  fix.drop(
    ['reservedSystemCPUs', ...cgroups],
    'reserved CPUs and a cgroup of what is reserved exclude each other',
  )
}

function managers(fix: Draft): void {
  const reserves = ['kubeReserved', 'systemReserved'].some(
    map => !['', '0'].includes(meaningOf(map, fix.map(map).cpu)),
  )
  if (
    fix.value('cpuManagerPolicy') === 'static' &&
    !reserves &&
    fix.text('reservedSystemCPUs') === ''
  )
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

function featureGates(fix: Draft): void {
  const field = 'featureGates'
  if (!fix.sets(field)) return
  const running = mapOf(fix.running[field])
  for (const [gate, value] of Object.entries(fix.map(field))) {
    if (running[gate] === value) continue
    const state = gateState(gate, fix.features)
    if (state === null) fix.dropKey(field, gate, 'no feature gate of this version')
    else if (state.isLocked && state.isOn !== value)
      fix.dropKey(field, gate, 'locked in this version')
    else if (gatesOfOtherFields.test(gate)) fix.dropKey(field, gate, 'other fields depend on it')
  }
  for (const { gate, needs } of dependenciesOfGates(fix.features))
    if (isOn(fix, gate) && needs.some(need => !isOn(fix, need)))
      for (const name of [gate, ...needs])
        if (running[name] !== fix.map(field)[name])
          fix.dropKey(field, name, `${gate} needs ${needs.join(', ')}`)
}

const isOn = (fix: Draft, gate: string): boolean => isGateOn(gate, gatesOf(fix), fix.features)

const gatesOf = (fix: Draft): Record<string, boolean> =>
  Object.fromEntries(
    Object.entries(fix.map('featureGates')).flatMap(([gate, value]) =>
      typeof value === 'boolean' ? [[gate, value]] : [],
    ),
  )
