import { expect, it } from 'vitest'
import {
  cutMounts,
  mountAround,
  mountsAt,
  unlimitedPods,
  withMounts,
  writableMounts,
} from '#judge/help/host-mounts.ts'

const pod = (namespace: string, name: string, path: string, readOnly?: boolean) => ({
  metadata: { namespace, name },
  spec: {
    volumes: [{ name: 'host', hostPath: { path } }],
    containers: [
      {
        name: 'main',
        volumeMounts: [{ name: 'host', mountPath: '/x', ...(readOnly && { readOnly }) }],
      },
    ],
  },
})

it('names folders of the node that pods can fill', () => {
  const pods = [
    pod('etl', 'spark', '/tmp'),
    pod('etl', 'spark', '/tmp'),
    pod('logs', 'shipper', '/var/log', true),
    pod('kube-system', 'proxy', '/var/log'),
    pod('net', 'agent', '/var/run/agent.sock'),
    pod('storage', 'replica', '/data/replicas'),
  ]
  expect(writableMounts({ pods })).toEqual([
    '/tmp (Pod etl/spark)',
    '/data/replicas (Pod storage/replica)',
  ])
  expect(writableMounts({ pods: null })).toEqual([])
})

it('names the folder of who manages a disk, not those of its users', () => {
  const pods = [
    pod('ws', 'a', '/mnt/disks/ssd0/workspaces/a'),
    pod('ws', 'b', '/mnt/disks/ssd0/workspaces/b'),
    pod('ws', 'daemon', '/mnt/disks/ssd0/workspaces/'),
    pod('monitoring', 'exporter', '/'),
    pod('csi', 'driver', '/mnt'),
  ]
  expect(mountAround({ pods }, '/mnt/disks/ssd0/workspaces/a')).toBe('/mnt/disks/ssd0/workspaces')
  expect(mountAround({ pods }, '/mnt/disks/ssd1/a')).toBe('/mnt/disks/ssd1/a')
  const wider = [...pods, pod('ws', 'provisioner', '/mnt/disks/ssd0')]
  expect(mountAround({ pods: wider }, '/mnt/disks/ssd0/workspaces/a')).toBe('/mnt/disks/ssd0')
  expect(writableMounts({ pods: pods.slice(0, 3) })).toEqual([
    '/mnt/disks/ssd0/workspaces/ (Pod ws/daemon)',
  ])
})

it.each([
  ['/data/loki', ['/data/loki (Pod logs/loki)', '/data/loki/ (Pod logs/reader)']],
  ['/data/loki/chunks', ['/data/loki (Pod logs/loki)', '/data/loki/ (Pod logs/reader)']],
  ['/data/prom', ['/data (Pod obs/prom)']],
  ['/srv/a', ['/srv/a/1 (Pod ci/a)', '/srv/a/2 (Pod ci/b)']],
  ['/store', ['/store (Pod kube-system/csi)']],
])('names who can write nearest to %s: %j', (place, expected) => {
  const pods = [
    pod('obs', 'prom', '/data'),
    pod('logs', 'loki', '/data/loki'),
    pod('logs', 'reader', '/data/loki/'),
    pod('ci', 'a', '/srv/a/1'),
    pod('ci', 'b', '/srv/a/2'),
    pod('kube-system', 'csi', '/store'),
  ]
  expect(mountsAt({ pods }, place)).toEqual(expected)
})

it('names claims that are folders of the node, but none with a disk of its own', () => {
  const claiming = (name: string) => ({
    metadata: { namespace: 'shop', name },
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }] },
  })
  const ofClaims = new Map(
    ['db', 'wal', 'other'].map(name => [`shop/${name}`, `/data/${name}`] as const),
  )
  const statsOf = (name: string, capacityBytes: number) => ({
    podRef: { namespace: 'shop', name },
    volume: [{ pvcRef: { namespace: 'shop', name }, capacityBytes }],
  })
  const step = withMounts(
    { id: 'read-on-node' },
    {
      pods: ['db', 'wal', 'other', 'unknown'].map(claiming),
      summary: { pods: [statsOf('wal', 100), statsOf('other', 20)] },
      filesystems: { nodefs: { capacityBytes: 100 } } as never,
      localVolumes: { ofClaims, places: new Map(), released: new Map() },
    },
  )
  expect(step).toMatchObject({
    mounts: ['/data (claim db of Pod shop/db)', '/data (claim wal of Pod shop/wal)'],
  })
})

it('names three claims of one workload, and shows that there are more', () => {
  const names = ['a', 'b', 'c', 'd']
  const volumes = names.map(claimName => ({ persistentVolumeClaim: { claimName } }))
  const pods = [{ metadata: { namespace: 'shop', name: 'db' }, spec: { volumes } }]
  const ofClaims = new Map(names.map(name => [`shop/${name}`, `/data/${name}`] as const))
  const localVolumes = { ofClaims, places: new Map(), released: new Map() }
  expect(withMounts({ id: 'read-on-node' }, { pods, localVolumes })).toMatchObject({
    mounts: ['/data (claims a, b, c, … of Pod shop/db)'],
  })
})

