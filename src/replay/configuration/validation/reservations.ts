/**
 * Reserved CPUs and memory of NUMA nodes.
 *
 * Replays       pkg/kubelet/apis/config/validation  validation.go ValidateKubeletConfiguration;  validation_reserved_memory.go
 *               validateReservedMemoryConfiguration
 * Read at       1.29 to 1.37
 */

import { atoi, goQuote } from '#base/go/go-text.ts'
import { signOf } from '#base/go/quantity.ts'
import { messageOf } from '#base/text/error-message.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'

export function* reservationErrors(c: LoadedConfiguration): Iterable<string> {
  if (c.reservedSystemCPUs !== '') {
    if (c.systemReservedCgroup !== '' || c.kubeReservedCgroup !== '') {
      yield "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
    }
    const error = cpuSetError(c.reservedSystemCPUs)
    if (error !== null)
      yield `unable to parse reservedSystemCPUs (--reserved-cpus) ${c.reservedSystemCPUs}, error: ${error}`
  }
  const seen = new Set<string>()
  for (const { numaNode, limits } of c.reservedMemory ?? []) {
    for (const [resource, quantity] of Object.entries(limits ?? {})) {
      if (resource !== 'memory' && !resource.startsWith('hugepages-')) {
        yield `the limit type ${goQuote(resource)} for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`
      }
      if (signOf(quantity) === 0)
        yield `reserved memory may not be zero for NUMA node ${numaNode} and resource ${goQuote(resource)}`
      const key = `${numaNode} ${resource}`
      if (seen.has(key))
        yield `the reserved memory has a duplicate value for NUMA node ${numaNode} and resource ${goQuote(resource)}`
      seen.add(key)
    }
  }
}

/** Upstream: k8s.io/utils/cpuset Parse. */
function cpuSetError(text: string) {
  try {
    for (const range of text.split(',')) {
      const dash = range.indexOf('-')
      const start = atoi(dash < 0 ? range : range.slice(0, dash))
      const end = dash < 0 ? start : atoi(range.slice(dash + 1))
      if (start > end) return `invalid range ${goQuote(range)} (${start} > ${end})`
    }
    return null
  } catch (error) {
    return messageOf(error)
  }
}
