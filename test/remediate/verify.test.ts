import { beforeEach, describe, expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { everything, type NodeInput, type NodeRecord } from '#model/input/record.ts'
import type { NodeState, Plan, PlanStep, Verification } from '#model/plan.ts'
import { defaultPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { readyPodsOf } from '#remediate/pods.ts'
import { otherSettings, settleMs, verifyStep } from '#remediate/verify/verify.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { withConfigurationOnDisk } from '#replay/configuration/configuration-on-disk.ts'
import { inputOf } from '#test/at-the-door.ts'
import { type FleetNode, fleetNode, mainFile, readyPod, snapshotOf } from '#test/plan-fleet.ts'

const appliedAt = '2026-11-21T10:00:00Z'
const at = '2026-11-21T10:05:00Z'
const restartedAt = '2026-11-21T09:59:30Z'
const soft = {
  evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
}
const wanted = [
  'imageGCHighThresholdPercent=70',
  'imageGCLowThresholdPercent=50',
  'evictionHard.memory.available=1Gi',
]

async function planOf(node: FleetNode, changes = wanted): Promise<Plan> {
  const request = {
    rules: [],
    findings: [],
    changes: changes.map(parseChange),
    allowActAtOnce: false,
    version: '0',
  }
  return (
    await makePlan(snapshotOf([fleetNode(node)]), {
      ...request,
      policy: defaultPolicy,
      selection: everything,
    })
  ).plan
}

let step: PlanStep
beforeEach(async () => {
  const [planned] = (await planOf({ family: 'AL2', pods: [readyPod('web', 'web')] })).steps
  if (planned === undefined) throw new Error('nothing was planned')
  step = planned
})

interface Changed {
  /** On disk; default: as planned. */
  sha256?: string
  startedAt?: string
  configz?: RawObject | null
  mode?: NodeRecord['mode']
  errors?: NodeRecord['errors']
  ready?: RawObject
  conditions?: RawObject[]
  pods?: NonNullable<NodeRecord['pods']> | null
  replayed?: Partial<NodeState>
  before?: readonly string[] | null
  at?: string
}

/** The node as it should be after the change, but for what a test says. */
function freshNode(changed: Changed = {}): NodeInput {
  const running = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50, ...soft }
  const { node, host, ...rest } = fleetNode({ family: 'AL2', configz: running })
  const kubelet = isRawObject(host?.kubelet) ? host.kubelet : {}
  const file = {
    path: step.path,
    role: 'config',
    sha256: changed.sha256 ?? step.newSha256,
    content: {},
  }
  const ready = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: '2026-11-01T00:00:00Z',
    lastHeartbeatTime: at,
    ...changed.ready,
  }
  return inputOf({
    ...rest,
    mode: changed.mode ?? 'both',
    errors: changed.errors ?? [],
    ...(changed.configz !== undefined && {
      configz: changed.configz && {
        kubeletconfig: {
          ...(fleetNode({ configz: running }).configz?.kubeletconfig as RawObject),
          ...changed.configz,
        },
      },
    }),
    pods: changed.pods === undefined ? [readyPod('web', 'web')] : changed.pods,
    host: {
      ...host,
      kubelet: { ...kubelet, startedAt: changed.startedAt ?? restartedAt, files: [file] },
    },
    node: {
      ...node,
      status: { ...node.status, conditions: [ready, ...(changed.conditions ?? [])] },
    } as NodeRecord['node'],
  })
}

function verified(changed: Changed = {}): Verification {
  const before = changed.before === undefined ? ['shop/web'] : changed.before
  return verifyStep(
    step,
    freshNode(changed),
    { ...step.after, ...changed.replayed },
    before,
    changed.at ?? at,
    appliedAt,
  )
}

const notYet = (why: RegExp) => ({ state: 'not-yet', why: expect.stringMatching(why) })
const wrong = (why: RegExp) => ({ state: 'wrong', why: expect.stringMatching(why) })

