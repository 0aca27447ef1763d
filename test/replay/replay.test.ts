import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { invalidKubeletConfiguration } from '#judge/rules/configuration/invalid-kubelet-configuration.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf, replayOf as replay } from '#test/at-the-door.ts'
import { drawsOf } from '#test/slow.ts'

const takenAt = '2026-11-21T00:00:00Z'
const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8'),
  ) as Record<string, unknown>
const real = (disk: string): NodeRecord => ({
  kind: 'Node',
  cluster: 'prod',
  node: recorded(`${disk}-node`),
  configz: recorded(`${disk}-configz`),
  summary: recorded(`${disk}-stats-summary`),
  pods: recorded(`${disk}-pods`).items as NodeRecord['pods'],
  runtime: { images: recorded(`${disk}-cri-images`).images },
})
const sound = real('single-disk')
const withConfiguration = (fields: object): NodeRecord => ({
  ...sound,
  configz: { kubeletconfig: fields },
})
const whatOf = ({ unknowns }: ReturnType<typeof replay>) => unknowns.map(({ what }) => what)

describe('reservations above the capacity of a small instance', () => {
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  const withReserved = (memory: string) => {
    const content = { ...kind, kubeReserved: { memory } }
    const files = [{ path: '/etc/kubernetes/kubelet/config.json', role: 'config', content }]
    return { ...sound, host: { kubelet: { files } } }
  }
  const { capacity } = sound.node.status ?? {}
  const ofNodeKi = Number.parseInt(capacity?.memory ?? '', 10)

  it.each([
    [`${ofNodeKi - 102_400}Ki`, 0],
    [`${ofNodeKi - 102_399}Ki`, 1],
    ['64Gi', 1],
  ])('%s: refused at the next start: %i', (memory, refusals) => {
    const prediction = replay(withReserved(memory), takenAt)
    expect(prediction.nextStart?.errors).toHaveLength(refusals)
    const subject = nodeSubject(inputOf(withReserved(memory)), prediction)
    const { state } = outcomeOf(invalidKubeletConfiguration, subject, defaultPolicy)
    expect(state === 'fail').toBe(refusals > 0)
  })
})

describe('a recorded node', () => {
  it.each([
    { disk: 'single-disk', layout: 'shared', layoutCertainty: 'likely', usagePercent: 11 },
    { disk: 'split-disk', layout: 'imagefs', layoutCertainty: 'certain', usagePercent: 10 },
  ])('$disk is calm, as it said itself', ({ disk, layout, layoutCertainty, usagePercent }) => {
    const prediction = replay(real(disk), takenAt)
    expect(prediction).toMatchObject({
      cluster: 'prod',
      kubeletVersion: 'v1.34.4',
      at: takenAt,
      filesystems: { layout, layoutCertainty },
      imageGC: { enabled: true, triggered: false, usagePercent, bytesToFree: 0, error: null },
      eviction: { error: null },
      nextStart: null,
    })
    // What lies on the disk of nodefs shares its thresholds; with a disk of its own containerd's has none here.
    const ofContainerfs =
      layout === 'shared' ? ['containerfs.available', 'containerfs.inodesFree'] : []
    expect(prediction.eviction?.thresholds.map(({ signal, met }) => [signal, met])).toEqual(
      [
        'memory.available',
        'nodefs.available',
        'nodefs.inodesFree',
        'allocatableMemory.available',
        ...ofContainerfs,
      ].map(signal => [signal, false]),
    )
  })

  it.each(['single-disk', 'split-disk'])(
    '%s: conditions, allocatable and what goes are what the node itself reports',
    disk => {
      const { node } = real(disk)
      const prediction = replay(real(disk), takenAt)
      const reported = node.status?.conditions?.filter(
        ({ type, status }) => type?.endsWith('Pressure') && status === 'True',
      )
      expect(prediction.eviction).toMatchObject({
        conditions: reported?.map(({ type }) => type) ?? null,
        actsOn: [],
        nodeReclaim: [],
        imageDeletions: [],
        victims: [],
        protected: [],
      })
      expect(prediction.allocatable).toEqual({
        ...node.status?.allocatable,
        'ephemeral-storage': expect.any(String),
        matchesNode: true,
      })
      expect(prediction.imageGC?.deletions).toEqual([])
      expect(prediction.localStorageEvictions).toEqual([])
      expect(prediction.containerGC).toBe(null)
      // The pause image is pinned; all others but one have a container.
      const kept = prediction.imageGC?.kept?.map(({ reason }) => reason).toSorted()
      expect(kept).toEqual(['in-use', 'in-use', 'in-use', 'in-use', 'in-use', 'pinned', 'unknown'])
      expect(prediction.oomScores).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ pod: 'besteffort-logs', oomScoreAdj: 1000 }),
        ]),
      )
    },
  )

  it('ranks its pods for every signal that has a threshold, met or not', () => {
    const { rankings } = replay(real('single-disk'), takenAt).eviction ?? { rankings: [] }
    expect(rankings?.map(({ signal }) => signal)).toEqual([
      'memory.available',
      'nodefs.available',
      'nodefs.inodesFree',
      'allocatableMemory.available',
      'containerfs.available',
      'containerfs.inodesFree',
    ])
    expect(rankings?.[0]?.pods.map(({ rank, name }) => `${rank} ${name}`)).toEqual([
      '0 crashing',
      '1 besteffort-logs',
      '2 cache',
      '3 web',
    ])
  })

  it('writes equals in the order of their names, however the pods were listed', () => {
    const alike = ['b', 'c', 'a'].map(name => ({
      metadata: { namespace: 'shop', name },
      spec: { containers: [{ name }] },
    }))
    const configz = { kubeletconfig: { evictionHard: { 'memory.available': '99%' } } }
    const listed = (pods: object[]) =>
      replay({ ...sound, configz, pods: pods as NodeRecord['pods'] }, takenAt).eviction
    const { rankings, victims } = listed(alike) ?? {}
    expect(rankings?.[0]?.pods.map(({ rank, name }) => `${rank} ${name}`)).toEqual([
      '0 a',
      '0 b',
      '0 c',
    ])
    expect(victims?.map(({ name, certainty }) => `${name} ${certainty}`)).toEqual([
      'a possible',
      'b possible',
      'c possible',
    ])
    expect(listed(alike.toReversed())).toEqual(listed(alike))
  })
})

