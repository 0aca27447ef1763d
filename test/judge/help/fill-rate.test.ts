import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { fillRate } from '#judge/help/fill-rate.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import type { DiskHolder, HolderOwner } from '#model/prediction.ts'
import { exampleSubject } from '#test/example.ts'

const at = '2026-11-21T06:00:00Z'

interface Written {
  holder?: DiskHolder
  minutes?: number
  sizeLimit?: string
  limit?: string
  initContainers?: NonNullable<KubernetesPod['spec']>['initContainers']
}

/** Whether a pod with 40 GiB gives a rate where 20 GiB are left. */
function isRate({
  holder = 'pod-volumes',
  minutes = 30,
  sizeLimit,
  limit,
  initContainers,
}: Written) {
  const startedAt = new Date(Date.parse(at) - minutes * 60_000).toISOString()
  const resources = { limits: limit === undefined ? {} : { 'ephemeral-storage': limit } }
  const pod: KubernetesPod = {
    metadata: { namespace: 'shop', name: 'cache-0' },
    spec: {
      ...(initContainers && { initContainers }),
      containers: [{ name: 'main', resources }],
      volumes: [{ name: 'data', emptyDir: sizeLimit === undefined ? {} : { sizeLimit } }],
    },
    status: {
      startTime: startedAt,
      containerStatuses: [{ name: 'main', state: { running: { startedAt } } }],
    } as KubernetesPod['status'],
  }
  const named = { namespace: 'shop', pod: 'cache-0', workload: 'StatefulSet cache' }
  const owner: HolderOwner =
    holder === 'writable-layers'
      ? { kind: 'container', ...named, container: 'main' }
      : { kind: 'pod', ...named, volume: 'data' }
  const bytes = 40 * gibibyte
  const subject = exampleSubject({ held: { [holder]: 40 } })
  const part = { holder, owner, lowBytes: bytes, highBytes: bytes, inodes: null, place: null }
  const parts = [{ ...part, filesystem: 'nodefs' as const }]
  const ledger = { ...subject.ledger!, parts }
  const given = { ...subject, at, pods: [pod], ledger } as Parameters<typeof fillRate>[2]
  return fillRate('nodefs', 20 * gibibyte, given) !== null
}

const writing = (readOnly: boolean) => [
  { name: 'restore', volumeMounts: [{ name: 'data', mountPath: '/data', readOnly }] },
]

it.each<[string, Written, boolean]>([
  ['a volume', {}, true],
  ['a layer', { holder: 'writable-layers' }, true],
  ['a folder of the node, which outlives pods', { holder: 'host-path' }, false],
  ['a local volume, which outlives pods', { holder: 'local-volumes' }, false],
  ['a pod of ten minutes', { minutes: 10 }, true],
  ['a pod that starts', { minutes: 9.9 }, false],
  ['a volume whose sizeLimit is within the rest', { sizeLimit: '59Gi' }, false],
  ['a volume whose sizeLimit is not within the rest', { sizeLimit: '60Gi' }, true],
  ['a volume above its sizeLimit', { sizeLimit: '30Gi' }, false],
  ['a layer with a limit', { holder: 'writable-layers', limit: '50Gi' }, false],
  ['a volume that an init container wrote', { initContainers: writing(false) }, false],
  ['a volume that an init container reads', { initContainers: writing(true) }, true],
])('%s: %j gives a rate: %s', (_, written, expected) => {
  expect(isRate(written)).toBe(expected)
})
