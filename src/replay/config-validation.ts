/**
 * Whether a kubelet would start with a configuration, and what it would say.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration, validation_reserved_memory.go, validation_linux.go;
 *               what refuses later: eviction ParseThresholdConfig, NewImageGCManager, NewContainerLogManager, parseResourceList
 * Read at       the last patch of 1.24 to 1.37
 * Kept exactly  every text; errors do not hide each other, but a feature gate that is refused hides all
 * Left out      taints, logging, tracing, hidden metrics, credential verification and Windows; over-reservation, which needs the machine
 */
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { formatDuration } from '#model/duration.ts'
import { parseQuantity, asInt64, signOf } from '#model/quantity.ts'
import type { RawObject } from '#model/record.ts'
import {
  featureGateError,
  isGateOn,
  type LoadedConfiguration,
  LoadError,
  LoadPanic,
  loadConfiguration,
} from '#replay/configuration-file.ts'
import { enforcementErrors } from '#replay/enforcement-validation.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { atoi, goFloat, goQuote } from '#replay/go-text.ts'
import { imageGcPolicyError } from '#replay/image-gc.ts'

/** What validation lets through and the kubelet refuses later; null: nothing. Upstream's texts, without the prefix of the caller. */
export interface StartupErrors {
  eviction: string | null
  kubeReserved: string | null
  systemReserved: string | null
  containerLogs: string | null
  imageGC: string | null
}

export interface ConfigurationVerdict {
  /** Why the file would not load: then nothing else is known. */
  loadError: string | null
  /** Sorted. */
  errors: string[] | null
  startup: StartupErrors | null
}

/** @param raw the file's content. The operating system is Linux. */
export function validateKubeletConfiguration(raw: RawObject, kubeletVersion: string | null): ConfigurationVerdict {
  try {
    const configuration = loadConfiguration(raw, kubeletVersion, { operatingSystem: 'linux' })
    const features = featuresOf(kubeletVersion)
    return { loadError: null, errors: validationErrors(configuration, features), startup: startupErrors(configuration, features) }
  } catch (error) {
    if (error instanceof LoadPanic) return { loadError: error.message, errors: null, startup: null }
    if (!(error instanceof LoadError)) throw error
    return { loadError: `failed to load Kubelet config file <file>, error failed to decode: ${error.message}`, errors: null, startup: null }
  }
}

/** Sorted. `cgroupVersion` null: not known, and then not checked. */
export function validationErrors(configuration: LoadedConfiguration, features: KubeletFeatures, cgroupVersion: 1 | 2 | null = null): string[] {
  const gateError = featureGateError(configuration.featureGates, features)
  if (gateError !== null) return [gateError]
  const tails = [
    ...numberErrors(configuration),
    ...imageErrors(configuration, features),
    ...gatedErrors(configuration, features),
    ...shutdownErrors(configuration, features),
    ...choiceErrors(configuration),
    ...enforcementErrors(configuration, features),
    ...reservationErrors(configuration),
    ...logErrors(configuration, features),
  ]
  const errors = tails.map(tail => `invalid configuration: ${tail}`)
  if (features.has('failCgroupV1') && configuration.failCgroupV1 === true && cgroupVersion === 1) {
    errors.push('kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is in maintenance mode')
  }
  return errors.sort()
}

const isOutside = (value: number, least: number, greatest: number) => value < least || value > greatest

