/**
 * Errors that validation misses and the kubelet reports later, when it constructs its parts.
 *
 * Replays       pkg/kubelet/eviction/helpers.go ParseThresholdConfig;  pkg/kubelet/images/image_gc_manager.go NewImageGCManager;
 *               pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize;  cmd/kubelet/app/server.go parseResourceList
 * Read at       1.29 to 1.37
 * Kept exactly  every text, without the prefix of the caller; log sizes by AsInt64: `1.5Gi` is refused, a negative size turns rotation off
 * Left out      over-reservation, which needs the machine
 */

import { goQuote } from '#base/go/go-text.ts'
import { asInt64, parseQuantity } from '#base/go/quantity.ts'
import { messageOf } from '#base/operator-error.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { imageGcPolicyError } from '#replay/image-gc/policy.ts'
import { parseResourceList } from '#replay/node-allocatable.ts'

/** Upstream's text by part; null: no error. */
export interface StartupErrors {
  eviction: string | null
  kubeReserved: string | null
  systemReserved: string | null
  containerLogs: string | null
  imageGC: string | null
}

export function startupErrors(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
): StartupErrors {
  return {
    eviction: errorOf(() => parseThresholdConfig(nullsAbsent(configuration))),
    kubeReserved: errorOf(() => parseResourceList(configuration.kubeReserved ?? {}, features)),
    systemReserved: errorOf(() => parseResourceList(configuration.systemReserved ?? {}, features)),
    containerLogs: errorOf(() =>
      parseLogRotatePolicy(configuration.containerLogMaxSize, configuration.containerLogMaxFiles),
    ),
    imageGC: imageGcPolicyError({
      highThresholdPercent: configuration.imageGCHighThresholdPercent,
      lowThresholdPercent: configuration.imageGCLowThresholdPercent,
    }),
  }
}

const nullsAbsent = (c: LoadedConfiguration) => ({
  enforceNodeAllocatable: c.enforceNodeAllocatable,
  evictionHard: c.evictionHard ?? {},
  evictionSoft: c.evictionSoft ?? {},
  evictionSoftGracePeriod: c.evictionSoftGracePeriod ?? {},
  evictionMinimumReclaim: c.evictionMinimumReclaim ?? {},
})

/** The text that the check throws; null: none. */
export function errorOf(check: () => unknown): string | null {
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

/** The kubelet would not start. `message` is upstream's text. */
class LogRotationError extends Error {}

/** @throws LogRotationError: upstream's text, without the prefix of the caller. Upstream: NewContainerLogManager. */
export function parseLogRotatePolicy(maxSize: string, maxFiles: number): LogRotatePolicy {
  if (maxFiles <= 1) throw new LogRotationError(`invalid MaxFiles ${maxFiles}, must be > 1`)
  try {
    const maxSizeBytes = asInt64(parseQuantity(maxSize))
    if (maxSizeBytes === null) throw new LogRotationError('invalid max log size')
    return { maxSizeBytes, maxFiles }
  } catch (error) {
    const why = messageOf(error)
    throw new LogRotationError(`failed to parse container log max size ${goQuote(maxSize)}: ${why}`)
  }
}
