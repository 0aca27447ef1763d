/**
 * What a kubelet minor changes beside defaults and feature gates, which have their own tables: removed flags, and behaviors of image GC,
 * eviction and restart.
 *
 * Source  of the flags: cmd/kubelet/app/options/options.go AddFlags, globalflags_linux.go addCadvisorFlags and pkg/kubelet/config/flags.go AddFlags,
 *         compared at the last patches of 1.29 to 1.37
 */

import type { ChangedBehavior } from '#model/prediction.ts'
import { type Feature, featuresOf, minorOfFeature } from './features.ts'
import { configurationFlags } from './fields.ts'

/** An unknown flag ends the kubelet at its start. */
const removedIn: Readonly<Record<number, readonly string[]>> = {
  31: ['iptables-drop-bit', 'iptables-masquerade-bit', 'keep-terminated-pod-volumes'],
  34: ['cloud-config', 'register-schedulable'],
  35: ['pod-infra-container-image'],
  37: [
    'application-metrics-count-limit',
    'boot-id-file',
    'container-hints',
    'containerd',
    'containerd-namespace',
    'enable-load-reader',
    'event-storage-age-limit',
    'event-storage-event-limit',
    'global-housekeeping-interval',
    'log-cadvisor-usage',
    'machine-id-file',
    'storage-driver-buffer-duration',
    'storage-driver-db',
    'storage-driver-host',
    'storage-driver-password',
    'storage-driver-secure',
    'storage-driver-table',
    'storage-driver-user',
  ],
}

/** Flags that a kubelet of this version no longer knows. */
export const flagsRemovedBy = (kubeletVersion: string): string[] =>
  Object.entries(removedIn)
    .filter(([minor]) => Number(minor) <= featuresOf(kubeletVersion).rulesOfMinor)
    .flatMap(([, flags]) => flags)

/** Flags of any of these minors that set no field of the configuration. */
const otherFlags: ReadonlySet<string> = new Set(
  `azure-container-registry-config bootstrap-kubeconfig cert-dir cloud-provider config config-dir docker docker-env-metadata-whitelist docker-only
   docker-root docker-tls docker-tls-ca docker-tls-cert docker-tls-key exit-on-lock-contention experimental-allocatable-ignore-eviction
   experimental-mounter-path help hostname-override housekeeping-interval image-credential-provider-bin-dir image-credential-provider-config
   kubeconfig lock-file log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream manifest-url-header
   maximum-dead-containers maximum-dead-containers-per-container minimum-container-ttl-duration node-ip node-labels register-with-taints
   reserved-memory root-dir runtime-cgroups seccomp-default show-hidden-metrics-for-version version vmodule windows-priorityclass
   windows-service`.split(/\s+/),
)
const everRemoved: ReadonlySet<string> = new Set(Object.values(removedIn).flat())

/** @param flag without hyphens before it */
export const isKnownFlag = (flag: string, kubeletVersion: string | null): boolean =>
  everRemoved.has(flag)
    ? !flagsRemovedBy(kubeletVersion ?? '').includes(flag)
    : otherFlags.has(flag) || Object.hasOwn(configurationFlags, flag)

export const unknownFlagError = (flag: string): string =>
  `failed to parse kubelet flag: unknown flag: --${flag}`

/** Sources: the replays that read each feature, and `docs/image-gc-and-eviction.md`. */
const behaviors: Partial<Record<Feature, string>> = {
  maximumAgeKeepsImageGc: 'imageMaximumGCAge keeps image GC running at a high threshold of 100',
  maximumAgeWaitsForUptime:
    'imageMaximumGCAge applies only after the kubelet has run for that long',
  immediateEviction: 'hard evictions end a pod within 1 s, without its own grace period',
  containerfsNodeReclaim: 'pressure on containerfs frees dead containers and images before pods',
  softGracePeriodCapped: 'evictionMaxPodGracePeriod never lengthens the grace period of a pod',
  mergeDefaultEvictionSettings:
    'mergeDefaultEvictionSettings keeps defaults of signals that evictionHard leaves out',
  standardPodRequests: 'requests of sidecars count in the order of eviction',
  amiShutsDownGracefully: 'AL2023 images of EKS set shutdownGracePeriod 2m30s',
  containerStatusOutlivesRestart: 'containers stay ready while the kubelet restarts',
  sidecarStorageLimits: 'a sidecar over its own ephemeral-storage limit is evicted',
}

/** Behaviors between two kubelet versions, oldest first. Empty: a version is unknown. */
export function behaviorsBetween(from: string | null, to: string): ChangedBehavior[] {
  const [least, most] = [featuresOf(from).minor, featuresOf(to).minor]
  if (least === null || most === null) return []
  return (Object.entries(behaviors) as [Feature, string][])
    .map(([feature, what]) => ({ minor: minorOfFeature(feature), what }))
    .filter(({ minor }) => minor > least && minor <= most)
    .toSorted((a, b) => a.minor - b.minor)
}
