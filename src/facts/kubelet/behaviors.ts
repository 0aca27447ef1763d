/** What a kubelet minor does differently in image GC, eviction and its restart, for people. Changed defaults and feature gates have their own tables. */
import type { ChangedBehavior } from '#model/prediction.ts'
import { type Feature, featuresOf, minorOfFeature } from './features.ts'

/** Sources: the replays that read each feature, and `docs/image-gc-and-eviction.md`. */
const behaviors: Partial<Record<Feature, string>> = {
  maximumAgeKeepsImageGc: 'imageMaximumGCAge keeps image GC running at a high threshold of 100',
  maximumAgeWaitsForUptime:
    'imageMaximumGCAge applies only after the kubelet has run for that long',
  immediateEviction: 'hard evictions end a pod within 1 s, without its own grace period',
  containerfsNodeReclaim: 'pressure on containerfs frees dead containers and images before pods',
  softGracePeriodCapped: 'evictionMaxPodGracePeriod never lengthens the grace period of a pod',
  mergeDefaultEvictionSettings:
    'mergeDefaultEvictionSettings keeps defaults of signals that evictionHard leaves out',
  standardPodRequests: 'requests of sidecars count in the order of eviction',
  amiShutsDownGracefully: 'AL2023 images of EKS set shutdownGracePeriod 2m30s',
  containerStatusOutlivesRestart: 'containers stay ready while the kubelet restarts',
  sidecarStorageLimits: 'a sidecar over its own ephemeral-storage limit is evicted',
}

/** Behaviors between two kubelet versions, oldest first. Empty: a version is unknown. */
export function behaviorsBetween(from: string | null, to: string): ChangedBehavior[] {
  const [least, most] = [featuresOf(from).minor, featuresOf(to).minor]
  if (least === null || most === null) return []
  return (Object.entries(behaviors) as [Feature, string][])
    .map(([feature, what]) => ({ minor: minorOfFeature(feature), what }))
    .filter(({ minor }) => minor > least && minor <= most)
    .toSorted((a, b) => a.minor - b.minor)
}
