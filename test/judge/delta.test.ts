import { describe, expect, it } from 'vitest'
import { compareRuns, findingsByChange } from '#judge/compare/delta/delta.ts'
import { line } from '#judge/rule.ts'
import { findingId } from '#judge/run/tally.ts'
import { fargateReason } from '#judge/subject/subject.ts'
import type { Change, ComparedFinding, ComparedRun } from '#model/delta.ts'
import type { Confidence, CoverageState, NotAudited, Severity } from '#model/finding.ts'
import type { Subject } from '#model/input/record.ts'
import { isLinear } from '#test/linear.ts'
import { clusterResult, findingsDocument, finding as sampleFinding } from '#test/report-builder.ts'

const cluster = 'prod'
const shop: Subject = { kind: 'Namespace', namespace: null, name: 'shop' }
const whole: Subject = { kind: 'Cluster', namespace: null, name: cluster }
const workers: Subject = { kind: 'Nodegroup', namespace: null, name: 'workers' }

interface Given {
  /** Names of nodes: `a` was read, `b?` not at all, `c~` in part, `f!` is Fargate's. Null: a findings.json. */
  nodes: string | null
  /** Of rule `r`: the names of its nodes. */
  fails?: string
  /** How many more nodes it is on than it names. */
  unnamed?: number
  severity?: Severity
  confidence?: Confidence
  waived?: boolean
  places?: number
  evidence?: ComparedFinding['evidence']
  subject?: Subject
  /** Nodes on which `r` could not be decided. */
  unknown?: string
  rules?: string[]
  notAudited?: NotAudited[]
  inputErrors?: string[]
  lostLines?: number
  ruleErrors?: string
  /** By which a findings.json is known. */
  nodeCount?: number
  outcomeErrors?: number
  clusters?: string[]
  /** Whether the clusters were looked through for garbage, too. */
  looked?: boolean
  /** `r` could not be decided on the cluster itself. */
  unknownOnCluster?: boolean
}

const split = (names: string | undefined) => (names ?? '').split(' ').filter(name => name !== '')
const coverages: Record<string, CoverageState> = {
  '?': 'notRead',
  '~': 'partlyRead',
  '!': 'partlyRead',
}

function run(given: Given): ComparedRun {
  const {
    nodes,
    fails,
    unnamed = 0,
    severity = 'high',
    confidence = 'certain',
    waived = false,
    evidence = [],
    places,
    subject = workers,
  } = given
  const written = split(nodes ?? '')
  const met = written.map(name => ({
    cluster,
    name: name.replace(/[?~!]$/, ''),
    group: workers,
    coverage: coverages[name.slice(-1)] ?? ('read' as const),
    isFargate: name.endsWith('!'),
    missed: name.endsWith('~') ? 'summary: HTTP 503' : '',
  }))
  const found = (names: string[]): ComparedFinding =>
    sampleFinding(severity, {
      id: findingId('r', cluster, subject),
      rule: 'r',
      cluster,
      subject,
      confidence,
      evidence,
      nodes: { count: names.length + unnamed, sample: names },
      ...(places && { places }),
      waived: waived ? { until: '2026-12-31', reason: 'known' } : null,
    })
  const findings = fails === undefined ? [] : [found(split(fails))]
  const unknown = split(given.unknown)
  const count = given.nodeCount ?? met.length
  const names = given.clusters ?? [cluster]
  const document = findingsDocument({
    clusters: names.map(name =>
      clusterResult(name, {
        coverage: {
          ...{ nodes: count, read: count, partlyRead: 0, notRead: 0 },
          ...(given.looked !== false && { clusterGc: { lists: 9, read: 9 } }),
        },
        outcomes: {
          pass: 1,
          fail: 1,
          unknown: 0,
          notApplicable: 0,
          error: given.outcomeErrors ?? 0,
        },
      }),
    ),
    unknowns: [
      ...(unknown.length === 0
        ? []
        : [
            {
              rule: 'r',
              cluster,
              subject: workers,
              nodes: { count: unknown.length, sample: unknown },
              reason: 'configz: HTTP 403',
            },
          ]),
      ...(given.unknownOnCluster
        ? [
            {
              rule: 'r',
              cluster,
              subject: whole,
              nodes: { count: 0, sample: [] },
              reason: 'jobs.batch: 403',
            },
          ]
        : []),
    ],
    notAudited: [
      ...(given.notAudited ?? []),
      ...met
        .filter(({ coverage, isFargate }) => coverage === 'notRead' || isFargate)
        .map(({ name, isFargate }) => ({
          cause: isFargate ? ('fargate' as const) : ('sources' as const),
          cluster,
          node: name,
          reason: isFargate ? fargateReason : 'configz: HTTP 503',
        })),
    ],
  })
  document.run = {
    ...document.run,
    rules: given.rules ?? ['r', 's'],
    inputErrors: given.inputErrors ?? [],
    ...(given.lostLines && { lostLines: given.lostLines }),
  }
  const errors = split(given.ruleErrors).map(node => ({ rule: 'r', cluster, node }))
  return {
    document: { ...document, findings: waived ? [] : findings, waived: waived ? findings : [] },
    nodes: nodes === null ? null : met,
    ruleErrors: nodes === null ? null : errors,
  }
}

