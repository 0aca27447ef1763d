import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { KubernetesPod, NodeRecord } from '#model/input/record.ts'
import type { HolderPart } from '#model/prediction.ts'
import { replayOf } from '#test/at-the-door.ts'

const takenAt = '2026-11-21T00:00:00Z'
const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../../fixtures/real/${name}.json`, import.meta.url), 'utf8'),
  ) as RawObject
const record = (): NodeRecord =>
  structuredClone({
    kind: 'Node',
    cluster: 'prod',
    node: recorded('single-disk-node'),
    configz: recorded('single-disk-configz'),
    summary: recorded('single-disk-stats-summary'),
    pods: recorded('single-disk-pods').items as NodeRecord['pods'],
    runtime: { images: recorded('single-disk-cri-images').images },
  })

const partsOf = (input: NodeRecord): HolderPart[] => replayOf(input, takenAt).ledger?.parts ?? []

interface Stats {
  podRef: { name: string; namespace: string; uid: string }
  containers: { name: string; rootfs: RawObject; logs: RawObject }[]
  volume?: RawObject[]
}
const statsOf = ({ summary }: NodeRecord) => (summary as unknown as { pods: Stats[] }).pods

/** A pod that the API lists, with its statistics. */
function firstPod(input: NodeRecord) {
  const stats = statsOf(input).find(({ containers }) => containers?.length > 0)!
  const pod = (input.pods as RawObject[]).find(
    ({ metadata }) => (metadata as RawObject).name === stats.podRef.name,
  )!
  return { stats, pod: pod as { metadata: RawObject; spec: { volumes: RawObject[] } } }
}

describe('parts of pods', () => {
  it('are nothing of an emptyDir on another disk than the kubelet counts', () => {
    const input = record()
    const { stats, pod } = firstPod(input)
    pod.spec.volumes = [{ name: 'disk', emptyDir: {} }]
    stats.volume = [{ name: 'disk', usedBytes: 6e9, capacityBytes: 2 ** 41 }]
    Object.assign(stats, { 'ephemeral-storage': { usedBytes: 6e9 } })
    expect(partsOf(input).filter(({ lowBytes }) => lowBytes > 5e9)).toEqual([])
  })

  it('are layers, logs and volumes with owner and place', () => {
    const input = record()
    const { stats, pod } = firstPod(input)
    const { name, namespace, uid } = stats.podRef
    const container = stats.containers[0]!
    container.rootfs.usedBytes = 8e9
    container.logs.usedBytes = 7e9
    pod.spec.volumes = [
      { name: 'disk', emptyDir: {} },
      { name: 'ram', emptyDir: { medium: 'Memory' } },
      { name: 'config', configMap: {} },
    ]
    stats.volume = ['disk', 'ram', 'config'].map(one => ({ name: one, usedBytes: 6e9 }))
    const owner = { namespace, pod: name, workload: null }
    const inPods = `/var/lib/kubelet/pods/${uid}`
    const expected = [
      { holder: 'writable-layers', filesystem: 'nodefs', lowBytes: 8e9, place: null },
      { holder: 'container-logs', filesystem: 'nodefs', lowBytes: 7e9 },
      {
        holder: 'pod-volumes',
        filesystem: 'nodefs',
        lowBytes: 6e9,
        place: `${inPods}/volumes/kubernetes.io~empty-dir/disk`,
        owner: { kind: 'pod', ...owner, volume: 'disk' },
      },
      { holder: 'memory-volumes', filesystem: 'memory', lowBytes: 6e9, place: null },
    ]
    const parts = partsOf(input)
    for (const part of expected)
      expect(parts.find(({ holder }) => holder === part.holder)).toMatchObject(part)
    const log = parts.find(({ holder }) => holder === 'container-logs')
    expect(log).toMatchObject({
      place: `/var/log/pods/${namespace}_${name}_${uid}/${container.name}`,
      owner: { kind: 'container', ...owner, container: container.name },
    })
    expect(parts.filter(({ lowBytes }) => lowBytes === 6e9)).toHaveLength(2)
  })

  it('have no owner among pods that the API does not list for the node', () => {
    const input = record()
    const { stats } = firstPod(input)
    stats.podRef = { namespace: 'shop', name: 'of-another-node', uid: 'forged' }
    stats.containers[0]!.rootfs.usedBytes = 8e9
    expect(JSON.stringify(partsOf(input))).not.toContain('of-another-node')
  })

  it('are at most five of a holder, the largest', () => {
    const input = record()
    const { stats } = firstPod(input)
    stats.containers = [1, 9, 4, 7, 3, 8, 2].map(gib => ({
      name: `c${gib}`,
      rootfs: { usedBytes: gib * 1e9 },
      logs: { usedBytes: 0 },
    }))
    const layers = partsOf(input).filter(({ holder }) => holder === 'writable-layers')
    expect(layers.map(({ lowBytes }) => lowBytes / 1e9)).toEqual([9, 8, 7, 4, 3])
  })
})

describe('parts of images', () => {
  it('have bounds, their workloads, and are unused only if every container was read', () => {
    const input = record()
    const images = partsOf(input).filter(({ owner }) => owner?.kind === 'image')
    expect(images.length).toBeGreaterThan(0)
    for (const { lowBytes, highBytes } of images) expect(highBytes).toBeGreaterThan(lowBytes)
    // No container of the runtime was read.
    expect(images.some(({ holder }) => holder === 'images-unused')).toBe(false)
    const used = images.flatMap(({ owner }) => (owner?.kind === 'image' ? [owner] : []))
    const ofPods = used.filter(({ isInUse }) => isInUse)
    expect(ofPods.length).toBeGreaterThan(0)
    for (const { workloads } of ofPods) expect(workloads.length).toBeGreaterThan(0)
  })

  it('have their last known users, if no container uses them', () => {
    const pod = (name: string, phase: string, image: string) => ({
      metadata: {
        ...{ namespace: 'shop', name, uid: name },
        ownerReferences: [{ kind: 'Job', name: `${name}-job`, uid: name, controller: true }],
      },
      spec: { containers: [{ name: 'app', image }] },
      status: { phase, containerStatuses: [] },
    })
    const input = record()
    const image = (name: string, index: number) => ({
      ...{ id: `sha256:${index}`, repoTags: [name], size: String((9 - index) * 1e9) },
    })
    const names = [
      ...['r.io:5000/web:1', 'r.io:5000/web:2', 'r.io:5000/seed:1', 'r.io:5000/old:1'],
      'docker.io/library/nginx:1',
    ]
    input.runtime = { images: names.map(image), containers: [], sandboxes: [] }
    input.pods = [
      pod('web', 'Running', 'r.io:5000/web:3'),
      pod('seed', 'Failed', 'r.io:5000/seed:1'),
      pod('next', 'Running', 'r.io:5000/seed:2'),
      pod('proxy', 'Running', 'nginx:2'),
    ] as NodeRecord['pods']
    const known = partsOf(input).flatMap(({ owner }) =>
      owner?.kind === 'image' ? [[owner.reference, owner.lastUsers]] : [],
    )
    expect(Object.fromEntries(known)).toEqual({
      ...{ [names[0]!]: ['shop/Job web-job'], [names[1]!]: ['shop/Job web-job'] },
      ...{ [names[2]!]: ['shop/Job seed-job'], [names[3]!]: undefined },
      [names[4]!]: ['shop/Job proxy-job'],
    })
  })
})

describe('parts of folders', () => {
  it('are places with their own space, and orphans', () => {
    const input = record()
    input.host = {
      diskUse: {
        folders: [
          { holder: 'logs', path: '/var/log', on: 'nodefs', bytes: 500, inodes: 5 },
          { holder: 'journal', path: '/var/log/journal', on: 'nodefs', bytes: 300, inodes: 3 },
          { holder: 'podLogs', path: '/var/log/pods', on: 'nodefs', bytes: 100, inodes: 1 },
          { holder: 'kubelet', path: '/var/lib/kubelet', on: 'nodefs', bytes: 260, inodes: 9 },
          { holder: 'kubelet', path: '/var/lib/kubelet/plugins', on: 'nodefs', bytes: 240 },
          { holder: 'unknown', path: '/srv/x', on: 'nodefs', bytes: 70, inodes: 1 },
          { holder: 'unknown', path: '/srv/x', on: 'nodefs', bytes: 71, inodes: 1 },
        ],
        orphans: [{ path: '/var/log/pods/shop_gone_uid', bytes: 40 }],
        missed: 0,
      },
    }
    const folders = partsOf(input).filter(({ lowBytes }) => lowBytes <= 500)
    const shown = folders.map(({ holder, place, lowBytes }) => [holder, place, lowBytes])
    expect(shown).toEqual(
      expect.arrayContaining([
        ['host-logs', '/var/log', 100],
        ['journal', '/var/log/journal', 300],
        ['log-debris', '/var/log/pods/shop_gone_uid', 40],
        ['kubelet', '/var/lib/kubelet/plugins', 240],
        ['kubelet', '/var/lib/kubelet', 20],
      ]),
    )
    expect(shown.filter(([, place]) => place === '/srv/x')).toEqual([
      ['unknown-folder', '/srv/x', 70],
    ])
  })
})

describe('parts that the node measured', () => {
  const measured = (
    diskUse: RawObject,
    change: (input: NodeRecord) => void = () => undefined,
    host: RawObject = {},
  ) => {
    const input = record()
    change(input)
    const disk = { device: '/dev/nvme0n1p1', mount: '/', capacityBytes: 2e11, availableBytes: 2e10 }
    const filesystems = ['nodefs', 'imagefs'].map(role => ({ role, ...disk }))
    const folders = { folders: [], orphans: [], missed: 0, ...diskUse }
    input.host = { filesystems, diskUse: folders, ...host }
    return partsOf(input).filter(({ owner }) => owner?.kind !== 'image')
  }

  it('are folders of the largest logs, with the pod that mounts them', () => {
    const logs = {
      ...{ files: 2, bytes: 3e10, rotatedByOthers: { files: 0, bytes: 0, sample: [] } },
      biggest: [
        { path: '/var/log/glusterfs/a.log', bytes: 1.5e10 },
        { path: '/var/log/glusterfs/b.log', bytes: 1e10 },
        { path: '/var/log/messages', bytes: 2e9 },
        { path: '/var/log/small.log', bytes: 1e6 },
        { path: '/var/log/pods/shop_a_1/app/0.log', bytes: 4e9 },
      ],
    }
    const parts = measured(
      { folders: [{ holder: 'logs', path: '/var/log', on: 'nodefs', bytes: 3e10, inodes: 9 }] },
      input => {
        const { pod } = firstPod(input)
        Object.assign(pod.spec, {
          volumes: [{ name: 'logs', hostPath: { path: '/var/log/glusterfs' } }],
          containers: [{ name: 'app', volumeMounts: [{ name: 'logs', mountPath: '/logs' }] }],
        })
      },
      { logs },
    )
    const shown = parts.map(({ holder, place, lowBytes, owner }) => [
      ...[holder, place, lowBytes],
      owner !== null,
    ])
    expect(shown).toEqual(
      expect.arrayContaining([
        ['host-path', '/var/log/glusterfs', 2.5e10, true],
        ['host-logs', '/var/log/messages', 2e9, false],
        ['host-logs', '/var/log', 3e9, false],
      ]),
    )
    expect(shown.some(([, place]) => String(place).includes('small'))).toBe(false)
  })

  it('are folders of logs with the folders below them', () => {
    const logs = {
      ...{ files: 2, bytes: 9e9, rotatedByOthers: { files: 0, bytes: 0, sample: [] } },
      biggest: [
        { path: '/var/log/app/a.log', bytes: 5e9 },
        { path: '/var/log/app/old/a.log.1', bytes: 3e9 },
      ],
    }
    const parts = measured(
      { folders: [{ holder: 'logs', path: '/var/log', on: 'nodefs', bytes: 9e9, inodes: 9 }] },
      undefined,
      { logs },
    )
    expect(parts.map(({ place, lowBytes }) => [place, lowBytes])).toEqual(
      expect.arrayContaining([
        ['/var/log/app', 5e9],
        ['/var/log/app/old', 3e9],
        ['/var/log', 1e9],
      ]),
    )
  })

  it('name the process of deleted files, and its pod only if the API lists it', () => {
    const { metadata } = firstPod(record()).pod
    const one = { on: 'nodefs', command: 'java', files: 2, bytes: 7e9 }
    const parts = measured({
      processes: [
        { ...one, pid: 4242, pod: metadata.uid },
        { ...one, pid: 1, bytes: 5e9, pod: '11111111-2222-3333-4444-555555555555' },
      ],
    }).filter(({ holder }) => holder === 'deleted-open-files')
    const process = { kind: 'process', command: 'java' }
    expect(parts.map(({ lowBytes, owner }) => [lowBytes, owner])).toEqual([
      [7e9, { ...process, pid: 4242, namespace: metadata.namespace, pod: metadata.name }],
      [5e9, { ...process, pid: 1, namespace: null, pod: null }],
    ])
  })

  it('are snapshots and content of other clients of containerd, which are no content of images', () => {
    const parts = measured({
      folders: [{ holder: 'content', path: '/content', on: 'imagefs', bytes: 9e10, inodes: 9 }],
      namespaces: [
        { name: 'moby', count: 4, bytes: 5e10, inodes: 8, content: 6e10 },
        { name: 'default', count: 1, bytes: 1e9, inodes: 2, content: 2e9 },
      ],
    })
    const of = (wanted: string) =>
      parts.flatMap(({ holder, lowBytes, place }) =>
        holder === wanted ? [[lowBytes, place] as const] : [],
      )
    expect(of('other-namespaces')).toEqual([
      [11e10, 'moby'],
      [3e9, 'default'],
    ])
    expect(of('image-content').map(([size]) => size)).toEqual([28e9])
  })

  it('are dead containers of a crash loop, by the labels that the runtime keeps', () => {
    const { stats, pod } = firstPod(record())
    const labels = { 'io.kubernetes.pod.uid': String((pod.metadata as RawObject).uid) }
    const foreign = { 'io.kubernetes.pod.uid': 'of-another-node' }
    const parts = measured(
      {
        layers: [
          { use: 'dead', key: 'a', bytes: 9e9, inodes: 3 },
          { use: 'dead', key: 'b', bytes: 8e9, inodes: 3 },
        ],
      },
      input =>
        Object.assign(input.runtime!, {
          containers: [
            { id: 'a', labels, metadata: { name: 'app', attempt: 7 } },
            { id: 'b', labels: foreign, metadata: { name: 'app', attempt: 7 } },
          ],
        }),
    )
    const owners = parts.flatMap(({ holder, owner, lowBytes }) =>
      holder === 'dead-containers' ? [[lowBytes, owner && 'pod' in owner ? owner.pod : null]] : [],
    )
    expect(Object.fromEntries(owners)).toEqual({ 9e9: stats.podRef.name, 8e9: null })
  })

  it('are unknown folders, unless a pod writes there by hostPath', () => {
    const folders = [
      { holder: 'unknown', path: '/var/openebs', on: 'nodefs', bytes: 4e10, inodes: 9 },
      { holder: 'unknown', path: '/srv', on: 'nodefs', bytes: 3e10, inodes: 8 },
    ]
    const mounting = (hostPath: string, readOnly: boolean) => (input: NodeRecord) => {
      const { spec } = firstPod(input).pod as unknown as {
        spec: { volumes: RawObject[]; containers: RawObject[] }
      }
      spec.volumes = [{ name: 'data', hostPath: { path: hostPath } }]
      spec.containers[0]!.volumeMounts = [{ name: 'data', mountPath: '/data', readOnly }]
    }
    const shown = (change?: (input: NodeRecord) => void) =>
      measured({ folders }, change)
        .filter(({ lowBytes }) => lowBytes >= 3e10)
        .map(({ holder, place, owner }) => [holder, place, owner?.kind === 'pod' && owner.volume])
    const unknown = (place: string) => ['unknown-folder', place, false]
    expect(shown()).toEqual([unknown('/var/openebs'), unknown('/srv')])
    expect(shown(mounting('/var/openebs/local', false))).toEqual([
      ['host-path', '/var/openebs', 'data'],
      unknown('/srv'),
    ])
    for (const [path, isReadOnly] of [
      ['/var/openebs/local', true],
      ['/', false],
      ['/var', false],
    ] as const)
      expect(shown(mounting(path, isReadOnly))).toEqual([unknown('/var/openebs'), unknown('/srv')])
  })

  it('are volumes that images declare, in the folders of containers', () => {
    const cri = '/var/lib/containerd/io.containerd.grpc.v1.cri'
    const folder = (path: string, bytes: number) => ({
      ...{ holder: 'unknown', path, on: 'nodefs', bytes, inodes: 9 },
    })
    const folders = [
      folder(cri, 4e10),
      folder(`${cri}/containers`, 3e10),
      folder(`${cri}-old`, 2e10),
    ]
    const parts = measured({ folders }).filter(({ lowBytes }) => lowBytes >= 1e10)
    expect(parts.map(({ holder, place, lowBytes }) => [holder, place, lowBytes])).toEqual([
      ['image-volumes', `${cri}/containers`, 3e10],
      ['image-volumes', cri, 1e10],
      ['unknown-folder', `${cri}-old`, 2e10],
    ])
  })

  it('are volumes that an image declares, of the container in their path', () => {
    const path = '/var/lib/containerd/io.containerd.grpc.v1.cri/containers'
    const { pod } = firstPod(record())
    const [status] = (pod as unknown as KubernetesPod).status?.containerStatuses ?? []
    const id = status?.containerID?.split('//')[1]
    const folders = [id, 'of-another-node'].map(name => ({
      ...{
        holder: 'unknown',
        path: `${path}/${name}/volumes`,
        on: 'nodefs',
        bytes: 3e10,
        inodes: 9,
      },
    }))
    const parts = measured({ folders }).filter(({ holder }) => holder === 'image-volumes')
    const owner = { kind: 'container', pod: pod.metadata.name, container: status?.name }
    expect(parts.map(part => part.owner)).toEqual([expect.objectContaining(owner), null])
  })

  it('are folders of pods beside their volumes, in place of volumes that are not mounted', () => {
    const { stats, pod } = firstPod(record())
    const root = '/var/lib/kubelet/pods'
    const unmounted = `${root}/${pod.metadata.uid}/volumes/kubernetes.io~csi/pvc-1`
    const emptyDir = `${root}/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/data`
    const folder = { holder: 'pods', path: root, on: 'nodefs', bytes: 6e9, inodes: 400_000 }
    const inside = [
      { path: unmounted, bytes: 5e9 },
      { path: emptyDir, bytes: 5e8 },
      { path: `${root}/of-another-node/volumes/kubernetes.io~csi/pvc-2`, bytes: 9e9 },
    ]
    const parts = measured({ folders: [folder], inside }).filter(
      ({ holder }) => holder === 'pod-folders',
    )
    const owner = { namespace: stats.podRef.namespace, pod: stats.podRef.name, volume: 'pvc-1' }
    expect(parts[0]).toMatchObject({ place: unmounted, lowBytes: 5e9, owner })
    expect(parts[1]).toMatchObject({ place: root, owner: null })
    expect(parts).toHaveLength(2)
    // A volume with a quota has another capacity than the disk, so the statistics leave it out.
    const ofVolume = measured({ folders: [folder], inside: [{ path: emptyDir, bytes: 59e8 }] })
    expect(ofVolume.filter(({ holder }) => holder === 'pod-folders')).toEqual([])
    const usual = { ...folder, bytes: 9e8, inodes: 4_000 }
    expect(measured({ folders: [usual], inside: [] })).not.toContainEqual(
      expect.objectContaining({ holder: 'pod-folders' }),
    )
  })

  it.each([
    { listed: 10, volumes: [4e9, 3e9, 4e9], others: [5e9, 5e9, 6e9] },
    // All are listed: the rest is in no volume.
    { listed: 2, volumes: [3e9, 3e9, 3e9], others: [6e9, 6e9, 6e9] },
  ])(
    'are volumes by their plugin without statistics, if $listed folders are listed',
    ({ listed, volumes, others }) => {
      const root = `/var/lib/kubelet/pods/${firstPod(record()).pod.metadata.uid}/volumes`
      const folder = { holder: 'pods', path: '/var/lib/kubelet/pods', on: 'nodefs', bytes: 9e9 }
      const inside = [
        { path: `${root}/kubernetes.io~csi/pvc-1`, bytes: 5e9 },
        { path: `${root}/kubernetes.io~empty-dir/data`, bytes: 3e9 },
        ...Array.from({ length: listed - 2 }, (_, index) => ({
          ...{ path: `${root}/kubernetes.io~secret/s${index}`, bytes: 0 },
        })),
      ]
      const input = { ...record(), summary: null } as unknown as NodeRecord
      const host = {
        schema: 'highwater.host/1',
        filesystems: ['nodefs', 'imagefs'].map(role => ({
          ...{ role, device: '/dev/a', mount: '/', capacityBytes: 1e11, availableBytes: 5e10 },
        })),
        diskUse: { folders: [folder], inside, missed: 0 },
      }
      const { filesystems, parts } = replayOf({ ...input, mode: 'ssm', host }, takenAt).ledger!
      const line = (holder: string) => filesystems[0]?.lines.find(one => one.holder === holder)
      const amounts = (holder: string) =>
        (['bytes', 'lowBytes', 'highBytes'] as const).map(part => line(holder)?.[part])
      expect([amounts('pod-volumes'), amounts('pod-folders')]).toEqual([volumes, others])
      expect(parts.map(({ holder, lowBytes }) => [holder, lowBytes])).toEqual(
        expect.arrayContaining([
          ['pod-volumes', 3e9],
          ['pod-folders', 5e9],
        ]),
      )
    },
  )

  it('are hosts files, which the kubelet counts to pods alone', () => {
    const input = record()
    const { stats, pod } = firstPod(input)
    Object.assign(stats, { 'ephemeral-storage': { usedBytes: 7e9 } })
    expect(partsOf(input).find(({ holder }) => holder === 'pod-folders')).toMatchObject({
      place: `/var/lib/kubelet/pods/${pod.metadata.uid}`,
      owner: { kind: 'pod', pod: stats.podRef.name, volume: null },
    })
    const [disk] = replayOf(input, takenAt).ledger?.filesystems ?? []
    const line = disk?.lines.find(({ holder }) => holder === 'pod-folders')
    expect(line?.bytes).toBeGreaterThan(0)
  })

  it('are what the sum of a pod counts beside its parts: its emptyDir or layer without statistics', () => {
    const rest = (change: (stats: Stats, spec: { volumes: RawObject[] }) => void) => {
      const input = record()
      const { stats, pod } = firstPod(input)
      Object.assign(stats, { 'ephemeral-storage': { usedBytes: 7e9 } })
      change(stats, pod.spec)
      const large = partsOf(input).filter(({ owner, lowBytes }) => owner && lowBytes > 6e9)
      return large.flatMap(({ holder, owner }) => (owner?.kind === 'image' ? [] : [holder]))
    }
    const volumes = [{ name: 'data', emptyDir: {} }]
    expect(rest((_, spec) => Object.assign(spec, { volumes }))).toEqual(['pod-volumes'])
    const unmeasured = { rootfs: undefined }
    expect(rest(({ containers }) => Object.assign(containers[0]!, unmeasured))).toEqual([
      'writable-layers',
    ])
    // Of several layers: it is with the pod.
    const two = ({ containers }: Stats) => {
      const more = { ...containers[0]!, name: 'more' }
      Object.assign(containers[0]!, unmeasured)
      containers.push(Object.assign(more, unmeasured))
    }
    expect(rest(two)).toEqual(['writable-layers'])
    // Layers and logs without statistics: it is not known in which.
    const neither = { ...unmeasured, logs: undefined }
    expect(rest(({ containers }) => Object.assign(containers[0]!, neither))).toEqual([])
  })

  it('are local volumes of their pod, leftover snapshots, and layers without statistics', () => {
    const { stats, pod } = firstPod(record())
    const uid = stats.podRef.uid
    const statuses = (pod as unknown as { status: { containerStatuses: RawObject[] } }).status
    const [{ name: container, containerID }] = statuses.containerStatuses as [RawObject]
    const key = String(containerID).replace('containerd://', '')
    const folder = {
      holder: 'localVolume',
      path: '/mnt/disks/a',
      on: 'nodefs',
      bytes: 6e9,
      pod: uid,
    }
    const log = `/var/log/pods/${stats.podRef.namespace}_${stats.podRef.name}_${uid}/${container}`
    const parts = measured(
      {
        folders: [{ ...folder, inodes: 5 }],
        snapshots: [{ use: 'leftover', count: 9, bytes: 7e10, inodes: 70 }],
        layers: [{ use: 'running', key, bytes: 8e9, inodes: 3 }],
        inside: [{ path: log, bytes: 9e9 }],
      },
      input => Object.assign(input, { summary: null }),
    )
    const inCluster = { namespace: stats.podRef.namespace, pod: stats.podRef.name, workload: null }
    const ofContainer = { kind: 'container', ...inCluster, container }
    expect(
      parts.map(({ holder, lowBytes, place, owner }) => [holder, lowBytes, place, owner]),
    ).toEqual(
      expect.arrayContaining([
        ['local-volumes', 6e9, '/mnt/disks/a', { kind: 'pod', ...inCluster, volume: null }],
        ['leftover-snapshots', 7e10, null, null],
        ['writable-layers', 8e9, null, ofContainer],
        ['container-logs', 9e9, log, ofContainer],
      ]),
    )
  })
})
