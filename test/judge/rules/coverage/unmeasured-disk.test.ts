import { expect, it } from 'vitest'
import { unmeasuredDisk } from '#judge/rules/coverage/unmeasured-disk.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const root = { name: 'nvme0n1', bytes: 100 * 2 ** 30, model: 'disk', isUsed: true }
const second = { name: 'nvme1n1', bytes: 349 * 2 ** 30, model: 'disk', isUsed: true }

const podWith = (path: string, readOnly = false) => ({
  metadata: { namespace: 'shop', name: 'cache' },
  spec: {
    volumes: [{ name: 'cache', hostPath: { path } }],
    containers: [{ name: 'main', volumeMounts: [{ name: 'cache', mountPath: '/c', readOnly }] }],
  },
})

const nodeWith = (
  devices: object[],
  { path = '/mnt/ssd0/cache', device = '/dev/nvme0n1p1', readOnly = false, claimBytes = 0 } = {},
) =>
  ({
    host: {
      filesystems: [{ role: 'nodefs', device }],
      diskUse: { devices, folders: [{ holder: 'logs', path: '/var/log' }] },
    },
    pods: [podWith(path, readOnly)],
    summary: {
      pods: [{ volume: [{ name: 'data', pvcRef: { name: 'data' }, capacityBytes: claimBytes }] }],
    },
  }) as unknown as NodeExample

itJudgesExamples(unmeasuredDisk, {
  bad: nodeWith([root, second]),
  good: nodeWith([root, { ...second, isUsed: false }]),
})

it.each<[string, Parameters<typeof nodeWith>[1], boolean]>([
  ['a folder that can be on it', {}, true],
  ['a folder below one that was measured on nodefs', { path: '/var/log/app' }, false],
  ['a folder that is only read', { readOnly: true }, false],
  ['a folder of the kubelet', { path: '/var/lib/kubelet/plugins' }, false],
  ['the root of the node', { path: '/' }, false],
  ['a claim of the size of the disk', { claimBytes: 345 * 2 ** 30 }, false],
  ['nodefs on an array, of which the disk can be a part', { device: '/dev/md127' }, false],
  ['the disk of nodefs', { device: '/dev/nvme1n1' }, false],
])('a second disk, and %s', (_, more, isFound) => {
  const outcome = outcomeFor(unmeasuredDisk, nodeWith([second], more))
  expect(outcome.state).toBe(isFound ? 'fail' : 'pass')
})

it('names disk, size, folder and owner', () => {
  const outcome = outcomeFor(unmeasuredDisk, nodeWith([root, second]))
  expect(outcome).toMatchObject({
    failing: {
      cause: { what: 'unmeasured', device: '/dev/nvme1n1', actualBytes: second.bytes },
      steps: [{ id: 'read-devices', mounts: ['/mnt/ssd0/cache (Pod shop/cache)'] }],
    },
  })
})