/** @param places for how many the finding stands; absent: for itself */
const onObjects = (subject: Subject, places?: number): ComparedRun =>
  run({ nodes: 'a', fails: '', subject, ...(places && { places }) })

const layer = [line('layer', 'layer', 'peers')]

/** Drift that rule `r` reports, and that rule `s` reports on these nodes. */
function withDrift(given: Given, ofOther: string): ComparedRun {
  const comparedRun = run({ ...given, evidence: layer })
  const other = sampleFinding('medium', {
    id: findingId('s', cluster, workers),
    rule: 's',
    cluster,
    subject: workers,
    evidence: layer,
    nodes: { count: split(ofOther).length, sample: split(ofOther) },
  })
  return ofOther === ''
    ? comparedRun
    : {
        ...comparedRun,
        document: { ...comparedRun.document, findings: [...comparedRun.document.findings, other] },
      }
}

describe('drift that another rule reports now', () => {
  const verdict = (old: ComparedRun, now: ComparedRun) => {
    const { findings } = compareRuns(old, now)
    return findings
      .filter(({ id }) => id === findingId('r', cluster, workers))
      .map(({ change, why }) => [change, ...why])
  }
  const nodes = 'a b c'

  it('has moved, and is not fixed', () => {
    const old = withDrift({ nodes, fails: 'a' }, '')
    const moved = 'no longer on a, where s reports drift now'
    expect(verdict(old, withDrift({ nodes, fails: 'c' }, 'a b'))).toEqual([
      ['moved', 'started on c', moved],
    ])
    expect(verdict(old, withDrift({ nodes }, 'a b c'))).toEqual([['moved', moved]])
  })

  it('is not new if another rule reported it and now does not', () => {
    const now = withDrift({ nodes, fails: 'a' }, '')
    expect(verdict(withDrift({ nodes }, 'a'), now)).toMatchSnapshot()
    expect(verdict(withDrift({ nodes }, 'b'), now)).toEqual([['new']])
    expect(verdict(withDrift({ nodes }, 'a'), withDrift({ nodes, fails: 'a' }, 'a'))).toEqual([
      ['new'],
    ])
    expect(verdict(withDrift({ nodes }, 'a'), withDrift({ nodes, fails: 'a b' }, ''))).toEqual([
      ['new'],
    ])
  })

  it('is not moved by a carried finding of the other rule', () => {
    const then = withDrift({ nodes, fails: 'a' }, 'a')
    const carried = {
      ...then,
      document: {
        ...then.document,
        findings: then.document.findings.map(one =>
          one.rule === 's' ? { ...one, isCarried: true } : one,
        ),
      },
    }
    expect(verdict(carried, withDrift({ nodes }, 'a'))).toMatchSnapshot()
  })

  it('is fixed if the other rule reported it before, or reports another node', () => {
    expect(verdict(withDrift({ nodes, fails: 'a' }, 'a'), withDrift({ nodes }, 'a'))).toEqual([
      ['fixed'],
    ])
    expect(verdict(withDrift({ nodes, fails: 'a' }, ''), withDrift({ nodes }, 'b'))).toEqual([
      ['fixed'],
    ])
  })
})

const changesOf = (old: ComparedRun, now: ComparedRun) => {
  const delta = compareRuns(old, now)
  return { ...delta, findings: findingsByChange(delta) }
}

