import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { predictContainerGc } from '#replay/container-gc.ts'
import { manifestOf, hostOf as parsedHost, runtimeOf } from '#test/at-the-door.ts'

const at = Date.parse('2026-11-21T00:00:00Z')
const createdAt = (ageSeconds: number) =>
  String(BigInt(at) * 1_000_000n - BigInt(Math.round(ageSeconds * 1e9)))

interface Listed {
  ageSeconds?: number
  uid?: string
  name?: string
  sandbox?: string
  state?: string
}

const container = (
  id: string,
  {
    ageSeconds = 60,
    uid = 'u1',
    name = 'app',
    sandbox = 'box',
    state = 'CONTAINER_EXITED',
  }: Listed = {},
) => ({
  id,
  podSandboxId: sandbox,
  metadata: { name, attempt: 0 },
  state,
  createdAt: createdAt(ageSeconds),
  labels: {
    'io.kubernetes.container.name': name,
    'io.kubernetes.pod.name': `pod-${uid}`,
    'io.kubernetes.pod.namespace': 'ns',
    'io.kubernetes.pod.uid': uid,
  },
})

const sandbox = (
  id: string,
  { ageSeconds = 60, uid = 'u1', state = 'SANDBOX_NOTREADY' }: Listed = {},
) => ({
  id,
  metadata: { name: `pod-${uid}`, uid, namespace: 'ns', attempt: 0 },
  state,
  createdAt: createdAt(ageSeconds),
  labels: {},
})

const pod = (
  uid: string,
  phase = 'Running',
  more: { status?: object; metadata?: object } = {},
) => ({
  metadata: { name: `pod-${uid}`, namespace: 'ns', uid, ...more.metadata },
  status: { phase, ...more.status },
})

const hostOf = (...flags: string[]) => ({
  kubelet: { commandLine: ['/usr/bin/kubelet', ...flags] },
  podLogDirectories: [] as string[],
})

interface Evidence {
  runtime: unknown
  host: unknown
  pods: unknown[] | null
  nowMs: number
}

const predicted = ({ runtime, host, pods, nowMs }: Evidence) =>
  predictContainerGc({
    runtime: runtimeOf(runtime),
    host: parsedHost(host),
    pods: pods?.map(manifestOf) ?? null,
    readMs: nowMs,
    nowMs,
  })

interface Given {
  containers?: unknown[]
  sandboxes?: unknown[]
  pods?: unknown[] | null
  host?: unknown
  nowMs?: number
}

const predict = ({
  containers = [],
  sandboxes = [],
  pods = [pod('u1')],
  host = hostOf(),
  nowMs = at,
}: Given) => predicted({ runtime: { containers, sandboxes }, host, pods, nowMs })

const ids = (given: Given) => predict(given).prediction?.periodic.removals.map(({ id }) => id)
const idsUnderEviction = (given: Given) =>
  predict(given).prediction?.underEviction.removals.map(({ id }) => id)

const two = [container('new', { ageSeconds: 10 }), container('old', { ageSeconds: 20 })]

