import { expect, it } from 'vitest'
import type { NodeOwner } from '#model/input/record.ts'
import { isReachable } from '#pipeline/gate/reach.ts'

it.each<[NodeOwner, boolean]>([
  ['managed-nodegroup', true],
  ['karpenter', true],
  ['auto-mode', false],
  ['fargate', false],
])('a file reaches a node of %s: %s', (owner, isReached) => {
  const identity = {
    ...{ name: 'n1', group: { kind: 'Nodegroup' as const, namespace: null, name: 'general' } },
    ...{ amiFamily: 'Bottlerocket' as const, operatingSystem: 'linux' as const, owner },
  }
  expect(isReachable({ cluster: 'prod', identity, nodeClass: null })).toBe(isReached)
})