/** What became of the one finding there is. */
function changeOf(old: Given, now: Given) {
  const delta = compareRuns(run(old), run(now))
  const [found, ...more] = delta.findings
  expect(delta.unchanged.open + delta.unchanged.waived + more.length).toBe(found ? 0 : 1)
  return { delta, change: found?.change ?? ('unchanged' as const), why: found?.why ?? [] }
}

type Case = [
  what: string,
  old: Given,
  now: Given,
  change: Change | 'unchanged',
  why?: string | RegExp,
]

const becomes = (cases: Case[]) =>
  it.each(cases)('%s', (_, old, now, expected, why) => {
    const actual = changeOf(old, now)
    expect({ change: actual.change, why: actual.why }).toMatchObject({ change: expected })
    if (why !== undefined) expect(actual.why.join('; ')).toMatch(why)
  })

describe('a finding that was not there', () => {
  becomes([
    ['is new on nodes that were fine', { nodes: 'a b' }, { nodes: 'a b', fails: 'a' }, 'new'],
    [
      'is new on a node that came',
      { nodes: 'a' },
      { nodes: 'a b', fails: 'b' },
      'new',
      'came since: b',
    ],
    [
      'is new in a cluster that came',
      { nodes: '', clusters: ['test'] },
      { nodes: 'a', fails: 'a' },
      'new',
    ],
    [
      'is newly seen on a node that was not read',
      { nodes: 'a b?' },
      { nodes: 'a b', fails: 'b' },
      'newlySeen',
      /not known before of b/,
    ],
    [
      'is newly seen where its outcome was unknown',
      { nodes: 'a~', unknown: 'a' },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
      /HTTP 403/,
    ],
    [
      'is newly seen where the rule broke',
      { nodes: 'a', ruleErrors: 'a' },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
    ],
    [
      'is newly seen by a rule that there was not',
      { nodes: 'a', rules: ['s'] },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
      /did not run/,
    ],
    [
      'is newly seen in a cluster whose list broke off',
      {
        nodes: 'a',
        notAudited: [
          {
            cluster,
            node: null,
            cause: 'nodes',
            reason: 'nodes: the list of nodes could not be read',
          },
        ],
      },
      { nodes: 'a b', fails: 'b' },
      'newlySeen',
      /list of nodes/,
    ],
    [
      'is newly seen where a line of the file was lost',
      { nodes: 'a', lostLines: 1 },
      { nodes: 'a b', fails: 'b' },
      'newlySeen',
    ],
    [
      'is new where one of its nodes was read',
      { nodes: 'a b?' },
      { nodes: 'a b', fails: 'a b' },
      'new',
      /not known before of b/,
    ],
    [
      'is new on a node that was read in part, and enough',
      { nodes: 'a~' },
      { nodes: 'a', fails: 'a' },
      'new',
    ],
    [
      'and is waived from the start is waived since',
      { nodes: 'a' },
      { nodes: 'a', fails: 'a', waived: true },
      'waivedSince',
      /not there before/,
    ],
    ['of a cluster itself is new', { nodes: 'a' }, { nodes: 'a', fails: '' }, 'new'],
  ])
})

