import { failedPod, hoursBefore } from '#test/example-cluster.ts'

const pods = { threshold: { pods: 12_500, isAssumed: true }, excess: 0, terminating: [] }

export const evictedPodExamples = {
  bad: { pods: { ...pods, terminated: [failedPod(hoursBefore(72), 'Evicted')] } },
  good: { pods: { ...pods, terminated: [failedPod(hoursBefore(1), 'Evicted')] } },
}
