import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { contextRule } from '#judge/rule.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { ClusterFacts } from '#judge/subject/node-subject.ts'
import { defaultPolicy } from '#model/policy.ts'
import { clusterOf, inputOf, objectsOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'

const cluster = 'prod'
const ofNode = (message: string, time: string, more: RawObject = {}): RawObject => ({
  metadata: { namespace: 'default' },
  involvedObject: { kind: 'Node', name: 'a' },
  reason: 'ImageGCFailed',
  message,
  firstTimestamp: time,
  lastTimestamp: time,
  ...more,
})

function eventsOf(node: string, ...items: RawObject[]) {
  const facts = new ClusterFacts()
  facts.takeObjects(objectsOf({ kind: 'Objects', cluster, resource: 'events', items }))
  return facts.contextOf(node).events
}

describe('events of a node', () => {
  it('are those about the node, and its kubelet’s events about pods', () => {
    const pod = { kind: 'Pod', namespace: 'shop', name: 'web' }
    const metadata = { namespace: 'shop' }
    const events = [
      ofNode('full', '2026-11-20T23:00:00Z'),
      {
        metadata,
        involvedObject: pod,
        reason: 'Evicted',
        message: 'low',
        source: { component: 'kubelet', host: 'a' },
        count: 2,
        lastTimestamp: '2026-11-20T23:30:00Z',
      },
      {
        metadata,
        regarding: pod,
        reason: 'Evicted',
        note: 'new form',
        deprecatedSource: { component: 'kubelet' },
        reportingInstance: 'a',
        eventTime: '2026-11-20T23:40:00Z',
      },
      {
        metadata,
        involvedObject: pod,
        reason: 'Evicted',
        message: 'elsewhere',
        source: { component: 'kubelet', host: 'b' },
      },
      {
        metadata,
        involvedObject: { kind: 'Deployment', name: 'a' },
        reason: 'Evicted',
        message: 'not a pod',
        source: { host: 'a' },
      },
    ]
    expect(eventsOf('a', ...events)).toMatchObject([
      { reason: 'ImageGCFailed', pod: null, message: 'full', count: 1 },
      { reason: 'Evicted', pod: { namespace: 'shop', name: 'web' }, message: 'low', count: 2 },
      { reason: 'Evicted', message: 'new form', lastTime: '2026-11-20T23:40:00Z' },
    ])
  })

  it('that are equal are one, from the first to the last time', () => {
    const [event, ...others] =
      eventsOf(
        'a',
        ofNode('full', '2026-11-20T23:50:00Z', { count: 3 }),
        ofNode('full', '2026-11-20T23:10:00Z'),
      ) ?? []
    expect(others).toEqual([])
    expect(event).toMatchObject({
      count: 4,
      firstTime: '2026-11-20T23:10:00Z',
      lastTime: '2026-11-20T23:50:00Z',
    })
  })

  it('keep the UID of a pod whose name may be given again, and all that an event may say', () => {
    const involvedObject = { kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u1' }
    const evicted = {
      metadata: { namespace: 'shop' },
      involvedObject,
      reason: 'Evicted',
      message: 'x'.repeat(1024),
      source: { component: 'kubelet', host: 'a' },
      lastTimestamp: '2026-11-20T23:30:00Z',
    }
    const again = { ...evicted, involvedObject: { ...involvedObject, uid: 'u2' } }
    expect(eventsOf('a', evicted, again)).toMatchObject([
      { pod: { uid: 'u1' }, count: 1, message: evicted.message },
      { pod: { uid: 'u2' }, count: 1 },
    ])
  })

  it('count once however often they come, in both of their forms', () => {
    const time = '2026-11-20T23:50:00Z'
    const one = ofNode('full', time, { metadata: { namespace: 'default', uid: 'u1' }, count: 2 })
    const later = { ...one, count: 3, lastTimestamp: takenAt }
    const form = {
      metadata: { namespace: 'default', uid: 'u1' },
      regarding: { kind: 'Node', name: 'a' },
      reason: 'ImageGCFailed',
      note: 'full',
      deprecatedCount: 3,
      deprecatedFirstTimestamp: time,
      deprecatedLastTimestamp: takenAt,
    }
    const expected = [
      {
        reason: 'ImageGCFailed',
        pod: null,
        message: 'full',
        count: 3,
        firstTime: time,
        lastTime: takenAt,
      },
    ]
    expect(eventsOf('a', one, later, form)).toEqual(expected)
    expect(eventsOf('a', form, later, one, one)).toEqual(expected)
  })

  it('are listed anew when more have arrived', () => {
    const facts = new ClusterFacts()
    const page = (item: RawObject) =>
      facts.takeObjects(objectsOf({ kind: 'Objects', cluster, resource: 'events', items: [item] }))
    page(ofNode('full', takenAt))
    expect(facts.contextOf('a').events).toHaveLength(1)
    page(ofNode('empty', takenAt))
    expect(facts.contextOf('a').events).toHaveLength(2)
  })

  it('are unknown where none were read, and none where an empty list was', () => {
    expect(new ClusterFacts().contextOf('a').events).toBeNull()
    expect(eventsOf('a')).toEqual([])
  })

  it('were not read to their end where the cluster says so', () => {
    const facts = new ClusterFacts()
    facts.takeObjects({ cluster, resource: 'events', items: [] })
    expect(facts.contextOf('a').failed('events')).toBeNull()
    facts.takeCluster(clusterOf({ errors: [{ what: 'events', message: 'page 2: timeout' }] }))
    expect(facts.contextOf('a').failed('events')).toBe('events: page 2: timeout')
  })

  it.each<RawObject>([
    {},
    { involvedObject: 7 },
    { involvedObject: { kind: 'Node' } },
    ofNode('x', 'no time', { count: 'many' }),
  ])('may be of any shape: %j', item => {
    expect(
      eventsOf('a', item)?.every(({ count, lastTime }) => count === 1 && lastTime === null),
    ).toBe(true)
  })
})

describe('whoever may create events in one namespace', () => {
  const forged = (involvedObject: RawObject, more: RawObject = {}): RawObject => ({
    metadata: { namespace: 'evil' },
    involvedObject,
    reason: 'Evicted',
    message: 'forged',
    source: { component: 'kubelet', host: 'a' },
    ...more,
  })
  const ofPod = (namespace: string, name: string) => ({ kind: 'Pod', namespace, name })
  const shown = (item: RawObject) => eventsOf('a', item)?.length === 1

  it('writes none of a node', () => {
    const node = { kind: 'Node', name: 'a', namespace: 'evil' }
    expect(shown(forged(node, { reason: 'SystemOOM' }))).toBe(false)
    expect(shown(forged(node, { reason: 'SystemOOM', metadata: {} }))).toBe(false)
    for (const namespace of ['default', 'kube-system'])
      expect(shown(forged(node, { reason: 'SystemOOM', metadata: { namespace } }))).toBe(true)
  })

  it('writes none of a node in the name of a pod', () => {
    expect(shown(forged(ofPod('evil', 'mine'), { reason: 'SystemOOM' }))).toBe(false)
  })

  it('writes none of a pod of another namespace', () => {
    expect(shown(forged(ofPod('shop', 'web')))).toBe(false)
    const attached = forged(ofPod('shop', 'web'), { reason: 'FailedAttachVolume' })
    const facts = new ClusterFacts()
    for (const item of [
      attached,
      forged(ofPod('evil', 'x'), { source: { component: 'kubelet', host: 'shop/web' } }),
    ])
      facts.takeObjects(objectsOf({ kind: 'Objects', cluster, resource: 'events', items: [item] }))
    expect(facts.contextOf('a').podEvents('shop/web')).toEqual([])
  })

  it('writes of a pod on a node as the kubelet alone', () => {
    expect(shown(forged(ofPod('evil', 'mine')))).toBe(true)
    const source = { component: 'x', host: 'a' }
    expect(shown(forged(ofPod('evil', 'mine'), { source }))).toBe(false)
    const reporting = { source: undefined, reportingInstance: 'a' }
    expect(shown(forged(ofPod('evil', 'mine'), reporting))).toBe(false)
  })
})

it('knows the host name of an instance as EC2 says it', () => {
  const facts = new ClusterFacts()
  const resource = 'instances.ec2.amazonaws.com'
  const items = [
    { InstanceId: 'i-0a1b', PrivateDnsName: 'ip-10-0-1-12.ec2.internal' },
    { InstanceId: 'i-0c2d', PrivateDnsName: '' },
  ]
  facts.takeObjects(objectsOf({ kind: 'Objects', cluster, resource, items }))
  expect(facts.dnsNameOf('i-0a1b')).toBe('ip-10-0-1-12.ec2.internal')
  expect(facts.dnsNameOf('i-0c2d')).toBeUndefined()
})

describe('a rule that needs its cluster', () => {
  const rule = contextRule({
    id: 'failing-gc',
    family: 'image-gc',
    severity: 'high',
    cause: { kind: 'world', event: 'gc-fails', subject: null },
    needs: [],
    title: 'GC fails',
    why: 'w',
    fix: 'f',
    sources: ['s'],
    appliesTo: ({ identity }) => identity.operatingSystem === 'linux',
    fact: ({ identity }) => ({ name: identity.name }),
    *judge({ name }, { events, objects, why }) {
      if (events === null) yield { unknown: why('events') }
      for (const { message } of events ?? [])
        yield {
          consequence: `${name}: ${message}, ${objects('nodepools.karpenter.sh')?.length}`,
          evidence: [],
        }
    },
  })
  const objects = (resource: string, items: RawObject[]) =>
    objectsOf({ kind: 'Objects', cluster, resource, items })
  const node = buildNode({ name: 'a' })

  function judged(...order: ('events' | 'pools' | 'node')[]) {
    const judgement = openJudgement([rule], defaultPolicy)
    judgement.takeCluster(clusterOf({ errors: [{ what: 'events', message: 'not allowed' }] }))
    for (const step of order) {
      if (step === 'events') judgement.takeObjects(objects('events', [ofNode('full', takenAt)]))
      if (step === 'pools') judgement.takeObjects(objects('nodepools.karpenter.sh', [{}, {}]))
      if (step === 'node') judgement.take(inputOf(node.record), node.prediction)
    }
    const { nodes, ...rest } = judgement.close(takenAt)
    return { ...rest, nodes: nodes.map(node => ({ ...node, details: node.details() })) }
  }

  it('says the same whether the objects come before or after the node', () => {
    const before = judged('events', 'pools', 'node')
    expect(before.findings).toMatchObject([{ consequence: 'a: full, 2' }])
    expect(judged('node', 'pools', 'events')).toEqual(before)
  })

  it('is unknown, with the reason, where they were not read', () => {
    expect(judged('node').unknowns).toMatchObject([{ reason: 'events: not allowed' }])
  })

  it('knows when its node was read', () => {
    const dated = contextRule({
      ...rule,
      ...rule.docs,
      needs: [],
      *judge(_, { at }) {
        yield { consequence: at, evidence: [] }
      },
    })
    const judgement = openJudgement([dated], defaultPolicy)
    judgement.take(inputOf(node.record), node.prediction)
    expect(judgement.close('2026-11-30T00:00:00Z').findings).toMatchObject([
      { consequence: takenAt },
    ])
  })

  it('does not apply where it says so', () => {
    const judgement = openJudgement([rule], defaultPolicy)
    const windows = buildNode({ name: 'w', identity: { operatingSystem: 'windows' } })
    judgement.take(inputOf(windows.record), windows.prediction)
    expect(judgement.close(takenAt).clusters[0]?.outcomes).toMatchObject({
      notApplicable: 1,
      pass: 0,
    })
  })

  it('that throws is an error of that node alone', () => {
    const broken = contextRule({
      ...rule,
      ...rule.docs,
      needs: [],
      judge() {
        throw new Error('broken')
      },
    })
    const judgement = openJudgement([broken], defaultPolicy)
    judgement.take(inputOf(node.record), node.prediction)
    expect(judgement.close(takenAt).ruleErrors).toMatchObject([
      { rule: 'failing-gc', node: 'a', message: 'broken' },
    ])
  })
})
