/**
 * Fields that are checked by themselves. First counts, rates and ports within their bounds.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

import { cleanPath, goQuote } from '#base/go/go-text.ts'
import { asInt64, parseQuantity, signOf } from '#base/go/quantity.ts'
import { messageOf } from '#base/operator-error.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { flagOfField } from '#facts/kubelet/flag-settings.ts'
import { type ConfigurationField, type Refusal, refusal } from '#model/kubelet/refusal.ts'
import type { LoadedConfiguration, LoadedStruct } from '#replay/configuration/configuration-file.ts'
import { parseThresholdConfig, type ThresholdConfiguration } from '#replay/eviction/thresholds.ts'
import { imageGcPolicyError } from '#replay/image-gc/policy.ts'
import { cpuSetSize, parseResourceList } from '#replay/node-allocatable.ts'
import type { Kubelet } from '#replay/times.ts'

const negatives = [
  'eventBurst',
  'eventRecordQPS',
  'kubeAPIBurst',
  'kubeAPIQPS',
  'maxOpenFiles',
  'maxPods',
  'podsPerCore',
  'registryBurst',
  'registryPullQPS',
] as const

const ranges = [
  ['imageGCHighThresholdPercent', 0, 100],
  ['imageGCLowThresholdPercent', 0, 100],
  ['iptablesDropBit', 0, 31],
  ['iptablesMasqueradeBit', 0, 31],
  ['oomScoreAdj', -1000, 1000],
  ['port', 1, 65535],
  ['readOnlyPort', 0, 65535],
] as const

/** As upstream names a field that has a flag. */
export const withFlag = (field: ConfigurationField): string =>
  `${field} (--${flagOfField.get(field)})`

export const refuse = (field: ConfigurationField, why: string): Refusal =>
  refusal(field, `${field} ${why}`)

export const refuseFlagged = (field: ConfigurationField, why: string): Refusal =>
  refusal(field, `${withFlag(field)} ${why}`)

const isOutside = (value: number, least: number, greatest: number) =>
  value < least || value > greatest

export function* numberErrors(c: LoadedConfiguration): Iterable<Refusal> {
  if (c.nodeLeaseDurationSeconds <= 0)
    yield refuse('nodeLeaseDurationSeconds', 'must be greater than 0')
  if (c.nodeStatusMaxImages < -1)
    yield refuseFlagged('nodeStatusMaxImages', `${c.nodeStatusMaxImages} must be -1 or greater`)
  for (const field of negatives)
    if (c[field] < 0) yield refuseFlagged(field, `${c[field]} must not be a negative number`)
  // Only this port may be 0, which turns it off.
  const healthz = c.healthzPort === 0 ? [] : [['healthzPort', 1, 65535] as const]
  for (const [field, least, greatest] of [...ranges, ...healthz])
    if (isOutside(c[field], least, greatest))
      yield refuseFlagged(field, `${c[field]} must be between ${least} and ${greatest}, inclusive`)
}

