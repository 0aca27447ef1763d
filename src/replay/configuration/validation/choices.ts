/**
 * Fields with a fixed set of words.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */
import { goQuote } from '#base/go/go-text.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

const topologyPolicies = ['none', 'best-effort', 'restricted', 'single-numa-node']

/** Yields the texts after `invalid configuration: `. */
export function* choiceErrors(c: LoadedConfiguration, kubelet: Kubelet): Iterable<string> {
  if (c.containerRuntimeEndpoint === '')
    yield 'the containerRuntimeEndpoint was not specified or empty'
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
  if (!kubelet.features.has('memoryReservationPolicy')) return
  const reservation = c.memoryReservationPolicy
  if (reservation === 'TieredReservation' && !kubelet.isGateOn('MemoryQoS')) {
    yield `memoryReservationPolicy ${goQuote(reservation)} requires MemoryQoS feature gate to be enabled`
  }
  if (!['None', 'TieredReservation'].includes(reservation)) {
    yield `option ${goQuote(reservation)} specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"`
  }
}