function* numberErrors(c: LoadedConfiguration): Iterable<string> {
  const range = (field: string, flag: string, value: number, least: number, greatest: number) =>
    `${field} (--${flag}) ${value} must be between ${least} and ${greatest}, inclusive`
  const negative = (field: string, flag: string, value: number) => `${field} (--${flag}) ${value} must not be a negative number`

  if (c.nodeLeaseDurationSeconds <= 0) yield 'nodeLeaseDurationSeconds must be greater than 0'
  if (c.eventBurst < 0) yield negative('eventBurst', 'event-burst', c.eventBurst)
  if (c.eventRecordQPS < 0) yield negative('eventRecordQPS', 'event-qps', c.eventRecordQPS)
  if (c.healthzPort !== 0 && isOutside(c.healthzPort, 1, 65535)) yield range('healthzPort', 'healthz-port', c.healthzPort, 1, 65535)
  if (isOutside(c.iptablesDropBit, 0, 31)) yield range('iptablesDropBit', 'iptables-drop-bit', c.iptablesDropBit, 0, 31)
  if (isOutside(c.iptablesMasqueradeBit, 0, 31)) yield range('iptablesMasqueradeBit', 'iptables-masquerade-bit', c.iptablesMasqueradeBit, 0, 31)
  if (c.kubeAPIBurst < 0) yield negative('kubeAPIBurst', 'kube-api-burst', c.kubeAPIBurst)
  if (c.kubeAPIQPS < 0) yield negative('kubeAPIQPS', 'kube-api-qps', c.kubeAPIQPS)
  if (c.nodeStatusMaxImages < -1) yield `nodeStatusMaxImages (--node-status-max-images) ${c.nodeStatusMaxImages} must be -1 or greater`
  if (c.maxOpenFiles < 0) yield negative('maxOpenFiles', 'max-open-files', c.maxOpenFiles)
  if (c.maxPods < 0) yield negative('maxPods', 'max-pods', c.maxPods)
  if (isOutside(c.oomScoreAdj, -1000, 1000)) yield range('oomScoreAdj', 'oom-score-adj', c.oomScoreAdj, -1000, 1000)
  if (c.podsPerCore < 0) yield negative('podsPerCore', 'pods-per-core', c.podsPerCore)
  if (isOutside(c.port, 1, 65535)) yield range('port', 'port', c.port, 1, 65535)
  if (isOutside(c.readOnlyPort, 0, 65535)) yield range('readOnlyPort', 'read-only-port', c.readOnlyPort, 0, 65535)
  if (c.registryBurst < 0) yield negative('registryBurst', 'registry-burst', c.registryBurst)
  if (c.registryPullQPS < 0) yield negative('registryPullQPS', 'registry-qps', c.registryPullQPS)
}

function* imageErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low, imageMaximumGCAge: maximum, imageMinimumGCAge: minimum } = c
  if (isOutside(high, 0, 100)) yield `imageGCHighThresholdPercent (--image-gc-high-threshold) ${high} must be between 0 and 100, inclusive`
  if (isOutside(low, 0, 100)) yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be between 0 and 100, inclusive`
  if (low >= high) {
    yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
  }
  if (maximum !== 0n && !isGateOn('ImageMaximumGCAge', c, features)) {
    const option = features.has('maximumAgeErrorNamesField') ? 'imageMaximumGCAge' : 'ImageMaximumGCAge'
    yield `ImageMaximumGCAge feature gate is required for Kubelet configuration option ${option}`
  }
  if (minimum < 0n && features.has('imageMinimumGCAgeValidated')) yield `imageMinimumGCAge ${formatDuration(minimum)} must not be negative`
  if (maximum < 0n) yield `imageMaximumGCAge ${formatDuration(maximum)} must not be negative`
  if (maximum > 0n && maximum <= minimum) {
    yield `imageMaximumGCAge ${formatDuration(maximum)} must be greater than imageMinimumGCAge ${formatDuration(minimum)}`
  }
  const parallel = c.maxParallelImagePulls
  if (parallel !== null && parallel < 1) yield `maxParallelImagePulls ${parallel} must be a positive number`
  if (parallel !== null && parallel > 1 && c.serializeImagePulls) {
    yield 'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false'
  }
}

const millisecond = 1_000_000n
const second = 1_000_000_000n

function* gatedErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  const isOn = (gate: Parameters<typeof isGateOn>[0]) => isGateOn(gate, c, features)
  const quota = c.cpuCFSQuotaPeriod
  const shownQuota = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${formatDuration(quota)}}`
  if (!isOn('CustomCPUCFSQuotaPeriod')) {
    if (quota !== 100n * millisecond) yield `${shownQuota} requires feature gate CustomCPUCFSQuotaPeriod`
  } else if (quota < millisecond || quota > second) yield `${shownQuota} must be between 1ms and 1sec, inclusive`

  if (c.serverTLSBootstrap && !isOn('RotateKubeletServerCertificate')) {
    yield 'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate'
  }
  if (c.runOnce && features.has('runOnceRefused')) yield 'runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set'

  const { swapBehavior } = c.memorySwap
  if (!isOn('NodeSwap')) {
    if (swapBehavior !== '') yield 'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled'
  } else if (!['', 'NoSwap', 'LimitedSwap'].includes(swapBehavior)) {
    yield `memorySwap.swapBehavior ${goQuote(swapBehavior)} must be one of: "", "LimitedSwap" or "NoSwap"`
  }

  const backOff = c.crashLoopBackOff.maxContainerRestartPeriod
  if (backOff !== null && !isOn('KubeletCrashLoopBackOffMax')) {
    yield 'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set'
  } else if (backOff !== null && (backOff / millisecond < 1000n || backOff / millisecond > 300_000n)) {
    yield `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${goFloat(Number(backOff) / 1e9)} seconds) must be set between 1s and 300s`
  }

  if (c.enableSystemLogQuery && !isOn('NodeLogQuery')) yield 'NodeLogQuery feature gate is required for enableSystemLogHandler'
  if (c.enableSystemLogQuery && !c.enableSystemLogHandler) yield 'enableSystemLogHandler is required for enableSystemLogQuery'

  const factor = c.memoryThrottlingFactor
  if (factor === null && isOn('MemoryQoS') && features.has('memoryThrottlingFactorUnset')) {
    yield 'memoryThrottlingFactor is required when MemoryQoS feature flag is enabled'
  }
  if (factor !== null && (factor <= 0 || factor > 1)) {
    yield `memoryThrottlingFactor ${goFloat(factor)} must be greater than 0 and less than or equal to 1.0`
  }
}

function* shutdownErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = c
  const isTooShort = (period: bigint) => period < 0n || (period > 0n && period < second)
  const isSet = total > 0n || critical > 0n
  const hasPriorities = c.shutdownGracePeriodByPodPriority.length > 0
  if (isGateOn('GracefulNodeShutdown', c, features)) {
    if (critical > total) yield `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be <= shutdownGracePeriod {${formatDuration(total)}}`
    if (isTooShort(total)) yield `shutdownGracePeriod {${formatDuration(total)}} must be either zero or otherwise >= 1 sec`
    if (isTooShort(critical)) yield `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be either zero or otherwise >= 1 sec`
  } else if (isSet) {
    yield 'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown'
  }
  if (!hasPriorities) return
  if (!isGateOn('GracefulNodeShutdownBasedOnPodPriority', c, features)) {
    yield 'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority'
  } else if (isSet) yield 'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time'
}

const topologyPolicies = ['none', 'best-effort', 'restricted', 'single-numa-node']

function* choiceErrors(c: LoadedConfiguration): Iterable<string> {
  if (c.systemCgroups !== '' && c.cgroupRoot === '') {
    yield 'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified'
  }
  if (!topologyPolicies.includes(c.topologyManagerPolicy)) {
    const choices = topologyPolicies.map(goQuote).join(' ')
    yield `topologyManagerPolicy (--topology-manager-policy) ${goQuote(c.topologyManagerPolicy)} must be one of: [${choices}]`
  }
  if (!['container', 'pod'].includes(c.topologyManagerScope)) {
    yield `topologyManagerScope (--topology-manager-scope) ${goQuote(c.topologyManagerScope)} must be one of: "container", or "pod"`
  }
  if (!['none', 'hairpin-veth', 'promiscuous-bridge'].includes(c.hairpinMode)) {
    yield `option ${goQuote(c.hairpinMode)} specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`
  }
}

function* reservationErrors(c: LoadedConfiguration): Iterable<string> {
  if (c.reservedSystemCPUs !== '') {
    if (c.systemReservedCgroup !== '' || c.kubeReservedCgroup !== '') {
      yield "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
    }
    const error = errorOf(() => parseCpuSet(c.reservedSystemCPUs))
    if (error !== null) yield `unable to parse reservedSystemCPUs (--reserved-cpus) ${c.reservedSystemCPUs}, error: ${error}`
  }
  const seen = new Set<string>()
  for (const { numaNode, limits } of c.reservedMemory) {
    for (const [resource, quantity] of limits) {
      if (resource !== 'memory' && !resource.startsWith('hugepages-')) {
        yield `the limit type ${goQuote(resource)} for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`
      }
      if (signOf(quantity) === 0) yield `reserved memory may not be zero for NUMA node ${numaNode} and resource ${goQuote(resource)}`
      const key = `${numaNode} ${resource}`
      if (seen.has(key)) yield `the reserved memory has a duplicate value for NUMA node ${numaNode} and resource ${goQuote(resource)}`
      seen.add(key)
    }
  }
}