describe('predictContainerGc', () => {
  it('names what goes: containers, sandboxes and log directories with their pods', () => {
    const host = {
      ...hostOf(),
      podLogDirectories: ['ns_pod-u1_u1', 'ns_pod-z_z', 'odd_z', 'a_b_c_z', 7],
    }
    const { prediction, unknowns } = predict({
      containers: [...two, container('c', { uid: 'z' })],
      sandboxes: [sandbox('box', { uid: 'z' })],
      host,
    })
    expect(prediction?.periodic).toEqual({
      removals: [
        { kind: 'container', id: 'c', namespace: 'ns', pod: 'pod-z', container: 'app' },
        { kind: 'container', id: 'old', namespace: 'ns', pod: 'pod-u1', container: 'app' },
        { kind: 'logDirectory', id: 'ns_pod-z_z', namespace: 'ns', pod: 'pod-z', container: null },
        { kind: 'logDirectory', id: 'odd_z', namespace: null, pod: null, container: null },
        { kind: 'logDirectory', id: 'a_b_c_z', namespace: null, pod: null, container: null },
      ],
      possible: [],
    })
    expect(unknowns).toEqual([])
    expect(
      predict({ sandboxes: [sandbox('box', { uid: 'z' })] }).prediction?.periodic.removals,
    ).toEqual([{ kind: 'sandbox', id: 'box', namespace: 'ns', pod: 'pod-z', container: null }])
  })

  it.each<{ what: string; object: unknown; periodic: string[]; underEviction: string[] }>([
    { what: 'running', object: pod('u1'), periodic: ['old'], underEviction: ['old'] },
    {
      what: 'succeeded',
      object: pod('u1', 'Succeeded'),
      periodic: ['old'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'failed',
      object: pod('u1', 'Failed'),
      periodic: ['old'],
      underEviction: ['old', 'new'],
    },
    { what: 'pending', object: pod('u1', 'Pending'), periodic: ['old'], underEviction: ['old'] },
    {
      what: 'evicted',
      object: pod('u1', 'Failed', { status: { reason: 'Evicted' } }),
      periodic: ['old', 'new'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'failed otherwise',
      object: pod('u1', 'Failed', { status: { reason: 'NodeLost' } }),
      periodic: ['old'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'running, once evicted',
      object: pod('u1', 'Running', { status: { reason: 'Evicted' } }),
      periodic: ['old'],
      underEviction: ['old'],
    },
    {
      what: 'succeeded, with a reason',
      object: pod('u1', 'Succeeded', { status: { reason: 'Evicted' } }),
      periodic: ['old'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'done and to be deleted',
      object: pod('u1', 'Succeeded', { metadata: { deletionTimestamp: 'x' } }),
      periodic: ['old', 'new'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'running and to be deleted',
      object: pod('u1', 'Running', { metadata: { deletionTimestamp: 'x' } }),
      periodic: ['old'],
      underEviction: ['old'],
    },
    {
      what: 'another one',
      object: pod('u2'),
      periodic: ['old', 'new'],
      underEviction: ['old', 'new'],
    },
    {
      what: 'the mirror of a static one',
      object: pod('api-uid', 'Running', {
        metadata: { annotations: { 'kubernetes.io/config.mirror': 'u1' } },
      }),
      periodic: ['old'],
      underEviction: ['old'],
    },
    { what: 'of no shape', object: 'u1', periodic: ['old', 'new'], underEviction: ['old', 'new'] },
  ])(
    'trap 3: of a pod that is $what goes $periodic, and under eviction $underEviction',
    ({ object, periodic, underEviction }) => {
      expect(ids({ containers: two, pods: [object] })?.toSorted()).toEqual(periodic.toSorted())
      expect(idsUnderEviction({ containers: two, pods: [object] })?.toSorted()).toEqual(
        underEviction.toSorted(),
      )
    },
  )

  it('is not known without the runtime, the pods or the time, and never an empty list then', () => {
    const whole = {
      runtime: { containers: [], sandboxes: [] },
      host: hostOf(),
      pods: [],
      nowMs: at,
    }
    const effect = 'which dead containers go is not known'
    expect(predicted(whole)).toEqual({
      prediction: {
        periodic: { removals: [], possible: [] },
        removedSince: new Map(),
        underEviction: { removals: [], possible: [] },
      },
      unknowns: [],
    })
    for (const runtime of [null, undefined, [], {}, { containers: [] }, { sandboxes: [] }]) {
      expect(predicted({ ...whole, runtime })).toEqual({
        prediction: null,
        unknowns: [{ what: 'runtime', effect }],
      })
    }
    expect(predicted({ ...whole, pods: null })).toEqual({
      prediction: null,
      unknowns: [{ what: 'pods', effect }],
    })
    expect(predicted({ ...whole, nowMs: Number.NaN })).toEqual({
      prediction: null,
      unknowns: [{ what: 'at', effect }],
    })
  })

  it('names what it assumes where the host was not asked', () => {
    const { prediction, unknowns } = predict({ containers: two, host: null })
    expect(prediction?.periodic.removals).toHaveLength(1)
    expect(unknowns).toMatchSnapshot()
  })

  it('separates certain from possible removals', () => {
    const containers = [container('x'), container('y'), container('z', { ageSeconds: 90 })]
    const { prediction, unknowns } = predict({ containers, pods: [pod('u1', 'Succeeded')] })
    expect(prediction?.periodic.removals.map(({ id }) => id)).toEqual(['z'])
    expect(prediction?.periodic.possible.map(({ id }) => id).toSorted()).toEqual(['x', 'y'])
    expect(prediction?.underEviction.possible).toEqual([])
    expect(prediction?.underEviction.removals).toHaveLength(3)
    expect(unknowns).toMatchSnapshot()
  })

  it('distinguishes creations a nanosecond apart', () => {
    const later = { ...container('later'), createdAt: '1795219140000000001' }
    const earlier = { ...container('earlier'), createdAt: '1795219140000000000' }
    expect(ids({ containers: [later, earlier] })).toEqual(['earlier'])
  })
})

describe('trap 12: the flags that no configuration shows', () => {
  const containers = [
    container('a', { ageSeconds: 10 }),
    container('b', { ageSeconds: 20 }),
    container('c', { ageSeconds: 30 }),
  ]
  it.each<{ flags: string[]; removed: string[] }>([
    { flags: [], removed: ['c', 'b'] },
    { flags: ['--maximum-dead-containers-per-container=2'], removed: ['c'] },
    { flags: ['--maximum-dead-containers-per-container', '2'], removed: ['c'] },
    { flags: ['--maximum_dead_containers_per_container=2'], removed: ['c'] },
    {
      flags: [
        '--maximum-dead-containers-per-container=0',
        '--maximum-dead-containers-per-container=2',
      ],
      removed: ['c'],
    },
    { flags: ['--maximum-dead-containers-per-container=-1'], removed: [] },
    {
      flags: ['--maximum-dead-containers-per-container=-1', '--maximum-dead-containers=1'],
      removed: ['c', 'b'],
    },
    {
      flags: ['--maximum-dead-containers-per-container=-1', '--maximum-dead-containers=+3'],
      removed: [],
    },
    { flags: ['--minimum-container-ttl-duration=20s'], removed: ['c'] },
    { flags: ['--minimum-container-ttl-duration=20.000000001s'], removed: [] },
    { flags: ['--', '--maximum-dead-containers-per-container=2'], removed: ['c', 'b'] },
    { flags: ['maximum-dead-containers-per-container=2'], removed: ['c', 'b'] },
    {
      flags: ['--v=2', '--maximum-dead-containers-per-container=2', '--root-dir=/a=b'],
      removed: ['c'],
    },
    { flags: ['--fail-swap-on', '--maximum-dead-containers-per-container=2'], removed: ['c'] },
    { flags: ['xxmaximum-dead-containers-per-container=2'], removed: ['c', 'b'] },
    { flags: ['--maximum-dead-containers-per-container=2147483647'], removed: [] },
    { flags: ['--maximum-dead-containers=-2147483648'], removed: ['c', 'b'] },
  ])('$flags: $removed go', ({ flags, removed }) => {
    expect(ids({ containers, host: hostOf(...flags) })).toEqual(removed)
  })

  it('count from the first argument there is, and no age is none at all', () => {
    const host = { kubelet: { commandLine: ['--maximum-dead-containers-per-container=2', 7] } }
    expect(ids({ containers, host })).toEqual(['c'])
    expect(ids({ containers: [container('now', { ageSeconds: 0, uid: 'z' })] })).toEqual(['now'])
  })

  it.each([
    ['--minimum-container-ttl-duration=-1m', 'invalid minimum garbage collection age: -1m0s'],
    [
      '--minimum-container-ttl-duration=soon',
      'invalid argument "soon" for "--minimum-container-ttl-duration" flag: time: invalid duration "soon"',
    ],
    [
      '--maximum-dead-containers=',
      'invalid argument "" for "--maximum-dead-containers" flag: strconv.ParseInt: parsing "": invalid syntax',
    ],
    [
      '--maximum-dead-containers',
      'invalid argument "" for "--maximum-dead-containers" flag: strconv.ParseInt: parsing "": invalid syntax',
    ],
    [
      '--maximum-dead-containers=1.5',
      'invalid argument "1.5" for "--maximum-dead-containers" flag: strconv.ParseInt: parsing "1.5": invalid syntax',
    ],
    [
      '--maximum-dead-containers=2147483648',
      'invalid argument "2147483648" for "--maximum-dead-containers" flag: strconv.ParseInt: parsing "2147483648": value out of range',
    ],
    [
      '--maximum-dead-containers=-2147483649',
      'invalid argument "-2147483649" for "--maximum-dead-containers" flag: strconv.ParseInt: parsing "-2147483649": value out of range',
    ],
  ])('%s cannot be what a kubelet runs with', (flag, why) => {
    expect(predict({ containers, host: hostOf(flag) })).toEqual({
      prediction: null,
      unknowns: [
        {
          what: 'host.kubelet.commandLine',
          effect: `which dead containers go is not known: ${why}`,
        },
      ],
    })
  })
})

describe('a record that is not whole', () => {
  it.each<Record<string, unknown>>([
    { id: 7 },
    { state: 'CONTAINER_GONE' },
    { state: 'toString' },
    { state: undefined },
    { createdAt: undefined },
    { createdAt: 'today' },
    { createdAt: '1.5' },
    { createdAt: 1.5 },
    { createdAt: '99999999999999999999' },
  ])('leaves out a container with %j, says so, and lets its sandbox be', broken => {
    const containers = [
      { ...container('x', { uid: 'z' }), ...broken },
      container('y', { uid: 'z', sandbox: 'other' }),
    ]
    const sandboxes = [sandbox('box', { uid: 'z' }), sandbox('other', { uid: 'z' })]
    expect(ids({ containers, sandboxes })).toEqual(['y', 'other'])
    expect(predict({ containers, sandboxes }).unknowns).toMatchSnapshot()
  })

  it.each<Record<string, unknown>>([
    { id: null },
    { state: 'SANDBOX_GONE' },
    { state: null },
    { metadata: {} },
    { createdAt: 'x' },
  ])('leaves out a sandbox with %j and says so', broken => {
    const { prediction, unknowns } = predict({
      sandboxes: [{ ...sandbox('box', { uid: 'z' }), ...broken }],
    })
    expect(prediction?.periodic.removals).toEqual([])
    expect(unknowns).toMatchSnapshot()
  })

  it('takes any time, the first nanosecond too', () => {
    expect(ids({ containers: [{ ...container('x', { uid: 'z' }), createdAt: '1' }] })).toEqual([
      'x',
    ])
  })

  it('takes a time that is a number, and names by label where there is no other', () => {
    const { metadata: _left, ...labelled } = container('x', { uid: 'z', name: 'labelled' })
    const removals = predict({
      containers: [{ ...labelled, createdAt: 1_700_000_000_000_000_000 }],
    }).prediction?.periodic.removals
    expect(removals).toEqual([
      { kind: 'container', id: 'x', namespace: 'ns', pod: 'pod-z', container: 'labelled' },
    ])
  })

  it('assigns a container without labels to an unknown pod, as the kubelet does', () => {
    const { labels: _none, ...bare } = container('x')
    expect(predict({ containers: [bare] }).prediction?.periodic.removals).toEqual([
      { kind: 'container', id: 'x', namespace: null, pod: null, container: 'app' },
    ])
  })

  it.each(['CONTAINER_CREATED', 'CONTAINER_UNKNOWN', 'CONTAINER_EXITED'])(
    'takes one that is %s for dead',
    state => {
      expect(ids({ containers: [container('x', { uid: 'z', state })] })).toEqual(['x'])
    },
  )

  it('takes neither a running container nor a ready sandbox', () => {
    const given = {
      containers: [container('x', { uid: 'z', state: 'CONTAINER_RUNNING' })],
      sandboxes: [sandbox('s', { uid: 'z', state: 'SANDBOX_READY' })],
    }
    expect(ids(given)).toEqual([])
    expect(predict(given).unknowns).toEqual([])
  })

  it('never throws, whatever it is', () => {
    const entry = fc.oneof(
      fc.anything(),
      fc.record({
        id: fc.string(),
        state: fc.constantFrom('CONTAINER_EXITED', 'SANDBOX_NOTREADY'),
        createdAt: fc.oneof(fc.double(), fc.string()),
        metadata: fc.anything(),
        labels: fc.anything(),
      }),
    )
    const evidence = fc.record({
      runtime: fc.oneof(
        fc.anything(),
        fc.record({ containers: fc.array(entry), sandboxes: fc.array(entry) }),
      ),
      host: fc.oneof(
        fc.anything(),
        fc.record({
          kubelet: fc.record({
            commandLine: fc.array(
              fc.oneof(fc.constantFrom('--maximum-dead-containers'), fc.string()),
            ),
          }),
        }),
      ),
      pods: fc.option(fc.array(fc.anything())),
      nowMs: fc.oneof(fc.integer(), fc.double()),
    })
    fc.assert(
      fc.property(evidence, given => {
        const { prediction, unknowns } = predicted(given)
        expect(prediction !== null || unknowns.length > 0).toBe(true)
      }),
    )
  })
})
