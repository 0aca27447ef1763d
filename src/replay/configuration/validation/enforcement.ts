/**
 * Whether the kubelet can enforce the entries of `enforceNodeAllocatable`.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37; 1.31 checks each entry, 1.32 added the compressible entries
 */

import { goQuote } from '#base/go/go-text.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'

type Enforcement = Pick<
  LoadedConfiguration,
  'enforceNodeAllocatable' | 'cgroupsPerQOS' | 'systemReservedCgroup' | 'kubeReservedCgroup'
>

const flag = 'enforceNodeAllocatable (--enforce-node-allocatable)'

export function* enforcementErrors(
  configuration: Enforcement,
  features: KubeletFeatures,
): Iterable<string> {
  const { cgroupsPerQOS } = configuration
  const entries = configuration.enforceNodeAllocatable
  const isByEntry = features.has('enforcementByEntry')
  const isCompressible = features.has('compressibleEnforcement')
  if (!isByEntry && !cgroupsPerQOS && entries.length > 0) {
    yield `${flag} is not supported unless cgroupsPerQOS (--cgroups-per-qos) is set to true`
  }
  for (const base of isCompressible ? ['system-reserved', 'kube-reserved'] : []) {
    if (!entries.includes(base) || !entries.includes(`${base}-compressible`)) continue
    yield `both ${goQuote(base)} and ${goQuote(`${base}-compressible`)} cannot be specified together in ${flag}`
  }
  for (const [index, entry] of entries.entries()) {
    if (isByEntry && entries.indexOf(entry) < index) {
      yield `duplicated enforcements ${goQuote(entry)} in ${flag}`
      continue
    }
    if (entry === 'none') {
      if (entries.length > 1)
        yield `${flag} may not contain additional enforcements when "none" is specified`
      continue
    }
    const base = isCompressible ? entry.replace(/-compressible$/, '') : entry
    if (entry !== 'pods' && base !== 'system-reserved' && base !== 'kube-reserved') {
      yield `option ${goQuote(entry)} specified for ${flag}. Valid options are ${validOptions(isCompressible)}`
      continue
    }
    const missing = missingCgroup(base, configuration)
    if (missing !== null) {
      yield isCompressible
        ? `${missing} must be specified when ${goQuote(base)} or ${goQuote(`${base}-compressible`)} included in ${flag}`
        : `${missing} must be specified when ${goQuote(base)} contained in ${flag}`
    }
    if (isByEntry && !cgroupsPerQOS)
      yield `cgroupsPerQOS (--cgroups-per-qos) must be set to true when ${goQuote(entry)} contained in ${flag}`
  }
}

const validOptions = (isCompressible: boolean) =>
  isCompressible
    ? '"pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none"'
    : '"pods", "system-reserved", "kube-reserved", or "none"'

function missingCgroup(
  base: string,
  { systemReservedCgroup, kubeReservedCgroup }: Enforcement,
): string | null {
  if (base === 'system-reserved' && systemReservedCgroup === '')
    return 'systemReservedCgroup (--system-reserved-cgroup)'
  if (base === 'kube-reserved' && kubeReservedCgroup === '')
    return 'kubeReservedCgroup (--kube-reserved-cgroup)'
  return null
}
