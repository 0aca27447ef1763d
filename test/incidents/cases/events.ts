import type { NodeWorld } from '../world.ts'

type Events = NonNullable<NodeWorld['events']>

/** So many times under DiskPressure within these minutes, as the events of the node count it. */
export const flaps = (count: number, minutes: number): Events => [
  {
    ...{ type: 'Normal', reason: 'NodeHasDiskPressure', count },
    message: 'Node status is now: NodeHasDiskPressure',
    ...{ firstMinutesAgo: minutes, lastMinutesAgo: 35 },
  },
  {
    ...{ type: 'Normal', reason: 'NodeHasNoDiskPressure', count },
    message: 'Node status is now: NodeHasNoDiskPressure',
    ...{ firstMinutesAgo: minutes - 20, lastMinutesAgo: 20 },
  },
  {
    ...{ type: 'Warning', reason: 'EvictionThresholdMet', count: count * 4 },
    message: 'Attempting to reclaim ephemeral-storage',
    ...{ firstMinutesAgo: minutes, lastMinutesAgo: 30 },
  },
]
