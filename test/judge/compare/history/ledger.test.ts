import { describe, expect, it } from 'vitest'
import { nextLedger, type RunToCompare } from '#judge/compare/history/ledger.ts'
import type { MetNode } from '#model/delta.ts'
import type { Finding, NotAudited } from '#model/finding.ts'
import type { RememberedRun } from '#model/history.ts'
import { clusterResult, finding, findingsDocument, nodegroup } from '#test/report-builder.ts'

const met = (name: string, more: Partial<MetNode> = {}): MetNode => ({
  cluster: 'prod',
  name,
  group: nodegroup('general'),
  coverage: 'read',
  isFargate: false,
  missed: '',
  ...more,
})
const unread = (name: string) => met(name, { coverage: 'notRead', missed: 'configz: HTTP 503' })
const on = (nodes: string[], more: Partial<Finding> = {}): Finding =>
  finding('high', {
    id: 'f1',
    rule: 'eviction-due',
    cluster: 'prod',
    nodes: { count: nodes.length, sample: nodes },
    ...more,
  })

function runOf(findings: Finding[], nodes: MetNode[], waived: Finding[] = []): RunToCompare {
  const run = {
    ...findingsDocument().run,
    rules: ['eviction-due', 'image-gc-due'],
    inputErrors: [],
  }
  const coverage = { nodes: nodes.length, read: nodes.length, partlyRead: 0, notRead: 0 }
  const clusters = [
    clusterResult('prod', {
      coverage,
      outcomes: { pass: 1, fail: 1, unknown: 0, notApplicable: 0, error: 0 },
    }),
  ]
  return {
    document: findingsDocument({ run, clusters, findings, waived, unknowns: [], notAudited: [] }),
    nodes,
    ruleErrors: [],
    scope: 'here',
  }
}

/** Days one after the other; the answers of each. */
function days(...runs: RunToCompare[]) {
  let previous: RememberedRun | null = null
  return runs.map((run, index) => {
    const ledger = nextLedger(previous, run, `2026-11-${10 + index}`, '2026-01-01')
    previous = { runId: `run-${index}`, ...ledger.run }
    return {
      ...ledger.delta,
      since: ledger.since.get('f1'),
      past: ledger.run.past.map(({ ended, on: day }) => `${ended} ${day}`),
      returned: ledger.before?.returned ?? [],
    }
  })
}
const nothing = { new: [], resolved: [], worse: [], regressed: [], returned: [] }

