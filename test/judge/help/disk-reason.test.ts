import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { podDeletion } from '#judge/help/deletion.ts'
import { diskReason, heldDisks, withMeasurementFirst } from '#judge/help/disk-reason.ts'
import { filesOfImages, tooSmallDisk } from '#judge/help/disks-of-wrong-size.ts'
import { reasonOf } from '#judge/help/holder-steps.ts'
import { memoryReason } from '#judge/help/memory-reason.ts'
import type { HolderCause } from '#model/finding.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { DiskHolder, GroupDiskUse, HolderPart } from '#model/prediction.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'

const part = (holder: DiskHolder, workload: string, gib: number): HolderPart => ({
  ...{ holder, filesystem: 'nodefs', lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
  ...{ inodes: null, place: null },
  owner: {
    ...{ kind: 'container', container: 'app' },
    ...{ namespace: 'shop', pod: `${workload}-1`, workload: `Deployment ${workload}` },
  },
})

const useOf = (gib: number, requestGib: number | null, owner: string | null): GroupDiskUse => ({
  ...{ namespace: 'shop', owner, pods: 1, bytes: gib * gibibyte, layerBytes: gib * gibibyte },
  ...{ logBytes: 0, volumeBytes: 0, limitBytes: null },
  requestBytes: requestGib === null ? null : requestGib * gibibyte,
})

/** What holds the disk of 100 GiB, and by which pods. */
function reasonFor(
  held: NonNullable<NodeExample['held']>,
  parts: HolderPart[],
  configuration: KubeletConfiguration = {},
  request: number | null = null,
) {
  const subject = exampleSubject({ held, identity: { instanceId: 'i-0a1b' } })
  const gib = held['writable-layers'] ?? 0
  const owners = [useOf(gib, request, 'Deployment api')]
  const ledger = { ...subject.ledger!, parts, owners, namespaces: [useOf(gib, request, null)] }
  const { cause, steps, fix, seen } = diskReason(
    { ...subject, ledger, configuration, ...(held.unread !== undefined && { host: null }) },
    'nodefs.available',
  )!
  const owner = cause.kind === 'holder' ? cause.owner : undefined
  return { cause, owner, steps: steps.map(({ id }) => id), config: fix?.config, seen }
}

it.each([
  ['a large part', { system: 75, journal: 25 }, 'journal'],
  ['so much that the disk has room without it', { system: 60, journal: 20 }, 'journal'],
  ['it and unused images, too', { system: 45, journal: 15, 'images-unused': 18 }, 'journal'],
  ['too little', { system: 75, journal: 20 }, 'system'],
] as const)('has what should not be there before the usual contents: %s', (_, held, holder) => {
  expect(reasonFor(held, []).cause).toMatchObject({ holder })
})

describe('the step of a second holder', () => {
  const actionsFor = (held: NonNullable<NodeExample['held']>, parts: HolderPart[] = []) => {
    const subject = exampleSubject({ held, identity: { instanceId: 'i-0a1b' } })
    const ledger = { ...subject.ledger!, parts }
    return diskReason({ ...subject, ledger }, 'nodefs.available')!.steps
  }

  it('comes after that of the first', () => {
    const ids = actionsFor({ 'host-logs': 40, journal: 33 }).map(({ id }) => id)
    expect(ids).toEqual(['delete-place', 'check-rotation', 'vacuum-journal'])
  })

  it.each([
    ['journal', 'vacuum-journal'],
    ['host-logs', 'delete-place'],
  ] as const)('comes after it, if one command ends it: %s', (second, last) => {
    const ids = actionsFor({ 'leftover-snapshots': 40, [second]: 20 }).map(({ id }) => id)
    expect(ids.includes(last)).toBe(second === 'journal')
  })

  it('has the bytes of its own owner', () => {
    const parts = [part('writable-layers', 'api', 22), part('writable-layers', 'web', 18)]
    const found = actionsFor({ 'writable-layers': 40, system: 30 }, parts)
    expect(found.map(({ id, owner, bytes = 0 }) => [id, owner, bytes / gibibyte])).toEqual([
      ['set-ephemeral-storage', parts[0]!.owner, 22],
      ['set-ephemeral-storage', parts[1]!.owner, 18],
    ])
  })

  it('stands once where both have the same', () => {
    const ids = actionsFor({ 'temporary-files': 40, 'package-caches': 33 }).map(({ id }) => id)
    expect(ids).toEqual(['delete-place'])
  })
})

it('leaves to Docker what lies in its folder', () => {
  const subject = exampleSubject({ identity: { instanceId: 'i-0a1b' } })
  const stepsFor = (place: string, holder: DiskHolder, runtime: string) =>
    reasonOf(
      {
        ...{ kind: 'holder', holder, place, filesystem: 'nodefs', freedBy: 'nothing' },
        ...{ owner: null, amount: { unit: 'bytes', low: 40 * gibibyte, high: 40 * gibibyte } },
      },
      { ...subject, node: { status: { nodeInfo: { containerRuntimeVersion: runtime } } } },
    ).steps.map(({ id }) => id)
  const [beside, own] = ['containerd://2.1.4', 'docker://20.10.25']
  expect(stepsFor('/data/docker', 'other-runtime', beside)).toEqual(['prune-docker'])
  expect(stepsFor('/var/lib/containers', 'other-runtime', beside)).toEqual(['delete-place'])
  expect(stepsFor('/data/docker/overlay2', 'unknown-folder', beside)).toEqual(['prune-docker'])
  expect(stepsFor('/home/docker/notes', 'unknown-folder', beside)).toEqual(['delete-place'])
  expect(stepsFor('/home/docker/volumes/x', 'unknown-folder', own)).toContain('look-on-node')
  expect(stepsFor('/var/lib/docker/volumes', 'unknown-folder', own)).toEqual(['prune-volumes'])
  expect(stepsFor('/var/lib/docker/overlay2', 'unknown-folder', own)).toContain('replace-node')
})

it.each([
  ['half of the layers: it is deleted', 20, 'end-pod'],
  ['less: the node has others to move', 19, undefined],
])('a pod without a controller has %s', (_, gib, id) => {
  const bare = { namespace: 'shop', pod: 'api-1', workload: null, container: 'app' }
  const cause = {
    ...{ kind: 'holder' as const, holder: 'writable-layers' as const, place: null },
    ...{ filesystem: 'nodefs' as const, freedBy: 'pod-deletion' as const },
    amount: { unit: 'bytes' as const, low: 40 * gibibyte, high: 40 * gibibyte },
    ...{ owner: { kind: 'container' as const, ...bare }, largestBytes: gib * gibibyte },
  }
  const pods = [{ metadata: { namespace: 'shop', name: 'api-1' } }]
  expect(podDeletion(cause, { ...exampleSubject({}), pods } as never)?.id).toBe(id)
})

it.each([
  ['the volume of one pod', 'pod-volumes', 2],
  ['logs', 'container-logs', 2],
] as const)(
  'has a tiny disk of the kubelet as the cause, whatever holds it: %s',
  (_, held, gib) => {
    const subject = exampleSubject({ held: { [held]: gib } })
    const [disk] = subject.ledger!.filesystems
    const nodefs = { ...disk!, capacityBytes: 2 * gibibyte }
    const imagefs = { ...disk!, filesystem: 'imagefs' as const, lines: [] }
    const ledger = { ...subject.ledger!, isShared: false, filesystems: [nodefs, imagefs] }
    expect(diskReason({ ...subject, ledger }, 'nodefs.available')).toMatchObject({
      cause: { kind: 'device', what: 'too-small' },
      steps: [{ id: 'move-kubelet-root', bytes: 98 * gibibyte }],
      seen: "the kubelet's folder is on a disk of 2.0 GiB; that of the images has 98.0 GiB free.",
    })
  },
)

it.each([
  [4, 4, 98, true],
  [4, 3, 98, false],
  [40, 4, 98, false],
  [4, 4, 5, false],
])(
  'a kubelet disk of %s GiB, %s owners, %s GiB free for images: too small is %s',
  (gib, ownerCount, free, isTooSmall) => {
    const subject = exampleSubject({ held: { 'pod-volumes': 3 } })
    const [disk] = subject.ledger!.filesystems
    const nodefs = { ...disk!, capacityBytes: gib * gibibyte }
    const size = { capacityBytes: 100 * gibibyte, usedBytes: (100 - free) * gibibyte, lines: [] }
    const imagefs = { ...disk!, ...size, filesystem: 'imagefs' as const }
    const ledger = { ...subject.ledger!, isShared: false, filesystems: [nodefs, imagefs] }
    const first = {
      ...{ kind: 'holder', holder: 'pod-volumes', filesystem: 'nodefs', ownerCount },
      ...{ owner: null, amount: { unit: 'bytes', low: 3 * gibibyte, high: 3 * gibibyte } },
    } as unknown as HolderCause
    const found = tooSmallDisk(first, { ...subject, ledger })
    expect(found?.steps.at(-1)?.id).toBe(isTooSmall ? 'move-kubelet-root' : undefined)
  },
)

describe('a pod without a controller', () => {
  const labels = { 'prow.k8s.io/job': 'cross' }
  const bare = {
    ...part('pod-volumes', 'api', 40),
    owner: { ...part('pod-volumes', 'api', 40).owner!, workload: null },
  }
  const reasonOfPod = (evicted: object[], own: object = labels) => {
    const subject = exampleSubject({ held: { 'pod-volumes': 40 } })
    const pods = [
      { metadata: { namespace: 'shop', name: 'api-1', labels: own } },
      ...evicted.map(more => ({
        metadata: { namespace: 'shop', labels },
        status: {
          phase: 'Failed',
          reason: 'Evicted',
          message: 'low on resource: ephemeral-storage.',
        },
        ...more,
      })),
    ]
    const ledger = { ...subject.ledger!, parts: [bare as HolderPart] }
    return diskReason({ ...subject, ledger, pods: pods as never }, 'nodefs.available')
  }

  it('is started again by what is outside: those of its job were evicted here before', () => {
    expect(reasonOfPod([{}, {}])).toMatchObject({
      seen: '2 pods of the same job or labels were evicted here before.',
      steps: [
        { id: 'end-pod', message: 'cross' },
        { id: 'larger-disk' },
        { id: 'set-ephemeral-storage', bytes: 40 * gibibyte },
      ],
    })
  })

  it.each([
    ['no other was evicted', [], labels],
    ['that one was of another job', [{}], { 'prow.k8s.io/job': 'unit' }],
    ['that one has other labels', [{}], { app: 'a' }],
    ['memory evicted it', [{ status: { reason: 'Evicted', message: 'low on memory' } }], labels],
  ])('gets a limit where %s', (_, evicted, own) => {
    expect(reasonOfPod(evicted, own)?.steps.map(({ id }) => id)).toEqual(['set-volume-limit'])
  })
})

it.each([
  [
    'a job from outside',
    20,
    7,
    { 'prow.k8s.io/job': 'e2e' },
    'end-pod,larger-disk,set-volume-limit',
  ],
  ['a job that holds less', 20, 6, { 'prow.k8s.io/job': 'e2e' }, 'set-volume-limit'],
  ['another pod', 20, 7, { app: 'a' }, 'set-volume-limit'],
  ['a job on a larger disk', 100, 40, { 'prow.k8s.io/job': 'e2e' }, 'set-volume-limit'],
])('offers a larger disk first where a disk is small for %s', (_, size, gib, labels, steps) => {
  const subject = exampleSubject({ held: { 'pod-volumes': gib, images: 1 } })
  const [disk] = subject.ledger!.filesystems
  const filesystems = [{ ...disk!, capacityBytes: size * gibibyte }]
  const own = part('pod-volumes', 'api', gib)
  const parts = [{ ...own, owner: { ...own.owner!, workload: null } } as HolderPart]
  const ledger = { ...subject.ledger!, parts, filesystems }
  const pods = [{ metadata: { namespace: 'shop', name: 'api-1', labels } }] as never
  const reason = diskReason({ ...subject, ledger, pods }, 'nodefs.available')
  expect(reason?.steps.map(({ id }) => id).join()).toEqual(steps)
})

it.each([
  ['/var/lib/kubelet/pods', 'look-on-node'],
  ['/var/lib/kubelet/pods/4bd826ac', 'delete-pod-folder'],
])('of folders of pods in %s the first step is %s', (place, step) => {
  const amount = { unit: 'bytes', low: gibibyte, high: gibibyte } as const
  const reason = reasonOf(
    {
      ...{ kind: 'holder', holder: 'pod-folders', filesystem: 'nodefs', freedBy: 'nothing' },
      ...{ amount, owner: null, place },
    },
    { ledger: null, identity: exampleSubject({}).identity },
  )
  expect(reason.steps[0]?.id).toBe(step)
})

it('names the largest folders of deleted pods', () => {
  const folders = ['/var/lib/kubelet/pods/a', '/var/lib/kubelet/pods/b']
  const parts = folders.map(place => ({ ...part('orphaned-pods', '', 9), owner: null, place }))
  const reason = reasonOf(
    {
      ...{ kind: 'holder', holder: 'orphaned-pods', filesystem: 'nodefs', freedBy: 'nothing' },
      amount: { unit: 'bytes', low: 60 * gibibyte, high: 60 * gibibyte },
      ...{ owner: null, place: folders[0]! },
    },
    { ledger: { parts, filesystems: [], owners: [] }, identity: exampleSubject({}).identity },
  )
  expect(reason.steps[0]).toMatchObject({ id: 'delete-pod-folder', place: folders[0], folders })
})

it('has images of evicted pods in use: image GC makes room only until they are back', () => {
  const image = (isEvicted?: true): HolderPart => ({
    ...part('images-unused', '', 40),
    owner: {
      kind: 'image',
      reference: 'hub:1',
      workloads: [],
      isInUse: false,
      ...(isEvicted && { isEvicted }),
    },
  })
  const held = { 'images-unused': 60 }
  expect(reasonFor(held, [image()]).steps).toEqual(['prune-images'])
  expect(reasonFor(held, [image(true)])).toMatchObject({
    cause: { holder: 'images-in-use' },
    steps: ['larger-disk'],
  })
})

describe('a holder of many owners', () => {
  const logs = (gib: number) =>
    Array.from({ length: 5 }, (_, index) => part('container-logs', `svc-${index}`, gib))
  const large = { containerLogMaxSize: '100Mi', containerLogMaxFiles: 10 }
  const preset = { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }

  it.each([
    ['the rotation permits the logs', 0.9, large, ['set-fields'], preset],
    ['the rotation does not', 0.9, {}, ['ask-owner'], undefined],
  ] as const)('has no owner to act alone: %s', (_, gib, configuration, steps, config) => {
    const reason = reasonFor({ 'container-logs': 60 }, logs(gib), configuration)
    expect(reason).toMatchObject({ owner: null, steps, config })
  })

  it('ends with its one pod, though the rotation permits the logs', () => {
    const own = part('container-logs', 'api', 0.95)
    const bare = { ...own, owner: { ...own.owner!, workload: null } } as HolderPart
    const held = { 'container-logs': 9 } as const
    const subject = exampleSubject({ held })
    const ledger = { ...subject.ledger!, parts: [bare] }
    const steps = (ownerReferences?: object[]) =>
      diskReason(
        {
          ...{ ...subject, ledger, configuration: large },
          pods: [{ metadata: { namespace: 'shop', name: 'api-1', ownerReferences } } as never],
        },
        'nodefs.available',
      )?.steps.map(({ id }) => id)
    expect(steps()).toEqual(['end-pod', 'set-fields'])
    expect(steps([{ kind: 'Job', name: 'a', controller: true }])).toEqual([
      'restart-pod',
      'set-fields',
    ])
    expect(steps([{ kind: 'ConfigMap' }])).toEqual(['end-pod', 'set-fields'])
  })

  it.each([
    ['about the same', [4, 5, 5, 6], null, ['spread-pods', 'larger-disk']],
    ['more than others', [1, 9, 9, 9], null, ['set-volume-limit']],
    ['no more than it requests', [5, 5, 5, 5], 50 * gibibyte, ['set-fields']],
  ] as const)('spreads pods of which each holds %s', (_, gib, requestBytes, expected) => {
    const subject = exampleSubject({ held: { 'pod-volumes': 40 } })
    const owners = [10, ...gib].map((held, index) => ({
      ...{ namespace: 'shop', owner: `Deployment svc-${index}`, pods: index === 0 ? 2 : 1 },
      ...{ bytes: held * gibibyte, volumeBytes: held * gibibyte, layerBytes: 0, logBytes: 0 },
      ...{ requestBytes, limitBytes: null },
    }))
    const parts = [10, 5, 5].map((held, index) => part('pod-volumes', `svc-${index}`, held))
    const ledger = { ...subject.ledger!, owners, parts }
    const steps = diskReason({ ...subject, ledger }, 'nodefs.available')?.steps
    expect(steps?.map(({ id }) => id)).toEqual(expected)
  })

  it('is the owner of a tenth', () => {
    const reason = reasonFor({ 'container-logs': 50 }, logs(5))
    expect(reason.owner).toMatchObject({ workload: 'Deployment svc-0' })
    expect(reason.steps).toEqual(['restart-pod', 'ask-owner'])
  })
})

it.each([
  [26, 60, 'holder', ['set-ephemeral-storage', 'read-on-node']],
  [26, 25, 'holder', ['set-ephemeral-storage']],
  [24, 60, 'unread', ['read-on-node']],
])(
  'a writer of %i GiB and %i GiB that were not read: %s first',
  (written, unread, first, steps) => {
    const held = { 'writable-layers': written, unread }
    const reason = reasonFor(held, [part('writable-layers', 'api', written)])
    expect(reason).toMatchObject({ cause: { kind: first }, steps })
  },
)

it.each([
  ['read-on-node', null],
  // The same measurement again would not get through.
  ['look-on-node', { diskUse: { missed: 1 } }],
])('measures what is not known well: %s', (id, host) => {
  const subject = exampleSubject({
    held: { 'writable-layers': 26, unread: 60 },
    ...{
      identity: { instanceId: 'i-0a1b' },
      ofPods: { parts: [part('writable-layers', 'api', 26)] },
    },
  })
  const reason = diskReason({ ...subject, host }, 'nodefs.available')!
  expect(reason.steps.map(step => step.id)).toEqual(['set-ephemeral-storage', id])
  const { cause } = reason as { cause: HolderCause }
  const vague = { ...cause, amount: { unit: 'bytes' as const, low: 1, high: 3 } }
  const larger = { cause: vague, steps: [{ id: 'larger-disk' as const }] }
  expect(withMeasurementFirst(larger, { ...subject, host }).steps[0]?.id).toBe(id)
  const freeing = { cause: vague, steps: [{ id: 'prune-images' as const }] }
  expect(withMeasurementFirst(freeing, { ...subject, host })).toBe(freeing)
})

it.each([
  ['bytes', 'writable-layers', ['set-ephemeral-storage']],
  ['inodes', 'writable-layers', ['restart-pod', 'ask-owner']],
  ['bytes', 'pod-volumes', ['set-volume-limit']],
  ['inodes', 'pod-volumes', ['ask-owner']],
] as const)('no limit of bytes ends a shortage of %s in %s', (unit, holder, steps) => {
  const cause = {
    ...{ kind: 'holder' as const, holder, filesystem: 'nodefs' as const, place: null },
    ...{ freedBy: 'pod-deletion' as const, owner: part(holder, 'api', 1).owner },
    amount: { unit, low: gibibyte, high: gibibyte },
  }
  const { identity } = exampleSubject({})
  const reason = reasonOf(cause, {
    ledger: { parts: [part(holder, 'api', 1)], filesystems: [], owners: [] },
    identity,
  })
  expect(reason.steps.map(({ id }) => id)).toEqual(steps)
})

describe('pods that keep within their requests', () => {
  const parts = [part('writable-layers', 'api', 70)]
  const held = { 'writable-layers': 70, 'images-in-use': 15, 'images-unused': 5 }
  const others = { 'writable-layers': 50, 'images-in-use': 10 }
  const reserved = (size: string) => ({ kubeReserved: { 'ephemeral-storage': size } })
  const systemReserved = { 'ephemeral-storage': '14Gi' }

  it.each([
    ['less is reserved than the others hold', 70, reserved('1Gi'), { systemReserved }],
    ['as much is reserved', 70, reserved('15Gi'), undefined],
    ['more than requested', 69, reserved('1Gi'), undefined],
    ['nothing requested', null, reserved('1Gi'), undefined],
  ] as const)('fill a disk only if the reserve is too small: %s', (_, request, before, config) => {
    const reason = reasonFor(held, parts, before, request)
    expect(reason.config).toEqual(config)
    expect(reason.cause.kind).toBe(config === undefined ? 'holder' : 'setting')
    expect(reason.seen).toEqual(
      config === undefined ? undefined : expect.stringContaining('15.0 GiB'),
    )
  })

  it.each([
    [{ system: 24 }, 'setting'],
    [{ system: 26 }, 'holder'],
    [{ unread: 24 }, 'setting'],
    [{ unread: 26 }, 'holder'],
    [{ 'leftover-snapshots': 4 }, 'setting'],
    [{ 'leftover-snapshots': 6 }, 'holder'],
  ])('fill it, unless something else is larger than usual: %o', (more, kind) => {
    const reason = reasonFor({ ...others, ...more }, parts, reserved('1Gi'), 50)
    expect(reason.cause.kind).toBe(kind)
  })
})

describe('memory', () => {
  const pods = [{ metadata: { namespace: 'shop', name: 'api' }, status: { phase: 'Running' } }]
  const observed = { capacityBytes: 100 * gibibyte, availableBytes: gibibyte }
  const reasonWith = (
    memory: { workingSetBytes: number; rssBytes?: number },
    runtime = 0,
    spec = {},
  ) => {
    const summary = {
      node: { systemContainers: [{ name: 'runtime', memory: { workingSetBytes: runtime } }] },
      pods: [{ podRef: { namespace: 'shop', name: 'api' }, memory }],
    }
    const { eviction, ...subject } = exampleSubject({
      ...{ pods: pods.map(pod => ({ ...pod, spec })), summary },
    })
    const signals = { 'memory.available': { ...observed, time: null } }
    return memoryReason({ ...subject, eviction: { ...eviction!, signals } })
  }

  it.each([
    [0, null, 97],
    [48, null, 97],
    [49, 'containerd', 49],
  ])('of no pod, with %i GiB of the runtime: %s, %i GiB', (runtime, subject, gib) => {
    const { cause, steps } = reasonWith({ workingSetBytes: 2 * gibibyte }, runtime * gibibyte)
    expect(cause).toMatchObject({ event: 'memory-outside-pods', subject, bytes: gib * gibibyte })
    const first =
      subject === null ? { id: 'list-memory' } : { id: 'restart-daemon', place: subject }
    expect(steps).toEqual([first, { id: 'reboot' }])
  })

  it('outside of pods, as little as on any node, wants a larger instance', () => {
    const { eviction, ...subject } = exampleSubject({ pods, summary: { pods: [] } })
    const small = { capacityBytes: gibibyte, availableBytes: gibibyte / 20, time: null }
    const signals = { 'memory.available': small }
    const daemon = { name: 'kubelet', memory: { workingSetBytes: gibibyte / 2 + 1 } }
    const summary = { node: { systemContainers: [daemon] }, pods: [] }
    const reason = memoryReason({ ...subject, summary, eviction: { ...eviction!, signals } })
    expect(reason.steps).toEqual([{ id: 'larger-instance' }])
  })

  it.each([
    [9, true],
    [10, false],
    [undefined, false],
    // The answer had no number there.
    [-1 / gibibyte, false],
  ])('of a pod with %s GiB of its own, mostly cache: %s', (own, isCache) => {
    const rssBytes = own === undefined ? {} : { rssBytes: own * gibibyte }
    const { steps, seen } = reasonWith({ workingSetBytes: 30 * gibibyte, ...rssBytes })
    expect(steps).toMatchObject([{ id: 'set-memory', bytes: 30 * gibibyte }])
    expect(seen?.includes('cache of files') ?? false).toBe(isCache)
  })

  it.each([
    ['as much as it uses', [{ requests: { memory: '30Gi' } }], true],
    ['a byte less', [{ requests: { memory: '32212254719' } }], false],
    ['by its limit', [{ limits: { memory: '30Gi' }, requests: { cpu: '1' } }], true],
    ['less than its limit', [{ limits: { memory: '30Gi' }, requests: { memory: '1Gi' } }], false],
    ['in two containers', [{ requests: { memory: '20Gi' } }, { limits: { memory: '10Gi' } }], true],
  ])('of a pod with 30 GiB that requests %s', (_, containers, isWithin) => {
    const spec = { containers: containers.map(resources => ({ resources })) }
    const { steps } = reasonWith({ workingSetBytes: 30 * gibibyte }, 0, spec)
    expect(steps.map(({ variant }) => variant)).toEqual([isWithin ? 'requested' : undefined])
  })

  it.each([
    [24, 'world'],
    [25, 'setting'],
  ])('of a pod with %i of 99 GiB, the rest of no pod: a %s', (gib, kind) => {
    expect(reasonWith({ workingSetBytes: gib * gibibyte }).cause.kind).toBe(kind)
  })
})

it('names the pods of a workload that hold much, each for a command of its own', () => {
  const of = (pod: string, gib: number) => {
    const one = part('writable-layers', 'api', gib)
    return { ...one, owner: { ...one.owner, pod } as HolderPart['owner'] }
  }
  const parts = [of('a', 30), of('b', 20), of('c', 4)]
  const cause = {
    ...{
      kind: 'holder' as const,
      holder: 'container-logs' as const,
      filesystem: 'nodefs' as const,
    },
    ...{ freedBy: 'pod-deletion' as const, owner: parts[0]!.owner, place: null },
    amount: { unit: 'bytes' as const, low: 54 * gibibyte, high: 54 * gibibyte },
  }
  const logs = parts.map(one => ({ ...one, holder: 'container-logs' as const }))
  const { identity } = exampleSubject({})
  const { steps } = reasonOf(cause, {
    ledger: { parts: logs, filesystems: [], owners: [] },
    identity,
  })
  expect(steps.find(({ id }) => id === 'restart-pod')?.pods).toEqual(['a', 'b'])
})

it.each([
  ['container-logs', 'Node', ['empty-log', 'ask-owner']],
  ['container-logs', 'ReplicaSet', ['restart-pod', 'ask-owner']],
  ['pod-folders', 'Node', ['ask-owner']],
] as const)('%s of a pod of a %s: %s', (holder, kind, steps) => {
  const { owner } = part(holder, 'api', 1)
  const cause = {
    ...{ kind: 'holder' as const, holder, filesystem: 'nodefs' as const, place: null, owner },
    ...{ freedBy: 'pod-deletion' as const },
    amount: { unit: 'bytes' as const, low: gibibyte, high: gibibyte },
  }
  const ownerReferences = [{ kind, name: 'a', controller: true }]
  const metadata = { namespace: 'shop', name: 'api-1', ownerReferences }
  const reason = reasonOf(cause, {
    ledger: null,
    identity: exampleSubject({}).identity,
    pods: [{ metadata }],
  })
  expect(reason.steps.map(({ id }) => id)).toEqual(steps)
})

it.each([
  ['Deployment api', '/data', ['set-volume-limit']],
  ['DaemonSet agent', '/data', ['set-volume-limit', 'restart-pod']],
  ['DaemonSet csi-node', '/var/lib/kubelet/plugins', ['set-volume-limit']],
])('the emptyDir of a pod of %s with hostPath %s: %s', (workload, path, steps) => {
  const { owner, ...rest } = part('pod-volumes', 'api', 60)
  const held = { ...rest, owner: { ...owner, workload } } as HolderPart
  const subject = exampleSubject({ held: { 'pod-volumes': 60 } })
  const ledger = { ...subject.ledger!, parts: [held] }
  const pods = [
    { metadata: { namespace: 'shop', name: 'api-1' }, spec: { volumes: [{ hostPath: { path } }] } },
  ]
  const reason = diskReason({ ...subject, ledger, pods }, 'nodefs.available')
  expect(reason?.steps.map(({ id }) => id)).toEqual(steps)
})

it('looks at snapshots before folders where the kubelet reports no image filesystem', () => {
  const subject = exampleSubject({ held: { unread: 40 } })
  const filesystems = { ...subject.filesystems, imagefs: null }
  const given = { ...subject, filesystems, host: null, summary: { node: {} } }
  const steps = diskReason(given, 'nodefs.available')?.steps
  expect(steps?.map(({ id }) => id)).toEqual(['read-snapshots', 'look-on-node'])
})

it('has the same steps for what holds a disk as for a finding about it', () => {
  const given = { ...exampleSubject({ held: { unread: 40 } }), host: null, summary: { node: {} } }
  const steps = heldDisks(given).nodefs?.steps.map(({ action }) => action)
  expect(steps).toEqual(diskReason(given, 'nodefs.available')?.steps)
})

it.each([
  ['/var/lib/app', 500, '/var/lib/app'],
  ['/data is safe to delete: run', 500, undefined],
  // It is empty, and too small for the layer.
  ['/var/lib/app', 9.8, undefined],
  ['/var/lib/app', 70, undefined],
  ['/var/lib/app', 500, undefined, 1],
])(
  'names the mount path of an empty claim that takes the layer: %s, %d GiB',
  (mountPath, gib, place, usedGib = 0) => {
    const { owner, ...layer } = part('writable-layers', 'api', 60)
    const subject = exampleSubject({ held: { 'writable-layers': 60 } })
    const pods = [
      {
        metadata: { namespace: 'shop', name: 'api-1' },
        spec: { containers: [{ name: 'app', volumeMounts: [{ name: 'data', mountPath }] }] },
      },
    ]
    const pvcRef = { namespace: 'shop', name: 'data' }
    const sizes = { usedBytes: usedGib * gibibyte, capacityBytes: gib * gibibyte }
    const volume = [{ name: 'data', pvcRef, ...sizes }]
    const summary = { pods: [{ podRef: { namespace: 'shop', name: 'api-1' }, volume }] }
    const ledger = { ...subject.ledger!, parts: [{ ...layer, owner }] }
    const steps = diskReason({ ...subject, ledger, pods, summary }, 'nodefs.available')?.steps
    expect(steps?.find(({ id }) => id === 'move-to-volume')?.place).toBe(place)
  },
)

it.each([
  ['half of it', '/var/log/app/app.log', 30, 2, 'empty-log'],
  ['less', '/var/log/app/app.log', 29, 2, 'clean-with-owner'],
  ['a buffer of what is not sent', '/var/log/app/buffer.db', 30, 2, 'clean-with-owner'],
  ['that nothing writes now', '/var/log/app/app.log', 30, 90, 'clean-with-owner'],
])('rotates a log that a pod writes through a hostPath: %s', (_, path, gib, minutes, first) => {
  const { owner } = part('host-path', 'api', 60)
  const amount = { unit: 'bytes' as const, low: 60 * gibibyte, high: 60 * gibibyte }
  const cause: HolderCause = {
    ...{ kind: 'holder', holder: 'host-path', filesystem: 'nodefs', freedBy: 'nothing' },
    ...{ amount, owner, place: '/var/log/app' },
  }
  const at = '2026-11-21T06:00:00Z'
  const modifiedAt = new Date(Date.parse(at) - minutes * 60_000).toISOString()
  const host = { logs: { biggest: [{ path, bytes: gib * gibibyte, modifiedAt }] } }
  expect(reasonOf(cause, { ...exampleSubject({}), host, at }).steps[0]?.id).toBe(first)
})

it.each([
  [10, false],
  [11, true],
])('images lie in other parts of a pool if the runtime counts %d GiB of 5', (gib, isElsewhere) => {
  const of = (capacity: number) => ({
    ...{ capacityBytes: capacity * gibibyte, availableBytes: 5 * gibibyte, usedPercent: null },
    ...{ inodes: null, inodesFree: null },
  })
  const subject = exampleSubject({ held: { unread: 90 } })
  const given = {
    ...subject,
    filesystems: { ...subject.filesystems, nodefs: of(100), imagefs: of(10), layout: 'imagefs' },
    summary: { node: { runtime: { imageFs: { usedBytes: gib * gibibyte } } } },
    host: null,
  } as typeof subject
  const found = diskReason(given, 'nodefs.available')
  expect(found?.steps[0]).toMatchObject({ variant: 'datasets' })
  expect(found?.seen?.includes('images lie in other parts')).toBe(isElsewhere)
  expect(diskReason(given, 'nodefs.inodesFree')?.steps[0]?.variant).toBeUndefined()
})

it.each([
  [{ running: {} }, { container: 'app', path: '/', place: null }],
  // No command runs in it.
  [{ waiting: { reason: 'CrashLoopBackOff' } }, undefined],
])('looks into a container that runs: %j', (state, inside) => {
  const subject = exampleSubject({ held: { 'writable-layers': 60 } })
  const ledger = { ...subject.ledger!, parts: [part('writable-layers', 'api', 60)] }
  const status = { phase: 'Running', containerStatuses: [{ name: 'app', state }] }
  const pods = [{ metadata: { namespace: 'shop', name: 'api-1' }, status }]
  const steps = diskReason({ ...subject, ledger, pods }, 'nodefs.available')?.steps
  expect(steps?.find(({ id }) => id === 'move-to-volume')?.inside).toEqual(inside)
})

it.each([
  [undefined, 'not-asked', ['read-on-node']],
  // The same measurement again would not get through.
  [{ missed: 1 }, 'unmeasured', ['look-on-node']],
])('has measured what no measurement reached: %j', (diskUse, reason, steps) => {
  const subject = exampleSubject({ held: { unread: 40 }, identity: { instanceId: 'i-0a1b' } })
  const found = diskReason({ ...subject, host: { diskUse } }, 'nodefs.available')
  expect(found).toMatchObject({ cause: { kind: 'unread', reason } })
  expect(found?.steps.map(({ id }) => id)).toEqual(steps)
})

it('ends the crash loop of a pod before what it wrote is deleted', () => {
  const { owner, ...rest } = part('host-path', 'api', 60)
  const held = { ...rest, owner, place: '/var/lib/rook' } as HolderPart
  const subject = exampleSubject({ held: { 'host-path': 60 } })
  const ledger = { ...subject.ledger!, parts: [held] }
  const { namespace, pod: name } = owner as { namespace: string; pod: string }
  const stepsIn = (
    reason: string,
    container = 'app',
    restartCount = 480,
    exitCode = 134,
    end = 'Error',
  ) => {
    const terminated = { reason: end, exitCode }
    const state = reason === 'running' ? { running: {} } : { waiting: { reason } }
    const status = { name: container, restartCount, state }
    const startTime = '2026-11-20T14:00:00Z'
    const pods = [
      {
        metadata: { namespace, name },
        status: { startTime, containerStatuses: [{ ...status, lastState: { terminated } }] },
      },
    ]
    const at = '2026-11-21T06:00:00Z'
    const found = diskReason({ ...subject, ledger, pods, at }, 'nodefs.available')
    return { first: found?.steps[0], seen: found?.seen }
  }
  expect(stepsIn('CrashLoopBackOff')).toMatchObject({
    first: { id: 'end-crash-loop', owner: { container: 'app' }, place: '/var/lib/rook' },
    seen: 'Container app crash-loops: 480 restarts, last exit Error (exit code 134).',
  })
  // It runs for a while after each start.
  // The kernel's kill for memory dumps no core.
  const killed = stepsIn('CrashLoopBackOff', 'app', 480, 137, 'OOMKilled').first
  expect([killed?.id, killed?.place]).toEqual(['end-crash-loop', undefined])
  expect(stepsIn('running', 'app', 16).first?.id).toBe('end-crash-loop')
  expect(stepsIn('running', 'app', 15).first?.id).not.toBe('end-crash-loop')
  // It ends by itself when its work is done.
  expect(stepsIn('running', 'app', 16, 0).first?.id).not.toBe('end-crash-loop')
  expect(stepsIn('ImagePullBackOff').first?.id).not.toBe('end-crash-loop')
  expect(stepsIn('CrashLoopBackOff', 'sidecar').first?.id).not.toBe('end-crash-loop')
})

it.each<
  [string, { gib?: number; isUsed?: boolean; claimGib?: number; identity?: object }, boolean]
>([
  ['twice as large', {}, true],
  ['smaller', { gib: 199 }, false],
  ['of which nobody knows whether it is used', { isUsed: undefined }, false],
  ['of a claim', { claimGib: 200 }, false],
  ['of an instance', { identity: { instanceId: 'i-0a1b' } }, false],
  ['of a hybrid node', { identity: { instanceId: 'mi-0a1b', owner: 'hybrid' } }, true],
])('names another disk of the node before a larger one: %s', (_, given, isNamed) => {
  const { gib = 200, claimGib = 0, identity = { instanceId: null } } = given
  const disk = {
    name: 'sdb',
    bytes: gib * gibibyte,
    isUsed: 'isUsed' in given ? given.isUsed : false,
  }
  const subject = exampleSubject({
    ...{ held: { 'images-in-use': 80 }, identity },
    host: {
      filesystems: [{ role: 'nodefs', device: '/dev/sda1' }],
      diskUse: { folders: [], snapshots: [], missed: 0, devices: [disk] },
    },
    summary: {
      pods: [{ volume: [{ pvcRef: { name: 'a' }, capacityBytes: claimGib * gibibyte }] }],
    },
  } as NodeExample)
  const reason = diskReason(subject, 'nodefs.available')
  expect(reason?.steps.map(({ id }) => id)).toEqual(
    isNamed ? ['use-other-disk', 'larger-disk'] : ['larger-disk'],
  )
  expect(reason?.seen?.includes('/dev/sdb (200.0 GiB)') ?? false).toBe(isNamed)
})

it('has the checkpoints of containers deleted, and other folders of the kubelet looked at', () => {
  const stepsAt = (place: string) => {
    const subject = exampleSubject({ held: { kubelet: 60 } })
    const { owner: _, ...rest } = part('kubelet', 'api', 60)
    const ledger = { ...subject.ledger!, parts: [{ ...rest, place, owner: null }] }
    return diskReason({ ...subject, ledger }, 'nodefs.available')?.steps.map(({ id }) => id)
  }
  expect(stepsAt('/var/lib/kubelet/checkpoints')).toEqual(['delete-place'])
  expect(stepsAt('/var/lib/kubelet/plugins')).toEqual(['look-on-node'])
})

it.each([
  ['/var/lib/rancher/k3s/server/db', 'compact-datastore'],
  ['/var/lib/etcd/member', 'compact-datastore'],
  ['/var/snap/microk8s/2097/var/kubernetes/backend', 'compact-datastore'],
  ['/var/lib/rancher/rke2/server/db/snapshots', 'delete-place'],
  ['/var/lib/etcd-backups', 'delete-place'],
])('deletes no file of a datastore: %s', (place, step) => {
  const folder = { ...part('unknown-folder', 'api', 40), owner: null, place }
  expect(reasonFor({ 'unknown-folder': 40 }, [folder]).steps).toEqual([step])
})

it.each([
  ['/nix/store', ['look-on-node']],
  ['/usr', ['larger-disk']],
  ['/home', ['delete-place']],
])('deletes no file of the operating system: %s', (place, steps) => {
  const folder = { ...part('system', 'api', 60), owner: null, place }
  expect(reasonFor({ system: 60 }, [folder]).steps).toEqual(steps)
})

describe('files of images', () => {
  const image = (name: string, workloads: string[]): HolderPart => ({
    ...part('images', name, 1),
    owner: { kind: 'image', reference: `registry/${name}:1`, workloads, isInUse: null },
  })
  const cause = {
    ...{ kind: 'holder' as const, holder: 'images' as const, filesystem: 'nodefs' as const },
    ...{ freedBy: 'image-gc' as const, owner: null, place: null },
    amount: { unit: 'inodes' as const, low: 5, high: 5 },
  }
  const names = (...images: string[]) => ({
    status: { images: images.map(name => ({ names: [`registry/${name}`] })) },
  })
  const filesOf = (parts: HolderPart[], node = names('a:1', 'a:2', 'b:1'), age = '0s') => {
    const subject = exampleSubject({
      held: { images: 5 },
      configuration: { imageMaximumGCAge: age },
    })
    const found = filesOfImages(cause, { ...subject, node, ledger: { ...subject.ledger!, parts } })
    return { ids: found?.steps.map(({ id }) => id), seen: found?.seen }
  }

  it('get a larger disk where pods use all images', () => {
    const { ids, seen } = filesOf([image('a', ['shop/Deployment a'])])
    expect(ids).toEqual(['larger-disk'])
    expect(seen).toContain('pods use every image')
  })

  it('get a deletion of unused images, and name a repository that has more images than any other', () => {
    const unused = [image('a', ['shop/Deployment a']), image('b', [])]
    expect(filesOf(unused).ids).toEqual(['prune-images', 'set-fields'])
    expect(filesOf(unused, undefined, '720h').ids).toEqual(['prune-images', 'larger-disk'])
    expect(filesOf(unused).seen).toContain('2 of the 3 images')
    expect(filesOf(unused, names('a:1', 'a:2', 'b:1', 'b:2')).seen).toBeUndefined()
  })
})

it('names the other file of a rotated log once', () => {
  const subject = exampleSubject({ held: { 'host-logs': 60 } })
  const file = (place: string, gib: number) =>
    ({ ...part('host-logs', 'api', gib), owner: null, place }) as HolderPart
  const parts = [file('/var/log/messages', 31), file('/var/log/messages-20261120', 29)]
  const found = diskReason(
    { ...subject, ledger: { ...subject.ledger!, parts } },
    'nodefs.available',
  )
  expect(found?.seen).toMatch(/^\/var\/log\/messages-20261120 has 29/)
  expect(found?.cause).not.toHaveProperty('also')
})

it.each([
  [200, false, ['use-instance-store']],
  [199, false, ['larger-disk']],
  [200, true, ['larger-disk']],
])('uses idle instance store of %d GiB in place of a larger disk: used %j', (gib, isUsed, ids) => {
  const model = 'Amazon EC2 NVMe Instance Storage'
  const devices = [{ name: 'nvme1n1', bytes: gib * gibibyte, model, isUsed }]
  const subject = exampleSubject({
    ...{ held: { 'images-in-use': 80 }, identity: { instanceId: 'i-0a1b' } },
    host: { diskUse: { folders: [], snapshots: [], missed: 0, devices } },
  } as NodeExample)
  expect(diskReason(subject, 'nodefs.available')?.steps.map(({ id }) => id)).toEqual(ids)
})