/*
 * Fields with a fixed set of words.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

const topologyPolicies = ['none', 'best-effort', 'restricted', 'single-numa-node']

/** Yields the messages after `invalid configuration: `. */
export function* choiceErrors(c: LoadedConfiguration, kubelet: Kubelet): Iterable<Refusal> {
  if (c.containerRuntimeEndpoint === '')
    yield refusal(
      'containerRuntimeEndpoint',
      'the containerRuntimeEndpoint was not specified or empty',
    )
  if (c.systemCgroups !== '' && c.cgroupRoot === '') {
    yield refusal(
      ['systemCgroups', 'cgroupRoot'],
      `${withFlag('systemCgroups')} was specified and ${withFlag('cgroupRoot')} was not specified`,
    )
  }
  if (!topologyPolicies.includes(c.topologyManagerPolicy)) {
    const choices = topologyPolicies.map(goQuote).join(' ')
    yield refuseFlagged(
      'topologyManagerPolicy',
      `${goQuote(c.topologyManagerPolicy)} must be one of: [${choices}]`,
    )
  }
  if (!['container', 'pod'].includes(c.topologyManagerScope)) {
    yield refuseFlagged(
      'topologyManagerScope',
      `${goQuote(c.topologyManagerScope)} must be one of: "container", or "pod"`,
    )
  }
  if (!['none', 'hairpin-veth', 'promiscuous-bridge'].includes(c.hairpinMode)) {
    yield refusal(
      'hairpinMode',
      `option ${goQuote(c.hairpinMode)} specified for ${withFlag('hairpinMode')}. Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`,
    )
  }
  if (!kubelet.features.has('memoryReservationPolicy')) return
  const reservation = c.memoryReservationPolicy
  if (reservation === 'TieredReservation' && !kubelet.isGateOn('MemoryQoS')) {
    yield refuse(
      'memoryReservationPolicy',
      `${goQuote(reservation)} requires MemoryQoS feature gate to be enabled`,
    )
  }
  if (!['None', 'TieredReservation'].includes(reservation)) {
    yield refusal(
      'memoryReservationPolicy',
      `option ${goQuote(reservation)} specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"`,
    )
  }
}

/*
 * Container logs and their directory.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

const second = 1_000_000_000n

export const areTooFewLogFiles = (c: LoadedConfiguration, features: KubeletFeatures): boolean =>
  features.has('containerLogMaxFilesValidated') && c.containerLogMaxFiles <= 1

export function* logErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<Refusal> {
  if (features.has('containerLogWorkers')) {
    if (c.containerLogMaxWorkers < 1)
      yield refuse('containerLogMaxWorkers', 'must be greater than or equal to 1')
    if (c.containerLogMonitorInterval < 3n * second) {
      yield refuse(
        'containerLogMonitorInterval',
        'must be a positive time duration greater than or equal to 3s',
      )
    }
  }
  if (areTooFewLogFiles(c, features)) yield refuse('containerLogMaxFiles', 'must be greater than 1')
  if (!features.has('podLogsDir')) return
  const shown = goQuote(c.podLogsDir)
  if (c.podLogsDir === '') yield refuse('podLogsDir', 'was not specified')
  if (!c.podLogsDir.startsWith('/'))
    yield refusal('podLogsDir', `pod logs path ${shown} must be absolute path`)
  if (cleanPath(c.podLogsDir) !== c.podLogsDir)
    yield refusal('podLogsDir', `pod logs path ${shown} must be normalized`)
  // The spelling "mut" is upstream's.
  if (Array.from(c.podLogsDir).some(character => character > '\u007f'))
    yield refusal('podLogsDir', `pod logs path ${shown} mut contains ASCII characters only`)
}

/*
 * Whether the kubelet can enforce the entries of `enforceNodeAllocatable`.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37; 1.31 checks each entry, 1.32 added the compressible entries
 */

type Enforcement = Pick<
  LoadedConfiguration,
  'enforceNodeAllocatable' | 'cgroupsPerQOS' | 'systemReservedCgroup' | 'kubeReservedCgroup'
>

const enforcementFlag = withFlag('enforceNodeAllocatable')

