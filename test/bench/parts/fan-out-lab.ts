/**
 * The lab of the fan-out bench, in an own process: `fan-out-lab.ts NODES CLUSTERS FOLDER MORNING AT_MS` sends its environment to the parent process.
 * Between two mornings, nodes of one cluster are edited, and those of another are mended. A few clusters get other nodes with other disks.
 */
import { startLab } from '#lab/lab.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { stopClock } from './stopped-clock.ts'

const [nodes, clusters, storeFolder = '', morning = '', atMs] = process.argv.slice(2)
stopClock(Number(atMs))
const isSecond = morning.startsWith('2026-11-22')
const each = Math.ceil(Number(nodes) / Number(clusters))
const scenarios = Array.from({ length: Number(clusters) }, (_, index) => {
  const seed = isSecond && index % 8 === 5 ? `${index}-again` : index
  // Some clusters are edited on one of the mornings only.
  const isEdited = index % 8 !== (isSecond ? 3 : 1)
  return fleet({ nodes: each, seed, cluster: `fleet-${String(index).padStart(2, '0')}`, isEdited })
})
const lab = await startLab(scenarios, { at: morning, storeFolder })
process.send?.(lab.environment)