describe('a finding on objects', () => {
  it.each([
    [
      'of a namespace that becomes the cluster’s, where these are many',
      onObjects(shop),
      onObjects(whole, 1),
    ],
    [
      'of a cluster that becomes those of namespaces, where these are few',
      onObjects(whole, 27),
      onObjects(shop),
    ],
  ])('%s has moved, and is neither fixed nor new', (_, before, after) => {
    const { findings } = changesOf(before, after)
    const subjects = [before, after].flatMap(({ document }) =>
      document.findings.map(({ subject }) => subject),
    )
    expect(findings.moved.map(({ subject }) => subject)).toEqual(expect.arrayContaining(subjects))
    expect([...findings.fixed, ...findings.new]).toEqual([])
    expect(JSON.stringify(findings)).not.toMatch(/\d nodes?\b/)
  })

  it('is new if the cluster’s finding covers more places than before', () => {
    const { findings } = changesOf(onObjects(shop), onObjects(whole, 27))
    expect(findings.new).toMatchObject([
      { subject: whole, why: [expect.stringMatching(/^in 27 places, before in 1:/)] },
    ])
    expect(findings.moved).toMatchObject([{ subject: shop }])
  })

  it.each([
    ['worse', 26, 100],
    ['better', 100, 26],
    ['unchanged', 26, 26],
  ])('of many places is %s: %i, then %i', (change, before, after) => {
    const { findings, unchanged } = changesOf(onObjects(whole, before), onObjects(whole, after))
    const why = [expect.stringContaining(`in ${after} places, before in ${before}`)]
    if (change === 'unchanged') expect(unchanged).toMatchObject({ open: 1, inDoubt: 0 })
    else expect(findings[change as Change]).toMatchObject([{ subject: whole, why }])
  })

  it('of a cluster’s own objects is fixed, though the rule still fails in a namespace', () => {
    const before = onObjects(whole)
    before.document.findings.push(...onObjects(shop).document.findings)
    expect(changesOf(before, onObjects(shop)).findings).toMatchObject({
      fixed: [{ subject: whole }],
      moved: [],
    })
  })

  it('is unknown if it is absent from an incomplete list', () => {
    const now = run({
      nodes: 'a',
      fails: '',
      subject: { ...shop, name: 'other' },
      unknownOnCluster: true,
    })
    const { findings } = changesOf(onObjects(shop), now)
    expect(findings).toMatchObject({
      cannotTell: [{ subject: shop }],
      fixed: [],
      moved: [],
      new: [{ subject: { name: 'other' } }],
    })
  })
})

describe('a finding that is no longer there', () => {
  becomes([
    ['is fixed where its nodes are fine', { nodes: 'a b', fails: 'a' }, { nodes: 'a b' }, 'fixed'],
    ['is gone with all of its nodes', { nodes: 'a b', fails: 'a' }, { nodes: 'b' }, 'gone'],
    [
      'is gone with its cluster',
      { nodes: 'a', fails: 'a' },
      { nodes: '', clusters: [] },
      'gone',
      /cluster prod is not there/,
    ],
    [
      'was replaced with its nodes, and says who came',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'c d' },
      'replaced',
      /replaced: 2 others of workers/,
    ],
    [
      'is fixed where some are gone and some are fine',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'b' },
      'fixed',
      'gone: a',
    ],
    [
      'is unknown if its node was not read',
      { nodes: 'a b', fails: 'a' },
      { nodes: 'a? b' },
      'cannotTell',
      /not known now of a.*503/,
    ],
    [
      'is unknown for the reason of its own node',
      { nodes: 'a', fails: 'a' },
      {
        nodes: 'a?',
        notAudited: [{ cluster, node: null, cause: 'objects', reason: 'events: HTTP 403' }],
      },
      'cannotTell',
      /a \(configz: HTTP 503\)/,
    ],
    [
      'is unknown if its outcome is unknown',
      { nodes: 'a', fails: 'a' },
      { nodes: 'a~', unknown: 'a' },
      'cannotTell',
      /HTTP 403/,
    ],
    [
      'is unknown if one of two was not read',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'a b?' },
      'cannotTell',
      /no longer on a/,
    ],
    [
      'is unknown if the rule broke',
      { nodes: 'a', fails: 'a' },
      { nodes: 'a', ruleErrors: 'a' },
      'cannotTell',
    ],
    [
      'is unknown if the rule did not run',
      { nodes: 'a', fails: 'a' },
      { nodes: 'a', rules: ['s'] },
      'cannotTell',
      /did not run now/,
    ],
    [
      'is unknown if a line was lost',
      { nodes: 'a b', fails: 'a' },
      { nodes: 'b', lostLines: 1 },
      'cannotTell',
    ],
    [
      'is gone where only a node came twice',
      { nodes: 'a b', fails: 'a' },
      {
        nodes: 'b',
        inputErrors: ['the node b of cluster prod comes a second time: only the first is audited'],
      },
      'gone',
    ],
    [
      'is unknown if the list of nodes broke off',
      { nodes: 'a b', fails: 'a' },
      {
        nodes: 'b',
        notAudited: [{ cluster, node: null, cause: 'nodes', reason: 'nodes: HTTP 500' }],
      },
      'cannotTell',
    ],
    [
      'is unknown if not all clusters were found',
      { nodes: 'a', fails: 'a' },
      {
        nodes: '',
        clusters: [],
        notAudited: [
          {
            cluster: '*',
            node: null,
            cause: 'clusters',
            reason: 'clusters: not all clusters were found',
          },
        ],
      },
      'cannotTell',
    ],
    [
      'is gone where only the events of the cluster were not read',
      { nodes: 'a b', fails: 'a' },
      {
        nodes: 'b',
        notAudited: [{ cluster, node: null, cause: 'objects', reason: 'events: HTTP 403' }],
      },
      'gone',
    ],
    [
      'is fixed, and its waiver can go',
      { nodes: 'a', fails: 'a', waived: true },
      { nodes: 'a' },
      'fixed',
      /the waiver can go/,
    ],
    ['of a cluster itself is fixed', { nodes: 'a', fails: '' }, { nodes: 'a' }, 'fixed'],
    [
      'of a cluster itself is unknown if it is unknown',
      { nodes: 'a', fails: '' },
      { nodes: 'a', unknown: 'a' },
      'cannotTell',
    ],
    [
      'of a cluster itself is unknown without a check of cluster garbage',
      { nodes: 'a', fails: '' },
      { nodes: 'a', looked: false },
      'cannotTell',
      /not known now: not checked/,
    ],
    [
      'of a namespace is unknown if the list was refused',
      { nodes: 'a', fails: '', subject: shop },
      { nodes: 'a', unknownOnCluster: true },
      'cannotTell',
      /not known now: jobs.batch: 403/,
    ],
    [
      'of a cluster itself is gone with it',
      { nodes: 'a', fails: '' },
      { nodes: '', clusters: [] },
      'gone',
    ],
    [
      'of a cluster itself is unknown if the cluster’s record is incomplete',
      { nodes: 'a', fails: '' },
      { nodes: 'a', lostLines: 1 },
      'cannotTell',
    ],
  ])

  it('moved, where the same node fails as part of another group', () => {
    const pool: Subject = { kind: 'NodePool', namespace: null, name: 'pool' }
    const { findings } = changesOf(
      run({ nodes: 'a', fails: 'a' }),
      run({ nodes: 'a', fails: 'a', subject: pool }),
    )
    expect(findings.moved.map(({ subject }) => subject.name)).toEqual(['pool', 'workers'])
    expect([...findings.new, ...findings.fixed]).toEqual([])
  })
})

