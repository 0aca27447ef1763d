/** The lab of a fan-out's bench, in a process of its own: `fan-out-lab.ts NODES CLUSTERS FOLDER` sends its environment to whoever has forked it. */
import { startLab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'

const [nodes, clusters, storeFolder] = process.argv.slice(2)
const each = Math.ceil(Number(nodes) / Number(clusters))
const scenarios = Array.from({ length: Number(clusters) }, (_, index) =>
  fleet({ nodes: each, seed: index, cluster: `fleet-${String(index).padStart(2, '0')}` }),
)
const lab = await startLab(scenarios, { at: '2026-11-21T05:00:00Z', storeFolder })
process.send?.(lab.environment)
