import { describe, expect, it } from 'vitest'
import { evictionDue } from '#judge/rules/eviction/eviction-due.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'
import { exampleSubject, hard, type NodeExample, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(evictionDue, {
  bad: { thresholds: [hard('nodefs.available', 10, 9)], conditions: { DiskPressure: 'True' } },
  good: { thresholds: [hard('nodefs.available', 10, 10)] },
})

describe('eviction-due', () => {
  const fixOf = (gib: number, value: string, available: number) => {
    const threshold = { ...hard('nodefs.available', gib, available), value }
    const outcome = outcomeOf(
      evictionDue,
      exampleSubject({
        thresholds: [threshold],
        configuration: { evictionHard: { 'nodefs.available': value, 'memory.available': '1Gi' } },
        eviction: {
          signals: {
            'nodefs.available': {
              capacityBytes: 100 * 1024 ** 3,
              availableBytes: available,
              time: null,
            },
          },
        },
      }),
      defaultPolicy,
    )
    return outcome.state === 'fail' ? outcome.failing.fix : null
  }

  it('puts the default back where only the raised threshold is met', () => {
    expect(fixOf(30, '30%', 27)).toEqual({
      config: { evictionHard: { 'nodefs.available': '10%', 'memory.available': '1Gi' } },
    })
    // The default would be met too: the disk is full.
    expect(fixOf(30, '30%', 9)).toBeUndefined()
    expect(fixOf(10, '10%', 9)).toBeUndefined()
  })

  it('says of critical pods alone, in title and consequence, that none is evicted', () => {
    const pod = { namespace: 'kube-system', name: 'etcd', rank: 0 }
    const signal = 'nodefs.available' as const
    const { title, consequence } = failingOf(evictionDue, {
      thresholds: [hard(signal, 10, 9)],
      conditions: { DiskPressure: 'True' },
      eviction: { rankings: [{ signal, pods: [pod] }], protected: [pod] } as never,
    })
    expect(title).toContain('can evict no pod')
    expect(consequence).toContain('evicts none: no pod is left that it may evict')
  })

  it('says once what two signals of one disk have in common, and the pod that stands first', () => {
    const [first, other] = ['a', 'b'].map((name, rank) => ({ namespace: 'dev', name, rank }))
    const signals = ['imagefs.available', 'nodefs.available'] as const
    const { consequence } = failingOf(evictionDue, {
      thresholds: signals.map(signal => hard(signal, 10, 9)),
      conditions: { DiskPressure: 'True' },
      eviction: {
        actsOn: signals,
        rankings: signals.map(signal => ({ signal, pods: [first, other] })),
        victims: [first, other].map(pod => ({ ...pod, certainty: 'possible' })),
      } as never,
    })
    expect(consequence).toContain('imagefs.available and nodefs.available are ')
    expect(consequence.match(/evicts, one pod a pass/g)).toHaveLength(1)
    expect(consequence).toContain('irst to go: dev/a.')
  })

  const softAt = (since: string | null, images: object[] = []) =>
    failingOf(evictionDue, {
      thresholds: [{ ...soft('nodefs.available', 30, 7_200_000, 28), value: '30%' }],
      eviction: {
        signals: {
          'nodefs.available': {
            ...{ capacityBytes: 100 * 1024 ** 3, availableBytes: 28 * 1024 ** 3, time: null },
          },
        },
      },
      ...(images.length === 0 && { held: { system: 72 } }),
      at: '2026-07-01T10:00:00Z',
      pods: [{ metadata: { name: 'a' }, spec: { containers: [{ image: 'a:1' }] } }] as never,
      node: {
        status: {
          images: images as never,
          conditions:
            since === null
              ? []
              : [{ type: 'DiskPressure', status: 'True', lastTransitionTime: since }],
        },
      },
    })

  it.each([
    [null, '2.0 GiB missing: the kubelet acts at 2026-07-01 12:00 UTC'],
    ['2026-07-01T09:30:00Z', 'the kubelet acts at 2026-07-01 11:30 UTC'],
  ])('says how long a soft threshold waits at most: pressure since %s', (since, words) => {
    const { title, seen, steps, fix } = softAt(since)
    expect(title).toContain('pressure now')
    expect(seen).toContain(words)
    expect(steps).toEqual([{ id: 'set-fields' }])
    expect(fix).toEqual({ config: { evictionSoft: { 'nodefs.available': '15%' } } })
  })

  it('evicts once the grace period of a soft threshold is over', () => {
    expect(softAt('2026-07-01T08:00:00Z').title).toBeUndefined()
  })

  it('has image GC start below a soft threshold where images are unused', () => {
    const images = Array.from({ length: 40 }, (_, index) => ({
      ...{ names: [`hub/b:${index}`], sizeBytes: 1024 ** 3 },
    }))
    expect(softAt(null, images)).toMatchObject({
      steps: [{ id: 'set-fields' }],
      fix: { config: { imageGCHighThresholdPercent: 66, imageGCLowThresholdPercent: 56 } },
      seen: expect.stringContaining('no pod uses 40 of the 40 images'),
    })
  })

  const unmet = (signal: Signal): EvaluatedThreshold => ({
    ...hard(signal, 10),
    resolved: null,
    met: null,
    margin: null,
  })

  it.each([
    ['above', [hard('nodefs.available', 10, 11)], 'pass'],
    ['exactly at the threshold', [hard('nodefs.available', 10, 10)], 'pass'],
    ['below', [hard('nodefs.available', 10, 9)], 'fail'],
    ['below a soft one', [soft('nodefs.available', 10, 60_000, 9)], 'fail'],
    ['not observed', [unmet('imagefs.available')], 'unknown'],
    [
      'below one, another not observed',
      [hard('nodefs.available', 10, 9), unmet('imagefs.available')],
      'fail',
    ],
    [
      'a threshold that the kubelet added itself, not observed',
      [unmet('allocatableMemory.available')],
      'unknown',
    ],
    [
      'a threshold that the kubelet never meets: pods without a limit',
      [{ ...unmet('allocatableMemory.available'), met: false }],
      'pass',
    ],
    ['containerfs not observed', [unmet('containerfs.available')], 'unknown'],
    ['no threshold', [], 'pass'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(evictionDue, { thresholds: [...thresholds] })).toBe(expected)
  })

  it('is of Windows, too, whose kubelet evicts by the same signals', () => {
    const identity = { operatingSystem: 'windows' } as const
    expect(state(evictionDue, { identity, thresholds: [hard('imagefs.available', 10, 9)] })).toBe(
      'fail',
    )
    expect(state(evictionDue, { identity, thresholds: [hard('imagefs.available', 10, 11)] })).toBe(
      'pass',
    )
  })

  it('tells bytes, margin and what the node reports', () => {
    const { evidence, consequence } = failingOf(evictionDue, {
      configuration: { evictionHard: { 'nodefs.available': '10Gi' } },
      thresholds: [hard('nodefs.available', 10, 9)],
      conditions: { DiskPressure: 'False' },
    })
    expect(evidence).toMatchSnapshot()
    expect(consequence).toContain('within 10 s')
  })

  it('tells the grace period of a soft threshold', () => {
    expect(
      failingOf(evictionDue, { thresholds: [soft('memory.available', 10, 90_000, 9)] }).consequence,
    ).toContain('stays so for 90 s')
  })

  it('counts inodes and pids, not bytes', () => {
    const pids = { ...hard('pid.available', 10), resolved: 3276, margin: -276, met: true }
    expect(failingOf(evictionDue, { thresholds: [pids] }).evidence).toContainEqual({
      kind: 'computed',
      what: 'pid.available now',
      value: '3000',
    })
  })

  it.each<[string, NodeExample, string]>([
    ['no statistics, in a mode that reads none', { mode: 'ssm', summary: null }, 'pass'],
    [
      'the node reports pressure',
      { mode: 'ssm', summary: null, conditions: { MemoryPressure: 'True' } },
      'unknown',
    ],
    [
      'the node stopped reporting',
      { mode: 'ssm', summary: null, conditions: { MemoryPressure: 'Unknown' } },
      'unknown',
    ],
    [
      'statistics that should be there',
      { summary: null, unread: { summary: 'HTTP 503' } },
      'unknown',
    ],
    ['statistics without it', { mode: 'ssm', summary: {} }, 'unknown'],
  ])(
    "takes the Node's conditions only where no more was to be read: %s",
    (_, example, expected) => {
      expect(
        state(evictionDue, {
          ...example,
          thresholds: [{ ...hard('memory.available', 1), met: null }],
        }),
      ).toBe(expected)
    },
  )
})

const pod = { namespace: 'db', name: 'postgres-0' }

it.each([
  { ofPod: 450, kind: 'setting', first: 'end-pod' },
  { ofPod: 449, kind: 'setting', first: 'limit-processes' },
  { ofPod: 9, kind: 'world', first: 'list-processes' },
])('names no disk for process ids: $ofPod of 900', ({ ofPod, kind, first }) => {
  const { cause, steps } = failingOf(evictionDue, {
    held: { 'images-in-use': 60 },
    thresholds: [hard('pid.available', 10, 9)],
    eviction: {
      signals: { 'pid.available': { capacityBytes: 1000, availableBytes: 100, time: null } },
    },
    pods: [{ metadata: pod, status: { phase: 'Running' } }],
    summary: { pods: [{ podRef: pod, process_stats: { process_count: ofPod } }] },
  })
  expect(cause?.kind).toBe(kind)
  expect(steps?.[0]?.id).toBe(first)
})

it.each([
  ['7450Mi', { kubeReserved: { memory: '1465Mi' } }],
  ['1465Mi', undefined],
])('lowers a reserve of %s that leaves the pods no memory', (memory, config) => {
  const { cause, fix } = failingOf(evictionDue, {
    held: { 'images-in-use': 60 },
    configuration: { maxPods: 110, kubeReserved: { memory } },
    thresholds: [hard('allocatableMemory.available', 1, 0)],
    pods: [],
    summary: { pods: [] },
  })
  expect(fix?.config).toEqual(config)
  expect(cause?.kind).not.toBe('holder')
  expect(cause).not.toMatchObject({ source: 'disk use' })
})

describe('several thresholds that are met', () => {
  const partsOf = (thresholds: EvaluatedThreshold[]) => {
    const subject = exampleSubject({
      thresholds,
      conditions: { DiskPressure: 'True' },
      held: { 'leftover-snapshots': 60 },
    })
    const [images] = subject.ledger!.filesystems
    const lines = exampleSubject({ held: { journal: 50 } }).ledger!.filesystems[0]!.lines
    const disks = [
      { ...images!, filesystem: 'imagefs' as const },
      { ...images!, lines },
    ]
    const outcome = outcomeOf(
      evictionDue,
      {
        ...subject,
        filesystems: { ...subject.filesystems, layout: 'imagefs' },
        ledger: { ...subject.ledger!, isShared: false, filesystems: disks },
        summary: { pods: [] },
      },
      defaultPolicy,
    )
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    return [outcome.failing, ...(outcome.apart ?? [])].map(({ cause, steps, seen }) => [
      cause?.kind === 'holder' ? cause.holder : cause?.kind,
      steps?.[0]?.id,
      seen?.match(/\S+\.\S+ is (?=\d)/g)?.join('') ?? null,
    ])
  }
  const [nodefs, imagefs] = [hard('nodefs.available', 10, 9), hard('imagefs.available', 15, 9)]
  const ofImages = ['leftover-snapshots', 'replace-node', 'imagefs.available is ']
  const ofNode = ['journal', 'vacuum-journal', 'nodefs.available is ']

  it('have a cause and steps for each disk', () => {
    expect(partsOf([nodefs, imagefs])).toEqual([ofNode, ofImages])
    expect(partsOf([imagefs, hard('containerfs.available', 15, 9)])).toEqual([
      [...ofImages.slice(0, 2), null],
    ])
  })

  it('have a cause for memory beside that of a disk', () => {
    const [first, second] = partsOf([nodefs, hard('memory.available', 2, 1)])
    expect(first).toEqual(ofNode)
    expect(second?.slice(1)).toEqual(['list-memory', 'memory.available is '])
  })

  it('are one failing if one change ends both', () => {
    expect(partsOf([nodefs, soft('nodefs.available', 20, 60_000, 9)])).toEqual([
      [...ofNode.slice(0, 2), null],
    ])
  })
})

describe('unused images that the kubelet deletes before it evicts', () => {
  const met = hard('nodefs.available', 10, 5)
  const drainsWith = (unused: number, more: Partial<NodeExample> = {}, isShared = true) => {
    const subject = exampleSubject({
      thresholds: [met],
      conditions: { DiskPressure: 'True' },
      held: { 'writable-layers': 50, 'images-unused': unused },
      eviction: { nodeReclaim: ['containers', 'images'] },
      ...more,
    })
    const [disk] = subject.ledger!.filesystems
    const images = { ...disk!, filesystem: 'imagefs' as const }
    const layers = disk!.lines.filter(({ holder }) => holder === 'writable-layers')
    const filesystems = isShared ? [disk!] : [{ ...disk!, lines: layers }, images]
    const ledger = { ...subject.ledger!, isShared, filesystems }
    const outcome = outcomeOf(evictionDue, { ...subject, ledger }, defaultPolicy)
    const steps = outcome.state === 'fail' ? outcome.failing.steps?.map(({ id }) => id) : []
    return steps?.includes('drain')
  }

  it('leave no pod to drain, if they are enough', () => {
    expect(drainsWith(12)).toBe(false)
    expect(drainsWith(3)).toBe(true)
    const ofLayers = { thresholds: [hard('containerfs.available', 10, 5)] }
    expect(drainsWith(12, ofLayers)).toBe(false)
  })

  it.each<[string, Partial<NodeExample>]>([
    ['a minimum reclaim', { thresholds: [{ ...met, minReclaim: '8Gi' }] }],
    ['a soft threshold', { thresholds: [met, soft('nodefs.available', 20, 60_000, 5)] }],
    ['inodes', { thresholds: [met, hard('nodefs.inodesFree', 10, 5)] }],
    ['memory', { thresholds: [met, hard('memory.available', 2, 1)] }],
    [
      'what was not read',
      { thresholds: [met, { ...hard('pid.available', 1), met: null, margin: null }] },
    ],
    ['a kubelet that deletes none', { eviction: { nodeReclaim: ['containers'] } }],
  ])('are not enough for %s', (_, more) => {
    expect(drainsWith(12, more)).toBe(true)
  })

  it.each([
    [80, ['set-fields']],
    [3, ['prune-images', 'set-fields', 'drain']],
  ])('are deleted by no step of ours, if they are enough: %i Gi of inodes', (gi, ids) => {
    const subject = exampleSubject({
      thresholds: [hard('nodefs.inodesFree', 10, 5)],
      conditions: { DiskPressure: 'True' },
      held: { 'images-unused': 12 },
      eviction: { nodeReclaim: ['containers', 'images'] },
      configuration: {},
    })
    const [disk] = subject.ledger!.filesystems
    const lines = disk!.lines.map(line => ({ ...line, inodes: gi * 2 ** 30 }))
    const ledger = {
      ...subject.ledger!,
      filesystems: [{ ...disk!, usedInodes: 3.1 * 2 ** 30, lines }],
    }
    const outcome = outcomeOf(evictionDue, { ...subject, ledger }, defaultPolicy)
    const steps = outcome.state === 'fail' ? outcome.failing.steps : []
    expect(steps?.map(({ id }) => id)).toEqual(ids)
  })

  it('are on the filesystem of the signal', () => {
    expect(drainsWith(12, {}, false)).toBe(true)
  })
})