describe('replay', () => {
  it('has the margin negative exactly where the threshold is met', () => {
    const { eviction } = replay(
      withConfiguration({
        evictionHard: { 'nodefs.available': '3707879424', 'imagefs.available': '3707879425' },
      }),
      takenAt,
    )
    const own = eviction?.thresholds.filter(({ signal }) => !signal.startsWith('containerfs.'))
    expect(own?.map(({ met, margin }) => ({ met, margin }))).toEqual([
      { met: true, margin: -1 },
      { met: false, margin: 0 },
    ])
  })

  it('takes a configz without evictionHard for a node without hard thresholds, not for the defaults', () => {
    expect(replay(withConfiguration({ maxPods: 5 }), takenAt).eviction?.thresholds).toEqual([])
  })

  it('keeps what is configured as text, and says 0 where there is no minimum reclaim', () => {
    const { eviction } = replay(
      withConfiguration({
        evictionSoft: { 'nodefs.available': '1.5Gi', 'memory.available': '5%' },
        evictionSoftGracePeriod: { 'nodefs.available': '1m30s', 'memory.available': '0s' },
        evictionMinimumReclaim: { 'nodefs.available': '500Mi' },
      }),
      takenAt,
    )
    expect(eviction?.thresholds.slice(0, 2)).toMatchObject([
      { signal: 'memory.available', value: '5%', hard: true, gracePeriodMs: 0, minReclaim: '0' },
      {
        signal: 'nodefs.available',
        value: '1.5Gi',
        resolved: 1_610_612_736,
        hard: false,
        gracePeriodMs: 90_000,
        minReclaim: '500Mi',
      },
    ])
  })

  it('without a summary resolves quantities, and nothing else', () => {
    const prediction = replay(
      {
        ...withConfiguration({
          evictionHard: { 'nodefs.available': '10%', 'memory.available': '1Gi' },
        }),
        summary: null,
      },
      takenAt,
    )
    expect(prediction.eviction?.thresholds).toMatchObject([
      { signal: 'memory.available', resolved: 1024 ** 3, met: null, margin: null },
      { signal: 'nodefs.available', resolved: null, met: null, margin: null },
    ])
    expect(prediction.imageGC).toMatchObject({
      triggered: null,
      usagePercent: null,
      bytesUntilTrigger: null,
      bytesToFree: null,
      error: null,
    })
    expect(prediction.filesystems).toMatchObject({
      nodefs: null,
      imagefs: null,
      containerfs: null,
      layout: null,
      layoutCertainty: null,
    })
    expect(whatOf(prediction)).toContain('summary')
  })

  it('without configz knows the disks, and neither thresholds nor image GC', () => {
    const prediction = replay({ ...sound, configz: null }, takenAt)
    expect(prediction).toMatchObject({
      eviction: null,
      imageGC: null,
      filesystems: { layout: 'shared' },
    })
    expect(whatOf(prediction)).toContain('configz')
  })

  it('says with upstream why the running thresholds would not parse', () => {
    expect(
      replay(withConfiguration({ evictionHard: { 'disk.available': '10%' } }), takenAt).eviction,
    ).toMatchObject({ thresholds: [], error: 'unsupported eviction signal disk.available' })
  })

  it.each([
    { field: 'containerLogMonitorInterval', value: '10x' },
    { field: 'nodeStatusUpdateFrequency', value: '' },
    { field: 'imageMaximumGCAge', value: 'a week' },
    { field: 'evictionPressureTransitionPeriod', value: '5' },
    { field: 'evictionSoftGracePeriod.nodefs.available', value: 'two' },
  ])('names $field with an unparsable duration', ({ field, value }) => {
    const [name = '', ...key] = field.split('.')
    const entry = key.length === 0 ? value : { [key.join('.')]: value, 'memory.available': '1m' }
    const prediction = replay(
      withConfiguration({ [name]: entry, shutdownGracePeriod: '30s' }),
      takenAt,
    )
    expect(whatOf(prediction).filter(what => what.startsWith('configz'))).toEqual([
      `configz.${field}`,
    ])
    expect(JSON.stringify(prediction.unknowns)).toContain(JSON.stringify(value).slice(1, -1))
  })

  it('names a signal that has a threshold and no statistics', () => {
    const prediction = replay(
      { ...withConfiguration({ evictionHard: { 'pid.available': '10%' } }), summary: { node: {} } },
      takenAt,
    )
    expect(prediction.eviction?.thresholds).toMatchObject([
      { resolved: null, met: null, margin: null },
    ])
    expect(whatOf(prediction)).toContain('summary: pid.available')
  })

  it('does not take a wrapped statistic of the image filesystem for an empty one', () => {
    const imageFs = { capacityBytes: 2 ** 64 - 1, availableBytes: 5 }
    expect(
      replay({ ...sound, summary: { node: { runtime: { imageFs } } } }, takenAt).imageGC,
    ).toMatchObject({ triggered: null, error: null })
  })

  it.each([
    {
      where: 'the pods',
      memory: { workingSetBytes: 2 ** 33, availableBytes: JSON.parse('18446744073709541616') },
      met: true,
      capacity: 2 ** 33,
    },
    {
      where: 'pods without a limit',
      memory: { workingSetBytes: 2 ** 33 },
      met: false,
      capacity: undefined,
    },
    {
      where: 'pods with a malformed limit',
      memory: { workingSetBytes: 2 ** 33, availableBytes: 'none' },
      met: null,
      capacity: undefined,
    },
  ])('evicts for the memory of $where: $met', ({ memory, met, capacity }) => {
    const record = withConfiguration({
      evictionHard: { 'memory.available': '100Mi' },
      enforceNodeAllocatable: ['pods'],
    })
    const prediction = replay(
      { ...record, summary: { node: { systemContainers: [{ name: 'pods', memory }] } } },
      takenAt,
    )
    expect(prediction.eviction?.thresholds[1]).toMatchObject({
      signal: 'allocatableMemory.available',
      met,
    })
    expect(whatOf(prediction).includes('summary: allocatableMemory.available')).toBe(met === null)
    const observed = prediction.eviction?.signals['allocatableMemory.available']?.capacityBytes
    // As much as the rounding of the counter.
    if (capacity === undefined) expect(observed).toBeUndefined()
    else expect(Math.abs((observed ?? 0) - capacity)).toBeLessThan(2 ** 14)
  })

  it('starts image GC where less than nothing is available', () => {
    const imageFs = { capacityBytes: 2 ** 40, availableBytes: 2 ** 64 - 2 ** 20 }
    expect(
      replay({ ...sound, summary: { node: { runtime: { imageFs } } } }, takenAt).imageGC,
    ).toMatchObject({ triggered: true, bytesUntilTrigger: 0, error: null })
  })

  it('says what the kubelet says of an image filesystem without a size', () => {
    expect(
      replay({ ...sound, summary: { node: { runtime: { imageFs: {} } } } }, takenAt).imageGC,
    ).toMatchObject({ triggered: false, error: 'invalid capacity 0 on image filesystem' })
  })

  it.each([
    { gates: {}, enabled: true },
    { gates: { ImageMaximumGCAge: false }, enabled: false },
  ])(
    'keeps image GC running at 100 for a maximum age, unless its gate is off: $gates',
    ({ gates, enabled }) => {
      const fields = {
        imageGCHighThresholdPercent: 100,
        imageGCLowThresholdPercent: 80,
        imageMaximumGCAge: '168h0m0s',
        featureGates: gates,
      }
      expect(replay(withConfiguration(fields), takenAt).imageGC?.enabled).toBe(enabled)
    },
  )

  it('says whose rules it applied to a version that it does not know', () => {
    const prediction = replay({ ...sound, node: {} }, takenAt)
    expect(prediction.kubeletVersion).toBeNull()
    expect(prediction.unknowns).toContainEqual({
      what: 'node.status.nodeInfo.kubeletVersion',
      effect: `the rules of 1.${featuresOf(null).rulesOfMinor} were applied`,
    })
  })

  it("takes the record's own time before the snapshot's", () => {
    expect(replay({ ...sound, at: '2026-11-20T23:59:00Z' }, takenAt).at).toBe(
      '2026-11-20T23:59:00Z',
    )
  })
})

