import { describe, expect, it } from 'vitest'
import { containerGcFlagsOffDefault } from '#judge/rules/container-gc/container-gc-flags-off-default.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

const host = (...args: string[]) => ({
  host: { kubelet: { commandLine: ['/usr/bin/kubelet', ...args] } },
})

itJudgesExamples(containerGcFlagsOffDefault, {
  bad: host('--maximum-dead-containers-per-container=10'),
  good: host('--maximum-dead-containers=-1'),
})

describe('container-gc-flags-off-default', () => {
  it.each([
    [[], 'pass'],
    [['--maximum-dead-containers-per-container', '1'], 'pass'],
    [['--maximum-dead-containers-per-container', '2'], 'fail'],
    [['--maximum-dead-containers=0'], 'fail'],
    [['--maximum-dead-containers=-7'], 'pass'],
    [['--minimum-container-ttl-duration=0'], 'pass'],
    [['--minimum-container-ttl-duration=1m'], 'fail'],
    [['--minimum-container-ttl-duration=1m', '--minimum-container-ttl-duration=0s'], 'pass'],
    [['--maximum-dead-containers-per-container-x=5'], 'pass'],
  ] as const)('%j: %s', (args, expected) => {
    expect(
      state(containerGcFlagsOffDefault, {
        host: { kubelet: { commandLine: ['kubelet', ...args] } },
      }),
    ).toBe(expected)
  })

  it('is unknown without a command line', () => {
    expect(state(containerGcFlagsOffDefault, { host: { kubelet: { commandLine: [] } } })).toBe(
      'unknown',
    )
    expect(state(containerGcFlagsOffDefault, { host: {} })).toBe('unknown')
  })
})
