/** Growth of nodes' disks as earlier runs measured it. */

import { nodeKey } from '#base/text/node-key.ts'
import type { Store } from '#clients/store/store.ts'
import { growthIn } from '#judge/compare/history/fill.ts'
import type { NodeGrowth } from '#model/history.ts'
import { earlierOf } from '#pipeline/history/earlier.ts'
import { runBefore } from '#pipeline/history/saved-run.ts'

/** Empty growth: no earlier run measured the node. @throws Error with a message for people when the store cannot be read */
export async function rememberedGrowth(
  store: Store,
): Promise<(cluster: string, name: string) => NodeGrowth> {
  const { run } = await runBefore(store, null)
  if (run === null) return () => ({})
  const { nodes } = await earlierOf(store, run, '')
  return (cluster, name) => {
    const fill = nodes.get(nodeKey(cluster, name))?.fill ?? null
    return fill === null ? {} : growthIn(fill)
  }
}
