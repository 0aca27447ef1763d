import { expect, it } from 'vitest'
import { inputOf } from '#test/at-the-door.ts'

it.each([
  ['dial tcp 10.0.1.2:10250: connect: connection refused', true],
  ['connect ECONNREFUSED 127.0.0.1:6443', undefined],
  ['dial tcp 10.0.1.2:10250: i/o timeout', undefined],
])('%s: kubelet down %s', (message, isKubeletDown) => {
  const errors = [{ what: 'summary', message: `HTTP 503: ${message}` }]
  const record = { kind: 'Node', cluster: 'prod', node: { metadata: { name: 'a' } }, errors }
  expect(inputOf(record).errors[0]?.isKubeletDown).toBe(isKubeletDown)
})