describe('what eviction collects first', () => {
  const full = { 'nodefs.available': '95%' }
  const done = {
    name: 'c',
    image: 'job:v1',
    imageID: 'sha256:job',
    containerID: 'containerd://c1',
    state: { terminated: { exitCode: 0 } },
  }
  const job = {
    metadata: { name: 'job', namespace: 'd', uid: 'u' },
    spec: {},
    status: { phase: 'Succeeded', containerStatuses: [done] },
  }
  const waiting = {
    metadata: { name: 'a', namespace: 'd', uid: 'a' },
    spec: {},
    status: { phase: 'Running' },
  }
  const node = {
    ...sound.node,
    status: {
      ...sound.node.status,
      images: [{ names: ['job:v1', 'job@sha256:job'], sizeBytes: 5 }],
    },
  }
  const record: NodeRecord = {
    ...withConfiguration({ evictionHard: full }),
    runtime: null,
    node,
    pods: [job, waiting] as NodeRecord['pods'],
  }

  it('trap 3: may free the image of a finished pod, also if only the API lists the pod', () => {
    expect(replay(record, takenAt).eviction).toMatchObject({
      imageDeletions: [{ image: 'job:v1', certainty: 'possible' }],
      victims: [{ name: 'a', certainty: 'possible' }],
    })
    expect(replay(record, takenAt).imageGC?.deletions).toEqual([])
  })

  it('may be an image that a list cut short does not show', () => {
    const running = {
      ...job,
      status: { phase: 'Running', containerStatuses: [{ ...done, state: { running: {} } }] },
    }
    const cut = {
      ...record,
      pods: [running] as NodeRecord['pods'],
      configz: { kubeletconfig: { evictionHard: full, nodeStatusMaxImages: 1 } },
    }
    expect(replay(cut, takenAt).eviction?.victims).toMatchObject([{ certainty: 'possible' }])
    // Another cap would not have shown more of what was read.
    const changes = [{ path: ['nodeStatusMaxImages'], value: 100 }]
    expect(whatOf(replay(cut, takenAt, { at: null, changes, fills: [] }))).toEqual(
      whatOf(replay(cut, takenAt)),
    )
  })

  it('names no pod if the summary lists none', () => {
    const { pods: _pods, ...summary } = sound.summary ?? {}
    expect(replay({ ...record, summary }, takenAt).eviction).toMatchObject({
      victims: null,
      rankings: null,
    })
    expect(replay({ ...record, pods: null }, takenAt).eviction).toMatchObject({
      victims: null,
      rankings: null,
      protected: null,
    })
  })
})

