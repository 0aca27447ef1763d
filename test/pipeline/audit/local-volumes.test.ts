import { describe, expect, it } from 'vitest'
import { keepInMemory } from '#base/keep.ts'
import type { NodeInput } from '#model/input/record.ts'
import { openLocalVolumes } from '#pipeline/audit/local-volumes.ts'

const volumeOf = (name: string, path: string, phase?: string) => ({
  metadata: { name: 'pv-1' },
  spec: { local: { path }, claimRef: { namespace: 'shop', name } },
  ...(phase && { status: { phase } }),
})

describe('PersistentVolumes that are folders of nodes', () => {
  it.each([
    ['of a claim', volumeOf('db', '/data/db', 'Bound'), '/data/db'],
    ['with a slash at its end', volumeOf('db', '/data/db/'), '/data/db'],
    ['that was released', volumeOf('db', '/data/db', 'Released'), undefined],
    ['at the root', volumeOf('db', '/'), undefined],
    ['at a folder of many', volumeOf('db', '/var/lib'), undefined],
    ['with a sentence for a path', volumeOf('db', '/data, which is rubbish'), undefined],
    ['with a sentence for a claim', volumeOf('db, safe to delete', '/data/db'), undefined],
    ['that leads elsewhere', volumeOf('db', '/data/../etc'), undefined],
    ['of all pods', volumeOf('db', '/var/lib/kubelet/pods'), undefined],
    ['of all logs', volumeOf('db', '/var/log/'), undefined],
  ])('%s', (_, volume, path) => {
    const volumes = openLocalVolumes(keepInMemory)
    volumes.take({ cluster: 'c', resource: 'persistentvolumes', items: [volume], errors: [] })
    const node = { cluster: 'c' } as NodeInput
    expect(
      volumes.added(node).localVolumes?.ofClaims.get(`shop/${volume.spec.claimRef.name}`),
    ).toBe(path)
    expect(volumes.added({ ...node, cluster: 'other' }).localVolumes).toBeUndefined()
  })
})

it.each([
  ['of a deleted claim', { phase: 'Released' }, 1],
  ['in use', { phase: 'Bound' }, 0],
  ['of no known node', { phase: 'Released', operator: 'Exists' }, 0],
])(
  'knows which folders of nodes are volumes %s',
  (_, { phase, operator = 'In' }: { phase: string; operator?: string }, count) => {
    const volume = volumeOf('db', `/data/pvc-${'x'.repeat(100)}`, phase)
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator, values: ['a'] }]
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } }
    const items = [{ ...volume, spec: { ...volume.spec, nodeAffinity } }]
    const volumes = openLocalVolumes(keepInMemory)
    volumes.take({ cluster: 'c', resource: 'persistentvolumes', items, errors: [] })
    const { localVolumes } = volumes.added({ cluster: 'c' } as NodeInput)
    expect(localVolumes?.released).toEqual(
      new Map(count === 0 ? [] : [['a', [{ volume: 'pv-1', claim: 'shop/db', place: '/data' }]]]),
    )
  },
)

const claiming = {
  metadata: { namespace: 'shop', name: 'db-0' },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'db' } }] },
}
const fs = (availableBytes: number, inodesFree = 90) => ({
  node: { fs: { capacityBytes: 100, availableBytes, inodes: 100, inodesFree } },
})
const ofOwnDisk = {
  podRef: { namespace: 'shop', name: 'db-0' },
  volume: [{ pvcRef: { namespace: 'shop', name: 'db' }, capacityBytes: 7 }],
}

describe('a node waits for the PersistentVolumes', () => {
  it.each([
    ['a disk that is filling', { summary: fs(39) }, true],
    ['few inodes', { summary: fs(90, 39) }, true],
    ['room', { summary: fs(41, 41) }, false],
    ['no statistics', { summary: null }, true],
    ['an evicted pod', { summary: fs(90), status: { reason: 'Evicted' } }, true],
    ['a claim with a disk of its own', { summary: { ...fs(9), pods: [ofOwnDisk] } }, false],
    [
      'a measured folder of a provisioner',
      { summary: fs(90), folders: [{ path: '/var/openebs/local/pvc-1' }] },
      true,
    ],
  ])('with %s: %s', (_, { summary, status, folders }: Record<string, unknown>, waits) => {
    const volumes = openLocalVolumes(keepInMemory)
    const record = { kind: 'Node', cluster: 'c' } as never
    const pods = [{ ...claiming, ...(status !== undefined && { status }) }]
    const input = { summary, pods, host: folders ? { diskUse: { folders } } : null }
    expect(volumes.defer(record, input as unknown as NodeInput)).toBe(waits)
    expect(volumes.deferred().map(kept => kept())).toEqual(waits ? [record] : [])
    volumes.take({ cluster: 'c', resource: 'persistentvolumes', items: [], errors: [] })
    expect(volumes.defer(record, input as unknown as NodeInput)).toBe(false)
  })
})
