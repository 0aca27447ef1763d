import { describe, expect, it } from 'vitest'
import type { OwnerMatch } from '#model/policy.ts'
import type { AuditReport, HiddenFinding, ReportedTrend, ResourceTags } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/page/view.ts'
import { ownerlessFindings, shareOf } from '#report/share.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import {
  auditedNode,
  clusterResult,
  deltaWith,
  finding,
  findingsDocument,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const { words } = english

const cluster = (name: string) => ({ kind: 'Cluster' as const, namespace: null, name })
const pool = { kind: 'NodePool' as const, namespace: null, name: 'spot' }
const loose = { kind: 'Node' as const, namespace: null, name: 'loose' }
const disk = sharedDisk(50)
const nodes = [
  auditedNode('g1', disk, { cluster: 'prod' }),
  auditedNode('g2', disk, { cluster: 'prod', coverage: 'partlyRead' }),
  auditedNode('b1', disk, { cluster: 'prod', identity: { group: nodegroup('batch') } }),
  unreadNode('b2', [{ what: 'configz', message: '503' }], {
    cluster: 'prod',
    identity: { group: nodegroup('batch') },
  }),
  auditedNode('s1', disk, { cluster: 'stage', identity: { group: pool } }),
  auditedNode('loose', disk, { cluster: 'stage', identity: { group: loose } }),
]
const tags: ResourceTags[] = [
  { cluster: 'prod', nodegroup: null, tags: { team: 'platform' } },
  { cluster: 'prod', nodegroup: 'batch', tags: { team: 'data' } },
  { cluster: 'stage', nodegroup: null, tags: { team: 'data', env: 'stage' } },
]
const ended = (id: string, subject: AuditReport['nodes'][number]['identity']['group']) => ({
  id,
  rule: 'image-gc-dead',
  cluster: 'prod',
  subject,
  title: 'Image GC is dead',
  severity: 'high' as const,
  since: '2026-11-01',
  lastSeen: '2026-11-20',
  ended: 'fixed' as const,
  on: '2026-11-21',
})
const hidden = (
  id: string,
  subject: AuditReport['nodes'][number]['identity']['group'],
): HiddenFinding => {
  const { ended: _how, on: _day, ...finding } = ended(id, subject)
  return { ...finding, nodes: { count: 1, sample: ['b0'] }, isNew: true, why: [] }
}
const severitiesOf = (high: number) => ({ critical: 0, high, medium: 0, low: 0, info: 0 })
const points = (...names: string[]): ReportedTrend['points'] => [
  {
    day: '2026-11-21',
    grade: 'B',
    findings: severitiesOf(names.length),
    groupsLeftOut: 0,
    imageGc: null,
    groups: names.map(name => ({
      ...{ kind: name === 'spot' ? 'NodePool' : 'Nodegroup', name, nodes: 2, known: 2 },
      ...{ usedPercent: { min: 40, median: 50, max: 60 }, nearImageGc: 0, imageGcHeadroomBytes: 1 },
    })),
  },
]
const report: AuditReport = {
  document: findingsDocument({
    clusters: [
      clusterResult('prod', { coverage: { nodes: 4, read: 2, partlyRead: 1, notRead: 1 } }),
      clusterResult('stage', { coverage: { nodes: 2, read: 2, partlyRead: 0, notRead: 0 } }),
      clusterResult('lost', {
        grade: null,
        coverage: { nodes: 0, read: 0, partlyRead: 0, notRead: 0 },
      }),
    ],
    findings: [
      finding('high', { id: 'general', cluster: 'prod' }),
      finding('low', { id: 'batch', cluster: 'prod', subject: nodegroup('batch') }),
      finding('low', { id: 'whole', cluster: 'prod', subject: cluster('prod') }),
      finding('low', { id: 'spot', cluster: 'stage', subject: pool }),
      finding('low', { id: 'loose', cluster: 'stage', subject: loose }),
    ],
    waived: [finding('low', { id: 'waived', cluster: 'prod', subject: nodegroup('batch') })],
    unknowns: [
      {
        rule: 'r',
        cluster: 'stage',
        subject: pool,
        nodes: { count: 1, sample: ['s1'] },
        reason: 'x',
      },
    ],
    notAudited: [
      { cluster: 'prod', node: 'b2', cause: 'sources', reason: '503' },
      { cluster: 'prod', node: null, cause: 'objects', reason: 'events: 403' },
      { cluster: 'lost', node: null, cause: 'objects', reason: 'timeout' },
    ],
    delta: {
      new: ['batch', 'general'],
      resolved: ['old-batch', 'old-general'],
      worse: ['spot'],
      regressed: ['batch'],
    },
  }),
  nodes,
  alertPercent: 80,
  assumptions: quietReport([]).assumptions,
  tags,
  before: {
    takenAt: '2026-11-20T05:00:00Z',
    delta: {
      ...deltaWith([
        ['batch', { change: 'new', why: [], subject: nodegroup('batch') }],
        ['general', { change: 'new', why: [] }],
      ]),
      clusters: ['prod', 'stage'].map(name => ({ name, before: null, after: null })),
      unchanged: { open: 3, waived: 1, inDoubt: 0 },
      nodes: {
        gone: [{ cluster: 'prod', node: 'b0' }],
        come: ['b1', 'g1'].map(node => ({ cluster: 'prod', node })),
        notReadNow: ['b2', 'g2'].map(node => ({
          cluster: 'prod',
          node,
          coverage: 'partlyRead',
          before: 'read',
          reason: '503',
        })),
      },
      notes: [
        { cluster: 'stage', text: 'of stage nothing is known' },
        { cluster: 'prod', text: 'of prod less is known, unlike stage' },
        { cluster: null, text: 'what stage and prod lack' },
      ],
    },
    ended: [ended('old-batch', nodegroup('batch')), ended('old-general', nodegroup('general'))],
    readAgain: ['b2', 'g2'].map(node => ({
      cluster: 'prod',
      node,
      cause: 'sources',
      reason: '503',
    })),
    returned: ['batch', 'general'].map(id => ({
      id,
      since: '2026-10-01',
      ended: 'fixed',
      on: '2026-11-03',
    })),
    hidden: ['batch', 'general'].map(name => hidden(`unseen-${name}`, nodegroup(name))),
    absent: [
      { cluster: 'prod', severities: ['high'], isNew: true },
      { cluster: 'stage', severities: [], isNew: true },
    ],
    unread: [{ cluster: 'prod', node: 'b2', hasCome: false }],
  },
  trends: [
    { cluster: 'prod', points: points('general', 'batch') },
    { cluster: 'stage', points: points('spot') },
  ],
}

