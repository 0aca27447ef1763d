import { podName } from '#judge/text.ts'
import { type NodeInput, statusesOf } from '#model/input/record.ts'

export interface ContainerLog {
  /** `namespace/pod/container`. */
  name: string
  /** Null: the container has no statistics. */
  usedBytes: number | null
  /** If true, the folder may also hold logs of a dead instance, as the kubelet keeps one. */
  wasRestarted: boolean
  /** Time since which all logs in the folder were written. Null: unknown. */
  sinceMs: number | null
}

/** The logs of running containers, as far as pods and summary were read. The kubelet rotates no other logs. */
export function runningLogs({
  pods,
  summary,
}: Pick<NodeInput, 'pods' | 'summary'>): readonly ContainerLog[] {
  const measured = new Map(
    summary?.pods?.map(({ podRef, containers }) => [podName(podRef), containers]),
  )
  const logs: ContainerLog[] = []
  for (const pod of pods ?? []) {
    const { metadata, status } = pod
    const fullName = podName(metadata)
    const ofPod = measured.get(fullName)
    for (const { name, state, restartCount = 0 } of statusesOf(pod)) {
      if (!state?.running) continue
      const stats = ofPod?.findLast(container => container.name === name)
      // A container keeps its folder through all restarts, so after a restart the folder also holds older logs.
      const since =
        restartCount === 0 ? (stats?.startTime ?? state.running.startedAt) : status?.startTime
      const sinceMs = since === undefined ? NaN : Date.parse(since)
      logs.push({
        name: `${fullName}/${name ?? ''}`,
        usedBytes: stats?.logs?.usedBytes ?? null,
        wasRestarted: restartCount > 0,
        sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
      })
    }
  }
  return logs
}