describe('limits of local storage', () => {
  const over = {
    metadata: { name: 'over', namespace: 'd', uid: 'o' },
    spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1' } }] },
    status: { phase: 'Running' },
  }
  const summary = {
    ...sound.summary,
    pods: [
      { podRef: { name: 'over', namespace: 'd', uid: 'o' }, volume: [{ name: 'v', usedBytes: 2 }] },
    ],
  }
  const evicted = (kubeletVersion: string, fields: object) => {
    const node = {
      ...sound.node,
      status: {
        ...sound.node.status,
        nodeInfo: { ...sound.node.status?.nodeInfo, kubeletVersion },
      },
    } as NodeRecord['node']
    const record = {
      ...withConfiguration(fields),
      node,
      summary,
      pods: [over] as NodeRecord['pods'],
    }
    return replay(record, takenAt).localStorageEvictions?.map(({ name }) => name)
  }

  it.each([
    [{}, ['over']],
    // A write to a full volume in memory fails: it goes over no limit.
    [{ medium: 'Memory' }, undefined],
  ])('are near from 85 %% on: emptyDir %j', (more, names) => {
    const spec = { volumes: [{ name: 'v', emptyDir: { sizeLimit: '2', ...more } }] }
    const pods = [{ ...over, spec }] as NodeRecord['pods']
    const near = replay({ ...withConfiguration({}), summary, pods }, takenAt).nearOwnLimits
    expect(near?.map(({ name }) => name)).toEqual(names)
  })

  it.each([
    ['v1.29.0', {}, ['over']],
    ['v1.29.0', { localStorageCapacityIsolation: false }, []],
    ['v1.34.0', { featureGates: { LocalStorageCapacityIsolation: false } }, ['over']],
  ])('%s with %j evict %j', (version, fields, names) => {
    expect(evicted(version, fields)).toEqual(names)
  })
})

