/** What a reader is told at once: which nodes evict first, and what to change there. */
import { describe, expect, it } from 'vitest'
import type { Finding } from '#model/finding.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail.ts'
import { pageView } from '#report/view.ts'
import { changesOf } from '#report/views/what-to-change.ts'
import {
  auditedNode,
  finding,
  GiB,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const { words } = english

const nodes = ['a', 'b', 'c'].map(name =>
  auditedNode(name, sharedDisk(60), {
    identity: { group: nodegroup(name === 'c' ? 'other' : 'general') },
  }),
)
const fixOf = (config: Record<string, unknown>): Partial<Finding> => ({
  fix: { config, durable: [], commands: [] },
})
const told = (findings: Finding[]) => {
  const changeOf = changesOf(quietReport(nodes, { findings }), ({ id }) => `finding-${id}`, english)
  return nodes.map(node => changeOf(node)?.text ?? null)
}

describe('what to change on a node', () => {
  it('is the fix of the worst finding on its image GC or eviction', () => {
    const findings = [
      finding('low', {
        nodes: { count: 1, sample: ['a'] },
        ...fixOf({ imageGCHighThresholdPercent: 60 }),
      }),
      finding('high', {
        nodes: { count: 1, sample: ['a'] },
        ...fixOf({ imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }),
      }),
      finding('critical', {
        family: 'logs',
        nodes: { count: 1, sample: ['a'] },
        ...fixOf({ containerLogMaxSize: '10Mi' }),
      }),
    ]
    expect(told(findings)).toEqual([
      'set imageGCHighThresholdPercent 70, imageGCLowThresholdPercent 60',
      null,
      null,
    ])
  })

  it('is said of a node that a finding does not name, where it is about the whole group', () => {
    const about = (count: number) =>
      told([
        finding('high', {
          nodes: { count, sample: ['a'] },
          ...fixOf({ evictionHard: { 'nodefs.available': '5%' } }),
        }),
      ])
    expect(about(2)).toEqual([
      'set evictionHard (nodefs.available)',
      'set evictionHard (nodefs.available)',
      null,
    ])
    // Which of them is meant is not known.
    expect(about(1)).toEqual(['set evictionHard (nodefs.available)', null, null])
  })

  it('is the first of the advice where no field is to be set, and counts fields beyond the first two', () => {
    const docs = {
      ...finding('high').docs,
      fix: `Make room ${words.setting.atOnce}: delete what is large. Then look.`,
    }
    expect(told([finding('high', { nodes: { count: 1, sample: ['a'] }, docs })])[0]).toBe(
      `Make room ${words.setting.atOnce}`,
    )
    expect(
      told([
        finding('high', {
          nodes: { count: 1, sample: ['a'] },
          ...fixOf({ a: 1, b: 2, c: 3, d: 4 }),
        }),
      ])[0],
    ).toBe(words.outlook.change(['a 1', 'b 2'], 2))
  })

  it('leads from the table of what breaks next to the whole fix', () => {
    const report = morningReport()
    const [first] = pageView(report, english).outlook.rows
    expect(first).toMatchObject({ isNow: true, change: { anchor: 'finding-a1' } })
    expect(renderPage(pageView(report, english))).toMatch(
      /<strong>To do:<\/strong> <a href="#finding-a1">/,
    )
  })
})

describe('the mail', () => {
  it('names the nodes that evict first, and says where their growth is assumed', () => {
    const text = renderMail(morningReport(), []).text.replace(/\s+/g, ' ')
    expect(text).toMatch(
      /Evict first, at assumed growth: now: ip-10-0-1-10\.\S+ \(prod-eu, Nodegroup general\) now: ip-10-8-0-4\S+ \(staging, NodePool default\) in 1 min 30 s: ip-10-0-1-44\S+ \(prod-eu/,
    )
    expect(renderMail(morningReport(), []).html).toMatch(
      /<b class="critical"[^>]*>now<\/b> ip-10-0-1-10\./,
    )
  })

  it('says of each how its time is known where that differs', () => {
    const seen = {
      isSeen: true,
      bytesPerHour: { min: GiB, median: GiB, max: GiB },
      overMs: 432_000_000,
      readings: 6,
      falls: 0,
    } as const
    const nodes = [
      auditedNode('grows', sharedDisk(60), { growth: { nodefs: seen } }),
      auditedNode('new', sharedDisk(60)),
    ]
    const told = renderMail(quietReport(nodes), []).text.replace(/\s+/g, ' ')
    expect(told).toContain(
      `${words.outlook.asAssumed(`${words.outlook.evictFirst(false)} ${words.growth.about('20')} h: grows (prod-eu, Nodegroup general) in 1 h 3 min`)}: new (prod-eu, Nodegroup general)`,
    )
  })

  it('counts beside them how many evict within which time, and every node', () => {
    const lost = unreadNode('lost', [{ what: 'configz', message: '503' }])
    const full = Array.from({ length: 331 }, (_, index) =>
      auditedNode(`full-${index}`, sharedDisk(96)),
    )
    const { text, html } = renderMail(
      quietReport([...full, auditedNode('calm', sharedDisk(60)), lost]),
      [],
    )
    const told = `${words.outlook.byTime}: ${words.nodeCount(331)} now, ${words.nodeCount(1)} within 6 h, ${words.nodeCount(1)} unknown`
    expect(text.replace(/\s+/g, ' ')).toContain(told)
    expect(html.replace(/\s+/g, ' ')).toContain(told)
  })

  it('does not count what it has named', () => {
    const { text } = renderMail(
      quietReport([auditedNode('one', sharedDisk(96)), auditedNode('two', sharedDisk(96))]),
      [],
    )
    expect(text).toContain('now: one')
    expect(text).not.toContain('Nodes by the time')
  })

  it('says nothing of it where nothing is known', () => {
    const lost = unreadNode('lost', [{ what: 'configz', message: '503' }])
    expect(renderMail(quietReport([lost]), []).text).not.toContain('Evict first')
  })
})
