/** Whether the kubelet of one machine starts: with another configuration, or with the files on its disk. */

import { featuresOf } from '#facts/kubelet/features.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type { NodeIdentity } from '#model/input/record.ts'
import { refusalsOf } from './configuration/configuration-change.ts'
import { type NextStart, predictNextStart } from './configuration/next-start.ts'
import { predictAllocatable } from './predict-allocatable.ts'

/**
 * Upstream's errors if the node's kubelet would not start with the configuration of `input`.
 *
 * @param errorsBefore validation errors with which the kubelet runs: they do not count
 */
export function refusalsOn(
  { node, configuration }: NodeInput,
  kubeletVersion: string | null,
  errorsBefore: () => readonly string[] = () => [],
): string[] {
  if (configuration === null) return []
  const errors = refusalsOf(configuration.printed, kubeletVersion)
  const added = errors.filter(error => !errorsBefore().includes(error))
  if (added.length > 0) return added
  return predictAllocatable(node, configuration.fields, featuresOf(kubeletVersion)).refusals
}

/** The next start with the files of `host`, and the error that depends on the machine: reservations above its capacity. */
export function nextStartOn(
  node: NodeInput['node'],
  host: Host | null,
  { kubeletVersion, operatingSystem }: Pick<NodeIdentity, 'kubeletVersion' | 'operatingSystem'>,
): NextStart {
  const next = predictNextStart(host, kubeletVersion, operatingSystem)
  const { prediction } = next
  const fields = prediction?.settings?.configuration
  if (!prediction || fields === undefined || prediction.errors.length > 0) return next
  const errors = predictAllocatable(node, fields, featuresOf(kubeletVersion)).refusals
  return errors.length === 0 ? next : { ...next, prediction: { ...prediction, errors } }
}
