/** What rules ask of container logs: how many containers write one, and how far they are from where rotation holds them. */
import type { KubernetesPod } from '#model/kubernetes.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

const listOf = (value: unknown): RawObject[] => (Array.isArray(value) ? value.filter(isRawObject) : [])

export interface LogUse {
  /** Running ones: the kubelet rotates no others. */
  containers: number
  /** What all of them may still take of `perContainerBytes` each; a log without statistics counts as empty. */
  growthBytes: number
}

export function logUse(pods: readonly KubernetesPod[], summary: RawObject, perContainerBytes: number): LogUse {
  const used = new Map<string, number>()
  for (const { podRef, containers } of listOf(summary.pods)) {
    const { namespace, name } = isRawObject(podRef) ? podRef : {}
    for (const container of listOf(containers)) {
      const bytes = isRawObject(container.logs) ? container.logs.usedBytes : null
      if (typeof bytes === 'number') used.set(JSON.stringify([namespace, name, container.name]), bytes)
    }
  }
  const running = pods.flatMap(({ metadata, status }) =>
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
      .filter(({ state }) => state?.running !== undefined && state.running !== null)
      .map(({ name }) => used.get(JSON.stringify([metadata?.namespace, metadata?.name, name])) ?? 0),
  )
  return { containers: running.length, growthBytes: running.reduce((sum, bytes) => sum + Math.max(0, perContainerBytes - bytes), 0) }
}
