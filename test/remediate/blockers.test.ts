import { beforeEach, describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { type ClusterRecord, everything, type NodeInput } from '#model/input/record.ts'
import type { PlanStep } from '#model/plan.ts'
import { defaultPolicy, type RemediationPolicy } from '#model/policy.ts'
import { makePlan } from '#pipeline/remediation/plan/plan.ts'
import { budgetResource } from '#remediate/pods.ts'
import { blockersOf, type FreshCluster } from '#remediate/run/blockers.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { inputOf } from '#test/at-the-door.ts'
import { type FleetNode, fleetNode, readyPod, snapshotOf } from '#test/plan-fleet.ts'

const names = Array.from({ length: 10 }, (_, index) => `n${index}`)
const now = new Date('2026-11-21T10:00:00Z')
const recordOf = (name: string, more: FleetNode = {}) =>
  fleetNode({ name, pods: [readyPod(`web-${name}`, 'web')], ...more })
const nodeOf = (name: string, more: FleetNode = {}) => inputOf(recordOf(name, more))

let steps: PlanStep[]
let fresh: FreshCluster
beforeEach(async () => {
  const request = {
    rules: [],
    findings: [],
    changes: ['imageGCHighThresholdPercent=82'].map(parseChange),
    allowActAtOnce: false,
    version: '0',
  }
  const snapshot = snapshotOf(names.map(name => recordOf(name)))
  steps = (await makePlan(snapshot, { ...request, policy: defaultPolicy, selection: everything }))
    .plan.steps
  fresh = {
    cluster: {
      kind: 'Cluster',
      cluster: 'prod',
      eks: { status: 'ACTIVE' },
      nodegroups: [
        { nodegroupName: 'workers', status: 'ACTIVE' },
        { nodegroupName: 'others', status: 'UPDATING' },
      ],
      errors: [],
    },
    nodes: names.map(name => nodeOf(name)),
    budgets: [],
    alarms: [],
  }
})

const blocked = (policy: Partial<RemediationPolicy> = {}, wave = steps) =>
  blockersOf(wave, fresh, { ...defaultPolicy.remediation, ...policy }, now)

/** The first node, changed. */
function withNode(
  change: (node: NodeInput['node']) => NodeInput['node'],
  record: Partial<NodeInput> = {},
) {
  const [first, ...others] = fresh.nodes
  if (first === undefined) throw new Error('there is no node')
  fresh = { ...fresh, nodes: [{ ...first, ...record, node: change(first.node) }, ...others] }
}
const withConditions = (conditions: RawObject[]) =>
  withNode(node => ({ ...node, status: { ...node.status, conditions } }) as NodeInput['node'])
const withCluster = (cluster: Partial<ClusterRecord>) => {
  fresh = { ...fresh, cluster: { kind: 'Cluster', cluster: 'prod', ...fresh.cluster, ...cluster } }
}

it('nothing speaks against a sound cluster', () => {
  expect(blocked()).toEqual({ cluster: [], nodes: new Map(), later: new Set(), unasked: [] })
})

describe('a node', () => {
  const ready = { type: 'Ready', status: 'True' }

  it('that is gone', () => {
    fresh = { ...fresh, nodes: fresh.nodes.slice(1) }
    expect([...blocked().nodes]).toEqual([['n0', 'the node is gone']])
  })

  it('that was not read again is not said to be gone', () => {
    fresh = { ...fresh, nodes: [] }
    withCluster({ errors: [{ what: 'nodes', message: 'the list of nodes could not be read' }] })
    expect(blocked().nodes.get('n0')).toMatchSnapshot()
  })

  it.each<[string, () => void, string]>([
    [
      'is another instance',
      () =>
        withNode(node => ({
          ...node,
          spec: { providerID: 'aws:///eu-west-1a/i-00000000000000000' },
        })),
      'the node is another instance now: i-00000000000000000, planned was ',
    ],
    [
      'is being deleted',
      () =>
        withNode(node => ({
          ...node,
          metadata: { ...node.metadata, deletionTimestamp: '2026-11-21T09:00:00Z' },
        })),
      'the node is being deleted',
    ],
    [
      'is cordoned',
      () => withNode(node => ({ ...node, spec: { ...node.spec, unschedulable: true } })),
      'the node is cordoned',
    ],
    [
      'is NotReady',
      () => withConditions([{ type: 'Ready', status: 'False' }]),
      'the node is NotReady',
    ],
    [
      'is silent',
      () => withConditions([{ type: 'Ready', status: 'Unknown' }]),
      'the node is NotReady',
    ],
    ['has said nothing', () => withConditions([]), 'the node is NotReady'],
    [
      'is under pressure',
      () =>
        withConditions([
          ready,
          { type: 'MemoryPressure', status: 'False' },
          ...['DiskPressure', 'PIDPressure'].map(type => ({ type, status: 'True' })),
        ]),
      'the node is under DiskPressure and PIDPressure',
    ],
  ])('that %s', (_, change, why) => {
    change()
    const { cluster, nodes } = blocked()
    expect({ cluster, nodes: [...nodes] }).toEqual({
      cluster: [],
      nodes: [['n0', expect.stringContaining(why)]],
    })
  })

  it('of another wave is not spoken of', () => {
    withConditions([ready, { type: 'DiskPressure', status: 'True' }])
    expect(blocked({}, steps.slice(1)).nodes.size).toBe(0)
  })
})

describe('planned nodes that are NotReady', () => {
  it.each([
    { count: 1, percent: 10, blocks: false }, // exactly the limit
    { count: 2, percent: 10, blocks: true },
    { count: 1, percent: 0, blocks: true },
    { count: 0, percent: 0, blocks: false },
    { count: 10, percent: 100, blocks: false },
  ])('$count of 10 at a limit of $percent %: $blocks', ({ count, percent, blocks }) => {
    const unready = names.slice(0, count)
    const down = {
      status: { ...nodeOf('x').node.status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    }
    fresh = {
      ...fresh,
      nodes: fresh.nodes.map((one, index) =>
        index < count ? { ...one, node: { ...one.node, ...down } } : one,
      ),
    }
    const shown = `${count} of the 10 planned nodes are NotReady, more than the ${percent} % of the policy: ${unready.join(', ')}`
    expect(blocked({ maxUnreadyPercent: percent }).cluster).toEqual(blocks ? [shown] : [])
  })
})

describe('a cluster', () => {
  it('that was not found again', () => {
    fresh = { ...fresh, cluster: null }
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('that EKS is changing', () => {
    withCluster({ eks: { status: 'UPDATING' } })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('of which EKS did not answer', () => {
    withCluster({ eks: null, errors: [{ what: 'cluster', message: 'denied' }] })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('that a kubeconfig names, and of which EKS said nothing: its nodes tell that it is one of EKS', () => {
    withCluster({ eks: undefined, nodegroups: undefined })
    expect(blocked().cluster).toEqual([
      expect.stringMatching(/remediation\.requireEksStatus to false/),
    ])
    expect(blocked().unasked).toEqual([])
    const lenient = blocked({ requireEksStatus: false })
    expect([lenient.cluster, lenient.unasked]).toEqual([
      [],
      [expect.stringMatching(/policy lets that be/)],
    ])
  })

  it('outside EKS is changed, and the run says that EKS was not asked', () => {
    fresh = { ...fresh, nodes: names.map(name => nodeOf(name, { nodegroup: null })) }
    withCluster({ eks: undefined, nodegroups: undefined })
    expect(blocked()).toMatchObject({
      cluster: [],
      unasked: [expect.stringContaining('it is being upgraded')],
    })
  })

  it('that EKS did not tell of is changed only where the policy lets that be; what EKS does say counts in any case', () => {
    withCluster({ eks: null, nodegroups: null, errors: [{ what: 'cluster', message: 'denied' }] })
    expect(blocked({ requireEksStatus: false }).cluster).toEqual([])
    withCluster({ eks: { status: 'ACTIVE' }, nodegroups: null })
    expect([blocked().cluster.length, blocked({ requireEksStatus: false }).cluster]).toEqual([
      1,
      [],
    ])
    withCluster({ eks: { status: 'UPDATING' } })
    expect(blocked({ requireEksStatus: false }).cluster).toMatchSnapshot()
  })

  it('that EKS no longer lists', () => {
    fresh = {
      ...fresh,
      cluster: {
        kind: 'Cluster',
        cluster: 'prod',
        errors: [{ what: 'cluster', message: 'no EKS cluster of this name' }],
      },
      nodes: [],
    }
    const { cluster, nodes } = blocked()
    expect(cluster).toMatchSnapshot()
    expect(nodes.get('n0')).toMatchSnapshot()
  })
})

describe('a nodegroup of the wave', () => {
  it.each([
    ['UPDATING', ['the nodegroup workers is UPDATING']],
    ['DELETING', ['the nodegroup workers is DELETING']],
    ['DEGRADED', []],
  ])('that is %s', (status, expected) => {
    withCluster({ nodegroups: [{ nodegroupName: 'workers', status }] })
    expect(blocked().cluster).toEqual(expected)
  })

  it('that was not described, and a list that was not read', () => {
    withCluster({ nodegroups: [], errors: [{ what: 'nodegroup workers', message: 'denied' }] })
    expect(blocked().cluster).toMatchSnapshot()
    withCluster({ nodegroups: null, errors: [{ what: 'nodegroups', message: 'refused' }] })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('is not asked for where no node of the wave is in one', () => {
    fresh = { ...fresh, nodes: names.map(name => nodeOf(name, { nodegroup: null })) }
    withCluster({ nodegroups: null })
    expect(blocked().cluster).toEqual([])
  })
})

describe('a PodDisruptionBudget', () => {
  const budget = (disruptionsAllowed: number, app = 'web', namespace = 'shop') => ({
    metadata: { namespace, name: app },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed },
  })

  it.each<[string, RawObject[], string[]]>([
    [
      'at its limit',
      [budget(0)],
      ['PodDisruptionBudgets that cover its pods allow no disruption now: shop/web'],
    ],
    ['that allows one', [budget(1)], []],
    ['of other pods', [budget(0, 'api')], []],
    ['of another namespace', [budget(0, 'web', 'else')], []],
    [
      'among more of one label than are compared',
      Array.from({ length: 600 }, (_, index) => ({
        ...budget(100),
        metadata: { namespace: 'shop', name: `web${index}` },
      })),
      [
        'PodDisruptionBudgets that cover its pods allow no disruption now: shop/more than are compared',
      ],
    ],
    [
      'among many of other labels',
      [...Array.from({ length: 600 }, (_, index) => budget(0, `api${index}`)), budget(100)],
      [],
    ],
  ])('%s', (_, budgets, expected) => {
    fresh = { ...fresh, budgets }
    expect(blocked().cluster).toEqual(expected)
  })

  it.each([
    { allowed: 1, together: 1 },
    { allowed: 4, together: 4 },
    { allowed: 10, together: 10 },
  ])(
    'that allows $allowed lets $together nodes with one of its pods each change at once',
    ({ allowed, together }) => {
      fresh = { ...fresh, budgets: [budget(allowed)] }
      expect(blocked()).toMatchObject({
        cluster: [],
        nodes: new Map(),
        later: new Set(names.slice(together)),
      })
    },
  )

  it('is not used up by a node that is passed over, nor by one without its pods', () => {
    fresh = {
      ...fresh,
      budgets: [budget(1)],
      nodes: fresh.nodes.map((one, index) => (index === 1 ? { ...one, pods: [] } : one)),
    }
    withNode(node => ({ ...node, spec: { ...node.spec, unschedulable: true } }))
    expect([...blocked().later]).toEqual(names.slice(3))
  })

  it('that allows fewer than one node has of its pods speaks against it', () => {
    fresh = { ...fresh, budgets: [budget(1)] }
    withNode(node => node, { pods: ['web-a', 'web-b'].map(name => readyPod(name, 'web')) })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('that was not read speaks against it', () => {
    fresh = { ...fresh, budgets: null }
    expect(blocked().cluster).toEqual(['PodDisruptionBudgets were not read'])
    withCluster({ errors: [{ what: budgetResource, message: 'denied' }] })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('of pods that were not read are unknown', () => {
    fresh = { ...fresh, budgets: [budget(0)] }
    withNode(node => node, { pods: null })
    expect(blocked().cluster).toMatchSnapshot()
  })

  it('does not matter where pods stay ready while their kubelet restarts', () => {
    fresh = {
      ...fresh,
      budgets: [budget(0)],
      nodes: names.map(name => nodeOf(name, { minor: '35' })),
    }
    expect(blocked().cluster).toEqual([])
    fresh = {
      ...fresh,
      nodes: names.map(name =>
        nodeOf(name, {
          minor: '35',
          configz: { featureGates: { ChangeContainerStatusOnKubeletRestart: true } },
        }),
      ),
    }
    expect(blocked().cluster).toHaveLength(1)
    fresh = {
      ...fresh,
      nodes: names.map(name => nodeOf(name, { minor: '35', record: { configz: null } })),
    }
    expect(blocked().cluster).toHaveLength(1)
  })

  it('does not matter where nothing restarts', () => {
    fresh = { ...fresh, budgets: null }
    expect(
      blocked(
        {},
        steps.map(step => ({ ...step, method: 'sync-file' })),
      ).cluster,
    ).toEqual([])
  })
})

describe('the policy', () => {
  it('lets nodes be changed in its windows only', () => {
    const windows: RemediationPolicy['windows'] = [
      { days: ['sat'], from: '22:00', to: '04:00', timezone: 'Europe/Berlin' },
    ]
    expect(blocked({ windows }).cluster).toMatchSnapshot()
    expect(
      blockersOf(
        steps,
        fresh,
        { ...defaultPolicy.remediation, windows },
        new Date('2026-11-21T21:30:00Z'),
      ).cluster,
    ).toEqual([])
  })

  it('names alarms that speak against it', () => {
    fresh = { ...fresh, alarms: ['disk-full is in ALARM', 'errors could not be read: denied'] }
    expect(blocked().cluster).toMatchSnapshot()
  })
})