describe('where thresholds come from', () => {
  const origins = (record: NodeRecord) =>
    replay(record, takenAt).eviction?.thresholds.map(
      ({ signal, origin }) => `${signal}: ${origin?.source}, ${origin?.certainty}`,
    )

  it('is said of each, and which defaults were lost', () => {
    const record = withConfiguration({
      evictionHard: { 'memory.available': '200Mi' },
      enforceNodeAllocatable: ['pods'],
    })
    expect(origins(record)).toEqual([
      'memory.available: configured, certain',
      'allocatableMemory.available: kubelet, certain',
    ])
    expect(
      replay(record, takenAt).eviction?.lost.map(
        ({ signal, value, by }) => `${signal} ${value} by ${by.source}`,
      ),
    ).toEqual([
      'nodefs.available 10% by configured',
      'nodefs.inodesFree 5% by configured',
      'imagefs.available 15% by configured',
      'imagefs.inodesFree 5% by configured',
    ])
  })

  it('is the file and the drop-in if the node reports them', () => {
    const files = [
      {
        path: '/etc/kubernetes/kubelet/config.json',
        role: 'config',
        content: { evictionHard: { 'memory.available': '300Mi' } },
      },
      {
        path: '/etc/kubernetes/kubelet/config.json.d/10.conf',
        role: 'drop-in',
        content: {
          apiVersion: 'kubelet.config.k8s.io/v1beta1',
          kind: 'KubeletConfiguration',
          evictionSoft: { 'nodefs.available': '20%' },
          evictionSoftGracePeriod: { 'nodefs.available': '1m' },
        },
      },
    ]
    const record = {
      ...withConfiguration({
        evictionHard: { 'memory.available': '300Mi' },
        evictionSoft: { 'nodefs.available': '20%' },
        evictionSoftGracePeriod: { 'nodefs.available': '1m' },
      }),
      host: {
        kubelet: {
          files,
          commandLine: [
            'kubelet',
            '--config=/etc/kubernetes/kubelet/config.json',
            '--config-dir=/etc/kubernetes/kubelet/config.json.d',
          ],
        },
      },
    }
    expect(origins(record)?.slice(0, 2)).toMatchSnapshot()
  })
})