it('names at most three, and shows that it names no more', () => {
  const paths = ['/a', '/b', '/c', '/d']
  const mountsOf = (count: number) =>
    cutMounts(
      writableMounts({ pods: paths.slice(0, count).map(path => pod('etl', 'spark', path)) }),
    )
  expect(mountsOf(3)).toEqual({ mounts: mountsOf(4).mounts })
  expect(mountsOf(3).mounts).toHaveLength(3)
  expect(mountsOf(4)).toMatchObject({ hasMoreMounts: true })
  expect(cutMounts(mountsOf(3).mounts, true)).toEqual(mountsOf(4))
})

it.each([
  ['cr.fluentbit.io/fluent/fluent-bit:3.1', '/var/log', false],
  ['docker.io/grafana/promtail:3', '/var/log/pods', false],
  ['docker.io/grafana/promtail:3', '/data', true],
  ['acme/vectorize:1', '/var/log', true],
])('suspects no agent that reads logs: %s on %s', (image, path, isNamed) => {
  const { metadata, spec } = pod('logging', 'agent', path)
  const containers = spec.containers.map(container => ({ ...container, image }))
  const pods = [{ metadata, spec: { ...spec, containers } }]
  expect(writableMounts({ pods }).length).toBe(isNamed ? 1 : 0)
})

it('suspects an application whose logs an agent beside it reads', () => {
  const { metadata, spec } = pod('shop', 'web', '/var/log/shop')
  const volumeMounts = [{ name: 'host', mountPath: '/logs', readOnly: true }]
  const agent = { name: 'agent', image: 'fluent/fluent-bit:3', volumeMounts }
  const pods = [{ metadata, spec: { ...spec, containers: [...spec.containers, agent] } }]
  expect(writableMounts({ pods })).toEqual(['/var/log/shop (Pod shop/web)'])
})

it('names a claim that has the size of the disk: it is a folder on it', () => {
  const volume = (name: string, capacityBytes: number) => ({ pvcRef: { name }, capacityBytes })
  const own = { ...pod('db', 'ledger-0', '/x'), spec: {} }
  const stats = { podRef: { namespace: 'db', name: 'ledger-0' } }
  const seen = writableMounts({
    pods: [own],
    summary: { pods: [{ ...stats, volume: [volume('data', 100), volume('wal', 20)] }] },
    filesystems: { nodefs: { capacityBytes: 100 } } as never,
  })
  expect(seen).toEqual(['PersistentVolumeClaim data (Pod db/ledger-0)'])
})

it('names no claim where the size of the disk was not read', () => {
  const own = { ...pod('db', 'ledger-0', '/x'), spec: {} }
  const podRef = { namespace: 'db', name: 'ledger-0' }
  const summary = { pods: [{ podRef, volume: [{ pvcRef: { name: 'data' } }] }] }
  expect(writableMounts({ pods: [own], summary })).toEqual([])
})

it('begins a look at the whole node with folders that pods can write', () => {
  const pods = [pod('logging', 'fluentd', '/var/lib/fluentd')]
  const mounts = ['/var/lib/fluentd (Pod logging/fluentd)']
  expect(withMounts({ id: 'look-on-node' }, { pods })).toEqual({ id: 'look-on-node', mounts })
  const inPlace = { id: 'look-on-node', place: '/var/log' } as const
  expect(withMounts(inPlace, { pods })).toEqual(inPlace)
  // Of parts of a pool, no folder is asked.
  const ofPool = { id: 'look-on-node', variant: 'datasets' } as const
  expect(withMounts(ofPool, { pods })).toEqual(ofPool)
})

it('names pods that run with an emptyDir on disk without a limit', () => {
  const running = (name: string, emptyDir: object, phase = 'Running') => ({
    metadata: { namespace: 'ci', name },
    spec: { volumes: [{ name: 'ws', emptyDir }, { name: 'token' }] },
    status: { phase },
  })
  const pods = [
    running('a', {}),
    running('limited', { sizeLimit: '1Gi' }),
    running('memory', { medium: 'Memory' }),
    running('gone', {}, 'Failed'),
  ]
  expect(unlimitedPods(pods)).toEqual(['ci/a'])
})

it.each([
  '/data (Deployment shop/api), see https://evil.example/login',
  '/data//evil.example/login',
  '/data\u00a0x',
  `/data/${'x'.repeat(100)}`,
])('shows no words in place of a folder: %s', path => {
  expect(writableMounts({ pods: [pod('evil', 't', path)] })).toEqual([
    'a path that is not shown (Pod evil/t)',
  ])
})

it.each(['/data/..', '/data/../etc/x'])('shows no path that leads elsewhere: %s', path => {
  expect(writableMounts({ pods: [pod('evil', 't', path)] })).toEqual([
    'a path that is not shown (Pod evil/t)',
  ])
})

it('names no claim by a sentence', () => {
  const own = { ...pod('db', 'ledger-0', '/x'), spec: {} }
  const podRef = { namespace: 'db', name: 'ledger-0' }
  const volume = [{ pvcRef: { name: 'data, safe to delete' }, capacityBytes: 100 }]
  const filesystems = { nodefs: { capacityBytes: 100 } } as never
  expect(
    writableMounts({ pods: [own], summary: { pods: [{ podRef, volume }] }, filesystems }),
  ).toEqual([])
})
