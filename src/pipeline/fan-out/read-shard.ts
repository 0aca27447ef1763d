/** A shard of a fan-out: reads its nodes and keeps their records. Only one shard of a cluster runs at a time. */
import { collectNodes } from '#collect/collect.ts'
import type { KubernetesNode } from '#model/kubernetes.ts'
import type { NodeRecord, SnapshotRecord } from '#model/record.ts'
import { prune } from '#snapshot/prune.ts'
import { type FanOutContext, openCluster, runOf, workOf } from './context.ts'
import { isThere, keys, readRecords, writeRecords } from './files.ts'

/** Done before, it does nothing. @throws Error when it could not be kept what was read */
export async function readShard(
  { cluster, shard }: { cluster: number; shard: number },
  context: FanOutContext,
): Promise<void> {
  const { runId, store, runtime } = context
  const kept = keys.records(runId, cluster, shard)
  if (await isThere(store, kept)) return
  runtime.watch.enters('read')
  const run = await runOf(context)
  runtime.watch.isAbout(workOf(run, cluster).cluster)
  const nodes: KubernetesNode[] = []
  for await (const listed of readRecords(store, keys.nodes(runId, cluster, shard), runtime.folder))
    if (listed.kind === 'Node') nodes.push(listed.node)
  const { record, endpoint, errors, options, close } = await openCluster(run, cluster, context)
  if (endpoint === null)
    throw new Error(
      `shard ${shard} of cluster ${record.cluster} has nodes, and no way to it is known${errors.map(({ message }) => `: ${message}`).join('')}`,
    )
  try {
    await writeRecords(
      store,
      kept,
      pruned(collectNodes(record.cluster, endpoint, nodes, options)),
      runtime.folder,
    )
  } finally {
    close()
  }
}

async function* pruned(records: AsyncIterable<NodeRecord>): AsyncGenerator<SnapshotRecord> {
  for await (const record of records) yield prune(record)
}
