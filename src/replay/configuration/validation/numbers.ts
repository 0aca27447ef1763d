/**
 * Counts, rates and ports within their bounds.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'

const isOutside = (value: number, least: number, greatest: number) =>
  value < least || value > greatest

export function* numberErrors(c: LoadedConfiguration): Iterable<string> {
  const range = (field: string, flag: string, value: number, least: number, greatest: number) =>
    `${field} (--${flag}) ${value} must be between ${least} and ${greatest}, inclusive`
  const negative = (field: string, flag: string, value: number) =>
    `${field} (--${flag}) ${value} must not be a negative number`

  if (c.nodeLeaseDurationSeconds <= 0) yield 'nodeLeaseDurationSeconds must be greater than 0'
  if (c.eventBurst < 0) yield negative('eventBurst', 'event-burst', c.eventBurst)
  if (c.eventRecordQPS < 0) yield negative('eventRecordQPS', 'event-qps', c.eventRecordQPS)
  if (c.healthzPort !== 0 && isOutside(c.healthzPort, 1, 65535))
    yield range('healthzPort', 'healthz-port', c.healthzPort, 1, 65535)
  if (isOutside(c.iptablesDropBit, 0, 31))
    yield range('iptablesDropBit', 'iptables-drop-bit', c.iptablesDropBit, 0, 31)
  if (isOutside(c.iptablesMasqueradeBit, 0, 31))
    yield range('iptablesMasqueradeBit', 'iptables-masquerade-bit', c.iptablesMasqueradeBit, 0, 31)
  if (c.kubeAPIBurst < 0) yield negative('kubeAPIBurst', 'kube-api-burst', c.kubeAPIBurst)
  if (c.kubeAPIQPS < 0) yield negative('kubeAPIQPS', 'kube-api-qps', c.kubeAPIQPS)
  if (c.nodeStatusMaxImages < -1)
    yield `nodeStatusMaxImages (--node-status-max-images) ${c.nodeStatusMaxImages} must be -1 or greater`
  if (c.maxOpenFiles < 0) yield negative('maxOpenFiles', 'max-open-files', c.maxOpenFiles)
  if (c.maxPods < 0) yield negative('maxPods', 'max-pods', c.maxPods)
  if (isOutside(c.oomScoreAdj, -1000, 1000))
    yield range('oomScoreAdj', 'oom-score-adj', c.oomScoreAdj, -1000, 1000)
  if (c.podsPerCore < 0) yield negative('podsPerCore', 'pods-per-core', c.podsPerCore)
  if (isOutside(c.port, 1, 65535)) yield range('port', 'port', c.port, 1, 65535)
  if (isOutside(c.readOnlyPort, 0, 65535))
    yield range('readOnlyPort', 'read-only-port', c.readOnlyPort, 0, 65535)
  if (c.registryBurst < 0) yield negative('registryBurst', 'registry-burst', c.registryBurst)
  if (c.registryPullQPS < 0) yield negative('registryPullQPS', 'registry-qps', c.registryPullQPS)
}