describe('a finding that is still there', () => {
  const a = { nodes: 'a b', fails: 'a' }
  becomes([
    ['is unchanged', a, a, 'unchanged'],
    [
      'is worse by severity',
      a,
      { ...a, severity: 'critical' },
      'worse',
      'severity high → critical',
    ],
    ['is better by severity', a, { ...a, severity: 'low' }, 'better', 'severity high → low'],
    [
      'is worse by certainty',
      { ...a, confidence: 'possible' },
      a,
      'worse',
      'confidence possible → certain',
    ],
    [
      'is worse by a little more certainty',
      { ...a, confidence: 'possible' },
      { ...a, confidence: 'likely' },
      'worse',
    ],
    [
      'is better by doubt',
      a,
      { ...a, confidence: 'likely' },
      'better',
      'confidence certain → likely',
    ],
    ['is worse on more nodes', a, { nodes: 'a b', fails: 'a b' }, 'worse', 'started on b'],
    [
      'is worse on more nodes though milder',
      a,
      { nodes: 'a b', fails: 'a b', severity: 'low' },
      'worse',
      /severity high → low.*started on b/,
    ],
    [
      'is worse where more come with it than leave',
      a,
      { nodes: 'a b c', fails: 'a c' },
      'worse',
      'came with it: c',
    ],
    ['is better on fewer nodes', { nodes: 'a b', fails: 'a b' }, a, 'better', 'ended on b'],
    [
      'is unchanged where nodes were replaced',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'c d', fails: 'c d' },
      'unchanged',
    ],
    [
      'is unchanged where nodes are gone',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'a', fails: 'a' },
      'unchanged',
    ],
    [
      'moved where one ended and another began',
      a,
      { nodes: 'a b', fails: 'b' },
      'moved',
      'started on b; ended on a',
    ],
    [
      'is unchanged where one of its nodes was not read now',
      { nodes: 'a b', fails: 'a b' },
      { nodes: 'a b?', fails: 'a' },
      'unchanged',
    ],
    [
      'is unchanged where one of its nodes was not read before',
      { nodes: 'a b?', fails: 'a' },
      { nodes: 'a b', fails: 'a b' },
      'unchanged',
    ],
    [
      'is unknown if the milder one is all that was read',
      { nodes: 'a b', fails: 'a b', severity: 'critical' },
      { nodes: 'a b?', fails: 'a' },
      'cannotTell',
      /severity critical → high.*not known now of b/,
    ],
    ['is waived since', a, { ...a, waived: true }, 'waivedSince', 'waived until 2026-12-31: known'],
    [
      'is no longer waived where the waiver has expired',
      { ...a, waived: true },
      {
        ...a,
        evidence: [line('waiver', 'waiver', 'expired after 2026-12-31; its reason was: known')],
      },
      'waiverExpired',
      'the waiver expired after 2026-12-31',
    ],
    [
      'is no longer waived where the waiver is gone',
      { ...a, waived: true },
      a,
      'waiverExpired',
      'no longer in the policy',
    ],
    [
      'and still waived is unchanged',
      { ...a, waived: true },
      { ...a, waived: true, severity: 'critical' },
      'unchanged',
    ],
  ])

  it.each([
    [{ nodes: 'a b', fails: 'a b' }, { nodes: 'a b?', fails: 'a' }, 1],
    [{ nodes: 'a b?', fails: 'a' }, { nodes: 'a b', fails: 'a b' }, 1],
    [a, a, 0],
  ])('counts as in doubt what stands on nodes that were not read: %j, %j', (old, now, inDoubt) => {
    expect(changeOf(old, now).delta.unchanged).toEqual({ open: 1, waived: 0, inDoubt })
  })
})

