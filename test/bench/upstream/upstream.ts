/**
 * The peer of our replay: upstream's own Go code, ranking the same pods and collecting the same images, where Go is present.
 *
 * Only deciding is timed. Upstream adds up requests and usage anew in each comparison of two pods; that is its way to decide, so it counts.
 */
import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { builtProgram } from './build.ts'

/** One node at one moment: pods to be ranked, images to be collected. Its images, containers and pods share one filesystem. */
export interface BenchNode {
  signal: 'memory.available' | 'nodefs.available'
  /** `v1.Pod` manifests, active pods only, in the order in which upstream would get them: its sort is not stable. */
  pods: unknown[]
  /** `pods` of the stats summary. */
  podStats: unknown[]
  images: BenchImage[]
  /** Ids of the images that containers use. */
  inUse: string[]
  imageFs: { capacityBytes: number; availableBytes: number }
  highThresholdPercent: number
  lowThresholdPercent: number
  minAgeMs: number
  /** Upstream takes its own clock, a little after it gets the ages: an image should not be some milliseconds short of `minAgeMs`. */
  nowMs: number
}

interface BenchImage {
  id: string
  sizeBytes: number
  pinned: boolean
  firstDetectedMs: number
  /** Before `nowMs`; null: never used. */
  lastUsedMs: number | null
}

interface Times {
  rank: number
  imageGc: number
  both: number
}

export type UpstreamResult =
  | { available: false; reason: string }
  | {
      available: true
      goVersion: string
      kubernetesVersion: string
      /** Names, one list to a node, first to be evicted first. */
      rankedPods: string[][]
      /** Ids, one list to a node, in the order of deletion. Among images with the same two times upstream's order is arbitrary. */
      deletedImages: string[][]
      /** Medians of the runs, each of all nodes. Parsing, the index of the pods' statistics and the image records are made outside. */
      wallMs: Times
      /** As `wallMs`; above it where Go's garbage collector ran beside. */
      cpuMs: Times
      peakRssBytes: number
      nodes: number
      runs: number
    }

interface Options {
  /** The version of `k8s.io/kubernetes`, `v1.34.4`. */
  minorVersion: string
  /** What takes long. */
  report(line: string): void
}

/** Never rejects: what keeps the peer away is its reason, in one line. */
export async function upstreamReplay(
  nodes: BenchNode[],
  { minorVersion, report }: Options,
): Promise<UpstreamResult> {
  if (process.platform === 'win32')
    return { available: false, reason: 'the peer runs on Linux and macOS' }
  try {
    const program = await builtProgram(minorVersion, report)
    report(`upstream: replaying ${nodes.length} nodes`)
    return { available: true, ...(await replayed(program, nodes)) }
  } catch (error) {
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
    return { available: false, reason }
  }
}

async function replayed(program: string, nodes: BenchNode[]) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal))
  })
  const [answer, complaint, end] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
    // A program that gave up does not read on; its exit code and its complaint tell why.
    pipeline(Readable.from(linesOf(nodes)), child.stdin).catch(() => {}),
  ])
  if (end !== 0) throw new Error(complaint || `the program ended with ${end}`)
  return JSON.parse(answer) as Omit<Extract<UpstreamResult, { available: true }>, 'available'>
}

/** Node by node: all of them in one string can be more than a string may hold. */
function* linesOf(nodes: BenchNode[]): Generator<string> {
  for (const node of nodes) yield `${JSON.stringify(node)}\n`
}
