import { describe, expect, it } from 'vitest'
import { deviceCause, kubeletSetting, line, nodeRule, type Rule } from '#judge/rule.ts'
import { alertBeforeImageGc } from '#judge/rules/image-gc/alert-before-image-gc.ts'
import { rules } from '#judge/rules/index.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { findingId } from '#judge/run/tally.ts'
import type { Cause, HolderCause, OutcomeCounts } from '#model/finding.ts'
import { defaultPolicy, type Policy, type Waiver } from '#model/policy.ts'
import { clusterOf, inputOf } from '#test/at-the-door.ts'
import { calmEviction, hard } from '#test/example.ts'
import { type BuiltNode, buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'

const docs = { title: 'A toy', why: 'To see the runner work.', fix: 'None.', sources: ['none'] }
type Answer = Pick<Parameters<typeof nodeRule>[0], 'judge'>['judge']

const toy = (judge: Answer, head: Partial<Parameters<typeof nodeRule>[0]> = {}): Rule =>
  nodeRule({
    ...({ id: 'toy', family: 'kernel', severity: 'medium', needs: [] } as const),
    cause: kubeletSetting('toy'),
    ...docs,
    judge,
    ...head,
  })

const failing = { consequence: 'It fails.', evidence: [line('computed', 'toy', '1')] }
const alwaysFails = toy(function* () {
  yield failing
})

function judged(
  shelf: readonly Rule[],
  nodes: BuiltNode[],
  policy: Partial<Policy> = {},
  options: { allNodes?: boolean; day?: string } = {},
) {
  const judgement = openJudgement(shelf, { ...defaultPolicy, ...policy }, options)
  for (const { record, prediction } of nodes) judgement.take(inputOf(record), prediction)
  const closed = judgement.close(`${options.day ?? '2026-11-21'}T00:00:00Z`)
  const { nodes: audited, ...result } = closed
  return { audited, ...result }
}

/** Rules that come to an outcome on each node. */
const ofNodes = rules.filter(({ kind }) => kind !== 'cluster')

const outcomes = (given: Partial<OutcomeCounts>): OutcomeCounts => ({
  pass: 0,
  fail: 0,
  unknown: 0,
  notApplicable: 0,
  error: 0,
  ...given,
})
const named = (count: number, options: NodeOptions = {}) =>
  Array.from({ length: count }, (_, index) =>
    buildNode({ name: `node-${String(index).padStart(4, '0')}`, ...options }),
  )

describe('outcomes', () => {
  it.each([
    ['pass', 'nothing yielded', toy(function* () {})],
    ['fail', 'a failing', alwaysFails],
    [
      'unknown',
      'something undecided',
      toy(function* () {
        yield { unknown: 'not seen' }
      }),
    ],
    [
      'fail',
      'a failing beside something undecided',
      toy(function* () {
        yield { unknown: 'not seen' }
        yield failing
      }),
    ],
    [
      'notApplicable',
      'a rule that does not apply',
      toy(alwaysFails.judge as Answer, { appliesTo: () => false }),
    ],
    [
      'error',
      'a throw',
      toy(() => {
        throw new Error('broken')
      }),
    ],
  ] as const)('is %s for %s', (state, _, rule) => {
    expect(judged([rule], [buildNode()]).clusters[0]?.outcomes).toEqual(outcomes({ [state]: 1 }))
  })

  it.each([
    ['configuration', 'configz', { configz: null }],
    ['imageGC', 'configz', { configz: null }],
    ['eviction', 'configz', { configz: null }],
  ] as const)(
    'is unknown where %s is missing, with the reason from the record, and the rule is not called',
    (need, what, record) => {
      const rule = toy(
        () => {
          throw new Error('called')
        },
        { needs: [need] },
      )
      const node = buildNode({
        record: { ...record, errors: [{ what, message: 'HTTP 403: forbidden' }] },
        prediction: { imageGC: null, eviction: null },
      })
      const { clusters, unknowns, ruleErrors } = judged([rule], [node])
      expect(clusters[0]?.outcomes).toEqual(outcomes({ unknown: 1 }))
      expect(unknowns).toMatchObject([
        {
          rule: 'toy',
          subject: { kind: 'Nodegroup', name: 'workers' },
          reason: 'configz: HTTP 403: forbidden',
        },
      ])
      expect(ruleErrors).toEqual([])
    },
  )

  it.each([
    [{ host: { kubelet: {} } }, 'no main file'],
    [
      { host: { kubelet: {} }, errors: [{ what: 'host' as const, message: 'timed out' }] },
      'timed out; no main file',
    ],
    [{ errors: [{ what: 'host' as const, message: 'timed out' }] }, 'timed out'],
  ])('says what the replay says of files that were requested: %j', (record, reason) => {
    const prediction = {
      unknowns: [{ what: 'nextStart.files', part: 'nextStart' as const, effect: 'no main file' }],
    }
    const { unknowns } = judged(
      [toy(function* () {}, { needs: ['nextStart'] })],
      [buildNode({ record, prediction })],
    )
    expect(unknowns[0]?.reason).toBe(reason)
  })

  it('lets a rule see what the replay left open about a prediction', () => {
    const unknowns = [
      { what: 'nextStart.environment', part: 'nextStart' as const, effect: 'flags not followed' },
      { what: 'summary', effect: 'something else' },
    ]
    const nextStart = {
      files: [],
      errors: [],
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      settings: null,
    }
    const rule = toy(function* ({ doubts }) {
      yield { unknown: doubts.nextStart ?? 'none' }
    })
    expect(
      judged([rule], [buildNode({ nextStart, prediction: { unknowns } })]).unknowns[0]?.reason,
    ).toBe('flags not followed')
  })

  it('reports unread files as not read in this mode', () => {
    const { unknowns } = judged([toy(function* () {}, { needs: ['nextStart'] })], [buildNode()])
    expect(unknowns[0]?.reason).toMatchSnapshot()
  })

  it('is unknown where the running eviction settings do not parse', () => {
    const node = buildNode({
      prediction: { eviction: { ...calmEviction, error: 'unsupported eviction signal disk' } },
    })
    expect(
      judged([toy(function* () {}, { needs: ['eviction'] })], [node]).unknowns[0]?.reason,
    ).toContain('unsupported eviction signal disk')
  })

  it('continues with the other rules if one throws, and reports which threw where', () => {
    const broken = toy(
      () => {
        throw new Error('broken')
      },
      { id: 'broken' },
    )
    const { clusters, findings, ruleErrors } = judged([broken, alwaysFails], named(2))
    expect(clusters[0]?.outcomes).toEqual(outcomes({ error: 2, fail: 2 }))
    expect(findings.map(({ rule }) => rule)).toEqual(['toy'])
    expect(ruleErrors).toEqual([
      { rule: 'broken', cluster: 'prod', node: 'node-0000', message: 'broken' },
      { rule: 'broken', cluster: 'prod', node: 'node-0001', message: 'broken' },
    ])
  })

  it('never passes a rule that needs something on a node of which nothing was read', () => {
    const nothing = { configz: null, summary: null, pods: null }
    const unobserved = {
      nodefs: null,
      imagefs: null,
      containerfs: null,
      layout: null,
      layoutCertainty: null,
    }
    const node = buildNode({
      record: nothing,
      prediction: { imageGC: null, eviction: null, nextStart: null, filesystems: unobserved },
    })
    const { unknowns } = judged(rules, [node, buildNode({ name: 'peer' })])
    const alone = judged(rules, [node])
    const comparing = rules.filter(({ kind }) => kind === 'cohort').length
    // The Node object was read, and contains the version: by it unsupported-version passes, and cgroup-v1 does not apply.
    // By the events of the cluster alone, kubelet-restarts passes; by its list of pods, local-storage-fits-no-node.
    // Rules on the ledger apply where the node measured its disks, but for leftover-snapshots, which reads the API, too.
    const onLedger = rules.filter(
      rule =>
        rule.kind !== 'cluster' &&
        rule.needs.includes('ledger') &&
        rule.id !== 'leftover-snapshots',
    )
    expect(alone.clusters[0]?.outcomes).toEqual(
      outcomes({
        fail: 1,
        pass: 3,
        notApplicable: comparing + onLedger.length + 1,
        unknown: ofNodes.length - comparing - onLedger.length - 5,
      }),
    )
    // Beside a peer the comparison is open, not moot.
    expect(unknowns.find(({ rule }) => rule === 'peer-drift')?.nodes.count).toBe(2)
  })

  it('counts one outcome a rule and node', () => {
    const { clusters } = judged(rules, named(7))
    expect(Object.values(clusters[0]?.outcomes ?? {}).reduce((sum, count) => sum + count, 0)).toBe(
      7 * ofNodes.length,
    )
  })
})

const holderOf = (low: number): HolderCause => ({
  ...{ kind: 'holder', holder: 'journal', filesystem: 'nodefs', freedBy: 'nothing' },
  ...{ amount: { unit: 'bytes', low, high: low }, owner: null, place: null },
})
const also: HolderCause = { ...holderOf(1), holder: 'core-dumps' }

describe('aggregation', () => {
  it('makes one finding of the same failing on 400 nodes of one nodegroup, and names 20', () => {
    const { findings } = judged([alwaysFails], named(400))
    expect(findings).toHaveLength(1)
    expect(findings[0]?.subject).toEqual({ kind: 'Nodegroup', namespace: null, name: 'workers' })
    expect(findings[0]?.nodes.count).toBe(400)
    expect(findings[0]?.nodes.sample).toHaveLength(20)
    expect(findings[0]?.nodes.sample[0]).toBe('node-0000')
  })

  it('names every node where it is asked to', () => {
    expect(
      judged([alwaysFails], named(400), {}, { allNodes: true }).findings[0]?.nodes.sample,
    ).toHaveLength(400)
  })

  it('makes a node of no nodegroup its own subject, and keeps clusters apart', () => {
    const nodes = [
      buildNode({ nodegroup: null, name: 'lonely' }),
      buildNode({ cluster: 'test' }),
      buildNode({ cluster: 'prod' }),
    ]
    const { findings, clusters } = judged([alwaysFails], nodes)
    expect(
      findings.map(({ cluster, subject }) => `${cluster} ${subject.kind} ${subject.name}`),
    ).toEqual(['prod Node lonely', 'prod Nodegroup workers', 'test Nodegroup workers'])
    expect(clusters.map(({ name }) => name)).toEqual(['prod', 'test'])
  })

  it('shows the largest variant, where others differ, and how many more there are', () => {
    const byName = toy(function* ({ identity }) {
      const variant = Math.min(Number(identity.name.slice(-1)), 6)
      yield {
        consequence: `variant ${variant}`,
        evidence: [line('computed', 'same', 'x'), line('computed', 'value', String(variant))],
      }
    })
    const { findings } = judged([byName], named(10))
    expect(findings[0]?.consequence).toBe('variant 6')
    expect(findings[0]?.evidence).toEqual([
      line('computed', 'same', 'x'),
      line('computed', 'value', '6'),
      line('computed', 'value on 1 other node', '0'),
      line('computed', 'value on 1 other node', '1'),
      line('omitted', 'and 4 more variants', 'on 4 nodes'),
    ])
  })

  it('names the node that is nearest to eviction first, and its cause and command where all differ', () => {
    const GiB = 1024 ** 3
    const signal = 'nodefs.available' as const
    const nodes = [50, 15, 20].map((left, index) => {
      const thresholds = [hard(signal, 10, left)]
      const signals = {
        [signal]: { availableBytes: left * GiB, capacityBytes: 100 * GiB, time: null },
      }
      return buildNode({
        name: `node-${index}`,
        thresholds,
        eviction: { ...calmEviction, signals },
      })
    })
    const withHolder = toy(function* ({ identity: { name } }) {
      yield { ...failing, cause: holderOf(Number(name.slice(-1))), steps: [{ id: 'read-pods' }] }
    })
    const [finding] = judged([withHolder], nodes).findings
    expect(finding?.nodes.sample).toEqual(['node-1', 'node-0', 'node-2'])
    expect(finding?.cause).toMatchObject({ amount: { low: 1 } })
    expect(finding?.steps[0]?.commands[0]?.command).toContain('node-1')
  })

  it.each<[string, Cause, Cause, number]>([
    ['of one kind', deviceCause('too-small'), deviceCause('too-small'), 1],
    ['of two kinds', deviceCause('too-small'), deviceCause('not-grown'), 2],
    ['a device and a setting', deviceCause('too-small'), kubeletSetting('a'), 2],
    ['two settings', kubeletSetting('b'), kubeletSetting('a'), 2],
    ["the rule's own and another", kubeletSetting('toy'), deviceCause('too-small'), 2],
    ['one holder, of two amounts', holderOf(1), holderOf(2), 1],
    ['one holder, beside another on one node', { ...holderOf(1), also }, holderOf(1), 1],
  ])('makes a finding for each cause: %s', (_, one, other, count) => {
    const byCause = toy(function* ({ identity: { name } }) {
      yield { ...failing, cause: name === 'node-0000' ? one : other }
    })
    const { findings } = judged([byCause], named(2))
    expect(findings).toHaveLength(count)
    // A second holder of one node is not that of the other.
    for (const { cause } of findings) expect(cause).not.toHaveProperty('also')
  })

  it('breaks the links that pods and writers of events may put there', () => {
    const kinds = ['event', 'node', 'object', 'computed'] as const
    const quoting = toy(function* () {
      const link = 'see https://evil.example'
      yield { consequence: link, seen: link, evidence: kinds.map(kind => line(kind, 'x', link)) }
    })
    const [finding] = judged([quoting], named(1)).findings
    const broken = 'see https[:]//evil.example'
    expect(finding).toMatchObject({ consequence: broken, seen: broken })
    expect(finding?.evidence.map(({ value }) => value)).toEqual([
      ...[broken, broken, broken],
      'see https://evil.example',
    ])
  })

  it('takes reasons that differ only in the address of the node as one', () => {
    const record = (index: number) => ({
      configz: null,
      errors: [
        { what: 'configz' as const, message: `dial tcp 10.0.0.${9 - index}:10250: i/o timeout` },
      ],
    })
    const nodes = Array.from({ length: 3 }, (_, index) =>
      buildNode({ name: `node-${index}`, record: record(index) }),
    )
    const needy = toy(function* () {}, { needs: ['configuration'] })
    const expected = [
      { nodes: { count: 3 }, reason: 'configz: dial tcp 10.0.0.7:10250: i/o timeout' },
    ]
    expect(judged([needy], nodes).unknowns).toMatchObject(expected)
    expect(judged([needy], nodes.toReversed()).unknowns).toMatchObject(expected)
  })

  it.each([
    ['configz', 2],
    ['unread', 1],
    ['node', 1],
  ] as const)('of evidence of kind %s with two addresses has %i variants', (kind, variants) => {
    const byName = toy(function* ({ identity }) {
      const address = `10.100.0.${identity.name.slice(-1)}`
      yield { consequence: 'x', evidence: [line(kind, 'x', address)] }
    })
    const values = judged([byName], named(2)).findings[0]?.evidence.map(({ value }) => value)
    expect(values).toEqual(['10.100.0.0', '10.100.0.1'].slice(0, variants))
  })

  it('takes the worst severity and the least certain confidence of its nodes', () => {
    const byName = toy(function* ({ identity }) {
      yield identity.name.endsWith('1')
        ? { ...failing, severity: 'critical' }
        : { ...failing, confidence: 'likely' }
    })
    expect(judged([byName], named(3)).findings[0]).toMatchObject({
      severity: 'critical',
      confidence: 'likely',
    })
  })

  it.each([
    ['v1.34.1', ['configuration'], 'certain'],
    ['unknown', ['configuration'], 'likely'],
    ['v1.99.0', [], 'certain'],
  ] as const)(
    'on kubelet %s is, for a rule that needs %j, at most %s',
    (kubeletVersion, needs, confidence) => {
      const rule = toy(alwaysFails.judge as Answer, { needs })
      expect(
        judged([rule], [buildNode({ identity: { kubeletVersion } })]).findings[0]?.confidence,
      ).toBe(confidence)
      const possible = toy(
        function* () {
          yield { ...failing, confidence: 'possible' }
        },
        { needs },
      )
      expect(
        judged([possible], [buildNode({ identity: { kubeletVersion } })]).findings[0]?.confidence,
      ).toBe('possible')
    },
  )

  it('grades by the nodes of all findings together, not of each', () => {
    const critical = toy(alwaysFails.judge as Answer, { severity: 'critical' })
    const ownGroup = Array.from({ length: 20 }, (_, index) =>
      buildNode({ name: `node-${index}`, nodegroup: `group-${index}` }),
    )
    expect(judged([critical], ownGroup).clusters[0]?.grade).toBe('F')
    const fourty = Array.from({ length: 3000 }, (_, index) =>
      buildNode({ name: `node-${index}`, nodegroup: `group-${index % 40}` }),
    )
    expect(judged([alwaysFails], fourty).clusters[0]?.grade).toBe('C')
  })

  it('proposes for one nodegroup one image GC, sound for all of its nodes', () => {
    const image = (high: number) => ({ highThresholdPercent: high, lowThresholdPercent: high - 5 })
    const peers = Array.from({ length: 3 }, (_, index) => ({
      name: `peer-${index}`,
      imageGC: image(85),
    }))
    const edited = {
      name: 'edited',
      imageGC: image(70),
      thresholds: [hard('nodefs.available', 30)],
    }
    const elsewhere = { name: 'elsewhere', nodegroup: 'other', imageGC: image(85) }
    const { findings } = judged(rules, [...peers, edited, elsewhere].map(buildNode))
    const proposed = findings
      .filter(({ family }) => family === 'image-gc')
      .map(({ rule, subject, fix }) => [
        rule,
        subject.name,
        fix.config.imageGCHighThresholdPercent,
        fix.config.imageGCLowThresholdPercent,
      ])
    expect(proposed.toSorted()).toEqual([
      ['alert-before-image-gc', 'other', 80, 70],
      ['alert-before-image-gc', 'workers', 66, 56],
      ['eviction-before-image-gc', 'workers', 66, 56],
    ])
  })

  it('joins several failings of one rule on one node', () => {
    const twice = toy(function* () {
      yield failing
      yield { consequence: 'Again.', evidence: [line('computed', 'toy', '2')], severity: 'high' }
    })
    expect(judged([twice], [buildNode()]).findings).toMatchObject([
      {
        consequence: 'It fails. Again.',
        severity: 'high',
        evidence: [{ value: '1' }, { value: '2' }],
      },
    ])
  })

  it('gives the same bytes whatever the order of the records', () => {
    const build = (index: number) =>
      buildNode({
        name: `node-${index}`,
        cluster: `cluster-${index % 3}`,
        nodegroup: index % 5 === 0 ? null : `group-${index % 2}`,
        configuration: { imageGCHighThresholdPercent: index % 7 === 0 ? 95 : 85 },
        imageGC: {
          highThresholdPercent: index % 7 === 0 ? 95 : 85,
          triggered: index % 4 === 0 ? null : index % 4 === 1,
        },
        thresholds: [hard('nodefs.available', 10 + (index % 6), 12)],
        ...(index % 11 === 0 && {
          record: {
            summary: null,
            errors: [{ what: 'summary' as const, message: `node ${index} timed out` }],
          },
        }),
      })
    const nodes = Array.from({ length: 60 }, (_, index) => build(index))
    const { audited: _, ...inOrder } = judged(rules, nodes)
    const shuffled = nodes
      .map((node, index) => ({ node, at: (index * 37) % 60 }))
      .toSorted((a, b) => a.at - b.at)
    const { audited: __, ...other } = judged(
      rules,
      shuffled.map(({ node }) => node),
    )
    expect(JSON.stringify(other)).toBe(JSON.stringify(inOrder))
    expect(inOrder.findings.length).toBeGreaterThan(5)
    expect(inOrder.unknowns.length).toBeGreaterThan(2)
  })
})

describe('ids', () => {
  it.each([
    [
      'eviction-before-image-gc',
      'prod',
      { kind: 'Nodegroup', namespace: null, name: 'workers' },
      '364932d77817c366',
    ],
    [
      'unread-node',
      'test',
      { kind: 'Node', namespace: null, name: 'ip-10-0-1-2.ec2.internal' },
      'c4be32c28999f111',
    ],
  ] as const)('of %s in %s never changes', (rule, cluster, subject, id) => {
    expect(findingId(rule, cluster, subject)).toBe(id)
  })

  it('differ by rule, cluster and each part of the subject', () => {
    const subject = { kind: 'Node', namespace: null, name: 'a' } as const
    const ids = [
      findingId('r', 'c', subject),
      findingId('s', 'c', subject),
      findingId('r', 'd', subject),
      findingId('r', 'c', { ...subject, kind: 'NodePool' }),
      findingId('r', 'c', { ...subject, namespace: '' }),
      findingId('r', 'c', { ...subject, name: 'b' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('policy', () => {
  it('overrides a severity, whatever the node said', () => {
    const critical = toy(function* () {
      yield { ...failing, severity: 'critical' }
    })
    expect(
      judged([critical], [buildNode()], { severities: { toy: 'info' } }).findings[0]?.severity,
    ).toBe('info')
  })

  const waiver = (given: Partial<Waiver> = {}): Waiver => ({
    rule: 'toy',
    match: {},
    until: '2026-11-21',
    reason: 'known',
    ...given,
  })

  it.each([
    ['2026-11-20', true],
    ['2026-11-21', true],
    ['2026-11-22', false],
  ])('waives until the end of 2026-11-21 UTC; on %s: %s', (day, isWaived) => {
    const { findings, waived, clusters } = judged(
      [alwaysFails],
      [buildNode()],
      { waivers: [waiver()] },
      { day },
    )
    expect(waived).toHaveLength(isWaived ? 1 : 0)
    expect(findings).toHaveLength(isWaived ? 0 : 1)
    if (isWaived) expect(waived[0]?.waived).toEqual({ until: '2026-11-21', reason: 'known' })
    else
      expect(findings[0]?.evidence.at(-1)).toEqual(
        line('waiver', 'waiver', 'expired after 2026-11-21; its reason was: known'),
      )
    expect(clusters[0]?.grade).toBe(isWaived ? 'A' : 'C')
  })

  it('takes the day in UTC, whatever the offset that the time is written with', () => {
    const judgement = openJudgement([alwaysFails], { ...defaultPolicy, waivers: [waiver()] })
    const { record, prediction } = buildNode()
    judgement.take(inputOf(record), prediction)
    expect(judgement.close('2026-11-22T01:00:00+02:00').waived).toHaveLength(1)
  })

  it.each([
    [{}, true],
    [{ cluster: 'prod', kind: 'Nodegroup', name: 'workers' }, true],
    [{ cluster: 'pr*', name: '*ork*' }, true],
    [{ namespace: '*' }, true],
    [{ cluster: 'test' }, false],
    [{ kind: 'Node' }, false],
    [{ name: 'work' }, false],
    [{ namespace: 'default' }, false],
  ] as const)('matches %j: %s', (match, isWaived) => {
    expect(
      judged([alwaysFails], [buildNode()], { waivers: [waiver({ match })] }).waived,
    ).toHaveLength(isWaived ? 1 : 0)
  })

  it('takes of several waivers the one that holds longest, and none of another rule', () => {
    const waivers = [
      waiver({ until: '2026-11-01' }),
      waiver({ until: '2026-12-01', reason: 'longer' }),
      waiver({ rule: 'other', until: '2027-01-01' }),
    ]
    expect(judged([alwaysFails], [buildNode()], { waivers }).waived[0]?.waived).toEqual({
      until: '2026-12-01',
      reason: 'longer',
    })
  })
})

describe('coverage', () => {
  const host = { kubelet: { files: [] }, filesystems: [] }
  const runtime = { images: [], containers: [] }
  it.each([
    ['read', {}],
    ['partlyRead', { configz: null }],
    ['partlyRead', { configz: null, summary: null }],
    ['notRead', { configz: null, summary: null, pods: null }],
    ['notRead', { errors: [{ what: 'node' as const, message: 'HTTP 404' }] }],
    ['partlyRead', { configz: { kubeletconfig: { evictionHard: 'none' } } }],
    ['partlyRead', { summary: {} }],
    [
      'partlyRead',
      { configz: null, summary: null, pods: null, host: { kernel: { release: '6.1' } } },
    ],
    ['partlyRead', { configz: null, summary: null, pods: null, runtime: { images: [] } }],
    ['notRead', { configz: null, summary: null, pods: null, host: {} }],
    [
      'notRead',
      {
        configz: null,
        summary: null,
        pods: null,
        host: { schema: 'highwater.host/1', unread: [{ what: 'kubelet', why: 'denied' }] },
      },
    ],
    // What is there counts, whatever went wrong beside it.
    ['read', { errors: [{ what: 'summary' as const, message: 'cut off' }] }],
    // In mode ssm the kubelet is not queried.
    ['read', { mode: 'ssm', configz: null, summary: null, host, runtime }],
    ['partlyRead', { mode: 'ssm', configz: null, summary: null, host }],
    // Each of them without a main part.
    ['partlyRead', { mode: 'ssm', host: { kernel: {} }, runtime }],
    ['partlyRead', { mode: 'ssm', host: { ...host, filesystems: undefined }, runtime }],
    [
      'partlyRead',
      {
        mode: 'ssm',
        host: { ...host, kubelet: { files: [{ path: '/k.json', role: 'config', content: null }] } },
        runtime,
      },
    ],
    [
      'partlyRead',
      {
        mode: 'ssm',
        host: { ...host, unread: [{ what: 'drop-ins in /d', why: 'no permission' }] },
        runtime,
      },
    ],
    [
      'read',
      {
        mode: 'ssm',
        host: { ...host, unread: [{ what: 'podLogDirectories', why: 'no permission' }] },
        runtime,
      },
    ],
    ['partlyRead', { mode: 'ssm', host, runtime: { images: [] } }],
    ['partlyRead', { mode: 'ssm', host, runtime: { containers: [] } }],
    ['partlyRead', { mode: 'ssm', pods: null, host: { kernel: {} }, runtime: { images: [] } }],
    ['partlyRead', { mode: 'ssm', configz: null, summary: null }],
    ['partlyRead', { mode: 'ssm', pods: null }],
    ['notRead', { mode: 'ssm', pods: null, configz: null, summary: null }],
    ['read', { mode: 'both', host, runtime }],
    ['partlyRead', { mode: 'both' }],
    [
      'partlyRead',
      { mode: 'both', pods: null, configz: null, summary: null, host: { kernel: {} } },
    ],
  ] as const)('counts a node as %s with %j', (state, record) => {
    const { audited, clusters, notAudited } = judged(
      [],
      [buildNode({ record: structuredClone(record) as NodeOptions['record'] })],
    )
    expect(audited[0]?.coverage).toBe(state)
    expect(clusters[0]?.coverage).toEqual({
      nodes: 1,
      read: 0,
      partlyRead: 0,
      notRead: 0,
      [state]: 1,
    })
    expect(notAudited).toHaveLength(state === 'notRead' ? 1 : 0)
  })

  it('counts what the mode did not promise as no gap', () => {
    const { audited, notAudited } = judged(
      [],
      [buildNode({ record: { mode: 'ssm', pods: null, configz: null, summary: null } })],
    )
    expect(audited[0]?.mode).toBe('ssm')
    expect(notAudited[0]?.reason).toMatchSnapshot()
  })

  it('reports why a node was not audited, and gives no grade if nothing was read', () => {
    const record = {
      configz: null,
      summary: null,
      pods: null,
      errors: [{ what: 'configz' as const, message: 'HTTP 500' }],
    }
    const { notAudited, clusters } = judged([], [buildNode({ record })])
    expect(notAudited[0]).toMatchSnapshot()
    expect(clusters[0]?.grade).toBeNull()
  })

  it('does not judge Fargate nodes: nothing reaches their kubelet', () => {
    const fargate = buildNode({
      nodegroup: null,
      labels: { 'eks.amazonaws.com/compute-type': 'fargate' },
      record: { configz: null, summary: null },
    })
    const { audited, clusters, findings, notAudited } = judged(rules, [fargate])
    expect(audited[0]?.coverage).toBe('notRead')
    expect(clusters[0]).toMatchObject({
      grade: null,
      coverage: { nodes: 1, read: 0, partlyRead: 0, notRead: 1 },
      outcomes: outcomes({ notApplicable: ofNodes.length }),
    })
    expect(notAudited[0]?.reason).toContain('Fargate')
    expect(findings).toEqual([])
  })

  it.each([
    [
      { errors: [{ what: 'nodes' as const, message: 'HTTP 401: Unauthorized' }] },
      'nodes',
      'nodes: HTTP 401: Unauthorized',
    ],
    [{ eks: { status: 'CREATING' } }, 'inactive', 'the cluster is CREATING and showed no nodes'],
    [{ eks: { status: 'ACTIVE' } }, null, null],
  ])('lists a cluster with %j as not audited (%s): %s', (given, cause, reason) => {
    const judgement = openJudgement(rules, defaultPolicy)
    judgement.takeCluster(clusterOf(given))
    const { notAudited, clusters } = judgement.close(takenAt)
    expect(notAudited).toEqual(
      reason === null ? [] : [{ cluster: 'prod', node: null, cause, reason }],
    )
    expect(clusters).toMatchObject([{ name: 'prod', grade: null, coverage: { nodes: 0 } }])
  })

  it('says once what two records of a cluster say', () => {
    const judgement = openJudgement(rules, defaultPolicy)
    const first = { what: 'nodegroups' as const, message: 'HTTP 403' }
    judgement.takeCluster(clusterOf({ errors: [first] }))
    const second = { what: 'nodes' as const, message: 'HTTP 500' }
    judgement.takeCluster(clusterOf({ errors: [first, second] }))
    expect(judgement.close(takenAt).notAudited.map(({ reason }) => reason)).toEqual([
      'nodegroups: HTTP 403',
      'nodes: HTTP 500',
    ])
  })

  it('lists what was lost of its objects, once', () => {
    const judgement = openJudgement(rules, defaultPolicy)
    const errors = [{ what: 'events' as const, message: 'cut' }]
    for (let page = 0; page < 2; page++)
      judgement.takeObjects({ cluster: 'prod', resource: 'events', items: [], errors })
    judgement.takeCluster(clusterOf({ errors: [] }))
    const { notAudited } = judgement.close(takenAt)
    expect(notAudited.map(({ reason }) => reason)).toEqual(['events: cut'])
  })
})

describe('hostile input', () => {
  const long = `a${'\u0000\u202e\n'.repeat(10)}${'x'.repeat(10_000)}`

  it('cuts what comes from outside before it reaches a finding', () => {
    const echo = toy(function* ({ identity }) {
      yield {
        title: identity.name,
        consequence: identity.name.repeat(3),
        evidence: Array.from({ length: 100 }, (_, index) =>
          line('computed', `${identity.name}${index}`, identity.name),
        ),
        fix: { config: { evictionHard: { [identity.name]: '10%' } } },
      }
    })
    const { findings } = judged([echo], [buildNode({ name: long, nodegroup: long, cluster: long })])
    const text = JSON.stringify(findings)
    expect(text.length).toBeLessThan(30_000)
    expect(text).not.toMatch(/\\u0000|\\n|\u202e/)
    expect(findings[0]?.evidence.at(-1)).toEqual(line('omitted', 'not shown', '76 further lines'))
    expect(findings[0]?.fix.config).toEqual({})
    expect(findings[0]?.subject.name.length).toBeLessThanOrEqual(253)
    expect(findings[0]?.nodes.sample[0]?.length).toBeLessThanOrEqual(253)
  })

  it('takes a record whose parts are missing or of another kind without throwing', () => {
    const { prediction } = buildNode()
    const judgement = openJudgement(rules, defaultPolicy)
    expect(
      judgement.take(inputOf({ kind: 'Node', cluster: 'prod', node: {} }), prediction).coverage,
    ).toBe('notRead')
    expect(judgement.close(takenAt).ruleErrors).toEqual([])
  })
})

describe('a fleet of hundreds of nodegroups', () => {
  /** Eight nodes in each group, whose image GC begins after the alert. */
  function groups(count: number) {
    const judgement = openJudgement([alertBeforeImageGc], defaultPolicy)
    for (let index = 0; index < 8 * count; index++) {
      const configuration = { imageGCHighThresholdPercent: 85, kubeReserved: { memory: '893Mi' } }
      const imageGC = { highThresholdPercent: 85 }
      const { record, prediction } = buildNode({
        name: `node-${index}`,
        nodegroup: `group-${index % count}`,
        configuration,
        imageGC,
      })
      judgement.take(inputOf(record), prediction)
    }
    return judgement.close(takenAt).findings
  }

  it('names fewer nodes with each finding, and counts them all', () => {
    const names = (count: number) =>
      groups(count).map(({ nodes }) => [nodes.count, nodes.sample.length])
    expect(new Set(names(100).map(String))).toEqual(new Set(['8,8']))
    expect(new Set(names(301).map(String))).toEqual(new Set(['8,5']))
  })
})

describe('a step that ends other pods on each node', () => {
  const drain = (pod: string) => ({ id: 'drain' as const, lost: { pods: [pod], data: [] } })
  const drains = toy(function* ({ identity }) {
    yield { ...failing, steps: [{ id: 'look-on-node' }, drain(`shop/of-${identity.name}`)] }
  })

  it('is one step, with the pods of the node that its command names', () => {
    const [finding] = judged([drains], named(12, { nodegroup: 'general' }).toReversed()).findings
    expect(finding?.nodes.count).toBe(12)
    expect(finding?.steps.map(({ action }) => action)).toEqual([
      { id: 'look-on-node' },
      drain('shop/of-node-0000'),
    ])
    expect(finding?.steps[1]?.commands[0]?.command).toContain('node-0000')
  })
})
