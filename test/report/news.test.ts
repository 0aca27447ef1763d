import { describe, expect, it } from 'vitest'
import type { ChangedFinding } from '#model/delta.ts'
import { english } from '#report/languages/language.ts'
import { groupNodes } from '#report/views/fleet.ts'
import { newsView } from '#report/views/news.ts'
import { overviewView } from '#report/views/overview.ts'
import {
  auditedNode,
  finding,
  lastRun,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const { words } = english

describe('what is new', () => {
  const morning = { ...morningReport(), before: lastRun() }
  const shown = newsView(morning, id => (id === 'a1' ? 'finding-a1' : null), english)

  it('is counted, with grades and nodes', () => {
    const { counts, nodeCounts } = words.news
    expect(shown.since).toEqual({ text: '2026-11-20 07:00 UTC', iso: '2026-11-20T07:00:00.000Z' })
    expect(shown.summary).toBe(
      [
        words.news.summary(true, [
          counts.new(1),
          counts.worse(1),
          counts.ended(1),
          counts.cannotTell(1),
          counts.unchanged(6),
        ]),
        words.news.nodes([nodeCounts.added(1), nodeCounts.notRead(1)]),
      ].join(' '),
    )
    expect(shown.grades).toEqual(['prod-eu: B → D'])
  })
  it('is listed with why, and leads to its card', () => {
    expect(shown.groups.map(({ title, isOpen }) => [title, isOpen])).toEqual([
      [`${words.news.newOrWorse}: 2`, true],
      [`${words.news.fixedOrBetter}: 1`, false],
      [`${words.news.neither}: 1`, false],
    ])
    expect(
      shown.groups[0]!.rows.map(({ word, severity, why, anchor }) => [word, severity, why, anchor]),
    ).toEqual([
      ['New', 'critical', '', 'finding-a1'],
      ['Worse', 'high', `${words.news.more(2)} nodes: ip-10-0-1-44, ip-10-0-1-45`, null],
    ])
  })
  it('is bounded, and what is left out is counted', () => {
    const last = lastRun()
    last.delta.findings.new = Array.from(
      { length: 25 },
      (_, index): ChangedFinding => ({ ...last.delta.findings.new[0]!, id: `n${index}` }),
    )
    const [group] = newsView({ ...morning, before: last }, () => null, english).groups
    expect(group!.rows).toHaveLength(20)
    expect(group!.leftOut).toBe(words.news.moreInDiff(6))
  })
  it('is nothing where nothing changed', () => {
    const last = lastRun()
    for (const change of Object.keys(last.delta.findings)) last.delta.findings[change as 'new'] = []
    expect(newsView({ ...morning, before: last }, () => null, english).summary).toMatch(
      /^No finding has changed: 6 unchanged\./,
    )
  })
  it('is not made up where no earlier run is known', () => {
    const unknown = newsView(quietReport([], { findings: [finding('high')] }), () => null, english)
    expect(unknown).toMatchObject({ since: null, groups: [], summary: words.news.noEarlierRun })
    const told = finding('high', { id: 'f1' })
    const known = newsView(
      quietReport([], { findings: [told], delta: { new: ['f1'], resolved: ['f0'] } }),
      () => null,
      english,
    )
    expect(known.summary).toBe(words.news.withoutHistory(1, 1))
    expect(known.groups[0]!.rows.map(({ title }) => title)).toEqual([told.title])
  })
})

describe('the fleet by headroom', () => {
  const nodesOf = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      index % 10 === 0
        ? unreadNode(`n${index}`, [], { identity: { group: nodegroup(`g${index % 80}`) } })
        : auditedNode(`n${index}`, sharedDisk(30 + (index % 60)), {
            identity: { group: nodegroup(`g${index % 80}`) },
          }),
    )
  const numbersIn = (text: string) =>
    [...text.matchAll(/: ([\d,]+)(?:,|$)/g)].reduce(
      (sum, [, number]) => sum + Number(number!.replaceAll(',', '')),
      0,
    )

  it('has a shape for each node of a small one', () => {
    const { groups, legend } = overviewView(groupNodes(quietReport(nodesOf(50)), english), english)
    expect(
      groups
        .flatMap(({ tiles }) => tiles)
        .reduce((sum, { path }) => sum + path.split('M').length - 1, 0),
    ).toBe(50)
    expect(legend.reduce((sum, { nodes }) => sum + Number(nodes), 0)).toBe(50)
    expect(new Set(legend.map(({ path }) => path)).size).toBe(legend.length)
  })
  it('has a bar for each group of a large one, the rest in one, and adds up to every node', () => {
    const { groups, others, legend } = overviewView(
      groupNodes(quietReport(nodesOf(5000)), english),
      english,
    )
    expect(groups).toHaveLength(60)
    expect(groups.every(({ tiles }) => tiles.length === 0)).toBe(true)
    expect(others!.title).toBe(words.overview.moreGroups(20))
    const counted = [...groups, others!].map(({ description }) => {
      const [, all, rest] = /^([\d,]+) nodes?: (.*)$/.exec(description)!
      const sum = numbersIn(`: ${rest}`.replace(/^: (?=[a-z])/, ''))
      if (sum > 0) expect(sum).toBe(Number(all!.replaceAll(',', '')))
      return Number(all!.replaceAll(',', ''))
    })
    expect(counted.reduce((a, b) => a + b)).toBe(5000)
    expect(legend.reduce((sum, { nodes }) => sum + Number(nodes.replaceAll(',', '')), 0)).toBe(5000)
  })
})