describe('from day to day', () => {
  it('calls nothing new on the first day, and keeps the day on which a finding was first seen', () => {
    const [first, second] = days(runOf([on(['a'])], [met('a')]), runOf([on(['a'])], [met('a')]))
    expect(first).toEqual({ ...nothing, since: '2026-11-10', past: [] })
    expect(second).toEqual({ ...nothing, since: '2026-11-10', past: [] })
  })

  it('reports new, worse and resolved findings', () => {
    const ledgers = days(
      runOf([], [met('a'), met('b')]),
      runOf([on(['a'])], [met('a'), met('b')]),
      runOf([on(['a', 'b'])], [met('a'), met('b')]),
      runOf([], [met('a'), met('b')]),
    )
    expect(ledgers.slice(1)).toEqual([
      { ...nothing, new: ['f1'], since: '2026-11-11', past: [] },
      { ...nothing, worse: ['f1'], since: '2026-11-11', past: [] },
      { ...nothing, resolved: ['f1'], since: undefined, past: ['fixed 2026-11-13'] },
    ])
  })

  it('says of what the run before knew how it went on, and what is no longer read', () => {
    const [first, bad] = [
      runOf([on(['a', 'b'])], [met('a'), met('b')]),
      on(['a'], { id: 'f2', rule: 'image-gc-due' }),
    ]
    const { before, ...opening } = nextLedger(null, first, '2026-11-10', '2026-01-01')
    expect(before).toBeNull()
    const previous = { runId: 'run-0', ...opening.run }
    const second = runOf([bad], [met('a'), met('b')])
    expect(nextLedger(previous, second, '2026-11-11', '2026-01-01').before).toEqual({
      takenAt: first.document.run.takenAt,
      delta: expect.objectContaining({
        findings: expect.arrayContaining([
          expect.objectContaining({ change: 'new', id: 'f2', why: [] }),
        ]),
      }),
      ended: [
        expect.objectContaining({
          id: 'f1',
          title: first.document.findings[0]?.title,
          ended: 'fixed',
          on: '2026-11-11',
        }),
      ],
      readAgain: [],
      hidden: [],
      absent: [],
      returned: [],
      unread: [],
    })
    const third = runOf([on(['a', 'b'])], [met('a'), unread('b')])
    third.document.notAudited.push(
      { cluster: 'prod', node: 'b', cause: 'sources', reason: 'configz: HTTP 503' },
      { cluster: 'prod', node: null, cause: 'objects', reason: 'events: HTTP 403' },
    )
    const unreadThen = nextLedger(previous, third, '2026-11-11', '2026-01-01')
    expect(unreadThen.before?.unread).toEqual([
      { cluster: 'prod', node: null, hasCome: false },
      { cluster: 'prod', node: 'b', hasCome: false },
    ])
    const still = nextLedger(
      { runId: 'run-1', ...unreadThen.run },
      third,
      '2026-11-12',
      '2026-01-01',
    )
    expect(still.before?.unread).toEqual([])
  })

  it('names nodes that were unaudited and are not any more, in clusters of this run', () => {
    const first = runOf([], [met('a'), unread('b')])
    const events: NotAudited = {
      cluster: 'prod',
      node: null,
      cause: 'objects',
      reason: 'events: HTTP 403',
    }
    const lost: NotAudited = {
      cluster: 'prod',
      node: 'b',
      cause: 'sources',
      reason: 'configz: HTTP 503',
    }
    first.document.notAudited.push(lost, events)
    const previous = { runId: 'r', ...nextLedger(null, first, '2026-11-10', '2026-01-01').run }
    const second = runOf([], [met('a'), met('b')])
    second.document.notAudited.push({ ...events, reason: 'events: HTTP 500' })
    const { before } = nextLedger(previous, second, '2026-11-11', '2026-01-01')
    expect(before?.readAgain).toEqual([lost])
    const elsewhere = runOf([], [])
    Object.assign(elsewhere, { scope: 'elsewhere' }).document.clusters = []
    expect(nextLedger(previous, elsewhere, '2026-11-11', '2026-01-01').before?.readAgain).toEqual(
      [],
    )
  })

  it('names findings that became unknown, as news only on the first day', () => {
    const first = nextLedger(
      null,
      runOf([on(['a'], { severity: 'critical' })], [met('a')]),
      '2026-11-10',
      '2026-01-01',
    )
    const second = nextLedger(
      { runId: 'r', ...first.run },
      runOf([], [unread('a')]),
      '2026-11-11',
      '2026-01-01',
    )
    const lost = {
      id: 'f1',
      severity: 'critical',
      since: '2026-11-10',
      lastSeen: '2026-11-10',
      why: [expect.stringContaining('a')],
    }
    expect(second.before?.hidden).toEqual([expect.objectContaining({ ...lost, isNew: true })])
    const third = nextLedger(
      { runId: 's', ...second.run },
      runOf([], [unread('a')]),
      '2026-11-11',
      '2026-01-01',
    )
    expect(third.before?.hidden).toEqual([expect.objectContaining({ ...lost, isNew: false })])
    const waived = runOf(
      [],
      [met('a')],
      [on(['a'], { waived: { until: '2027-01-01', reason: 'known' } })],
    )
    const accepted = nextLedger(null, waived, '2026-11-10', '2026-01-01')
    const unseen = nextLedger(
      { runId: 'r', ...accepted.run },
      runOf([], [unread('a')]),
      '2026-11-11',
      '2026-01-01',
    )
    expect(unseen.before?.hidden).toEqual([])
  })

  it('does not call a node no longer read that came unread', () => {
    const first = nextLedger(null, runOf([], [met('a')]), '2026-11-10', '2026-01-01')
    const run = runOf([], [met('a'), unread('b')])
    run.document.notAudited.push({
      cluster: 'prod',
      node: 'b',
      cause: 'sources',
      reason: 'configz: HTTP 503',
    })
    const second = nextLedger({ runId: 'r', ...first.run }, run, '2026-11-11', '2026-01-01')
    expect(second.before?.unread).toEqual([{ cluster: 'prod', node: 'b', hasCome: true }])
    expect(
      nextLedger({ runId: 's', ...second.run }, run, '2026-11-12', '2026-01-01').before?.unread,
    ).toEqual([])
  })

  it('calls a node that was not read neither fixed nor new, and resolves it on the day it was read', () => {
    const ledgers = days(
      runOf([on(['a'])], [met('a')]),
      runOf([], [unread('a')]),
      runOf([], [unread('a')]),
      runOf([], [met('a')]),
    )
    expect(ledgers[1]).toEqual({ ...nothing, since: undefined, past: [] })
    expect(ledgers[3]).toEqual({
      ...nothing,
      resolved: ['f1'],
      since: undefined,
      past: ['fixed 2026-11-13'],
    })
    const back = days(
      runOf([on(['a'])], [met('a')]),
      runOf([], [unread('a')]),
      runOf([on(['a'])], [met('a')]),
    )
    expect(back[2]).toEqual({ ...nothing, since: '2026-11-10', past: [] })
    const fresh = days(runOf([], [unread('a')]), runOf([on(['a'])], [met('a')]))
    expect(fresh[1]).toEqual({ ...nothing, since: '2026-11-11', past: [] })
  })

  it('names a finding that is back after it was resolved, and dates it anew', () => {
    const ledgers = days(
      runOf([on(['a'])], [met('a')]),
      runOf([], [met('a')]),
      runOf([on(['a'])], [met('a')]),
    )
    expect(ledgers[2]).toEqual({
      ...{ ...nothing, new: ['f1'], regressed: ['f1'], since: '2026-11-12', past: [] },
      returned: [{ id: 'f1', since: '2026-11-10', ended: 'fixed', on: '2026-11-11' }],
    })
  })

  it('takes nodes that were replaced for the repair that it is, and nodes that are only gone for none', () => {
    const replaced = days(runOf([on(['a'])], [met('a')]), runOf([], [met('b')]))
    expect(replaced[1]).toMatchObject({ resolved: ['f1'], past: ['replaced 2026-11-11'] })
    const gone = days(
      runOf([on(['a'])], [met('a')]),
      runOf([], [met('c', { group: nodegroup('other') })]),
      runOf([on(['a'])], [met('a')]),
    )
    expect(gone[1]).toMatchObject({ resolved: [], past: ['gone 2026-11-11'] })
    expect(gone[2]).toMatchObject({ new: ['f1'], regressed: [] })
    const left = days(runOf([on(['a'])], [met('a'), met('b')]), runOf([], [met('b')]))
    expect(left[1]).toMatchObject({ resolved: [], past: ['gone 2026-11-11'] })
  })

  it('does not resolve drift that another rule reports now', () => {
    const drift = (id: string, rule: string) =>
      on(['a'], { id, rule, evidence: [{ kind: 'layer', what: 'layer', value: 'peers' }] })
    const ledgers = days(
      runOf([drift('f1', 'image-gc-due')], [met('a')]),
      runOf([drift('f2', 'eviction-due')], [met('a')]),
      runOf([drift('f1', 'image-gc-due')], [met('a')]),
    )
    expect(ledgers.slice(1)).toEqual([
      { ...nothing, since: undefined, past: ['moved 2026-11-11'] },
      { ...nothing, since: '2026-11-12', past: ['moved 2026-11-12'] },
    ])
  })

  it('dates waived findings too, and calls one worse whose waiver has expired', () => {
    const waived = on(['a'], { waived: { until: '2026-11-10', reason: 'known' } })
    const ledgers = days(runOf([], [met('a')], [waived]), runOf([on(['a'])], [met('a')]))
    expect(ledgers).toEqual([
      { ...nothing, since: '2026-11-10', past: [] },
      { ...nothing, worse: ['f1'], since: '2026-11-10', past: [] },
    ])
  })

  describe('where clusters are not in every run', () => {
    const here = (scope: string | null, ...clusters: string[]): RunToCompare => {
      const run = runOf([], [])
      const one = (cluster: string) =>
        finding('high', {
          id: cluster,
          rule: 'eviction-due',
          cluster,
          nodes: { count: 1, sample: ['a'] },
        })
      return {
        ...run,
        scope,
        nodes: clusters.map(cluster => met('a', { cluster })),
        document: {
          ...run.document,
          clusters: clusters.map(name =>
            clusterResult(name, { coverage: { nodes: 1, read: 1, partlyRead: 0, notRead: 0 } }),
          ),
          findings: clusters.map(one),
        },
      }
    }
    const runsAfter = (...runs: RunToCompare[]) => {
      let last: RememberedRun | null = null
      return runs.map((run, index) => {
        const ledger = nextLedger(last, run, `2026-11-${10 + index}`, '2026-01-01')
        last = { runId: `run-${index}`, ...ledger.run }
        const { delta, before, since } = ledger
        return {
          ...delta,
          absent: before?.absent,
          ended: before?.ended.map(({ id }) => id),
          since: Object.fromEntries(since),
          last,
        }
      })
    }

    it.each([
      ['a run of none', here(null)],
      ['another context', here(null, 'staging')],
      ['another region', here('there', 'staging')],
    ])('leaves what it knows as it is over %s', (_, between) => {
      const [, other, again] = runsAfter(here('here', 'prod'), between, here('here', 'prod'))
      expect(other).toMatchObject({
        new: [],
        resolved: [],
        ended: [],
        absent: [{ cluster: 'prod', severities: ['high'], isNew: false }],
      })
      expect(again).toMatchObject({
        new: [],
        resolved: [],
        regressed: [],
        since: { prod: '2026-11-10' },
      })
      expect(again?.absent?.map(({ cluster }) => cluster)).toEqual(
        between.document.clusters.map(({ name }) => name),
      )
    })

    it('takes a cluster for gone only where the same place was looked through, to its end', () => {
      const [, gone, back] = runsAfter(
        here('here', 'prod', 'staging'),
        here('here', 'staging'),
        here('here', 'prod', 'staging'),
      )
      expect(gone).toMatchObject({ absent: [], ended: ['prod'], resolved: [] })
      expect(back).toMatchObject({
        new: ['prod'],
        since: { prod: '2026-11-12', staging: '2026-11-10' },
      })
      const broken = here('here', 'staging')
      broken.document.notAudited.push({
        cluster: 'this account/eu-west-1/*',
        node: null,
        cause: 'clusters',
        reason: 'clusters: HTTP 503',
      })
      const [, cut, still] = runsAfter(here('here', 'prod', 'staging'), broken, broken)
      expect(cut).toMatchObject({ absent: [{ cluster: 'prod', isNew: true }], ended: [] })
      expect(still).toMatchObject({ absent: [{ cluster: 'prod', isNew: false }], ended: [] })
    })

    it('forgets a cluster that stayed unread for the whole history', () => {
      const [first] = runsAfter(here('here', 'prod'))
      const much = nextLedger(first!.last, here(null, 'staging'), '2027-06-01', '2027-05-01')
      expect(much.before).toMatchObject({ absent: [], ended: [] })
      expect(much.run.document.clusters.map(({ name }) => name)).toEqual(['staging'])
    })
  })

  it('forgets findings that ended before the given day', () => {
    const first = nextLedger(null, runOf([on(['a'])], [met('a')]), '2026-01-10', '2025-01-01')
    const ended = nextLedger(
      { runId: 'r', ...first.run },
      runOf([], [met('a')]),
      '2026-01-11',
      '2025-01-11',
    )
    expect(ended.run.past).toHaveLength(1)
    const later = nextLedger(
      { runId: 's', ...ended.run },
      runOf([], [met('a')]),
      '2027-03-01',
      '2026-02-01',
    )
    expect(later.run.past).toEqual([])
  })
})
