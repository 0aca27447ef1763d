/** The same ranking and image GC of the same nodes: upstream's own Go code, where Go is present, and ours. */
import { rankPods } from '#replay/eviction/victims.ts'
import { prepareImages } from '#replay/image-gc/bounds.ts'
import { imageEvidence } from '#replay/image-gc/users.ts'
import { predictImageGc } from '#replay/image-gc.ts'
import { kubeletOf } from '#replay/times.ts'
import { inputOf, podOf, podStatsOf as statsOf } from '#test/at-the-door.ts'
import { measured, type Row } from '../measure.ts'
import { benchRecord, type NodeSize } from '../nodes.ts'
import { type BenchNode, upstreamReplay } from '../upstream/upstream.ts'

const version = 'v1.34.4'
const kubelet = kubeletOf(version)
const oneDisk = { dedicatedImageFs: false, splitContainerImageFs: false }
const policy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAgeMs: 120_000,
  maximumAgeMs: 0,
}
const runs = 7

/** Ours always; upstream's where it runs. Says where it does not, and where the answers differ. */
export async function upstreamRows(
  nodes: number,
  size: NodeSize,
  say: (line: string) => void,
): Promise<Row[]> {
  const records = Array.from({ length: nodes }, (_, index) => benchRecord(index, size))
  const peers = records.map(benchNodeOf)
  const answers = peers.map(() => ({ ranked: [] as string[], deleted: [] as string[] }))
  const parsed = peers.map((peer, index) => ({
    pods: peer.pods.map(podOf).filter(pod => pod !== null),
    peer,
    evidence: imageEvidence(inputOf(records[index] ?? benchRecord(0, size)), peer.nowMs, kubelet),
  }))
  const ours = measured('ranking and image GC, ours', nodes, runs, () => {
    for (const [index, { pods, peer, evidence }] of parsed.entries()) {
      // Statistics read anew each time: what is remembered of them must not be timed.
      const stats = statsOf({ pods: peer.podStats })
      const answer = answers[index]
      if (!answer) continue
      answer.ranked = rankPods(peer.signal, pods, stats, oneDisk, kubelet).map(
        ({ pod }) => pod.name,
      )
      const { prediction } = predictImageGc(
        policy,
        peer.imageFs,
        prepareImages(evidence, peer.nowMs),
        kubelet,
      )
      answer.deleted = (prediction.deletions ?? []).map(({ image }) => image)
    }
  })
  const upstream = await upstreamReplay(peers, { minorVersion: version, report: say })
  if (!upstream.available) {
    say(`upstream's own code did not run: ${upstream.reason}`)
    return [ours]
  }
  const isAlike = (index: number) =>
    String(upstream.rankedPods[index]) === String(answers[index]?.ranked) &&
    String(upstream.deletedImages[index]) === String(answers[index]?.deleted)
  say(
    `${peers.filter((_, index) => isAlike(index)).length} of ${nodes} nodes alike, in the order of eviction and of deletion`,
  )
  const { wallMs, cpuMs, peakRssBytes, goVersion, kubernetesVersion } = upstream
  const name = `ranking and image GC, upstream ${kubernetesVersion} (${goVersion})`
  return [
    ours,
    {
      name,
      nodes,
      runs: upstream.runs,
      wallMs: wallMs.both,
      cpuMs: cpuMs.both,
      peakRssBytes,
      requests: 0,
      bodyBytes: 0,
    },
  ]
}

function benchNodeOf(record: ReturnType<typeof benchRecord>, index: number): BenchNode {
  const summary = record.summary as {
    node: { runtime: { imageFs: BenchNode['imageFs'] } }
    pods: unknown[]
  }
  const runtime = record.runtime as {
    images: { id: string; size: string; pinned: boolean }[]
    containers: { imageId: string }[]
  }
  const known = (
    record.known as { images: { id: string; firstDetected: string; lastUsed: string | null }[] }
  ).images
  return {
    signal: index % 2 === 0 ? 'nodefs.available' : 'memory.available',
    pods: [...(record.pods ?? [])],
    podStats: summary.pods,
    images: runtime.images.map(({ id, size, pinned }, image) => ({
      id,
      sizeBytes: Number(size),
      pinned,
      firstDetectedMs: Date.parse(known[image]?.firstDetected ?? ''),
      lastUsedMs: known[image]?.lastUsed == null ? null : Date.parse(known[image].lastUsed),
    })),
    inUse: [...new Set(runtime.containers.map(({ imageId }) => imageId))],
    imageFs: summary.node.runtime.imageFs,
    highThresholdPercent: policy.highThresholdPercent,
    lowThresholdPercent: policy.lowThresholdPercent,
    minAgeMs: policy.minimumAgeMs,
    nowMs: Date.parse(String(record.at)),
  }
}
