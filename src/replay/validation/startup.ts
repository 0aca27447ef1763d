/**
 * What validation lets through and the kubelet refuses later, when it makes its parts.
 *
 * Replays       pkg/kubelet/eviction/helpers.go ParseThresholdConfig;  pkg/kubelet/images/image_gc_manager.go NewImageGCManager;
 *               pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize;  cmd/kubelet/app/server.go parseResourceList
 * Read at       1.24 to 1.37
 * Kept exactly  every text, without the prefix of the caller
 * Left out      over-reservation, which needs the machine; of several errors in one map the first by key is named, upstream names any
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { asInt64, parseQuantity, signOf } from '#model/quantity.ts'
import type { LoadedConfiguration } from '#replay/configuration-file.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { goQuote } from '#replay/go-text.ts'
import { imageGcPolicyError } from '#replay/image-gc.ts'

/** Null: nothing. */
export interface StartupErrors {
  eviction: string | null
  kubeReserved: string | null
  systemReserved: string | null
  containerLogs: string | null
  imageGC: string | null
}

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