describe('a node that runs with the change', () => {
  it('is verified', () => {
    expect(verified()).toEqual({ state: 'verified' })
  })

  it('is so by what its settings mean, however they are written', () => {
    expect(
      verified({
        configz: { evictionHard: { ...soft.evictionHard, 'memory.available': '1024Mi' } },
      }),
    ).toEqual({ state: 'verified' })
    expect(
      verified({ configz: { evictionHard: { ...soft.evictionHard, 'memory.available': '1G' } } }),
    ).toMatchObject({ state: 'wrong' })
  })

  it.each<[string, RawObject, RegExp]>([
    ['lets anybody in', { authentication: { anonymous: { enabled: true } } }, /: authentication$/],
    ['starts pods of a folder', { staticPodPath: '/tmp/evil-pods' }, /: staticPodPath$/],
    [
      'has another threshold',
      { evictionHard: { ...soft.evictionHard, 'nodefs.available': '1%' } },
      /: evictionHard$/,
    ],
    ['has two others', { maxPods: 7, eventRecordQPS: 3 }, /: eventRecordQPS, maxPods$/],
  ])('is not verified if it also %s', (_, configz, why) =>
    expect(verified({ configz })).toMatchObject({
      state: 'wrong',
      why: expect.stringMatching(why),
    }),
  )

  it('is no other instance', () => {
    const fresh = freshNode()
    fresh.node = { ...fresh.node, spec: { providerID: 'aws:///eu-west-1a/i-00000000000000000' } }
    expect(verifyStep(step, fresh, step.after, ['shop/web'], at, appliedAt)).toEqual(
      wrong(/^the node is another instance, i-0{17}, now; planned was i-/),
    )
  })

  it('has a file that says so', () => {
    expect(verified({ sha256: step.oldSha256 })).toEqual(
      notYet(/does not say so .*next start may lose it/),
    )
    expect(verified({ sha256: 'f'.repeat(64) })).toEqual(wrong(/does not say so/))
  })
})

describe('a node that runs without it', () => {
  const old = { imageGCHighThresholdPercent: 85 }

  it('is not yet there while its file is as it was', () => {
    expect(
      verified({ configz: old, sha256: step.oldSha256, startedAt: '2026-11-01T00:00:00Z' }),
    ).toEqual(
      notYet(
        /^it still runs without the change: imageGCHighThresholdPercent is 85, planned was 70$/,
      ),
    )
  })

  it('is not held to what the plan promised of the change', () => {
    expect(
      verified({ configz: old, sha256: step.oldSha256, replayed: { evictsBeforeImageGc: true } }),
    ).toEqual(notYet(/^it still runs without the change: [^;]*$/))
  })

  it('is not yet there while its kubelet has not started anew', () => {
    expect(verified({ configz: old, startedAt: '2026-11-01T00:00:00Z' })).toEqual(
      notYet(/as planned, but its kubelet has not started anew/),
    )
  })

  it('is wrong where it started anew with the planned file', () => {
    expect(verified({ configz: old })).toEqual(
      wrong(/something takes its place: imageGCHighThresholdPercent is 85/),
    )
  })

  it('is wrong where somebody wrote another file', () => {
    expect(verified({ configz: old, sha256: 'f'.repeat(64) })).toEqual(
      wrong(/neither as it was nor as planned \(its SHA-256 is f{64}\)/),
    )
  })

  it('says what is not set at all', () => {
    const { 'memory.available': _none, ...others } = soft.evictionHard
    expect(verified({ configz: { evictionHard: others }, sha256: step.oldSha256 })).toEqual(
      notYet(/evictionHard\.memory\.available is not set, planned was 1Gi/),
    )
  })
})

