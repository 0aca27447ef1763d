import { expect, it } from 'vitest'
import { evictionCause, notReadyKind } from '#facts/kubelet/event-messages.ts'

it.each([
  ['PLEG is not healthy: pleg was last seen active 3m2s ago; threshold is 3m0s', 'runtime'],
  ['[container runtime is down, PLEG is not healthy: pleg was last seen active 5m ago]', 'runtime'],
  ['container runtime is down', 'runtime'],
  ['container runtime status check may not have completed yet', 'runtime'],
  ['container runtime not ready: RuntimeReady=false reason:Shutdown message:stopping', 'runtime'],
  [
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error',
    'network',
  ],
  ['runtime network plugin is not ready: CNI config uninitialized', 'network'],
  ['node is shutting down', 'shutdown'],
  ['missing node capacity for resources: ephemeral-storage', 'other'],
])('%s: %s', (message, kind) => {
  expect(notReadyKind(message)).toBe(kind)
})

it.each([
  ['Pod was rejected: The node had condition: [DiskPressure]. ', 'ephemeral-storage', true],
  ['The node was low on resource: [MemoryPressure PIDPressure]. ', 'memory', true],
  ['The node was low on resource: inodes. ', 'inodes', false],
  ['Attempting to reclaim ephemeral-storage', 'ephemeral-storage', false],
  ['The node was low on resource: [Ready]. ', null, false],
])('%s: %s, refused: %s', (message, resource, isRefused) => {
  expect(evictionCause(message)).toMatchObject({ resource, isRefused })
})