export function* enforcementErrors(
  configuration: Enforcement,
  features: KubeletFeatures,
): Iterable<Refusal> {
  const { cgroupsPerQOS } = configuration
  const entries = configuration.enforceNodeAllocatable
  const isByEntry = features.has('enforcementByEntry')
  const isCompressible = features.has('compressibleEnforcement')
  if (!isByEntry && !cgroupsPerQOS && entries.length > 0) {
    yield refusal(
      ['enforceNodeAllocatable', 'cgroupsPerQOS'],
      `${enforcementFlag} is not supported unless ${withFlag('cgroupsPerQOS')} is set to true`,
    )
  }
  for (const base of isCompressible ? ['system-reserved', 'kube-reserved'] : []) {
    if (!entries.includes(base) || !entries.includes(`${base}-compressible`)) continue
    yield refusal(
      'enforceNodeAllocatable',
      `both ${goQuote(base)} and ${goQuote(`${base}-compressible`)} cannot be specified together in ${enforcementFlag}`,
    )
  }
  for (const [index, entry] of entries.entries()) {
    if (isByEntry && entries.indexOf(entry) < index) {
      yield refusal(
        'enforceNodeAllocatable',
        `duplicated enforcements ${goQuote(entry)} in ${enforcementFlag}`,
      )
      continue
    }
    if (entry === 'none') {
      if (entries.length > 1)
        yield refusal(
          'enforceNodeAllocatable',
          `${enforcementFlag} may not contain additional enforcements when "none" is specified`,
        )
      continue
    }
    const base = isCompressible ? entry.replace(/-compressible$/, '') : entry
    if (entry !== 'pods' && base !== 'system-reserved' && base !== 'kube-reserved') {
      yield refusal(
        'enforceNodeAllocatable',
        `option ${goQuote(entry)} specified for ${enforcementFlag}. Valid options are ${validOptions(isCompressible)}`,
      )
      continue
    }
    const missing = missingCgroup(base, configuration)
    if (missing !== null) {
      const shown = `${withFlag(missing)} must be specified when ${goQuote(base)}`
      const message = isCompressible
        ? `${shown} or ${goQuote(`${base}-compressible`)} included in ${enforcementFlag}`
        : `${shown} contained in ${enforcementFlag}`
      yield refusal([missing, 'enforceNodeAllocatable'], message)
    }
    if (isByEntry && !cgroupsPerQOS)
      yield refusal(
        ['cgroupsPerQOS', 'enforceNodeAllocatable'],
        `${withFlag('cgroupsPerQOS')} must be set to true when ${goQuote(entry)} contained in ${enforcementFlag}`,
      )
  }
}

const validOptions = (isCompressible: boolean) =>
  isCompressible
    ? '"pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none"'
    : '"pods", "system-reserved", "kube-reserved", or "none"'

function missingCgroup(base: string, configuration: Enforcement) {
  const field = cgroupOf[base]
  return field === undefined || configuration[field] !== '' ? null : field
}

const cgroupOf: Record<string, 'systemReservedCgroup' | 'kubeReservedCgroup'> = {
  'system-reserved': 'systemReservedCgroup',
  'kube-reserved': 'kubeReservedCgroup',
}

/*
 * Reserved CPUs and memory of NUMA nodes.
 *
 * Replays       pkg/kubelet/apis/config/validation  validation.go ValidateKubeletConfiguration;  validation_reserved_memory.go
 *               validateReservedMemoryConfiguration
 * Read at       1.29 to 1.37
 */

export function* reservationErrors(c: LoadedConfiguration): Iterable<Refusal> {
  if (c.reservedSystemCPUs !== '') {
    if (c.systemReservedCgroup !== '' || c.kubeReservedCgroup !== '') {
      yield refusal(
        ['reservedSystemCPUs', 'systemReservedCgroup', 'kubeReservedCgroup'],
        `can't use ${withFlag('reservedSystemCPUs')} with ${withFlag('systemReservedCgroup')} or ${withFlag('kubeReservedCgroup')}`,
      )
    }
    const error = errorOf(() => cpuSetSize(c.reservedSystemCPUs))
    if (error !== null)
      yield refusal(
        'reservedSystemCPUs',
        `unable to parse ${withFlag('reservedSystemCPUs')} ${c.reservedSystemCPUs}, error: ${error}`,
      )
  }
  const seen = new Set<string>()
  for (const { numaNode, limits } of c.reservedMemory ?? []) {
    for (const [resource, quantity] of Object.entries(limits ?? {})) {
      if (resource !== 'memory' && !resource.startsWith('hugepages-')) {
        yield refusal(
          'reservedMemory',
          `the limit type ${goQuote(resource)} for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`,
        )
      }
      if (signOf(quantity) === 0)
        yield refusal(
          'reservedMemory',
          `reserved memory may not be zero for NUMA node ${numaNode} and resource ${goQuote(resource)}`,
        )
      const key = `${numaNode} ${resource}`
      if (seen.has(key))
        yield refusal(
          'reservedMemory',
          `the reserved memory has a duplicate value for NUMA node ${numaNode} and resource ${goQuote(resource)}`,
        )
      seen.add(key)
    }
  }
}