function shown(match: OwnerMatch) {
  const share = shareOf(report, { name: 'data', match })
  return (
    share && {
      nodes: share.nodes.map(({ identity: { name } }) => name),
      findings: share.document.findings.map(({ id }) => id),
      clusters: share.document.clusters.map(
        ({ name, coverage }) => `${name} ${coverage.read}/${coverage.nodes}`,
      ),
      lost: share.document.notAudited.map(({ cluster: of, node }) => `${of} ${node ?? '*'}`),
    }
  )
}

describe("an owner's share of a report", () => {
  it.each<[string, OwnerMatch, ReturnType<typeof shown>]>([
    [
      'by cluster',
      { cluster: 'st*' },
      { nodes: ['s1', 'loose'], findings: ['spot', 'loose'], clusters: ['stage 2/2'], lost: [] },
    ],
    [
      'by nodegroup, and what was not read and may be theirs',
      { nodegroup: 'batch' },
      {
        nodes: ['b1', 'b2'],
        findings: ['batch'],
        clusters: ['prod 1/2', 'lost 0/0'],
        lost: ['prod b2', 'prod *', 'lost *'],
      },
    ],
    [
      'by nodepool of a cluster',
      { cluster: 'stage', nodegroup: 'spot' },
      { nodes: ['s1'], findings: ['spot'], clusters: ['stage 1/1'], lost: [] },
    ],
    [
      "by tag: a nodegroup's own goes before its cluster's",
      { tags: { team: 'data' } },
      {
        nodes: ['b1', 'b2', 's1', 'loose'],
        findings: ['batch', 'spot', 'loose'],
        clusters: ['prod 1/2', 'stage 2/2', 'lost 0/0'],
        lost: ['prod b2', 'prod *', 'lost *'],
      },
    ],
    [
      'by tag of the cluster, without the nodegroup that has another',
      { cluster: 'prod', tags: { team: 'plat*' } },
      {
        nodes: ['g1', 'g2'],
        findings: ['general', 'whole'],
        clusters: ['prod 1/2'],
        lost: ['prod *'],
      },
    ],
    ['by all that is given', { cluster: 'stage', tags: { team: 'data', env: 'prod' } }, null],
    [
      'by a name that no key of an object is',
      { cluster: 'stage', tags: { constructor: '*' } },
      null,
    ],
    ['by a cluster that is not there', { cluster: 'elsewhere' }, null],
    [
      'of everything',
      {},
      {
        nodes: ['g1', 'g2', 'b1', 'b2', 's1', 'loose'],
        findings: ['general', 'batch', 'whole', 'spot', 'loose'],
        clusters: ['prod 2/4', 'stage 2/2', 'lost 0/0'],
        lost: ['prod b2', 'prod *', 'lost *'],
      },
    ],
  ])('is shared %s', (_, match, expected) => expect(shown(match)).toEqual(expected))

  it('goes by a cluster’s own name where those of several places have account and region before it', () => {
    const across: AuditReport = JSON.parse(
      JSON.stringify(report).replaceAll('"prod"', '"111122223333/eu-west-1/prod"'),
    )
    const theirs = (of: AuditReport) =>
      shareOf(of, { name: 'a', match: { cluster: 'prod' } })?.document.findings.map(({ id }) => id)
    expect(theirs(across)).toEqual(['general', 'batch', 'whole'])
    expect(theirs(across)).toEqual(theirs(report))
  })

  it('has the changes of what is theirs, and no others', () => {
    const share = shareOf(report, { name: 'data', match: { nodegroup: 'batch' } })
    expect(share?.document.delta).toEqual({
      new: ['batch'],
      resolved: ['old-batch'],
      worse: [],
      regressed: ['batch'],
    })
    // The owner of the missing node is unknown.
    expect(share?.before?.delta).toMatchObject({
      ...{
        clusters: [],
        findings: [{ id: 'batch', change: 'new' }],
        unchanged: { open: 0, waived: 1 },
      },
      ...{
        nodes: { gone: [], come: [{ node: 'b1' }], notReadNow: [{ node: 'b2' }] },
        // A note belongs to its cluster, whatever names are in its text.
        notes: [{ cluster: 'prod' }, { cluster: null }],
      },
    })
    expect(share?.before?.ended.map(({ id }) => id)).toEqual(['old-batch'])
    expect(share?.before?.readAgain.map(({ node }) => node)).toEqual(['b2'])
    expect(share?.before?.unread).toEqual([{ cluster: 'prod', node: 'b2', hasCome: false }])
    expect(share?.before?.absent).toEqual([])
    expect(share?.before?.hidden.map(({ id }) => id)).toEqual(['unseen-batch'])
    expect(share?.before?.returned.map(({ id }) => id)).toEqual(['batch'])
    expect(share?.document.waived.map(({ id }) => id)).toEqual(['waived'])
    expect(share?.document.unknowns).toEqual([])
  })

  describe('shows their part of a cluster, with a note:', () => {
    const outcomes = (pass: number, fail: number) => ({
      pass,
      fail,
      unknown: 0,
      notApplicable: 0,
      error: 0,
    })
    const counted = nodes.map(node => ({
      ...node,
      outcomes: node.identity.name === 'g1' ? outcomes(3, 2) : outcomes(5, 1),
    }))
    const clusters = [
      // Beside its nodes' outcomes it has those of rules on itself: 7 and 4.
      clusterResult('prod', {
        ...{ grade: 'D', outcomes: outcomes(3 + 15 + 7, 2 + 3 + 4) },
        coverage: {
          nodes: 4,
          read: 2,
          partlyRead: 1,
          notRead: 1,
          clusterGc: { lists: 16, read: 15 },
        },
      }),
      clusterResult('stage', { grade: null }),
    ]
    const garbage = [overviewOf({ cluster: 'prod' })]
    const divided: AuditReport = {
      ...report,
      nodes: counted,
      garbage,
      document: { ...report.document, clusters },
    }
    const part = (match: OwnerMatch, of = divided) => shareOf(of, { name: 'data', match })!
    const clusterOf = (match: OwnerMatch, name = 'prod') =>
      part(match).document.clusters.find(each => each.name === name)

    it('outcomes of their nodes, and a grade of what is open there', () => {
      expect(part({ nodegroup: 'batch' }).owner).toBe('data')
      expect(clusterOf({ nodegroup: 'batch' })).toMatchObject({
        grade: 'B',
        outcomes: outcomes(10, 2),
        coverage: { nodes: 2, read: 1 },
      })
      expect(clusterOf({ nodegroup: 'batch' })?.coverage.clusterGc).toBeUndefined()
      expect(clusterOf({ nodegroup: 'general' })).toMatchObject({
        grade: 'D',
        outcomes: outcomes(8, 3),
      })
    })

    it('with what is of the cluster itself where that is theirs, too', () => {
      const own = { cluster: 'prod', tags: { team: 'platform' } }
      expect(clusterOf(own)).toMatchObject({
        outcomes: outcomes(8 + 7, 3 + 4),
        coverage: { clusterGc: { lists: 16, read: 15 } },
      })
      expect(part(own).garbage).toHaveLength(1)
      expect(part({ nodegroup: 'batch' }).garbage).toEqual([])
    })

    it('and all of it as it is where no node is another’s', () => {
      expect(clusterOf({ cluster: 'prod' })).toEqual(clusters[0])
    })

    it('no good grade where the whole has none', () => {
      expect(clusterOf({ nodegroup: 'spot' }, 'stage')?.grade).toBeNull()
    })

    it('a grade that counts every node of a finding that names only some', () => {
      const many = Array.from({ length: 40 }, (_, index) =>
        auditedNode(`m${index}`, disk, { cluster: 'prod', identity: { group: nodegroup('many') } }),
      )
      const few = { count: 3, sample: ['m0'] }
      const graded = (count: typeof few) => {
        const found = finding('high', { cluster: 'prod', subject: nodegroup('many'), nodes: count })
        const document = { ...divided.document, findings: [found] }
        return part({ nodegroup: 'many' }, { ...divided, nodes: [...counted, ...many], document })
          .document.clusters[0]?.grade
      }
      // Less than a tenth of their nodes costs a step less.
      expect([graded(few), graded({ ...few, count: 4 })]).toEqual(['C', 'D'])
    })

    it('on the page', () => {
      const html = renderPage(pageView({ ...part({ nodegroup: 'batch' }), before: null }, english))
      expect(html).toContain(words.page.audience('data'))
      expect(renderPage(pageView({ ...divided, before: null }, english))).not.toContain(
        words.page.audience('data'),
      )
    })
  })

  it.each<[OwnerMatch, string[]]>([
    [{ cluster: 'stage' }, ['stage: spot, 1 findings']],
    [{ nodegroup: 'batch' }, ['prod: batch, no findings']],
    [{ cluster: 'prod', tags: { team: 'platform' } }, ['prod: general, no findings']],
    [{}, ['prod: general batch, 2 findings', 'stage: spot, 1 findings']],
  ])(
    '%j has the lines of what is theirs, and counts of whole clusters only where they are',
    (match, expected) => {
      const trendLines = shareOf(report, { name: 'data', match })?.trends?.map(
        ({ cluster: name, points: [point] }) => {
          const findings =
            point?.findings == null
              ? 'no'
              : Object.values(point.findings).reduce((sum, count) => sum + count, 0)
          return `${name}: ${point?.groups.map(group => group.name).join(' ')}, ${findings} findings`
        },
      )
      expect(trendLines).toEqual(expected)
    },
  )

  it('has no plan of the whole fleet', () => {
    const planned: AuditReport = { ...report, plan: { state: 'failed', why: 'x' } }
    expect(shareOf(planned, { name: 'data', match: { nodegroup: 'batch' } })?.plan).toBeUndefined()
  })

  it('parts a whole fleet without losing a finding', () => {
    const morning = morningReport()
    const groups = ['general', 'batch', 'edge', 'default', 'windows']
    const sharedIds = groups.flatMap(
      name =>
        shareOf(morning, { name, match: { nodegroup: name } })?.document.findings.map(
          ({ id }) => id,
        ) ?? [],
    )
    const ofGroups = morning.document.findings.filter(
      ({ subject: { kind } }) => kind === 'Nodegroup' || kind === 'NodePool',
    )
    expect(sharedIds.toSorted()).toEqual(ofGroups.map(({ id }) => id).toSorted())
  })
})

