/** What history asks of a store: a few calls a cluster, whatever the number of its nodes. */
import { expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import type { Store } from '#clients/store/store.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { openHistory } from '#pipeline/history/history.ts'
import { temporaryFolder } from '#test/cli.ts'
import { auditRecords } from '#test/lab-audit.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'

async function* recordsOf(clusters: number, nodes: number): AsyncGenerator<SnapshotRecord> {
  yield { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt, account: null, region: null }
  for (let index = 0; index < clusters; index++) {
    const cluster = `cluster-${index}`
    yield { kind: 'Cluster', cluster }
    for (let node = 0; node < nodes; node++)
      yield buildNode({ cluster, name: `node-${node}` }).record
  }
}

/** By method; the folder's own `remove` is not a bucket's. */
function counting(store: Store) {
  const calls: string[] = []
  const counted =
    <Args extends unknown[], Answer>(name: string, method: (...args: Args) => Answer) =>
    (...args: Args) => {
      calls.push(name)
      return method(...args)
    }
  const { location, read, write, create, replace, writeFile, wasWritten, list } = store
  const asBucket: Store = {
    location,
    read: counted('read', read),
    write: counted('write', write),
    create: counted('create', create),
    replace: counted('replace', replace),
    writeFile: counted('writeFile', writeFile),
    wasWritten: counted('wasWritten', wasWritten),
    list: counted('list', list),
  }
  return { calls, store: asBucket }
}

it.each([
  { clusters: 1, nodes: 3, most: 9 },
  { clusters: 1, nodes: 60, most: 9 },
  { clusters: 5, nodes: 4, most: 33 },
])(
  'asks at most $most times for $clusters clusters of $nodes nodes',
  async ({ clusters, nodes, most }) => {
    const folder = folderStore(temporaryFolder())
    for (const runId of ['2026-11-21T05-00-00Z', '2026-11-22T05-00-00Z']) {
      const { calls, store } = counting(folder)
      const history = openHistory({ store, runId, retentionDays: 400, isWhole: true, scope: null })
      const { deliveries } = await auditRecords(recordsOf(clusters, nodes), { history })
      expect(deliveries).toEqual([])
      expect(calls.length).toBeLessThanOrEqual(most)
      expect(calls.filter(name => name === 'list')).toHaveLength(1)
    }
  },
)
