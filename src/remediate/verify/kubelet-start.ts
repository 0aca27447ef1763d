import type { NodeInput } from '#model/node-input.ts'
import { isMoment } from '#model/what-if.ts'

/** When its kubelet was started, RFC 3339, by the node's own clock; null: not known. */
export function kubeletStartedAt({ host, known, summary }: NodeInput): string | null {
  const process = summary?.node?.systemContainers?.find(({ name }) => name === 'kubelet')
  const times = [host?.kubelet?.startedAt, known?.kubeletStartedAt, process?.startTime]
  return times.find(time => time !== undefined && isMoment(time)) ?? null
}
