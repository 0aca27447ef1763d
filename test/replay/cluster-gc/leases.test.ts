import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { identityLease, nodeLeases } from '#replay/cluster-gc/leases.ts'

const renewed = Date.parse('2025-01-01T00:00:00Z')
const lease = (metadata: object = {}, spec: object = {}) => ({
  metadata: { namespace: 'kube-node-lease', name: 'n1', ...metadata },
  spec: { renewTime: '2025-01-01T00:00:00.000000Z', leaseDurationSeconds: 40, ...spec },
})
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node' }
const node = { metadata: { name: 'n1', uid: 'node' } }

describe('nodeLeases', () => {
  it.each([
    { title: 'its node', ownerReferences: [owner], nodes: [null, node], state: 'held' },
    {
      title: 'a former node',
      ownerReferences: [{ ...owner, uid: 'former' }],
      nodes: [node],
      state: 'stale-owner',
    },
    {
      title: 'nobody, while its node lives',
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
    { title: 'nobody, and its node is gone', ownerReferences: [], nodes: [], state: 'leftover' },
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
  ])(
    'is renewed after a quarter of its duration, and expired only after all of it: $isExpired',
    ({ nowMs, isExpired }) => {
      expect(nodeLeases([lease()], [node], nowMs)).toEqual([
        {
          node: 'n1',
          state: 'ownerless',
          renewedMs: renewed,
          nextRenewalMs: renewed + 10_400,
          isExpired,
        },
      ])
    },
  )

  it('says nothing of times that are not there, nor of other leases', () => {
    const timeless = [lease({}, { renewTime: null }), lease({}, { leaseDurationSeconds: '40' })]
    const unknown = { nextRenewalMs: null, isExpired: null }
    expect(
      nodeLeases([...timeless, lease({ namespace: 'kube-system' }), {}], null, renewed),
    ).toMatchObject([
      { renewedMs: null, ...unknown },
      { renewedMs: renewed, ...unknown },
    ])
  })
})

describe('identityLease', () => {
  const labelled = (labels: object, spec: object = {}) =>
    lease({ namespace: 'kube-system', name: 'apiserver-1', labels }, spec)
  const present = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
  const former = { 'k8s.io/component': 'kube-apiserver' }

  it.each([
    { title: 'at its end', spec: {}, nowMs: renewed + 40_000, isExpired: false },
    { title: 'past its end', spec: {}, nowMs: renewed + 40_001, isExpired: true },
    { title: 'never renewed', spec: { renewTime: null }, nowMs: renewed, isExpired: true },
    {
      title: 'without a duration',
      spec: { leaseDurationSeconds: null },
      nowMs: renewed,
      isExpired: true,
    },
  ])('$title is expired: $isExpired', ({ spec, nowMs, isExpired }) => {
    expect(identityLease(labelled(present, spec), nowMs, featuresOf('v1.37.0'))).toEqual({
      lease: 'kube-system/apiserver-1',
      isExpired,
      isCollected: isExpired,
    })
  })

  it.each([
    { version: 'v1.25.0', ofFormer: false, ofPresent: false },
    { version: 'v1.26.0', ofFormer: true, ofPresent: false },
    { version: 'v1.27.0', ofFormer: true, ofPresent: true },
    { version: 'v1.28.0', ofFormer: true, ofPresent: true },
    { version: 'v1.29.0', ofFormer: false, ofPresent: true },
    { version: 'v1.37.0', ofFormer: false, ofPresent: true },
  ])(
    '$version collects those with the former label: $ofFormer, with the present one: $ofPresent',
    ({ version, ofFormer, ofPresent }) => {
      const isCollected = (labels: object) =>
        identityLease(labelled(labels), renewed + 50_000, featuresOf(version))?.isCollected
      expect([isCollected(former), isCollected(present)]).toEqual([ofFormer, ofPresent])
    },
  )

  it('is no other lease', () => {
    const features = featuresOf('v1.37.0')
    expect(identityLease(lease({ labels: present }), renewed, features)).toBeNull()
    expect(
      identityLease(labelled({ 'apiserver.kubernetes.io/identity': 'other' }), renewed, features),
    ).toBeNull()
    expect(identityLease(null, renewed, features)).toBeNull()
  })
})