describe('whatever stands in a record', () => {
  const isPlain = (value: unknown): boolean =>
    typeof value === 'object' && value !== null
      ? Object.values(value).every(isPlain)
      : typeof value !== 'number' || Number.isFinite(value)

  const anything = fc.oneof(fc.jsonValue(), fc.constant(undefined))
  const number = fc.oneof(
    fc.double(),
    fc.maxSafeInteger(),
    fc.constantFrom(0, 1, 2 ** 53, 2 ** 63, 2 ** 64 - 1),
  )
  const filesystem = fc.record(
    { capacityBytes: number, availableBytes: number, inodes: number, inodesFree: number },
    { requiredKeys: [] },
  )
  const threshold = fc.oneof(
    fc.string(),
    fc.constantFrom('10%', 'nan%', '1e500', '1e-400', '8Ei', '0.0%', '1.5'),
  )
  const signal = fc.constantFrom(
    'nodefs.available',
    'imagefs.inodesFree',
    'memory.available',
    'pid.available',
  )
  const thresholds = fc.dictionary(signal, threshold)

  it.each(['node', 'configz', 'summary', 'host', 'pods', 'runtime', 'known', 'at'] as const)(
    '%s: any JSON gives an answer without NaN',
    source => {
      fc.assert(
        fc.property(anything, value => {
          expect(isPlain(replay({ ...sound, [source]: value } as NodeRecord, takenAt))).toBe(true)
        }),
        { examples: [[null]] },
      )
    },
  )

  it('any JSON in any place of a record gives an answer without NaN, of a filling disk and another setting too', () => {
    const whole: NodeRecord = {
      ...real('single-disk'),
      runtime: {
        images: recorded('single-disk-cri-images').images,
        containers: [
          {
            id: 'c',
            podSandboxId: 's',
            state: 'CONTAINER_EXITED',
            createdAt: '1',
            imageRef: 'sha256:0',
            labels: { 'io.kubernetes.pod.uid': 'u' },
          },
        ],
        sandboxes: [{ id: 's', metadata: { uid: 'u' }, state: 'SANDBOX_NOTREADY', createdAt: '1' }],
      },
      host: {
        kubelet: {
          startedAt: takenAt,
          commandLine: ['kubelet'],
          files: [{ path: '/a.conf', role: 'config', content: {} }],
        },
        filesystems: [],
      },
      known: {
        kubeletStartedAt: takenAt,
        images: [{ id: 'sha256:0', firstDetected: takenAt, lastUsed: null }],
      },
    }
    const whatIf = {
      at: null,
      changes: [{ path: ['imageGCHighThresholdPercent'], value: 5 }],
      fills: [{ target: 'nodefs', perSecond: 1e9 }],
    } as const
    const paths = pathsOf(whole)
    fc.assert(
      fc.property(
        fc.nat(),
        fc.oneof(
          anything,
          number,
          fc.constantFrom('', '-1', 'Infinity', [], {}, [null], { __proto__: null }),
        ),
        (index, value) => {
          const record = withValueAt(whole, paths[index % paths.length] ?? [], value) as NodeRecord
          if (typeof record !== 'object' || record === null) return
          expect(
            isPlain(
              replay(
                { ...record, cluster: 'prod', kind: 'Node', node: record.node ?? {} },
                takenAt,
                whatIf,
              ),
            ),
          ).toBe(true)
        },
      ),
      { numRuns: drawsOf(400) },
    )
  })

  it('any numbers and any thresholds give an answer without NaN', () => {
    const configuration = fc.record(
      {
        evictionHard: thresholds,
        evictionMinimumReclaim: thresholds,
        imageGCHighThresholdPercent: number,
        imageGCLowThresholdPercent: number,
        imageMaximumGCAge: fc.string(),
        enforceNodeAllocatable: fc.constant(['pods']),
      },
      { requiredKeys: [] },
    )
    const node = fc.record({
      fs: filesystem,
      runtime: fc.record({ imageFs: filesystem }),
      memory: fc.record({ availableBytes: number, workingSetBytes: number }),
    })
    fc.assert(
      fc.property(configuration, node, (kubeletconfig, summary) => {
        expect(
          isPlain(
            replay({ ...sound, configz: { kubeletconfig }, summary: { node: summary } }, takenAt),
          ),
        ).toBe(true)
      }),
    )
  })

  it("any files on the node's disk give an answer", () => {
    const name = fc.constantFrom(
      'maxPods',
      'imageGCHighThresholdPercent',
      'evictionHard',
      'reservedMemory',
      'memorySwap',
      'featureGates',
      'imageMinimumGCAge',
    )
    const file = fc.record({
      path: fc.constantFrom('/a.conf', '/b/c.conf'),
      role: fc.constantFrom('config', 'drop-in'),
      content: fc.dictionary(name, fc.jsonValue()),
    })
    fc.assert(
      fc.property(fc.array(file), anything, (files, commandLine) => {
        expect(
          isPlain(replay({ ...sound, host: { kubelet: { files, commandLine } } }, takenAt)),
        ).toBe(true)
      }),
    )
  })
})

/** Of every value in it, the path of keys. */
function pathsOf(value: unknown, path: string[] = []): string[][] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))
      : []
  return path.length === 0 ? inner : [path, ...inner]
}

function withValueAt(target: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value
  const inner = withValueAt((target as Record<string, unknown>)[key], rest, value)
  return Array.isArray(target)
    ? target.with(Number(key), inner)
    : { ...(target as object), [key]: inner }
}