describe('a findings.json, which does not name every node', () => {
  const file = { nodes: null, nodeCount: 50 }
  becomes([
    ['as OLD: new where nothing was unknown', file, { nodes: 'a b', fails: 'a' }, 'new'],
    [
      'as OLD: newly seen where it names the node as unknown',
      { ...file, unknown: 'a' },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
    ],
    [
      'as OLD: newly seen where it lists the node as not audited',
      {
        ...file,
        notAudited: [{ cluster, node: 'a', cause: 'sources', reason: 'configz: HTTP 503' }],
      },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
    ],
    [
      'as OLD: newly seen where nothing of the cluster was read',
      {
        nodes: null,
        nodeCount: 0,
        notAudited: [{ cluster, node: null, cause: 'nodes', reason: 'nodes: HTTP 500' }],
      },
      { nodes: 'a', fails: 'a' },
      'newlySeen',
    ],
    [
      'as OLD: open where the list broke off',
      { ...file, notAudited: [{ cluster, node: null, cause: 'nodes', reason: 'nodes: HTTP 500' }] },
      { nodes: 'a', fails: 'a' },
      'cannotTell',
    ],
    [
      'as OLD: open where a rule broke, it does not say which',
      { ...file, outcomeErrors: 1 },
      { nodes: 'a', fails: 'a' },
      'cannotTell',
    ],
    [
      'as OLD: fixed on the nodes that it names',
      { ...file, fails: 'a' },
      { nodes: 'a b' },
      'fixed',
    ],
    ['as OLD: gone with the nodes that it names', { ...file, fails: 'a' }, { nodes: 'b' }, 'gone'],
    [
      'as OLD: fixed on the named, fixed or gone on the rest',
      { ...file, fails: 'a', unnamed: 30 },
      { nodes: 'a b' },
      'fixed',
    ],
    [
      'as OLD: fixed or gone where the named are gone',
      { ...file, fails: 'a', unnamed: 30 },
      { nodes: 'b' },
      'fixedOrGone',
    ],
    [
      'as OLD: open where the rest may be unread',
      { ...file, fails: 'a', unnamed: 30 },
      { nodes: 'a b~', unknown: 'b' },
      'cannotTell',
      /30 nodes/,
    ],
    [
      'as OLD: gone where its nodegroup is',
      { ...file, fails: 'a', unnamed: 30 },
      { nodes: '' },
      'gone',
    ],
    [
      'as OLD: unchanged where nodes were replaced',
      { ...file, fails: 'a b' },
      { nodes: 'c d', fails: 'c d' },
      'unchanged',
    ],
    ['as NEW: fixed or gone', { nodes: 'a b', fails: 'a' }, file, 'fixedOrGone'],
    [
      'as NEW: gone with its cluster',
      { nodes: 'a b', fails: 'a' },
      { ...file, clusters: [] },
      'gone',
    ],
    [
      'as NEW: open where a rule broke, of a cluster too',
      { nodes: 'a', fails: '' },
      { ...file, outcomeErrors: 1 },
      'cannotTell',
    ],
    [
      'as NEW: unchanged where another node has it now',
      { nodes: 'a b', fails: 'a' },
      { ...file, fails: 'c' },
      'unchanged',
    ],
    [
      'as NEW: open where its node is unknown',
      { nodes: 'a b', fails: 'a' },
      { ...file, unknown: 'a' },
      'cannotTell',
    ],
    [
      'as both: worse by count',
      { ...file, fails: 'a', unnamed: 20 },
      { ...file, fails: 'a', unnamed: 25 },
      'worse',
      'on 26 nodes, before on 21',
    ],
    [
      'as both: better by count',
      { ...file, fails: 'a', unnamed: 20 },
      { ...file, fails: 'a', unnamed: 5 },
      'better',
      'by count alone',
    ],
    [
      'as both: not better by as many as the cluster lost',
      { ...file, fails: 'a', unnamed: 20 },
      { nodes: null, nodeCount: 35, fails: 'a', unnamed: 5 },
      'unchanged',
    ],
    [
      'as both: not better by as many as are unknown',
      { ...file, fails: 'a', unnamed: 20 },
      { ...file, fails: 'a', unnamed: 19, unknown: 'x' },
      'unchanged',
    ],
    [
      'as both: not worse by as many as were unknown',
      { ...file, fails: 'a', unnamed: 20, unknown: 'x' },
      { ...file, fails: 'a', unnamed: 21 },
      'unchanged',
    ],
    [
      'as both: ended on, or gone',
      { ...file, fails: 'a b' },
      { ...file, fails: 'a' },
      'better',
      'ended on, or gone: b',
    ],
    [
      'as both: gone, where the cluster lost as many',
      { ...file, fails: 'a b' },
      { nodes: null, nodeCount: 49, fails: 'a' },
      'unchanged',
    ],
  ])

  it('says so', () => {
    const { notes, nodes } = compareRuns(run(file), run({ nodes: 'a' }))
    expect(notes.map(({ text }) => text).join(' ')).toMatchSnapshot()
    expect(nodes).toMatchObject({ gone: null, come: null })
  })
})