/*
 * Sysctls that every pod gets.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration, isValidSysctlName;
 *               component-helpers/node/util/sysctl  GetNamespace, NormalizeName
 * Read at       1.37, the first minor with the field
 */

const segment = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?'
const nameForm = new RegExp(`^(?:${segment}[./])*${segment}$`)
const longestName = 253

const namespaced = [
  'kernel.domainname',
  'kernel.msg',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.sem',
  'kernel.shm',
  'kernel.shm_rmid_forced',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
]
const namespacedPrefixes = ['net.', 'fs.mqueue.', 'user.']

export function* sysctlErrors(
  { defaultPodSysctls }: LoadedConfiguration,
  { isGateOn }: Kubelet,
): Iterable<Refusal> {
  const names = Object.keys(defaultPodSysctls ?? {})
  if (names.length > 0 && !isGateOn('DefaultPodSysctls')) {
    yield refusal(
      'defaultPodSysctls',
      'DefaultPodSysctls feature gate is required for Kubelet configuration option defaultPodSysctls',
    )
    return
  }
  const seen = new Set<string>()
  for (const name of names) {
    if (name.length > longestName || !nameForm.test(name)) {
      yield refusal(
        'defaultPodSysctls',
        `${goQuote(name)} is not a valid sysctl name for defaultPodSysctls`,
      )
      continue
    }
    const normalized = normalizedName(name)
    const isNamespaced =
      namespaced.includes(normalized) ||
      namespacedPrefixes.some(prefix => normalized.startsWith(prefix))
    if (!isNamespaced)
      yield refusal(
        'defaultPodSysctls',
        `${goQuote(name)} is not known to be namespaced for defaultPodSysctls`,
      )
    if (seen.has(normalized))
      yield refusal(
        'defaultPodSysctls',
        `duplicate sysctl ${goQuote(normalized)} found in defaultPodSysctls`,
      )
    seen.add(normalized)
  }
}

/** `net/ipv4/conf/eno2.100/rp_filter` is `net.ipv4.conf.eno2/100.rp_filter`. */
const normalizedName = (name: string) =>
  /^[^.]*\//.test(name) ? name.replace(/[./]/g, separator => (separator === '.' ? '/' : '.')) : name

/*
 * The taints with which a node registers.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration;  pkg/util/taints/taints.go CheckTaintValidation;
 *               apimachinery/pkg/util/validation  IsQualifiedName, IsValidLabelValue
 * Read at       1.29 to 1.37
 */

const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const prefixPart = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const longestPrefix = 253
const effects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Yields whole messages, because their beginnings differ. */
export function* taintErrors({ registerWithTaints }: LoadedConfiguration): Iterable<Refusal> {
  for (const taint of registerWithTaints ?? []) {
    if (!isValid(taint)) yield refusal('registerWithTaints', `invalid taint: ${taintText(taint)}`)
    if (taint.timeAdded !== null)
      yield refusal('registerWithTaints', 'invalid configuration: taint.TimeAdded is not nil')
  }
}

type Taint = LoadedStruct<'Taint'>

const isValid = ({ key, value, effect }: Taint) =>
  isQualifiedName(key) && (value === '' || namePart.test(value)) && effects.includes(effect)

function isQualifiedName(key: string) {
  const [first = '', second, ...more] = key.split('/')
  if (second === undefined) return namePart.test(first)
  return (
    more.length === 0 &&
    first.length <= longestPrefix &&
    prefixPart.test(first) &&
    namePart.test(second)
  )
}

