import { podName } from '#judge/text.ts'
import { type NodeInput, statusesOf } from '#model/input/record.ts'

export type ContainerLog = ReturnType<typeof runningLogs>[number]

/** The logs of running containers, as far as pods and summary were read. The kubelet rotates no other logs. */
export function runningLogs({ pods, summary }: Pick<NodeInput, 'pods' | 'summary'>) {
  const measured = new Map(
    summary?.pods?.map(({ podRef, containers }) => [podName(podRef), containers]),
  )
  return (pods ?? []).flatMap(pod => {
    const fullName = podName(pod.metadata)
    const ofPod = measured.get(fullName)
    return statusesOf(pod).flatMap(({ name, state, restartCount = 0 }) => {
      if (!state?.running) return []
      const stats = ofPod?.findLast(container => container.name === name)
      // A container keeps its folder through all restarts, so after a restart the folder also holds older logs.
      const since =
        restartCount === 0 ? (stats?.startTime ?? state.running.startedAt) : pod.status?.startTime
      const sinceMs = since === undefined ? NaN : Date.parse(since)
      return {
        /** `namespace/pod/container`. */
        name: `${fullName}/${name ?? ''}`,
        /** Null: the container has no statistics. */
        usedBytes: stats?.logs?.usedBytes ?? null,
        /** If true, the folder may also hold logs of a dead instance, as the kubelet keeps one. */
        wasRestarted: restartCount > 0,
        /** Time since which all logs in the folder were written. Null: unknown. */
        sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
      }
    })
  })
}