describe('a node whose kubelet was not asked', () => {
  const unasked = { mode: 'ssm' as const }
  const mismatch = /plan was made from its configz, and this reading has only its files/

  it('is not verified by a plan that was made from configz', () => {
    expect(verified(unasked)).toEqual(notYet(mismatch))
    const errors = [{ what: 'configz' as const, message: 'refused' }]
    expect(verified({ mode: 'both', errors })).toEqual(notYet(mismatch))
  })

  it('is not verified by configz if the plan was made from its files', () => {
    step = { ...step, othersOn: 'disk' }
    expect(verified()).toEqual(
      notYet(/plan was made from its files, and this reading has only its configz/),
    )
  })
})

describe('a node whose plan was made from files, and whose kubelet is not queried', () => {
  const unasked = { mode: 'ssm' as const }
  beforeEach(() => {
    step = { ...step, ...otherSettings(freshNode(unasked), step.expect) }
  })

  it('is verified by its files, and by a start after the plan', () => {
    expect(verified(unasked)).toEqual({ state: 'verified' })
  })

  it.each([
    { startedAt: '2026-11-01T00:00:00Z', why: /has not started anew$/ }, // exactly as planned
    { startedAt: '2026-11-01T00:00:05Z', why: /has not started anew$/ }, // its clock was set right
    { startedAt: 'no time', why: /whether its kubelet has started anew is not known$/ },
  ])('is not yet with a start at $startedAt', ({ startedAt, why }) => {
    expect(verified({ ...unasked, startedAt })).toEqual(notYet(why))
  })

  it('has started anew beyond what setting a clock right can move', () => {
    expect(verified({ ...unasked, startedAt: '2026-11-01T00:00:06Z' })).toEqual({
      state: 'verified',
    })
  })

  it('is so too where a kubelet that should have been asked did not answer', () => {
    const errors = [{ what: 'configz' as const, message: 'refused' }]
    expect(verified({ mode: 'both', errors, startedAt: '2026-11-01T00:00:00Z' })).toEqual(
      notYet(/has not started anew$/),
    )
  })

  it('is wrong where its files come to something else, with the planned one among them', () => {
    expect(
      verified({
        ...unasked,
        configz: { imageGCLowThresholdPercent: 80 },
        startedAt: '2026-11-01T00:00:00Z',
      }),
    ).toEqual(wrong(/something takes its place/))
  })

  it('is not yet verified, with the reason, if its configuration is unknown', () => {
    const errors = [{ what: 'host' as const, message: 'SSM: no answer' }]
    expect(verified({ ...unasked, configz: null, errors })).toEqual(
      notYet(/^what its kubelet runs with was not read: SSM: no answer$/),
    )
  })
})

describe('a node in mode ssm is compared with what its disk came to before', () => {
  const bySsm = { mode: 'ssm', configz: null } as const

  /** Planned and verified by what lies on its disk alone. */
  async function verifiedOnDisk(before: FleetNode, after: FleetNode): Promise<Verification> {
    const known: FleetNode = { family: 'AL2', pods: [readyPod('web', 'web')], ...before }
    const [planned] = (await planOf({ ...known, record: bySsm }, wanted.slice(0, 2))).steps
    if (planned === undefined) throw new Error('nothing was planned')
    expect(planned.othersOn).toBe('disk')
    step = planned
    const text = planned.content
    const { node, host, ...rest } = fleetNode({ ...known, text, file: JSON.parse(text), ...after })
    const ready = {
      ...{ type: 'Ready', status: 'True', lastHeartbeatTime: at },
      lastTransitionTime: '2026-11-01T00:00:00Z',
    }
    const kubelet = isRawObject(host?.kubelet) ? host.kubelet : {}
    const read = inputOf({
      ...{ ...rest, ...bySsm, host: { ...host, kubelet: { ...kubelet, startedAt: restartedAt } } },
      node: { ...node, status: { ...node.status, conditions: [ready] } },
    })
    const fresh = withConfigurationOnDisk(read).input
    return verifyStep(planned, fresh, planned.after, ['shop/web'], at, appliedAt)
  }

  const quiet = { '10-ours.conf': { eventRecordQPS: 7 } }

  it.each<[string, FleetNode]>([
    ['one file', {}],
    ['a drop-in', { dropIns: quiet }],
    ['a flag', { flags: ['--registry-qps=4'] }],
  ])('and is verified if only the promised fields differ: %s', async (_, before) => {
    expect(await verifiedOnDisk(before, {})).toEqual({ state: 'verified' })
  })

  it.each<[string, FleetNode, FleetNode, RegExp]>([
    [
      'a drop-in that lets anybody in',
      { dropIns: quiet },
      {
        dropIns: { ...quiet, '99-evil.conf': { authentication: { anonymous: { enabled: true } } } },
      },
      /: authentication$/,
    ],
    [
      'a drop-in less',
      { dropIns: { ...quiet, '20-more.conf': { staticPodPath: '/etc/pods' } } },
      { dropIns: quiet },
      /: staticPodPath$/,
    ],
    ['a new flag', {}, { flags: ['--pod-manifest-path', '/tmp/evil'] }, /: --pod-manifest-path$/],
    [
      'a file with another field',
      {},
      {
        file: {
          ...mainFile,
          ...{ imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50, maxPods: 7 },
        },
      },
      /: maxPods$/,
    ],
  ])('and is wrong with %s', async (_, before, after, why) => {
    expect(await verifiedOnDisk(before, after)).toEqual(wrong(why))
  })
})