/** The struct as Go's %v prints it upstream. */
const taintText = ({ key, value, effect, timeAdded }: Taint) =>
  `{${key} ${value} ${effect} ${timeAdded === null ? '<nil>' : `${new Date(timeAdded).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`}}`

/*
 * Errors that validation misses and the kubelet reports later, when it constructs its parts.
 *
 * Replays       pkg/kubelet/eviction/helpers.go ParseThresholdConfig;  pkg/kubelet/images/image_gc_manager.go NewImageGCManager;
 *               pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize;  cmd/kubelet/app/server.go parseResourceList
 * Read at       1.29 to 1.37
 * Kept exactly  every text, without the prefix of the caller; log sizes by AsInt64: `1.5Gi` is refused, a negative size turns rotation off
 * Left out      over-reservation, which needs the machine
 */

/** By part; null: no error. */
export type StartupErrors = Record<
  'eviction' | 'kubeReserved' | 'systemReserved' | 'containerLogs' | 'imageGC',
  Refusal | null
>

export function startupErrors(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): StartupErrors {
  const reservation = (field: 'kubeReserved' | 'systemReserved') =>
    refusalIf(
      field,
      errorOf(() => parseResourceList(configuration[field] ?? {}, features)),
    )
  const { containerLogMaxSize, containerLogMaxFiles } = configuration
  return {
    eviction: evictionRefusal(configuration),
    kubeReserved: reservation('kubeReserved'),
    systemReserved: reservation('systemReserved'),
    containerLogs: refusalIf(
      containerLogMaxFiles <= 1 ? 'containerLogMaxFiles' : 'containerLogMaxSize',
      errorOf(() => parseLogRotatePolicy(containerLogMaxSize, containerLogMaxFiles)),
    ),
    imageGC: refusalIf(
      ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
      imageGcPolicyError({
        highThresholdPercent: configuration.imageGCHighThresholdPercent,
        lowThresholdPercent: configuration.imageGCLowThresholdPercent,
      }),
    ),
  }
}

const refusalIf = (
  fields: ConfigurationField | readonly ConfigurationField[],
  message: string | null,
) => (message === null ? null : refusal(fields, message))

function evictionRefusal(c: LoadedConfiguration) {
  const maps = {
    evictionHard: c.evictionHard ?? {},
    evictionSoft: c.evictionSoft ?? {},
    evictionSoftGracePeriod: c.evictionSoftGracePeriod ?? {},
    evictionMinimumReclaim: c.evictionMinimumReclaim ?? {},
  }
  const errorIn = (some: ThresholdConfiguration) => errorOf(() => parseThresholdConfig(some))
  const message = errorIn(maps)
  if (message === null) return null
  // Soft thresholds need the grace periods, which may be set elsewhere.
  const single = (
    ['evictionHard', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const
  ).find(field => errorIn({ [field]: maps[field] }) === message)
  return refusal(single ?? ['evictionSoft', 'evictionSoftGracePeriod'], message)
}

/** The text that the check throws; null: none. */
function errorOf(check: () => unknown) {
  try {
    check()
    return null
  } catch (error) {
    return messageOf(error)
  }
}

export interface LogRotatePolicy {
  /** Negative: no rotation. */
  maxSizeBytes: bigint
  maxFiles: number
}

/** @throws upstream's text, without the prefix of the caller. Upstream: NewContainerLogManager. */
export function parseLogRotatePolicy(maxSize: string, maxFiles: number): LogRotatePolicy {
  if (maxFiles <= 1) throw new Error(`invalid MaxFiles ${maxFiles}, must be > 1`)
  try {
    const maxSizeBytes = asInt64(parseQuantity(maxSize))
    if (maxSizeBytes === null) throw new Error('invalid max log size')
    return { maxSizeBytes, maxFiles }
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`failed to parse container log max size ${goQuote(maxSize)}: ${why}`)
  }
}
