import { describe, expect, it } from 'vitest'
import { slowRuntime } from '#judge/rules/kernel/slow-runtime.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

const waiting = (reason: string, message: string): NodeExample => ({
  pods: [
    {
      metadata: { namespace: 'shop', name: 'web' },
      status: {
        containerStatuses: [{ name: 'web', image: 'a:1', state: { waiting: { reason, message } } }],
      },
    },
  ],
})

itJudgesExamples(slowRuntime, {
  bad: waiting('CreateContainerError', 'context deadline exceeded'),
  good: waiting('CreateContainerError', 'container name is in use'),
})

describe('slow-runtime', () => {
  it.each([
    [
      'CreateContainerError',
      'failed to reserve container name "a": name "a" is reserved for "b"',
      'fail',
    ],
    [
      'CreateContainerError',
      'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      'fail',
    ],
    ['CreateContainerError', 'failed to set up the network: context deadline exceeded', 'pass'],
    ['ErrImagePull', 'context deadline exceeded', 'pass'],
  ])('%s, %s: %s', (reason, message, expected) => {
    expect(state(slowRuntime, waiting(reason, message))).toBe(expected)
  })
})
