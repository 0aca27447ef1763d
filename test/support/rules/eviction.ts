/** Eviction thresholds of an example, as configured. */

import type { Signal } from '#model/prediction.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'

export const upstream = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

export const only = (...signals: (keyof typeof upstream)[]) =>
  Object.fromEntries(signals.map(signal => [signal, upstream[signal]]))

export const trio = only('memory.available', 'nodefs.available', 'nodefs.inodesFree')

/** What is configured, in force: a switched-off key is in the map but makes no threshold. */
export const running = (
  evictionHard: Record<string, string> | undefined,
  evictionSoft: Record<string, string> = {},
): NodeExample => ({
  configuration: { evictionHard, evictionSoft },
  thresholds: [
    ...inForce(evictionHard).map(signal => hard(signal, 10)),
    ...inForce(evictionSoft).map(signal => soft(signal, 10, 60_000)),
  ],
})

const inForce = (map: Record<string, string> = {}) =>
  Object.entries(map)
    .filter(([, value]) => value !== '0%' && value !== '100%')
    .map(([signal]) => signal as Signal)
