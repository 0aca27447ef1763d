/**
 * Flags of the kubelet that a minor removed. An unknown flag ends the kubelet at its start.
 *
 * Source  cmd/kubelet/app/options/options.go AddFlags, globalflags_linux.go addCadvisorFlags and pkg/kubelet/config/flags.go AddFlags,
 *         compared at the last patches of 1.29 to 1.37
 */
import { featuresOf } from './features.ts'

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
