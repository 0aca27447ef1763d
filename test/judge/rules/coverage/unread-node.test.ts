import { describe, expect, it } from 'vitest'
import { unreadNode } from '#judge/rules/coverage/unread-node.ts'
import { sources } from '#model/input/record.ts'
import { exampleSubject, exampleTime, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeIn as judge, outcomeOn } from '#test/rule-outcome.ts'
import { event } from '#test/rules/events.ts'

itJudgesExamples(unreadNode, {
  bad: {
    unread: { summary: 'HTTP 503: dial tcp 10.0.1.2:10250: connect: connection refused' },
    isKubeletDown: true,
  },
  good: {},
})

describe('unread-node', () => {
  it.each(sources)('fails a node whose %s was not read, and says what is open', source => {
    const outcome = judge(unreadNode, { unread: { [source]: 'HTTP 403: forbidden' } })
    expect(outcome).toMatchObject({
      state: 'fail',
      failing: { evidence: [{ kind: 'unread', what: source, value: 'HTTP 403: forbidden' }, {}] },
    })
    expect(outcome.state === 'fail' && outcome.failing.consequence).toMatchSnapshot()
  })

  it('reads nothing again of a kubelet that has no image filesystem to report', () => {
    const unread = { summary: 'no capacity of the image filesystem in the answer' }
    expect(judge(unreadNode, { unread, summary: { node: {} }, pods: [] })).toMatchObject({
      failing: { cause: { reason: 'no-image-filesystem' }, steps: [{ id: 'read-snapshots' }] },
    })
  })

  it.each([
    ['Running', true],
    ['Pending', false],
  ])('counts a kubelet without statistics of its pods as read in part: %s', (phase, is) => {
    const unread = { summary: 'no statistics of pods in the answer' }
    const given = { unread, summary: { node: {}, pods: [] }, pods: [{ status: { phase } }] }
    const outcome = judge(unreadNode, given)
    const text = outcome.state === 'fail' ? outcome.failing.consequence : ''
    expect(text.includes('what its pods use of its disks and memory')).toBe(is)
  })

  describe('a kubelet that answered, and whose version is not supported', () => {
    const why = 'Kubernetes 1.23 is not supported: 1.29 to 1.37 are'
    const failingOf = (conditions: object[], more: object = {}) => {
      const example = exampleSubject({
        identity: { kubeletVersion: 'v1.23.17' },
        unread: { configz: why, ...more },
      })
      const unjudged = { configuration: null, eviction: null, imageGC: null }
      const outcome = outcomeOn(unreadNode, [
        { ...example, ...unjudged, node: { status: { conditions } } },
      ])
      return outcome.state === 'fail' ? [outcome.failing].flat()[0] : null
    }

    it('is read in full, unless it has pressure', () => {
      expect(failingOf([])).toBeNull()
      expect(failingOf([], { summary: 'HTTP 500' })?.steps).toEqual([{ id: 'read-again' }])
    })

    it.each(['DiskPressure', 'MemoryPressure', 'PIDPressure'])('names what has %s', type => {
      const found = failingOf([
        { type, status: 'True', lastTransitionTime: '2026-11-21T01:00:00Z' },
      ])
      expect(found).toMatchObject({
        severity: 'critical',
        title: 'A node reports pressure: the kubelet evicts pods',
      })
      expect(found?.steps?.map(({ id }) => id)).not.toContain('read-again')
      expect([found?.consequence, found?.cause, found?.steps]).toMatchSnapshot()
    })
  })

  it.each([
    ['agent-lost', 'restart-agent'],
    ['cut', 'read-again'],
    ['forbidden', 'grant-rights'],
    ['timeout', 'read-again'],
    ['unreachable', 'open-port'],
  ] as const)('begins with the step of its reason: %s', (readFailure, step) => {
    const outcome = judge(unreadNode, { unread: { summary: 'no answer' }, readFailure })
    expect(outcome).toMatchObject({ failing: { cause: { kind: 'unread', reason: readFailure } } })
    const failing = outcome.state === 'fail' ? [outcome.failing].flat()[0] : undefined
    const steps = failing?.steps ?? []
    expect(steps[0]?.id).toBe(step)
    expect(steps.some(({ id }) => id === 'grant-rights')).toBe(readFailure === 'forbidden')
  })

  it('keeps a silent node apart from one that only lacks a right', () => {
    const read = (status: string) => ({
      ...exampleSubject({ unread: { summary: 'HTTP 403' }, readFailure: 'forbidden' }),
      ...{ configuration: null, disks: null, summary: null },
      node: { status: { conditions: [{ type: 'Ready', status }] } },
    })
    const [silent, refused] = ['Unknown', 'True'].map(status => {
      const outcome = outcomeOn(unreadNode, [read(status)])
      return outcome.state === 'fail' ? outcome.failing : null
    })
    expect(silent?.cause).toMatchObject({ source: 'status', reason: 'timeout' })
    expect(silent?.steps?.map(({ id }) => id)).toEqual(['check-instance', 'replace-node'])
    expect(refused?.cause).toMatchObject({ source: 'node', reason: 'forbidden' })
  })

  it.each([
    ['DiskPressure', 'True', 'critical', ['read-again', 'look-on-node']],
    ['DiskPressure', 'False', undefined, ['read-again']],
    ['Ready', 'Unknown', 'critical', ['check-instance', 'read-again', 'replace-node']],
  ])(
    'says what the conditions show if nothing was measured: %s %s',
    (type, status, severity, steps) => {
      const conditions = [{ type, status, lastTransitionTime: '2026-11-21T01:00:00Z' }]
      const message =
        'The node was low on resource: ephemeral-storage. Threshold quantity: 31189488855, available: 29362700Ki. '
      const outcome = outcomeOn(unreadNode, [
        {
          ...exampleSubject({ unread: { configz: 'HTTP 503', summary: 'HTTP 503' } }),
          ...{ configuration: null, disks: null, summary: null },
          node: { status: { conditions, capacity: { 'ephemeral-storage': '304585828Ki' } } },
          pods: [{ status: { reason: 'Evicted', message } }],
        },
      ])
      if (outcome.state !== 'fail') throw new Error(outcome.state)
      const { failing } = outcome
      expect(failing.severity).toBe(severity)
      expect(failing.steps?.map(({ id }) => id)).toEqual(steps)
      if (status === 'False') expect(failing.seen).toBeUndefined()
      else expect(failing.seen).toMatchSnapshot()
    },
  )

  it.each([
    ['MemoryPressure', 'memory', '1.2 GiB'],
    ['PIDPressure', 'pids', '3,276 process ids'],
  ])('names the eviction of what is scarce: %s', (type, source, available) => {
    const evicted = (resource: string, quantity: string, left: string) => ({
      status: {
        reason: 'Evicted',
        message: `The node was low on resource: ${resource}. Threshold quantity: ${quantity}, available: ${left}. `,
      },
    })
    const outcome = outcomeOn(unreadNode, [
      {
        ...exampleSubject({ mode: 'ssm' }),
        ...{ summary: null },
        node: { status: { conditions: [{ type, status: 'True' }] } },
        pods: [
          evicted('memory', '2Gi', '1258291Ki'),
          evicted('pids', '4096', '3276'),
          evicted('ephemeral-storage', '8Gi', '5Gi'),
        ],
      },
    ])
    if (outcome.state !== 'fail') throw new Error(outcome.state)
    const { failing } = outcome
    expect(failing.cause).toEqual({ kind: 'unread', source, reason: 'not-asked' })
    expect(failing.seen).toContain(`An eviction named ${available} available`)
    expect(failing.seen?.includes('BestEffort')).toBe(type === 'MemoryPressure')
  })

  it('points to the journal where nothing listens on the port of the kubelet', () => {
    const reason =
      'HTTP 503: error trying to reach service: dial tcp 10.0.1.2:10250: connect: connection refused'
    const outcome = judge(unreadNode, {
      ...{ unread: { configz: reason }, isKubeletDown: true, identity: { ready: 'False' } },
    })
    expect(outcome).toMatchObject({
      failing: {
        title: 'A kubelet does not answer: nothing listens on port 10250',
        consequence: expect.stringContaining('journalctl -u kubelet'),
        evidence: [{}, { kind: 'node', what: 'node condition Ready', value: 'False' }],
      },
    })
  })

  it.each<[string, NodeExample, string]>([
    [
      'Windows by SSM',
      { identity: { operatingSystem: 'windows' }, unread: { host: 'Windows', runtime: 'Windows' } },
      'info',
    ],
    [
      'containers of Bottlerocket',
      { identity: { amiFamily: 'Bottlerocket', instanceId: 'i-1' }, unread: { runtime: 'no' } },
      'info',
    ],
    [
      'an instance without an agent',
      { identity: { instanceId: 'i-1' }, unread: { host: 'no agent', runtime: 'no agent' } },
      'high',
    ],
    [
      'Windows, and its kubelet',
      {
        identity: { operatingSystem: 'windows' },
        unread: { host: 'Windows', summary: 'HTTP 503' },
      },
      'high',
    ],
    [
      'Windows, in mode ssm alone',
      { identity: { operatingSystem: 'windows' }, summary: null, unread: { host: 'Windows' } },
      'high',
    ],
  ])('is no defect where a kind of node cannot tell it: %s', (_, example, severity) => {
    const outcome = judge(unreadNode, { mode: 'both', ...example })
    expect(outcome.state === 'fail' && (outcome.failing.severity ?? unreadNode.severity)).toBe(
      severity,
    )
  })

  const host = {
    filesystems: [
      {
        role: 'nodefs',
        device: '/dev/nvme0n1p1',
        mount: '/',
        capacityBytes: 100,
        availableBytes: 50,
      },
    ],
  }
  const refused = 'HTTP 403: nodes "a" is forbidden: cannot get resource "nodes/proxy"'

  it.each<[string, NodeExample, boolean, string, string]>([
    [
      'its files and its disks',
      { host, summary: null, unread: { configz: refused, summary: refused } },
      true,
      'low',
      'whether the kubelet was restarted since its files were written, what its pods use of its disks and memory',
    ],
    [
      'its files',
      { host: {}, summary: null, unread: { configz: refused } },
      true,
      'low',
      'whether the kubelet was restarted',
    ],
    [
      'its disks, and no files',
      { host, unread: { configz: refused, summary: refused } },
      false,
      'high',
      'which thresholds it runs with, what',
    ],
    [
      'no disks',
      { host: {}, unread: { configz: refused, summary: refused } },
      true,
      'high',
      'how full its disks are',
    ],
    [
      'its files, and no pods',
      { host, unread: { configz: refused, pods: refused } },
      true,
      'high',
      'which pods would be evicted, whether',
    ],
  ])(
    'leaves nothing open that files of the node show: %s',
    (_, example, isConfigurationOnDisk, severity, open) => {
      const outcome = outcomeOn(unreadNode, [
        { ...exampleSubject({ mode: 'both', ...example }), isConfigurationOnDisk },
      ])
      expect(outcome.state === 'fail' && (outcome.failing.severity ?? unreadNode.severity)).toBe(
        severity,
      )
      expect(outcome.state === 'fail' && outcome.failing.consequence).toContain(open)
    },
  )

  const unreadHost = [
    { what: 'drop-ins in /etc/kubernetes/kubelet/config.json.d', why: 'no permission' },
    { what: 'filesystem nodefs', why: 'df does not answer' },
  ]

  it.each<[string, NodeExample, string, string]>([
    [
      'main parts',
      { host: { kubelet: { files: [] }, unread: unreadHost }, unread: { host: 'in part' } },
      'medium',
      'what all drop-ins in /etc/kubernetes/kubelet/config.json.d say, how full its disks are.',
    ],
    [
      'its images',
      { runtime: { containers: [] }, unread: { runtime: 'in part' } },
      'medium',
      'node: which images it has.',
    ],
    [
      'a part, and no pods',
      { runtime: { containers: [] }, unread: { pods: 'no', runtime: 'in part' } },
      'high',
      'evicted, which images',
    ],
    [
      'all but settings of Bottlerocket',
      {
        identity: { amiFamily: 'Bottlerocket', instanceId: 'i-1' },
        host: { bottlerocket: {} },
        unread: { host: 'in part', runtime: 'no' },
      },
      'high',
      'node: which thresholds it runs with, what the files and flags of its kubelet say, how full its disks are, which images and containers',
    ],
  ])('names what a node has left out: %s', (_, example, severity, open) => {
    const isUnconfigured = example.identity?.amiFamily === 'Bottlerocket'
    const subject = exampleSubject({ mode: 'ssm', summary: null, ...example })
    const outcome = outcomeOn(unreadNode, [
      isUnconfigured ? { ...subject, configuration: null } : subject,
    ])
    expect(outcome.state === 'fail' && (outcome.failing.severity ?? unreadNode.severity)).toBe(
      severity,
    )
    expect(outcome.state === 'fail' && outcome.failing.consequence).toContain(open)
  })

  it('tells of a silent node what its last events and its peers show', () => {
    const pod = {
      metadata: {
        namespace: 'ingest',
        ownerReferences: [{ kind: 'DaemonSet', name: 'gateway', controller: true }],
      },
    } as never
    const lost = {
      ...exampleSubject({ unread: { configz: 'HTTP 503', summary: 'HTTP 503' } }),
      ...{ configuration: null, disks: null, summary: null, ledger: null, pods: [pod] },
      node: { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
    }
    const owner = {
      ...{ kind: 'container' as const, namespace: 'ingest', pod: 'gateway-1' },
      ...{ container: 'app', workload: 'DaemonSet gateway' },
    }
    const amount = { lowBytes: 42 * 2 ** 30, highBytes: 42 * 2 ** 30, inodes: null }
    const peer = exampleSubject({
      held: { 'container-logs': 42, system: 4 },
      ofPods: {
        parts: [{ holder: 'container-logs', filesystem: 'nodefs', place: null, owner, ...amount }],
        namespaces: [],
      },
    })
    const events = [
      event({ reason: 'FreeDiskSpaceFailed', count: 5, ago: 40 }),
      event({
        ...{ reason: 'EvictionThresholdMet', count: 9, ago: 38 },
        message: 'Attempting to reclaim ephemeral-storage',
      }),
      event({ reason: 'EvictionThresholdMet', message: 'Attempting to reclaim memory', ago: 30 }),
      event({
        ...{ reason: 'ImageGCFailed', ago: 20 },
        message: 'invalid capacity 0 on image filesystem',
      }),
    ]
    const outcome = outcomeOn(unreadNode, [lost, peer], { events })
    expect(outcome).toMatchObject({
      failing: {
        seen: 'Ready is Unknown since an unknown time: the kubelet stopped posting its status. Within the last day its disk ran short: FreeDiskSpaceFailed (5 times), EvictionThresholdMet (9 times), last at 2026-11-20 23:22 UTC. DaemonSet ingest/gateway ran here; it holds 42.0 GiB of a peer\u0027s disk. Before that it ran short of memory: EvictionThresholdMet (1 time), last at 2026-11-20 23:30 UTC.',
      },
    })
    expect(outcomeOn(unreadNode, [lost], { events: [] })).toMatchObject({
      failing: { seen: expect.not.stringContaining('ran short') },
    })
  })
})

describe('a silent node', () => {
  const limits = (memory: string) => ({ requests: { memory: '500Mi' }, limits: { memory } })
  const lost = (memory: string) => ({
    ...exampleSubject({ unread: { configz: 'HTTP 503', summary: 'HTTP 503' } }),
    ...{ configuration: null, disks: null, summary: null, ledger: null },
    node: {
      status: { capacity: { memory: '16Gi' }, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    },
    pods: [
      {
        metadata: {
          ...{ namespace: 'bi', name: 'analytics-1' },
          ownerReferences: [{ kind: 'ReplicaSet', name: 'analytics', controller: true }],
        },
        spec: { containers: [{ name: 'app', resources: limits(memory) }] },
        status: { phase: 'Running' },
      },
    ] as never,
  })
  const short = [
    event({ reason: 'Rebooted', ago: 31 }),
    event({ reason: 'EvictionThresholdMet', message: 'Attempting to reclaim memory', ago: 10 }),
    event({ reason: 'NodeHasInsufficientMemory', ago: 9 }),
  ]

  it('ran short of memory before, by its last events, and the largest promise of memory', () => {
    const outcome = outcomeOn(unreadNode, [lost('8Gi')], { events: short })
    expect(outcome).toMatchObject({
      failing: {
        title: 'A node stopped reporting after it ran short of memory, and could not be read',
        seen: expect.stringMatching(
          /1 pod of ReplicaSet bi\/analytics may use 8.0 GiB .* request 500.0 MiB; the node has 16.0 GiB. It is not the disk, as far as events say. It was rebooted at/,
        ),
      },
    })
    expect(outcome.state === 'fail' && outcome.failing.steps?.[1]).toMatchObject({
      id: 'set-memory',
      owner: { workload: 'ReplicaSet analytics' },
    })
  })

  it.each([
    ['memory was enough again', [...short, event({ reason: 'NodeHasSufficientMemory', ago: 5 })]],
    ['no event is about memory', [event({ reason: 'NodeNotReady', ago: 5 })]],
  ])('has another reason where %s', (_, events) => {
    const outcome = outcomeOn(unreadNode, [lost('8Gi')], { events })
    const text = JSON.stringify(outcome)
    expect(text).not.toContain('ran short of memory')
    expect(text).not.toContain('set-memory')
  })

  it('names no pod whose limit is little more than its request', () => {
    const outcome = outcomeOn(unreadNode, [lost('1Gi')], { events: short })
    expect(JSON.stringify(outcome)).not.toContain('analytics may use')
  })
})

it('clears no pod by what its message does not count: emptyDir volumes', () => {
  const message =
    'The node was low on resource: ephemeral-storage. Threshold quantity: 8, available: 7. Container build was using 2204Ki, request is 0, has larger consumption of ephemeral-storage. '
  const status = { phase: 'Failed', reason: 'Evicted', message, startTime: exampleTime }
  const volumes = [{ name: 'ws', emptyDir: {} }]
  const conditions = [{ type: 'DiskPressure', status: 'False' }]
  const outcome = outcomeOn(unreadNode, [
    {
      ...exampleSubject({ unread: { summary: 'HTTP 403' } }),
      ...{ disks: null, summary: null },
      node: { status: { conditions, capacity: { 'ephemeral-storage': '80Gi' } } },
      pods: [
        { metadata: { namespace: 'ci', name: 'a', uid: 'a' }, spec: { volumes }, status },
        {
          metadata: { namespace: 'ci', name: 'b' },
          spec: { volumes },
          status: { phase: 'Running' },
        },
      ],
    },
  ])
  const seen = outcome.state === 'fail' ? outcome.failing.seen : ''
  expect(seen).toContain('the last ci/a at 2026-11-21 00:00 UTC. The pressure is over.')
  expect(seen).toContain('container build used 2.2 MiB of the disk without its volumes.')
  expect(seen).toContain('7 bytes available, below 8 bytes. The disk has 80.0 GiB.')
  expect(seen).toContain('Pods with an emptyDir without sizeLimit: ci/b.')
})