/** Upstream: k8s.io/utils/cpuset Parse. */
function parseCpuSet(text: string): void {
  for (const range of text.split(',')) {
    const dash = range.indexOf('-')
    if (dash < 0) {
      atoi(range)
      continue
    }
    const start = atoi(range.slice(0, dash))
    const end = atoi(range.slice(dash + 1))
    if (start > end) throw new Error(`invalid range ${goQuote(range)} (${start} > ${end})`)
  }
}

function* logErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  if (features.has('containerLogWorkers')) {
    if (c.containerLogMaxWorkers < 1) yield 'containerLogMaxWorkers must be greater than or equal to 1'
    if (c.containerLogMonitorInterval < 3n * second) {
      yield 'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s'
    }
  }
  if (features.has('containerLogMaxFilesValidated') && c.containerLogMaxFiles <= 1) yield 'containerLogMaxFiles must be greater than 1'
  if (!features.has('podLogsDir')) return
  const shown = goQuote(c.podLogsDir)
  if (!c.podLogsDir.startsWith('/')) yield `pod logs path ${shown} must be absolute path`
  if (cleanPath(c.podLogsDir) !== c.podLogsDir) yield `pod logs path ${shown} must be normalized`
  // "mut" is upstream's.
  if (Array.from(c.podLogsDir).some(character => character > '\u007f')) yield `pod logs path ${shown} mut contains ASCII characters only`
}

/** Upstream: filepath.Clean. */
function cleanPath(path: string): string {
  const isAbsolute = path.startsWith('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') kept.push(part)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!isAbsolute) kept.push(part)
  }
  return `${isAbsolute ? '/' : ''}${kept.join('/')}` || '.'
}

/** What is refused after validation, when the parts of the kubelet are made. */
export function startupErrors(configuration: LoadedConfiguration, features: KubeletFeatures): StartupErrors {
  return {
    eviction: errorOf(() => parseThresholdConfig(nullsAbsent(configuration), features)),
    kubeReserved: errorOf(() => parseResourceList(configuration.kubeReserved)),
    systemReserved: errorOf(() => parseResourceList(configuration.systemReserved)),
    containerLogs: errorOf(() => checkContainerLogs(configuration)),
    imageGC: imageGcPolicyError({
      highThresholdPercent: configuration.imageGCHighThresholdPercent,
      lowThresholdPercent: configuration.imageGCLowThresholdPercent,
    }),
  }
}

const nullsAbsent = (c: LoadedConfiguration) => ({
  enforceNodeAllocatable: c.enforceNodeAllocatable,
  evictionHard: c.evictionHard,
  evictionSoft: c.evictionSoft ?? {},
  evictionSoftGracePeriod: c.evictionSoftGracePeriod ?? {},
  evictionMinimumReclaim: c.evictionMinimumReclaim ?? {},
})

function errorOf(check: () => unknown): string | null {
  try {
    check()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const reservableResources = ['cpu', 'memory', 'ephemeral-storage', 'pid']

/** Upstream: cmd/kubelet/app/server.go parseResourceList. */
function parseResourceList(map: Record<string, string> | null): void {
  for (const [resource, text] of Object.entries(map ?? {}).sort()) {
    if (!reservableResources.includes(resource)) throw new Error(`cannot reserve ${goQuote(resource)} resource`)
    const error = errorOf(() => parseQuantity(text))
    if (error !== null) throw new Error(`failed to parse quantity ${goQuote(text)} for ${goQuote(resource)} resource: ${error}`)
    if (signOf(parseQuantity(text)) < 0) throw new Error(`resource quantity for ${goQuote(resource)} cannot be negative: ${text}`)
  }
}

/** Upstream: pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize. */
function checkContainerLogs({ containerLogMaxFiles, containerLogMaxSize }: LoadedConfiguration): void {
  if (containerLogMaxFiles <= 1) throw new Error(`invalid MaxFiles ${containerLogMaxFiles}, must be > 1`)
  const error = errorOf(() => {
    if (asInt64(parseQuantity(containerLogMaxSize)) === null) throw new Error('invalid max log size')
  })
  if (error !== null) throw new Error(`failed to parse container log max size ${goQuote(containerLogMaxSize)}: ${error}`)
}