describe('a node has to be Ready, and to stay so', () => {
  it.each([
    [
      'False',
      { status: 'False', reason: 'KubeletNotReady' },
      /^the node is not Ready \(KubeletNotReady\)$/,
    ],
    ['Unknown', { status: 'Unknown' }, /^the node is not Ready$/],
  ])('%s', (_, ready, why) => {
    expect(verified({ ready })).toEqual(notYet(why))
  })

  it.each([
    {
      what: 'the change',
      read: '2026-11-21T10:00:09Z',
      changed: {},
      is: notYet(/^it was read 9 s after the change, and .* for 10 s$/),
    },
    { what: 'the change', read: '2026-11-21T10:00:10Z', changed: {}, is: { state: 'verified' } },
    {
      what: 'it turned Ready',
      read: at,
      changed: { ready: { lastTransitionTime: '2026-11-21T10:04:51Z' } },
      is: notYet(/9 s after the node turned Ready/),
    },
    {
      what: 'it turned Ready',
      read: at,
      changed: { ready: { lastTransitionTime: '2026-11-21T10:04:50Z' } },
      is: { state: 'verified' },
    },
    {
      what: 'another start of its kubelet',
      read: at,
      changed: { startedAt: '2026-11-21T10:04:51Z' },
      is: notYet(/9 s after its kubelet started/),
    },
  ])('for a probe period after $what: $read', ({ read, changed, is }) => {
    expect(verified({ ...changed, at: read })).toEqual(is)
  })

  it('by a clock that is an hour ahead, too', () => {
    const ready = {
      lastTransitionTime: '2026-11-21T11:04:00Z',
      lastHeartbeatTime: '2026-11-21T11:05:00Z',
    }
    expect(verified({ ready, startedAt: '2026-11-21T10:59:30Z' })).toEqual({ state: 'verified' })
    expect(
      verified({
        ready: { ...ready, lastTransitionTime: '2026-11-21T11:04:55Z' },
        startedAt: '2026-11-21T10:59:30Z',
      }),
    ).toEqual(notYet(/5 s after the node turned Ready/))
  })

  it.each([
    { probe: undefined, wanted: 10_000 },
    { probe: { periodSeconds: 5 }, wanted: 10_000 },
    { probe: { periodSeconds: 30, initialDelaySeconds: 15 }, wanted: 45_000 },
    { probe: { initialDelaySeconds: 15 }, wanted: 25_000 },
    { probe: { periodSeconds: 86_400 }, wanted: 300_000 },
  ])('as long as the readiness probe $probe takes: $wanted ms', ({ probe, wanted: expected }) => {
    expect(settleMs({ pods: [readyPod('a', 'a', { readinessProbe: probe })] })).toBe(expected)
  })

  it('and pods that have ended are not waited for', () => {
    const ended = readyPod('a', 'a', { readinessProbe: { periodSeconds: 60 } })
    expect(settleMs({ pods: [{ ...ended, status: { phase: 'Succeeded' } }] })).toBe(10_000)
  })
})