describe('nodes', () => {
  it('gone, come, and not read now', () => {
    const { nodes } = compareRuns(run({ nodes: 'a b c d?' }), run({ nodes: 'b? c~ d? e f!' }))
    expect(nodes.gone).toEqual([{ cluster, node: 'a' }])
    expect(nodes.come).toEqual([
      { cluster, node: 'e' },
      { cluster, node: 'f' },
    ])
    expect(nodes.notReadNow).toEqual([
      { cluster, node: 'b', coverage: 'notRead', before: 'read', reason: 'configz: HTTP 503' },
      { cluster, node: 'c', coverage: 'partlyRead', before: 'read', reason: 'summary: HTTP 503' },
      { cluster, node: 'd', coverage: 'notRead', before: 'notRead', reason: 'configz: HTTP 503' },
    ])
  })

  it('are unknown, not gone, if their list is incomplete', () => {
    const { nodes, notes } = compareRuns(
      run({ nodes: 'a b' }),
      run({
        nodes: 'b',
        notAudited: [{ cluster, node: null, cause: 'nodes', reason: 'nodes: HTTP 500' }],
      }),
    )
    expect(nodes.gone).toEqual([])
    expect(notes.map(({ text }) => text).join(' ')).toMatchSnapshot()
    expect(notes.map(note => note.cluster)).toEqual([cluster])
    expect(nodes.notReadNow).toEqual([
      { cluster, node: null, coverage: 'partlyRead', before: null, reason: 'nodes: HTTP 500' },
    ])
  })
})

