import { expect, it } from 'vitest'
import type { NodeInput } from '#model/input/record.ts'
import { asItIs } from '#model/plan.ts'
import { withChanges } from '#replay/configuration/configuration-change.ts'
import { openPreparing } from '#replay/prepare.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'
import { gateWorld } from '#test/gate-world.ts'

const nodes: NodeInput[] = gateWorld()
  .map(line => JSON.parse(line))
  .filter(({ kind }) => kind === 'Node')
  .map(nodeInput)
const at = '2026-11-21T00:00:00Z'

const changes: [string, (node: NodeInput) => NodeInput][] = [
  [
    'thresholds',
    node =>
      withChanges(node, [
        { path: ['evictionHard', 'nodefs.available'], value: '60%' },
        { path: ['imageGCHighThresholdPercent'], value: 40 },
      ]),
  ],
  [
    'reservations',
    node => withChanges(node, [{ path: ['systemReserved'], value: { memory: '1Gi' } }]),
  ],
  [
    'a feature gate',
    node =>
      withChanges(node, [{ path: ['featureGates'], value: { InPlacePodVerticalScaling: false } }]),
  ],
  [
    'the most images that it lists',
    node => withChanges(node, [{ path: ['nodeStatusMaxImages'], value: 3 }]),
  ],
  ['a folder of logs', node => withChanges(node, [{ path: ['podLogsDir'], value: '/data/logs' }])],
  [
    'flags',
    node => ({
      ...node,
      host: { kubelet: { commandLine: ['kubelet', '--maximum-dead-containers=0'] } },
    }),
  ],
  ['pods', node => ({ ...node, pods: [] })],
  ['a disk', node => ({ ...node, summary: null })],
  ['no configuration', node => ({ ...node, configuration: null })],
]

/** What was read of a node was read under its own configuration, whatever is tried. */
it.each(changes)('replays a node again with other %s as if it came alone', (_what, change) => {
  for (const node of nodes) {
    const prepare = openPreparing(node)
    const alone = (input: NodeInput) => replay(input, at, asItIs, openPreparing(node))
    expect(replay(change(node), at, asItIs, prepare)).toEqual(alone(change(node)))
    expect(replay(node, at, asItIs, prepare)).toEqual(replay(node, at))
    expect(replay(change(node), at, asItIs, prepare)).toEqual(alone(change(node)))
  }
})
