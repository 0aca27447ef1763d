import { describe, expect, it } from 'vitest'
import { kernelLimitOf, placeWithoutSpace } from '#facts/kubelet/event-messages.ts'
import { noSpaceElsewhere } from '#judge/rules/kernel/no-space-elsewhere.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event, minutesAgo } from '#test/rules/events.ts'

const watches = 'failed to create fsnotify watcher: no space left on device'
const waiting = (reason: string, message: string): NodeExample => ({
  pods: [
    {
      metadata: { namespace: 'shop', name: 'web' },
      status: {
        containerStatuses: [{ name: 'web', image: 'a:1', state: { waiting: { reason, message } } }],
      },
    },
  ],
})

itJudgesExamples(noSpaceElsewhere, {
  bad: waiting('CreateContainerError', watches),
  good: waiting('CreateContainerError', 'container name is in use'),
})

describe('no-space-elsewhere', () => {
  const cgroup = 'mkdir /sys/fs/cgroup/memory/kubepods/a: no space left on device'
  const disk = (free: number, inodesFree: number) => ({
    filesystems: {
      nodefs: {
        ...{ capacityBytes: 1000, availableBytes: free, usedPercent: 50 },
        ...{ inodes: 1000, inodesFree },
      },
    },
  })

  it.each([
    ['a disk with room', disk(100, 50), 'fail'],
    ['a disk that is full', disk(99, 900), 'pass'],
    ['a disk without inodes', disk(900, 49), 'pass'],
    ['a pull, which has a rule of its own', waiting('ErrImagePull', watches), 'pass'],
    ['memory cgroups, too', waiting('RunContainerError', cgroup), 'pass'],
  ])('%s: %s', (_, example, expected) => {
    const given = {
      ...waiting('CreateContainerError', 'write /a/b: no space left on device'),
      ...example,
    }
    expect(state(noSpaceElsewhere, given)).toBe(expected)
  })

  it('names the folder of the message, in which there is no space', () => {
    const message =
      'failed to create containerd task: write /run/containerd/io.containerd.runtime.v2.task/a: no space left on device'
    const failing = failingOf(noSpaceElsewhere, waiting('CreateContainerError', message))
    expect(JSON.stringify(failing)).toContain('/run/containerd/io.containerd')
    // It is a tmpfs: no list of other limits.
    expect(failing.title).toContain('a filesystem in memory is full')
    expect(failing.steps).toEqual([{ id: 'read-limits', variant: 'memory', place: '/run' }])
    expect(placeWithoutSpace(message)).toBe('/run/containerd/io.containerd.runtime.v2.task')
    expect(placeWithoutSpace(watches)).toBeNull()
    expect(placeWithoutSpace('write /run/a: input/output error')).toBeNull()
  })

  it('asks for the filesystem of a path first, which may be no disk of the kubelet', () => {
    const message = 'mkdir /var/log/pods/shop_web_1: no space left on device'
    expect(failingOf(noSpaceElsewhere, waiting('CreateContainerError', message)).steps).toEqual([
      { id: 'read-limits', variant: 'filesystem', place: '/var/log/pods' },
    ])
    const ofRuntime = message.replace('/var/log/pods', '/var/lib/containerd')
    const { steps } = failingOf(noSpaceElsewhere, waiting('CreateContainerError', ofRuntime))
    expect(steps).toBeUndefined()
  })

  it.each([
    [
      'user.max_user_namespaces',
      'failed to start noop process for unshare: fork/exec /proc/self/exe: no space left on device',
    ],
    ['fs.inotify.max_user_watches', watches],
    ['fs.inotify.max_user_instances', 'failed to create fsnotify watcher: too many open files'],
  ])("names the kernel's limit %s, whatever room the disks have", (place, message) => {
    const given = { ...waiting('CreateContainerError', message), ...disk(0, 0) }
    const failing = failingOf(noSpaceElsewhere, given)
    expect(failing.steps).toEqual([{ id: 'raise-kernel-limit', place }])
    expect(failing.seen).toContain(place)
  })

  it.each([
    ["ENOSPC: System limit for number of file watchers reached, watch '/app/a.js'", 'watches'],
    ["Error: ENOSPC: no space left on device, watch '/app/src'", 'watches'],
    ['Error: watch /app/src ENOSPC', 'watches'],
    ["tail: cannot watch '/var/log/a.log': No space left on device", 'watches'],
    ['inotify_add_watch /sys/fs/cgroup/cpu: no space left on device', 'watches'],
    ['Failed to add /run/a to directory watch: No space left on device', 'watches'],
    ['OSError: [Errno 28] inotify watch limit reached', 'watches'],
    ['error creating file watcher: no space left on device', 'watches'],
    ['failed to watch directory: no space left on device', 'watches'],
    ["couldn't create watcher: no space left on device", 'watches'],
    ["Error: EMFILE: too many open files, watch '/app/src'", 'instances'],
    ['error creating file watcher: too many open files', 'instances'],
    ['Failed to watch *v1.Pod: dial tcp 10.0.0.1:443: socket: too many open files', null],
    ['Failed to allocate directory watch: Too many open files', 'instances'],
    ['tail: inotify cannot be used, reverting to polling: Too many open files', 'instances'],
    [
      'The configured user limit (128) on the number of inotify instances has been reached',
      'instances',
    ],
    ["ENOSPC: no space left on device, write\n[webpack-cli] watch '/app/src'", null],
    ['accept: too many open files', null],
    ["ENOSPC: no space left on device, open '/app/watch'", null],
  ])('knows the words of programs: %s: %s', (message, limit) => {
    const found = kernelLimitOf(message)?.sysctl ?? null
    expect(found).toBe(limit && `fs.inotify.max_user_${limit}`)
  })

  it('reads events of sandboxes, until their pod has started', () => {
    const refused = event({ reason: 'FailedCreatePodSandBox', of: 'shop/api', message: watches })
    const started = (startedAt: string) => ({
      metadata: { namespace: 'shop', name: 'api' },
      status: { containerStatuses: [{ name: 'api', state: { running: { startedAt } } }] },
    })
    const seen = { pods: [], events: [refused] }
    expect(failingOf(noSpaceElsewhere, seen).consequence).toContain('shop/api')
    const since = { ...seen, pods: [started(minutesAgo(2))] }
    expect(state(noSpaceElsewhere, since)).toBe('pass')
  })

  it('reads probes that the runtime could not begin, and not what a probe says', () => {
    const full = 'write /run/containerd/a/.b: no space left on device'
    const seen = (message: string) => ({
      pods: [],
      events: [event({ reason: 'Unhealthy', of: 'shop/api', message })],
    })
    const begun = `Readiness probe failed: failed to exec in container: ${full}`
    expect(failingOf(noSpaceElsewhere, seen(begun)).consequence).toContain(
      '"/run/containerd/a'.slice(1),
    )
    expect(state(noSpaceElsewhere, seen(`Liveness probe failed: psql: ${full}`))).toBe('pass')
  })

  it('names the exec probe that fails most in memory', () => {
    const failed = (of: string, count: number, place: string, reason = 'Unhealthy') => {
      const message = `failed to exec in container: write ${place}/.b: no space left on device`
      return event({ reason, of, count, message })
    }
    const { seen } = failingOf(noSpaceElsewhere, {
      pods: [],
      events: [
        failed('shop/api', 2, '/run/containerd'),
        failed('shop/web', 9, '/run/containerd'),
        failed('shop/disk', 20, '/srv/containerd'),
        failed('shop/start', 20, '/run/containerd', 'FailedCreatePodSandBox'),
      ],
    })
    expect(seen).toContain('The exec probe of shop/web fails there (9 times)')
  })

  it('knows the quota of keys, which has no disk', () => {
    const message = 'join session keyring: create session key: disk quota exceeded: unknown'
    const failing = failingOf(noSpaceElsewhere, waiting('CreateContainerError', message))
    expect(failing.title).toContain('keys')
    expect(failing.consequence).toContain('"disk quota exceeded"')
    const own = waiting('CreateContainerError', 'write /data/a: disk quota exceeded')
    expect(state(noSpaceElsewhere, own)).toBe('pass')
  })

  it.each([
    [
      'a mount of the pod',
      'relabel /var/lib/kubelet/pods/0c1d/volumes/a: no space left on device',
      'pass',
    ],
    ['a file of the runtime', 'write /run/containerd/a/.b: no space left on device', 'fail'],
    ['keys', 'create session key: disk quota exceeded', 'fail'],
  ])('leaves a full claim to its rule where the message is of %s: %3$s', (_, message, expected) => {
    const volume = { name: 'data', pvcRef: { name: 'data' }, capacityBytes: 1000, usedBytes: 985 }
    const { pods = [], ...seen } = waiting('CreateContainerError', message)
    const container = { name: 'web', volumeMounts: [{ name: 'data' }] }
    const example = {
      ...seen,
      pods: pods?.map(pod => ({ ...pod, spec: { ...pod.spec, containers: [container] } })),
      summary: { pods: [{ podRef: { namespace: 'shop', name: 'web' }, volume: [volume] }] },
    }
    expect(state(noSpaceElsewhere, example as never)).toBe(expected)
  })

  it('does not read the failures of pulls, which have a rule of their own', () => {
    const pull = event({
      reason: 'Failed',
      of: 'shop/api',
      message: `Failed to pull image "a": ${watches}`,
    })
    expect(state(noSpaceElsewhere, { pods: [], events: [pull] })).toBe('pass')
  })

  describe('/dev/shm', () => {
    const torch = 'unable to write to file </torch_739_144252761_4>: No space left on device (28)'
    const scratch = (source: object) => ({ volumes: [{ name: 'scratch', ...source }] })
    const inMemory = scratch({ emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } })
    const ended = (message: string, more: object = {}, mountPath = '/data'): NodeExample => ({
      pods: [
        {
          metadata: { namespace: 'ml', name: 'train-1' },
          spec: {
            containers: [{ name: 'train', volumeMounts: [{ name: 'scratch', mountPath }] }],
            ...more,
          },
          status: {
            containerStatuses: [
              {
                ...{ name: 'train', image: 'a:1' },
                state: { terminated: { message, exitCode: 1, finishedAt: minutesAgo(30) } },
              },
            ],
          },
        },
      ],
    })

    it.each([
      torch,
      "It is possible that dataloader's workers are out of shared memory.",
      'could not resize shared memory segment "/PostgreSQL.1" to 8388608 bytes: No space left on device',
      'write /dev/shm/a: no space left on device',
    ])('is full: %s', message => {
      const failing = failingOf(noSpaceElsewhere, ended(message))
      expect(failing.title).toContain('/dev/shm')
      expect(failing.seen).toContain('ml/train-1')
      expect(failing.seen).toContain('64 MiB')
      expect(failing.steps?.map(({ id }) => id)).toEqual(['mount-shared-memory'])
    })

    it('has a volume that is too small', () => {
      const failing = failingOf(noSpaceElsewhere, ended(torch, inMemory, '/dev/shm'))
      expect(failing.steps?.map(({ id }) => id)).toEqual(['raise-memory-volume'])
    })

    it('has a volume in memory that ends at the memory limit of the pod', () => {
      const mount = { name: 'scratch', mountPath: '/dev/shm' }
      const limited = {
        name: 'train',
        volumeMounts: [mount],
        resources: { limits: { memory: '1Gi' } },
      }
      const spec = { ...scratch({ emptyDir: { medium: 'Memory' } }), containers: [limited] }
      const failing = failingOf(noSpaceElsewhere, ended(torch, spec))
      expect(failing.seen).toContain('its volume scratch at /dev/shm is full')
      expect(failing.steps?.map(({ id }) => id)).toEqual(['set-memory'])
    })

    it('is full in one pod beside another that shares the memory of the node', () => {
      const pods = [ended(torch, { hostIPC: true }), ended(torch)].flatMap(({ pods }) => pods ?? [])
      expect(failingOf(noSpaceElsewhere, { pods }).seen).toMatch(/^1 pod ended/)
    })

    it.each([
      ['locks of a database', ended('ERROR: out of shared memory')],
      ['another folder', ended('write /data/a: no space left on device')],
      ['the memory of the node', ended(torch, { hostIPC: true })],
      [
        'a volume that may take all memory of the node',
        ended(torch, scratch({ emptyDir: { medium: 'Memory' } }), '/dev/shm'),
      ],
      ['an emptyDir on disk', ended(torch, scratch({ emptyDir: {} }), '/dev/shm')],
      ['a folder of the node', ended(torch, scratch({ hostPath: {} }), '/dev/shm')],
      [
        'segments of System V',
        ended('could not create shared memory segment: No space left on device'),
      ],
      [
        'segments in files',
        ended(
          'could not resize shared memory segment "pg_dynshmem/mmap.1" to 8 bytes: No space left on device',
        ),
      ],
    ])('is not full of %s', (_, example) => {
      expect(state(noSpaceElsewhere, example)).toBe('pass')
    })
  })
})
