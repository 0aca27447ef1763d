import { describe, expect, it } from 'vitest'
import { nextLedger, type RunToCompare } from '#judge/history/ledger.ts'
import type { MetNode } from '#model/delta.ts'
import type { Finding } from '#model/finding.ts'
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
  finding('high', { id: 'f1', rule: 'eviction-due', cluster: 'prod', nodes: { count: nodes.length, sample: nodes }, ...more })

function runOf(findings: Finding[], nodes: MetNode[], waived: Finding[] = []): RunToCompare {
  const run = { ...findingsDocument().run, rules: ['eviction-due', 'image-gc-due'], inputErrors: [] }
  const coverage = { nodes: nodes.length, read: nodes.length, partlyRead: 0, notRead: 0 }
  const clusters = [clusterResult('prod', { coverage, outcomes: { pass: 1, fail: 1, unknown: 0, notApplicable: 0, error: 0 } })]
  return { document: findingsDocument({ run, clusters, findings, waived, unknowns: [], notAudited: [] }), nodes, ruleErrors: [] }
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

  it('tells what is new, what is worse and what was resolved', () => {
    const told = days(
      runOf([], [met('a'), met('b')]),
      runOf([on(['a'])], [met('a'), met('b')]),
      runOf([on(['a', 'b'])], [met('a'), met('b')]),
      runOf([], [met('a'), met('b')]),
    )
    expect(told.slice(1)).toEqual([
      { ...nothing, new: ['f1'], since: '2026-11-11', past: [] },
      { ...nothing, worse: ['f1'], since: '2026-11-11', past: [] },
      { ...nothing, resolved: ['f1'], since: undefined, past: ['fixed 2026-11-13'] },
    ])
  })

  it('says of what the run before knew how it went on, and what is no longer read', () => {
    const [first, bad] = [runOf([on(['a', 'b'])], [met('a'), met('b')]), on(['a'], { id: 'f2', rule: 'image-gc-due' })]
    const { before, ...opening } = nextLedger(null, first, '2026-11-10', '2026-01-01')
    expect(before).toBeNull()
    const previous = { runId: 'run-0', ...opening.run }
    const second = runOf([bad], [met('a'), met('b')])
    expect(nextLedger(previous, second, '2026-11-11', '2026-01-01').before).toEqual({
      takenAt: first.document.run.takenAt,
      delta: expect.objectContaining({
        findings: expect.objectContaining({ new: [expect.objectContaining({ id: 'f2', why: [] })] }),
      }),
      ended: [expect.objectContaining({ id: 'f1', title: first.document.findings[0]?.title, ended: 'fixed', on: '2026-11-11' })],
      hidden: [],
      returned: [],
      unread: [],
    })
    const third = runOf([on(['a', 'b'])], [met('a'), unread('b')])
    third.document.notAudited.push(
      { cluster: 'prod', node: 'b', reason: 'configz: HTTP 503' },
      { cluster: 'prod', node: null, reason: 'events: HTTP 403' },
    )
    const unreadThen = nextLedger(previous, third, '2026-11-11', '2026-01-01')
    expect(unreadThen.before?.unread).toEqual([
      { cluster: 'prod', node: null, hasCome: false },
      { cluster: 'prod', node: 'b', hasCome: false },
    ])
    const still = nextLedger({ runId: 'run-1', ...unreadThen.run }, third, '2026-11-12', '2026-01-01')
    expect(still.before?.unread).toEqual([])
  })

  it('names what nobody can tell any more, and on the first day only as news', () => {
    const first = nextLedger(null, runOf([on(['a'], { severity: 'critical' })], [met('a')]), '2026-11-10', '2026-01-01')
    const second = nextLedger({ runId: 'r', ...first.run }, runOf([], [unread('a')]), '2026-11-11', '2026-01-01')
    const lost = { id: 'f1', severity: 'critical', since: '2026-11-10', lastSeen: '2026-11-10', why: [expect.stringContaining('a')] }
    expect(second.before?.hidden).toEqual([expect.objectContaining({ ...lost, isNew: true })])
    const third = nextLedger({ runId: 's', ...second.run }, runOf([], [unread('a')]), '2026-11-11', '2026-01-01')
    expect(third.before?.hidden).toEqual([expect.objectContaining({ ...lost, isNew: false })])
    const waived = runOf([], [met('a')], [on(['a'], { waived: { until: '2027-01-01', reason: 'known' } })])
    const accepted = nextLedger(null, waived, '2026-11-10', '2026-01-01')
    const unseen = nextLedger({ runId: 'r', ...accepted.run }, runOf([], [unread('a')]), '2026-11-11', '2026-01-01')
    expect(unseen.before?.hidden).toEqual([])
  })

  it('does not call a node no longer read that came unread', () => {
    const first = nextLedger(null, runOf([], [met('a')]), '2026-11-10', '2026-01-01')
    const run = runOf([], [met('a'), unread('b')])
    run.document.notAudited.push({ cluster: 'prod', node: 'b', reason: 'configz: HTTP 503' })
    const second = nextLedger({ runId: 'r', ...first.run }, run, '2026-11-11', '2026-01-01')
    expect(second.before?.unread).toEqual([{ cluster: 'prod', node: 'b', hasCome: true }])
    expect(nextLedger({ runId: 's', ...second.run }, run, '2026-11-12', '2026-01-01').before?.unread).toEqual([])
  })

  it('calls a node that was not read neither fixed nor new, and resolves it on the day it was read', () => {
    const told = days(runOf([on(['a'])], [met('a')]), runOf([], [unread('a')]), runOf([], [unread('a')]), runOf([], [met('a')]))
    expect(told[1]).toEqual({ ...nothing, since: undefined, past: [] })
    expect(told[3]).toEqual({ ...nothing, resolved: ['f1'], since: undefined, past: ['fixed 2026-11-13'] })
    const back = days(runOf([on(['a'])], [met('a')]), runOf([], [unread('a')]), runOf([on(['a'])], [met('a')]))
    expect(back[2]).toEqual({ ...nothing, since: '2026-11-10', past: [] })
    const fresh = days(runOf([], [unread('a')]), runOf([on(['a'])], [met('a')]))
    expect(fresh[1]).toEqual({ ...nothing, since: '2026-11-11', past: [] })
  })

  it('names a finding that is back after it was resolved, and dates it anew', () => {
    const told = days(runOf([on(['a'])], [met('a')]), runOf([], [met('a')]), runOf([on(['a'])], [met('a')]))
    expect(told[2]).toEqual({
      ...{ ...nothing, new: ['f1'], regressed: ['f1'], since: '2026-11-12', past: [] },
      returned: [{ id: 'f1', since: '2026-11-10', ended: 'fixed', on: '2026-11-11' }],
    })
  })

  it('takes nodes that were replaced for the repair that it is, and nodes that are only gone for none', () => {
    const replaced = days(runOf([on(['a'])], [met('a')]), runOf([], [met('b')]))
    expect(replaced[1]).toMatchObject({ resolved: ['f1'], past: ['replaced 2026-11-11'] })
    const gone = days(runOf([on(['a'])], [met('a')]), runOf([], [met('c', { group: nodegroup('other') })]), runOf([on(['a'])], [met('a')]))
    expect(gone[1]).toMatchObject({ resolved: [], past: ['gone 2026-11-11'] })
    expect(gone[2]).toMatchObject({ new: ['f1'], regressed: [] })
    const left = days(runOf([on(['a'])], [met('a'), met('b')]), runOf([], [met('b')]))
    expect(left[1]).toMatchObject({ resolved: [], past: ['gone 2026-11-11'] })
  })

  it('dates waived findings too, and calls one worse whose waiver has expired', () => {
    const waived = on(['a'], { waived: { until: '2026-11-10', reason: 'known' } })
    const told = days(runOf([], [met('a')], [waived]), runOf([on(['a'])], [met('a')]))
    expect(told).toEqual([
      { ...nothing, since: '2026-11-10', past: [] },
      { ...nothing, worse: ['f1'], since: '2026-11-10', past: [] },
    ])
  })

  it('forgets what ended before the day it is told', () => {
    const first = nextLedger(null, runOf([on(['a'])], [met('a')]), '2026-01-10', '2025-01-01')
    const ended = nextLedger({ runId: 'r', ...first.run }, runOf([], [met('a')]), '2026-01-11', '2025-01-11')
    expect(ended.run.past).toHaveLength(1)
    const later = nextLedger({ runId: 's', ...ended.run }, runOf([], [met('a')]), '2027-03-01', '2026-02-01')
    expect(later.run.past).toEqual([])
  })
})
