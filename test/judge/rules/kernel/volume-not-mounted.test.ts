import { describe, expect, it } from 'vitest'
import { volumeProblem } from '#facts/kubernetes/volume-events.ts'
import { volumeNotMounted } from '#judge/rules/kernel/volume-not-mounted.ts'
import { type ContextExample, sharedFilesystems } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { type EventValues, event } from '#test/rules/events.ts'

const attaching =
  'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": attachment of disk "vol-1" failed, expected device to be attached but was attaching'
const timedOut =
  'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition'

const failed = (reason: string, message: string, more: Partial<EventValues> = {}) =>
  event({ reason, message, of: 'db/master-0', ago: [40, 2], count: 22, ...more })

const waiting = (...events: ContextExample['events'] & object): ContextExample => ({
  pods: [
    {
      metadata: { namespace: 'db', name: 'master-0' },
      spec: { volumes: [{ name: 'data' }] },
      status: { phase: 'Pending' },
    },
  ],
  events,
})

itJudgesExamples(volumeNotMounted, {
  bad: waiting(failed('FailedAttachVolume', attaching)),
  good: waiting(
    failed('FailedMount', 'MountVolume.SetUp failed for volume "a" : secret "b" not found'),
  ),
})

describe('volume-not-mounted', () => {
  it.each([
    ['an attachment that is tried for the first time', { count: 1 }, 'pass'],
    ['one that failed half an hour ago', { ago: [60, 30] as [number, number] }, 'pass'],
    ['that of another pod', { of: 'db/master-1' }, 'pass'],
    ['one that fails again and again', {}, 'fail'],
  ])('%s: %s', (_, more, expected) => {
    expect(state(volumeNotMounted, waiting(failed('FailedAttachVolume', attaching, more)))).toBe(
      expected,
    )
  })

  it('says why the volume is not attached before that its mount times out', () => {
    const failing = failingOf(
      volumeNotMounted,
      waiting(
        failed('FailedMount', timedOut, { count: 11 }),
        failed('FailedAttachVolume', attaching),
      ),
    )
    expect(failing.seen).toContain('FailedAttachVolume 22 times')
    expect(failing.seen).not.toContain('rpc error')
    expect(failing.steps).toEqual([{ id: 'attach-volume', variant: 'slots' }])
  })

  it('names the driver that the PersistentVolume names', () => {
    const volume = 'pvc-2f9d2c1e-6a0b-4df0-9a61-0c5a3b2f7711'
    const message = `AttachVolume.Attach failed for volume "${volume}" : volume ${volume} is not ready for workloads`
    const csi = { driver: 'driver.longhorn.io', volumeHandle: volume }
    const stepsWith = (items: object[]) =>
      failingOf(volumeNotMounted, {
        ...waiting(failed('FailedAttachVolume', message)),
        objects: { persistentvolumes: items },
      }).steps
    const step = { id: 'attach-volume', variant: 'other', place: volume }
    expect(stepsWith([{ metadata: { name: volume }, spec: { csi } }])).toEqual([
      { ...step, source: 'driver.longhorn.io' },
    ])
    expect(stepsWith([])).toEqual([step])
  })

  const inMemory = (path: string) =>
    `MountVolume.SetUp failed for volume "kube-api-access-x" : write /var/lib/kubelet/pods/u/volumes/${path}/x/namespace: no space left on device`

  it.each([
    ['4', 'has 4, 4 bytes: its unit is missing', { message: '4' }],
    ['256Mi', 'has 256Mi.', {}],
    [undefined, 'ends at the memory of the node.', {}],
  ])('says that a volume in memory is full, and where it ends: %s', (memory, words, step) => {
    const example = waiting(failed('FailedMount', inMemory('kubernetes.io~projected')))
    const containers = [{ name: 'app', ...(memory && { resources: { limits: { memory } } }) }]
    const [pod] = example.pods as [object]
    const failing = failingOf(volumeNotMounted, {
      ...example,
      pods: [{ ...pod, spec: { containers } }],
    })
    expect(failing.title).toContain('in memory')
    expect(failing.seen).toContain('no space is left in volume kube-api-access-x. It is memory')
    expect(failing.seen).toContain(words)
    expect(failing.steps).toMatchObject([{ id: 'set-memory', ...step }])
  })

  it.each([
    ['projected', 'memory'],
    ['secret', 'memory'],
    ['downward-api', 'memory'],
    ['configmap', 'disk'],
    ['csi', 'other'],
  ])('reads a full volume of kind %s as %s', (kind, problem) => {
    expect(volumeProblem(inMemory(`kubernetes.io~${kind}`))).toBe(problem)
  })

  it('has the folder of a volume in memory on the disk of the kubelet', () => {
    const message = inMemory('kubernetes.io~projected').replace('/x/namespace', '/x')
    const failing = failingOf(volumeNotMounted, {
      ...waiting(failed('FailedMount', message)),
      filesystems: {
        nodefs: { ...sharedFilesystems.nodefs!, availableBytes: 0, capacityBytes: 190 * 1024 ** 2 },
      },
    })
    expect(failing.title).toContain("disk of the kubelet's folder")
    expect(failing.seen).toContain('0 bytes of 190.0 MiB')
    expect(failing.steps).toMatchObject([{ id: 'look-on-node' }])
  })

  it.each([
    ['kubernetes.io~local-volume', 'read-journal'],
    ['kubernetes.io~csi', 'attach-volume'],
  ])('asks for attachments only of what is attached: %s', (kind, step) => {
    const message = inMemory(kind).replace('kube-api-access-x', 'v')
    const failing = failingOf(volumeNotMounted, waiting(failed('FailedMount', message)))
    expect(failing.steps).toMatchObject([{ id: step }])
  })

  it('keeps the end of long words: the error stands there', () => {
    const long = `${'MountVolume.SetUp failed for volume "pvc-1" : '.padEnd(900, 'x')}: exit status 32`
    const failing = failingOf(volumeNotMounted, waiting(failed('FailedMount', long)))
    expect(failing.seen).toMatch(/MountVolume.*\.\.\..*: exit status 32"\.$/)
    expect(failing.seen?.length).toBeLessThanOrEqual(300)
  })

  it('quotes the words of the driver once, and shows which volume it is', () => {
    const id = 'pvc-0e1f4a7c-9a52-4e0b-8d1b-2c5d7e9f0a11'
    const message = `AttachVolume.Attach failed for volume "${id}" : volume ${id} is not ready for workloads`
    const failing = failingOf(volumeNotMounted, waiting(failed('FailedAttachVolume', message)))
    expect(failing.seen).toContain(`: "volume ${id} is not ready for workloads".`)
    expect(failing.steps).toEqual([{ id: 'attach-volume', variant: 'other', place: id }])
  })

  it('shows words that it does not know as they are', () => {
    const failing = failingOf(volumeNotMounted, waiting(failed('FailedMount', 'the disk sleeps')))
    expect(failing.seen).toContain('"the disk sleeps"')
    expect(failing.steps).toEqual([{ id: 'attach-volume', variant: 'other' }])
  })

  it.each([
    [
      'Multi-Attach error for volume "a" Volume is already exclusively attached to one node',
      'elsewhere',
    ],
    ['driver name ebs.csi.aws.com not found in the list of registered CSI drivers', 'driver'],
    ['timed out waiting for external-attacher of x.example CSI driver to attach a', 'controller'],
    [
      'AttachVolume.Attach failed for volume "a" : volume attachment is being deleted',
      'controller',
    ],
    ['mount failed: wrong fs type, bad option, bad superblock on /dev/nvme1n1', 'filesystem'],
    ['references non-existent config key: a, object "shop"/"web" not registered', null],
    ['configmap "web" not found', null],
  ])('reads %s as %s', (message, problem) => {
    expect(volumeProblem(message)).toBe(problem)
  })
})
