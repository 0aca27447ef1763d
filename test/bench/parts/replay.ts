/** How many nodes a second are replayed, what another setting costs, and a day of a filling disk; upstream's own code beside them. */
import type { FilesystemStats, NodeInput } from '#model/input/record.ts'
import { asItIs } from '#model/plan.ts'
import { prepareNode } from '#replay/prepare.ts'
import { predictPass, replay, settingsOf } from '#replay/replay.ts'
import { inputOf } from '#test/at-the-door.ts'
import type { Part } from '../main.ts'
import { measured, type Row } from '../measure.ts'
import { benchRecord, readAt } from '../nodes.ts'
import type { Target } from '../record.ts'
import { upstreamRows } from './replay-peer.ts'

const size = { pods: 110, images: 60 }
const runs = 7
const leastPerSecond = { pass: 6_000, all: 3_500 }

/** A collector hands over one node after another. With all of them in memory at once the walk through that memory would be measured too. */
const distinctNodes = 20

export const replayPart: Part = {
  name: 'replay',
  nodes: 500,
  targets: ([pass, all]) => [
    ...(pass ? [speedTarget(pass, leastPerSecond.pass, 'image GC and an eviction pass')] : []),
    ...(all ? [speedTarget(all, leastPerSecond.all, 'all replays')] : []),
  ],

  async run(nodes, say) {
    const distinct = Array.from({ length: Math.min(nodes, distinctNodes) }, (_, index) =>
      benchRecord(index, size),
    )
    const records = Array.from({ length: nodes }, (_, index) =>
      inputOf(distinct[index % distinct.length] ?? benchRecord(index, size)),
    )
    const rows = [
      measured(
        `node of ${size.pods} pods and ${size.images} images: image GC and an eviction pass, from the parsed input`,
        nodes,
        runs,
        () => {
          for (const record of records) passOf(record)
        },
      ),
      measured('the same node: all replays', nodes, runs, () => {
        for (const record of records) replay(record, readAt)
      }),
      anotherSetting(records),
      measured('a day of a filling disk, from the record', 20, runs, () => {
        const fills = [{ target: 'nodefs' as const, perSecond: 400_000 }]
        for (const record of records.slice(0, 20))
          replay(calm(record), readAt, { ...asItIs, fills })
      }),
    ]
    return [...rows, ...(await upstreamRows(Math.min(nodes, 200), size, say))]
  },
}

function speedTarget({ nodes, cpuMs }: Row, least: number, what: string): Target {
  const perSecond = (nodes * 1000) / cpuMs
  return {
    what: `at least ${least} nodes a second and core: ${what}`,
    figure: String(Math.round(perSecond)),
    isMet: perSecond >= least,
    otherwise:
      "by a profile, of all replays of such a node the disk's ledger takes 28 %, the rankings of pods 16 %, what eviction may do 15 %, indexes of pods and images 15 %, and what is allocatable 11 %; next: index pods once, as columns",
  }
}

function passOf(record: NodeInput): void {
  const node = prepareNode(record, readAt, null)
  predictPass(node, settingsOf(record.configuration?.fields ?? {}, node), null, [])
}

const settings = 1_000

/** Nodes that are prepared: the settings are parsed, the node is not. */
function anotherSetting(records: readonly NodeInput[]): Row {
  const nodes = records.slice(0, 20).map(record => prepareNode(record, readAt, null))
  return measured('another setting on a prepared node', nodes.length * settings, runs, () => {
    for (const node of nodes) {
      for (let percent = 0; percent < settings; percent++) {
        const evictionHard = {
          'memory.available': '100Mi',
          'nodefs.available': `${1 + (percent % 40) / 2}%`,
          'nodefs.inodesFree': '5%',
        }
        const high = 55 + (percent % 40)
        const configuration = {
          evictionHard,
          imageGCHighThresholdPercent: high,
          imageGCLowThresholdPercent: high - 5,
        }
        predictPass(node, settingsOf(configuration, node), null, [])
      }
    }
  })
}

/** Half full, so that the day begins calmly. */
function calm(input: NodeInput): NodeInput {
  const disk = (stats: FilesystemStats = {}) => ({ ...stats, availableBytes: 50 * 2 ** 30 })
  const { fs, runtime } = input.summary?.node ?? {}
  const imageFs = disk(runtime?.imageFs)
  return {
    ...input,
    summary: {
      ...input.summary,
      node: { ...input.summary?.node, fs: disk(fs), runtime: { imageFs, containerFs: imageFs } },
    },
  }
}
