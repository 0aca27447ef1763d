/**
 * What a run waits for is short: for answers of SSM, between two looks at a node, and for a node to stay Ready. Only the length is another; the steps and
 * their order are not. To be imported before all that waits.
 */
import { vi } from 'vitest'

/** By which pauses are shorter. */
const rate = 10

vi.mock(import('#clients/aws/run-command.ts'), async load => ({
  ...(await load()),
  commandTimings: () => ({ gatherMs: 100, pollMs: 200 }),
}))
vi.mock('#facts/kubelet/periods.ts', async load => {
  const periods = await load<typeof import('#facts/kubelet/periods.ts')>()
  return { ...periods, probePeriodMs: periods.probePeriodMs / rate }
})
vi.mock(import('#remediate/run/pausing.ts'), async load => {
  const pausing = await load()
  const { systemClock } = pausing
  const sleep: typeof systemClock.sleep = (delayMs, signal) =>
    systemClock.sleep(delayMs / rate, signal)
  return { ...pausing, systemClock: { ...systemClock, sleep } }
})
