/** When the nodes of a wave are read again. */
import { expect, it } from 'vitest'
import type { PlanStep } from '#model/plan.ts'
import type { Effects, NodeWork } from '#remediate/run/node-work.ts'
import type { Clock } from '#remediate/run/pausing.ts'
import { awaitVerified } from '#remediate/verify/await-seen.ts'

const step = { cluster: 'shop', node: 'a' } as PlanStep
const noted: string[] = []
const work = {
  entry: () => ({ why: null }),
  note: async (_: PlanStep, { state }: { state: string }) => void noted.push(state),
} as unknown as NodeWork

async function readingTimes(steps: readonly PlanStep[], wellAfterMs: number, timeoutMs: number) {
  let nowMs = 0
  const clock: Clock = {
    now: () => new Date(nowMs),
    elapsedMs: () => nowMs,
    sleep: async delayMs => {
      nowMs += delayMs
    },
  }
  const times: number[] = []
  const verify: Effects['verify'] = async nodes => {
    times.push(nowMs)
    const state = nowMs >= wellAfterMs ? 'verified' : 'not-yet'
    return new Map(
      nodes.map(({ step: { cluster, node } }) => [
        `${cluster}/${node}`,
        { state, why: 'it is new' },
      ]),
    )
  }
  const end = new AbortController().signal
  const wrong = await awaitVerified(steps, work, { clock, verify }, { timeoutMs, end })
  return { times, wrong: [...wrong.keys()] }
}

it('reads a node first when it can be stable, then every 15 seconds', async () => {
  expect(await readingTimes([step], 10_000, 60_000)).toEqual({ times: [10_000], wrong: [] })
  expect(await readingTimes([step], 30_000, 60_000)).toEqual({
    times: [10_000, 25_000, 40_000],
    wrong: [],
  })
  expect(noted).toEqual(['verified', 'verified'])
})

it('gives up at the time limit, however short it is', async () => {
  expect(await readingTimes([step], Number.POSITIVE_INFINITY, 5_000)).toMatchObject({
    times: [5_000, 10_000],
    wrong: ['shop/a'],
  })
  expect(await readingTimes([], 0, 60_000)).toEqual({ times: [], wrong: [] })
})