describe('the whole', () => {
  it('contains grades and coverage of each cluster in either run', () => {
    const { clusters, notes } = compareRuns(
      run({ nodes: 'a', clusters: ['prod', 'old'] }),
      run({ nodes: 'a', clusters: ['prod', 'new'] }),
    )
    expect(
      clusters.map(({ name, before, after }) => [
        name,
        before?.grade ?? null,
        after?.grade ?? null,
      ]),
    ).toEqual([
      ['new', null, 'B'],
      ['old', 'B', null],
      ['prod', 'B', 'B'],
    ])
    expect(notes).toEqual([])
  })

  it('wonders at inputs that were swapped, or have nothing in common', () => {
    const later = run({ nodes: 'a' })
    later.document.run.takenAt = '2026-11-22T00:00:00Z'
    expect(compareRuns(later, run({ nodes: '', clusters: ['test'] })).notes).toEqual([
      { cluster: null, text: expect.stringContaining('wrong way round') },
      { cluster: null, text: 'OLD and NEW have no cluster in common' },
    ])
  })

  it('gives the same bytes whatever the order of nodes and findings', () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`)
    const findings = names.map(name => {
      const subject: Subject = { kind: 'Node', namespace: null, name }
      return sampleFinding('high', {
        id: findingId('r', cluster, subject),
        rule: 'r',
        cluster,
        subject,
        nodes: { count: 1, sample: [name] },
      })
    })
    const [old, now] = [
      run({ nodes: names.slice(0, 20).join(' ') }),
      run({ nodes: names.slice(5).join(' ') }),
    ]
    const deltaOf = (order: typeof findings) =>
      JSON.stringify(
        compareRuns(
          { ...old, nodes: old.nodes!.toReversed() },
          { ...now, document: { ...now.document, findings: order } },
        ),
      )
    expect(deltaOf(findings.toReversed())).toBe(deltaOf(findings))
    expect(JSON.parse(deltaOf(findings)).findings).toHaveLength(30)
  })

  it('names of a finding on many nodes only twenty', () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`).join(' ')
    const { findings } = changesOf(run({ nodes: names }), run({ nodes: names, fails: names }))
    expect(findings.new[0]?.after?.nodes).toMatchObject({ count: 30, sample: { length: 20 } })
  })
})

describe('two documents of a stranger take time by their length', () => {
  const listed = (count: number, prefix: string, given: Partial<ComparedFinding>) =>
    Array.from({ length: count }, (_, index) =>
      sampleFinding('high', {
        id: `${prefix}${index}`,
        rule: 'r',
        cluster,
        subject: { ...workers, name: `${prefix}${index}` },
        nodes: { count: 1, sample: ['a'] },
        ...given,
      }),
    )
  const documents = (old: Parameters<typeof findingsDocument>[0], now: typeof old) => {
    const runOf = (document: typeof old): ComparedRun => ({
      document: findingsDocument({
        ...document,
        run: { ...findingsDocument().run, rules: ['r', 'q'] },
        clusters: [clusterResult(cluster)],
      }),
      nodes: null,
      ruleErrors: null,
    })
    return compareRuns(runOf(old), runOf(now))
  }
  const unnamed = { nodes: { count: 2, sample: [] } }
  const drifting = { evidence: [line('layer', 'a', 'b')] }

  it.each<[string, number, (count: number) => unknown]>([
    [
      'findings and unknown outcomes',
      2_000,
      count => {
        const unknowns = listed(count, 'f', unnamed).map(each => ({ ...each, reason: 'r' }))
        const before = { findings: listed(count, 'f', unnamed), unknowns }
        return documents(before, {
          ...before,
          findings: listed(count, 'f', { ...unnamed, severity: 'low' }),
        })
      },
    ],
    [
      'findings and nodes that were not audited',
      4_000,
      count =>
        documents(
          { findings: listed(count, 'f', {}) },
          {
            notAudited: [...Array(count).keys()]
              .map(index => ({
                ...{ cluster, node: index === 0 ? 'a' : `n${index}` },
                ...({ cause: 'sources', reason: 'r' } as const),
              }))
              .toReversed(),
          },
        ),
    ],
    [
      'findings of drift by another rule',
      2_000,
      count =>
        documents(
          { findings: listed(count, 'o', { ...drifting, rule: 'q' }) },
          { findings: listed(count, 'n', drifting) },
        ),
    ],
  ])('%s', (_, count, compare) => expect(isLinear(compare, count)).toBe(true))
})
