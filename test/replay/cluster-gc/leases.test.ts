import { describe, expect, it } from 'vitest'
import { nodeLeases } from '#replay/cluster-gc/sections/nodes.ts'
import { objectOf } from '#test/at-the-door.ts'

const renewed = Date.parse('2025-01-01T00:00:00Z')
const lease = (metadata: object = {}, spec: object = {}) =>
  objectOf('leases.coordination.k8s.io', {
    metadata: { namespace: 'kube-node-lease', name: 'n1', ...metadata },
    spec: { renewTime: '2025-01-01T00:00:00.000000Z', leaseDurationSeconds: 40, ...spec },
  })
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node' }
const node = { metadata: { name: 'n1', uid: 'node' } }

describe('nodeLeases', () => {
  it.each([
    { title: 'its node', ownerReferences: [owner], nodes: [{}, node], state: 'held' },
    {
      title: 'a former node',
      ownerReferences: [{ ...owner, uid: 'former' }],
      nodes: [node],
      state: 'stale-owner',
    },
    {
      title: 'no owner, while its node lives',
      ownerReferences: [],
      nodes: [node],
      state: 'ownerless',
    },
    {
      title: 'a node that is gone',
      ownerReferences: [owner],
      nodes: [{ metadata: { name: 'n2', uid: 'node' } }],
      state: 'collectable',
    },
    { title: 'no owner, and its node is gone', ownerReferences: [], nodes: [], state: 'leftover' },
    {
      title: 'its node, but nodes were not read',
      ownerReferences: [owner],
      nodes: null,
      state: 'unknown',
    },
    { title: 'its node and another', ownerReferences: [owner, owner], nodes: [], state: 'unknown' },
    {
      title: 'a node called otherwise',
      ownerReferences: [{ ...owner, name: 'n2' }],
      nodes: [],
      state: 'unknown',
    },
    {
      title: 'another kind',
      ownerReferences: [{ ...owner, kind: 'Machine' }],
      nodes: [],
      state: 'unknown',
    },
    {
      title: 'another group',
      ownerReferences: [{ ...owner, apiVersion: 'x/v1' }],
      nodes: [],
      state: 'unknown',
    },
  ])('owned by $title: $state', ({ ownerReferences, nodes, state }) => {
    expect(nodeLeases([lease({ ownerReferences })], nodes, renewed)).toMatchObject([
      { node: 'n1', state },
    ])
  })

  it.each([
    { nowMs: renewed + 40_000, isExpired: false },
    { nowMs: renewed + 40_001, isExpired: true },
  ])('is expired only after all of its duration: $isExpired', ({ nowMs, isExpired }) => {
    expect(nodeLeases([lease()], [node], nowMs)).toEqual([
      { node: 'n1', state: 'ownerless', renewedMs: renewed, isExpired },
    ])
  })

  it('says nothing of times that are not there, nor of other leases', () => {
    const timeless = [lease({}, { renewTime: null }), lease({}, { leaseDurationSeconds: '40' })]
    const unknown = { isExpired: null }
    expect(
      nodeLeases([...timeless, lease({ namespace: 'kube-system' }), {}], null, renewed),
    ).toMatchObject([
      { renewedMs: null, ...unknown },
      { renewedMs: renewed, ...unknown },
    ])
  })
})
