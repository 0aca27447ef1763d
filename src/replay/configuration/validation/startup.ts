/**
 * Errors that validation misses and the kubelet reports later, when it constructs its parts.
 *
 * Replays       pkg/kubelet/eviction/helpers.go ParseThresholdConfig;  pkg/kubelet/images/image_gc_manager.go NewImageGCManager;
 *               pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize;  cmd/kubelet/app/server.go parseResourceList
 * Read at       1.29 to 1.37
 * Kept exactly  every text, without the prefix of the caller
 * Left out      over-reservation, which needs the machine
 */

import { messageOf } from '#base/text/error-message.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { imageGcPolicyError } from '#replay/image-gc/policy.ts'
import { parseLogRotatePolicy } from '#replay/log-rotation.ts'
import { parseResourceList } from '#replay/reserved-resources.ts'

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

function errorOf(check: () => unknown) {
  try {
    check()
    return null
  } catch (error) {
    return messageOf(error)
  }
}