describe('pressure', () => {
  const pressure = (type: string, lastTransitionTime: string) => [
    { type, status: 'True', lastTransitionTime },
  ]

  it('that came with the change is wrong, even if it came before the change was observed', () => {
    expect(verified({ conditions: pressure('DiskPressure', '2026-11-21T10:01:00Z') })).toEqual(
      wrong(/^the node is under DiskPressure since the change$/),
    )
    expect(verified({ conditions: pressure('MemoryPressure', restartedAt) })).toEqual(
      wrong(/MemoryPressure/),
    )
  })

  it('from before it is not', () => {
    expect(verified({ conditions: pressure('DiskPressure', '2026-11-21T09:59:29Z') })).toEqual({
      state: 'verified',
    })
  })

  it('that was due before is not new, whenever the kubelet says it again', () => {
    step = { ...step, before: { ...step.before, evictsNow: ['imagefs.available'] } }
    expect(verified({ conditions: pressure('DiskPressure', '2026-11-21T10:01:00Z') })).toEqual({
      state: 'verified',
    })
    expect(verified({ conditions: pressure('PIDPressure', '2026-11-21T10:01:00Z') })).toMatchObject(
      { state: 'wrong' },
    )
  })
})

describe('its pods', () => {
  const unready = (
    name: string,
    lastTransitionTime = '2026-11-21T09:59:40Z',
    metadata: RawObject = {},
  ) => {
    const pod = readyPod(name, name)
    return {
      ...pod,
      metadata: { ...pod.metadata, creationTimestamp: '2026-11-20T00:00:00Z', ...metadata },
      status: {
        ...pod.status,
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
      },
    }
  }

  it('that were ready have to be ready again', () => {
    expect(verified({ pods: [unready('web')] })).toEqual(
      notYet(/^pods are not ready again: shop\/web$/),
    )
  })

  it('that were not, are not waited for', () => {
    expect(verified({ pods: [unready('web')], before: [] })).toEqual({ state: 'verified' })
  })

  it.each<[string, NonNullable<NodeRecord['pods']>]>([
    ['deleted', []],
    ['being deleted', [unready('web', undefined, { deletionTimestamp: '2026-11-21T10:02:00Z' })]],
    [
      'made anew under the same name',
      [unready('web', undefined, { creationTimestamp: '2026-11-21T10:02:00Z' })],
    ],
    ['ended', [{ ...unready('web'), status: { phase: 'Succeeded' } }]],
  ])('that were %s since, are not held against it', (_, pods) => {
    expect(verified({ pods })).toEqual({ state: 'verified' })
  })

  it('are judged by when they turned NotReady, if the state before is unknown', () => {
    expect(verified({ pods: [unready('web')], before: null })).toEqual(
      notYet(/not ready again: shop\/web/),
    )
    expect(verified({ pods: [unready('web', '2026-11-21T09:59:29Z')], before: null })).toEqual({
      state: 'verified',
    })
  })

  it('have to be read', () => {
    expect(verified({ pods: null })).toEqual(notYet(/^its pods were not read$/))
  })

  it('are named, five of them', () => {
    const many = Array.from({ length: 7 }, (_, index) => unready(`p${index}`))
    expect(verified({ pods: many, before: null })).toEqual(
      notYet(/shop\/p0, shop\/p1, shop\/p2, shop\/p3, shop\/p4 and 2 more$/),
    )
  })

  it('that are ready are known by name, for later', () => {
    expect(
      readyPodsOf({ ...freshNode(), pods: [readyPod('b', 'b'), unready('c'), readyPod('a', 'a')] }),
    ).toEqual(['shop/a', 'shop/b'])
    expect(readyPodsOf({ ...freshNode(), pods: null })).toBeNull()
  })
})

