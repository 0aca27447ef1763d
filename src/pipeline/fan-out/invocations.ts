/**
 * Duration and memory of each invocation of a fan-out, one file each. The last function reports them for the whole run. A retry is another
 * invocation, so each throttled request is counted once. No result depends on these files: files that cannot be written or read are skipped.
 */
import pMap from 'p-map'
import type { Store } from '#clients/store/store.ts'
import { type Spent, type SpentBefore, sumSpent } from '#pipeline/service/run-watch.ts'
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import { keys, readJson, writeJson } from './files.ts'

interface FunctionInvocation extends Spent {
  schema: 'highwater.invocation/1'
  isFailed: boolean
}

const readAtOnce = 10

export async function noteInvocation(
  store: Store,
  runId: string,
  { requestId, watch }: Pick<ServiceRuntime, 'requestId' | 'watch'>,
  isFailed: boolean,
): Promise<void> {
  const invocation: FunctionInvocation = {
    schema: 'highwater.invocation/1',
    ...watch.spent(),
    isFailed,
  }
  await writeJson(store, keys.invocation(runId, requestId), invocation).catch(() => undefined)
}

/** Null: no invocation left a file. */
export async function spentBefore(store: Store, runId: string): Promise<SpentBefore | null> {
  const names = await Array.fromAsync(store.list(keys.invocation(runId, null))).catch(() => [])
  const found = await pMap(
    names,
    key => readJson<FunctionInvocation>(store, key).catch(() => null),
    { concurrency: readAtOnce },
  )
  const known = found.filter(invocation => invocation !== null)
  if (known.length === 0) return null
  return {
    ...sumSpent(known),
    invocations: known.length,
    failed: known.filter(({ isFailed }) => isFailed).length,
  }
}