describe('owners by namespace and label, and the fallback', () => {
  const namespaced = (name: string) => ({ kind: 'Pod' as const, namespace: name, name: 'batch' })
  const report: AuditReport = {
    ...quietReport(nodes),
    tags: [
      ...tags.filter(({ nodegroup: group }) => group !== 'batch'),
      { cluster: 'prod', nodegroup: 'batch', tags: {}, labels: { team: 'data' } },
    ],
    document: findingsDocument({
      clusters: [clusterResult('prod')],
      findings: [
        finding('low', { id: 'group', cluster: 'prod', subject: nodegroup('batch') }),
        finding('low', { id: 'object', cluster: 'prod', subject: namespaced('shop') }),
        finding('low', { id: 'other', cluster: 'prod', subject: namespaced('billing') }),
        finding('low', { id: 'whole', cluster: 'prod', subject: cluster('prod') }),
      ],
    }),
  }
  const idsOf = (match: OwnerMatch, others: OwnerMatch[] = []) =>
    shareOf(report, { name: 'a', match }, others)?.document.findings.map(({ id }) => id)

  it.each<[OwnerMatch, string[]]>([
    [{ labels: { team: 'da*' } }, ['group']],
    [{ namespace: 'sh*' }, ['object']],
    [{ namespace: 'shop', cluster: 'stage' }, []],
  ])('give %j their findings', (match, ids) => {
    expect(idsOf(match) ?? []).toEqual(ids)
  })

  it('goes by the labels of a nodepool, read in two parts, and of a node without a group', () => {
    const pool = { kind: 'NodePool' as const, name: 'spot' }
    const lone = { kind: 'Node' as const, name: 'hybrid-1' }
    const entry = (group: typeof pool | typeof lone, labels: Record<string, string>) => ({
      ...{ cluster: 'prod', nodegroup: null, tags: {} },
      ...{ group, labels },
    })
    const labelled: AuditReport = {
      ...report,
      tags: [
        entry(pool, { team: 'data', tier: 'one' }),
        entry(pool, { team: 'data' }),
        entry(lone, { team: 'data' }),
      ],
      document: findingsDocument({
        clusters: [clusterResult('prod')],
        findings: [pool, lone].map(subject =>
          finding('low', {
            id: subject.kind,
            cluster: 'prod',
            subject: { ...subject, namespace: null },
          }),
        ),
      }),
    }
    const idsBy = (labels: Record<string, string>) =>
      shareOf(labelled, { name: 'a', match: { labels } })?.document.findings.map(({ id }) => id)
    expect(idsBy({ team: 'data' })).toEqual(['NodePool', 'Node'])
    expect(idsBy({ tier: 'one' }) ?? []).toEqual([])
  })

  it('lists the findings of no owner, and none without owners or with a fallback for all', () => {
    const ownerless = (...matches: OwnerMatch[]) =>
      ownerlessFindings(
        report,
        matches.map(match => ({ match })),
      ).map(({ id }) => id)
    expect(ownerless({ labels: { team: 'data' } }, { namespace: 'shop' })).toEqual([
      'other',
      'whole',
    ])
    expect(ownerless({ namespace: 'shop' }, {})).toEqual([])
    expect(ownerless()).toEqual([])
  })

  it('gives the fallback what no other owner has', () => {
    expect(idsOf({}, [{ labels: { team: 'data' } }, { namespace: 'shop' }])).toEqual([
      'other',
      'whole',
    ])
  })
})
