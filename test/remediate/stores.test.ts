/** The journal and the lease in the two kinds of store that there are. */
import { expect, it, onTestFinished } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { s3Store } from '#clients/store/s3.ts'
import type { Store } from '#clients/store/store.ts'
import { enterLab, scenario } from '#lab/test/support.ts'
import { temporaryFolder } from '#test/cli.ts'
import { approvalOf, newSha256, planOf, World } from '#test/remediation-world.ts'
import { fasterClock } from '#test/virtual-time.ts'

async function bucket(): Promise<Store> {
  const lab = await enterLab(scenario([{}], { s3: { buckets: ['reports'] } }))
  onTestFinished(() => lab.close())
  return s3Store({ bucket: 'reports', prefix: 'highwater/', region: 'us-east-1' })
}

const hourMs = 3_600_000
const from = (delayMs: number) => new Date(Date.now() + delayMs).toISOString()

it.each<[string, () => Promise<Store>]>([
  ['a folder', async () => folderStore(temporaryFolder())],
  ['a bucket', bucket],
])(
  '%s keeps a run that pauses, goes on, is applied again, and is rolled back',
  { timeout: 60_000 },
  async (_, open) => {
    const store = await open()
    const world = new World(planOf([1, 3], 'arn:aws:eks:eu-west-1:111122223333:cluster/prod'))
    const options = {
      store,
      policy: { pauseMs: 0 },
      effects: { clock: fasterClock(20) },
      approval: approvalOf(world.plan, { at: from(-hourMs), until: from(hourMs) }),
    }
    world.reasons = ['the policy lets nodes be changed only at night']
    expect(await world.apply(options)).toMatchObject({ state: 'paused' })
    world.reasons = []
    expect(await world.apply({ ...options, resume: true })).toMatchObject({ state: 'done' })
    expect([...world.nodes.values()].map(({ swaps, sha256 }) => [swaps, sha256])).toEqual(
      Array(4).fill([1, newSha256]),
    )
    expect(await world.apply(options)).toMatchObject({ state: 'done' })
    const ended = await world.rollBack(options)
    expect(ended.steps.map(({ state }) => state)).toEqual(Array(4).fill('rolled-back'))
    expect(await Array.fromAsync(store.list('remediation/'))).toHaveLength(4 + 1 + 1 + 4)
  },
)