describe('what the plan promised', () => {
  it.each<[string, Partial<NodeState>, Verification]>([
    ['as promised', {}, { state: 'verified' }],
    [
      'eviction first',
      { evictsBeforeImageGc: true },
      { state: 'wrong', why: expect.stringContaining('still comes before image GC') },
    ],
    [
      'an eviction that is due',
      { evictsNow: ['nodefs.available'] },
      {
        state: 'wrong',
        why: 'eviction is due now (nodefs.available), which the plan did not promise',
      },
    ],
    [
      'image GC that is due',
      { imageGcDue: true },
      { state: 'not-yet', why: expect.stringContaining('image GC is due now') },
    ],
    [
      'what cannot be said',
      { evictsBeforeImageGc: null, evictsNow: null },
      {
        state: 'not-yet',
        why: 'what it does now cannot be replayed (whether eviction comes before image GC, whether eviction is due)',
      },
    ],
    ['another number of bytes', { freedBytesAtMost: 17 }, { state: 'verified' }],
  ])('beside %s', (_, replayed, expected) => {
    expect(step.after).toMatchObject({
      evictsBeforeImageGc: false,
      imageGcDue: false,
      evictsNow: [],
    })
    expect(verified({ replayed })).toEqual(expected)
  })

  it('is not asked where the plan could not say it either', () => {
    step = {
      ...step,
      after: {
        evictsBeforeImageGc: null,
        imageGcDue: null,
        freedBytesAtMost: null,
        evictsNow: null,
      },
    }
    expect(
      verified({
        replayed: { evictsBeforeImageGc: true, imageGcDue: true, evictsNow: ['pid.available'] },
      }),
    ).toEqual({ state: 'verified' })
  })
})

it('says the worst alone, and no more of the rest than can be read', () => {
  expect(
    verified({
      configz: { imageGCHighThresholdPercent: 85 },
      ready: { status: 'False' },
      pods: null,
    }),
  ).toEqual(wrong(/^[^;]*something takes its place[^;]*$/))
  const all = verified({
    sha256: step.oldSha256,
    ready: { status: 'False' },
    pods: null,
    replayed: { evictsNow: null, imageGcDue: true },
  })
  expect(all).toEqual(notYet(/; and 1 more$/))
})

describe('a step that writes a file and restarts nothing', () => {
  const path = '/etc/logrotate.d/app'
  const logrotate = (sha256: string) => ({
    ...freshNode({ ready: { status: 'False' } }),
    host: { logrotate: [{ path, sha256 }] },
  })
  const verdictOn = (fresh: NodeInput) => {
    const file: PlanStep = {
      ...step,
      method: 'sync-file',
      path,
      oldSha256: 'a'.repeat(64),
      newSha256: 'b'.repeat(64),
      expect: [],
    }
    return verifyStep(file, fresh, step.after, null, at, appliedAt)
  }

  it('is verified by the file alone', () => {
    expect(verdictOn(logrotate('b'.repeat(64)))).toEqual({ state: 'verified' })
    expect(verdictOn(logrotate('a'.repeat(64)))).toEqual(notYet(/app is as it was$/))
    expect(verdictOn(logrotate('c'.repeat(64)))).toEqual(
      wrong(/neither as it was nor as planned: its SHA-256 is c{64}/),
    )
  })

  it('is wrong where the file is gone, and not yet where it was not read', () => {
    const other = {
      ...logrotate(''),
      host: { logrotate: [{ path: '/etc/logrotate.conf', sha256: 'a'.repeat(64) }] },
    }
    expect(verdictOn(other)).toEqual(wrong(/it is not there$/))
    expect(
      verdictOn({
        ...other,
        host: null,
        errors: [{ what: 'host' as const, message: 'SSM: silent' }],
      }),
    ).toEqual(notYet(/app was not read: SSM: silent$/))
  })
})
