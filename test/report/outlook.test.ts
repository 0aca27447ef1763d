import { describe, expect, it } from 'vitest'
import type { AuditedNode } from '#model/report.ts'
import { diskOutlooks } from '#report/views/disk-outlook.ts'
import { opportunitiesView } from '#report/views/opportunities.ts'
import { outlookView } from '#report/views/outlook.ts'
import {
  assumptions,
  auditedNode,
  dedicatedDisks,
  filesystem,
  finding,
  GiB,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const minutes = 60_000
const capacityBytes = 100 * GiB
/** 2 GiB in 5 min. */
const disk = (usedPercent: number, options: Parameters<typeof sharedDisk>[1] = {}) => sharedDisk(usedPercent, { capacityBytes, ...options })
const outlookOf = (node: AuditedNode) => diskOutlooks(node, assumptions)
const view = (...nodes: AuditedNode[]) => outlookView({ nodes, assumptions })

describe('what becomes of a filling disk', () => {
  it('is told by the assumed growth: image GC above 84 %, eviction at 85 %', () => {
    const [outlook] = outlookOf(auditedNode('n', disk(75)))
    expect(outlook!.imageGcMs! / minutes).toBeCloseTo(22.5, 5)
    expect(outlook!.evictionMs! / minutes).toBeCloseTo(25, 5)
    expect(outlook!.threshold!.signal).toBe('imagefs.available')
    expect(outlook!.fullMs! / minutes).toBeCloseTo(62.5, 5)
  })
  it.each([
    ['image-gc', disk(50, { highThresholdPercent: 70 })],
    // Image GC is due first, but within one of its periods eviction is, too.
    ['either', disk(50)],
    ['eviction', disk(50, { highThresholdPercent: 90 })],
    ['eviction', disk(50, { highThresholdPercent: 100 })],
    ['image-gc', disk(50, { evictionHard: {} })],
    ['nobody', disk(50, { evictionHard: {}, highThresholdPercent: 100 })],
  ] as const)('has %s act first', (first, prediction) => expect(outlookOf(auditedNode('n', prediction))[0]!.first).toBe(first))
  it('counts the grace period of a soft threshold to its eviction, not to its pressure', () => {
    const [outlook] = outlookOf(auditedNode('n', disk(50, { evictionHard: {}, evictionSoft: { 'nodefs.available': '40%' } })))
    expect(outlook!.pressureMs! / minutes).toBeCloseTo(25, 5)
    expect(outlook!.evictionMs! / minutes).toBeCloseTo(26.5, 5)
  })
  it('follows the growth that was observed, and never comes where a disk becomes emptier', () => {
    const growing = auditedNode('n', disk(75), { growth: { nodefs: { bytesPerHour: GiB, overMs: 86_400_000 } } })
    expect(outlookOf(growing)[0]!.evictionMs! / minutes).toBeCloseTo(600, 5)
    const shrinking = auditedNode('n', disk(75), { growth: { nodefs: { bytesPerHour: -GiB, overMs: 86_400_000 } } })
    expect(outlookOf(shrinking)[0]).toMatchObject({ imageGcMs: null, evictionMs: null, fullMs: null })
  })
  it('is asked of each disk by itself', () => {
    const both = outlookOf(auditedNode('n', dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 100 * GiB))))
    expect(both.map(({ title, imageGcMs }) => [title, imageGcMs !== undefined])).toEqual([
      ['nodefs', false],
      ['imagefs', true],
    ])
  })
  it('is not guessed where a node was not read', () => expect(outlookOf(unreadNode('n', []))).toEqual([]))
})

describe('the nodes next to break', () => {
  const nodes = [
    auditedNode('calm', disk(40)),
    auditedNode('late', disk(84.5)),
    auditedNode('now', disk(91)),
    auditedNode('hungry', disk(40, { memoryAvailableBytes: 0 })),
    auditedNode('unwatched', disk(40, { evictionHard: { 'memory.available': '100Mi' } })),
    unreadNode('silent', [{ what: 'configz', message: 'refused' }]),
  ]
  const shown = view(...nodes)

  it('come in the order in which they evict', () => expect(shown.rows.map(({ name }) => name)).toEqual(['now', 'hungry', 'late', 'calm']))
  it('tell when, what acts first, and who goes', () => {
    expect(shown.rows[2]).toMatchObject({ imageGc: 'now', eviction: 'in 1\u00a0min 15\u00a0s', first: 'either', isNow: false })
    expect(shown.rows[0]).toMatchObject({ eviction: 'now', isNow: true, victims: 'ci/build-7f9c, then shop/search-0' })
    expect(shown.rows[1]).toMatchObject({ disk: 'memory.available', eviction: 'now', victims: 'shop/search-0' })
  })
  it('are counted by time, and the counts are every node', () => {
    expect(shown.horizons.map(({ within, nodes }) => `${nodes} ${within}`)).toEqual([
      '2 nodes now',
      '1 node within 15 min',
      '1 node within 6 h',
      '1 node never at this growth, or unwatched',
      '1 node not known',
    ])
  })
  it('say what the times rest on', () => {
    expect(shown.basis).toContain('No growth was observed, so a disk is taken to grow by 2\u00a0% of its capacity in 5\u00a0min')
    const growth = { nodefs: { bytesPerHour: GiB, overMs: 1 } }
    expect(view(auditedNode('n', disk(40), { growth })).basis).toContain('At the growth since an earlier reading')
    expect(view(auditedNode('n', disk(40), { growth }), auditedNode('m', disk(40))).basis).toContain('On 1 node the growth since')
  })
  it('name no order among pods that have none', () => {
    const prediction = disk(91)
    prediction.eviction!.firstVictims = [
      { signal: 'imagefs.available', pods: ['a', 'b', 'c'].map(name => ({ namespace: 'x', name, rank: 0 })), alike: 5 },
    ]
    expect(view(auditedNode('n', prediction)).rows[0]!.victims).toBe('one of 5 alike: x/a, x/b, x/c, …')
    prediction.eviction!.firstVictims = null
    expect(view(auditedNode('n', prediction)).rows[0]!.victims).toBe('not known')
  })
  it('beyond ten are counted', () => {
    expect(view(...Array.from({ length: 12 }, (_, index) => auditedNode(`n${index}`, disk(50)))).leftOut).toContain('2 more nodes')
  })
})

describe('opportunities', () => {
  const gainsOf = (nodes: AuditedNode[], ...findings: ReturnType<typeof finding>[]) =>
    opportunitiesView(quietReport(nodes, { findings }), ({ id }) => `finding-${id}`)
  const earlier = { config: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 }, durable: [], commands: [] }

  it('tell how much earlier image GC would come', () => {
    const { rows } = gainsOf([auditedNode('n', disk(50))], finding('high', { id: 'f', fix: earlier }))
    expect(rows).toEqual([
      {
        gain: 'no eviction for unused images on 1 node',
        gainNote: 'image GC starts 40\u00a0min before eviction, instead of 3\u00a0min before',
        change: 'set imageGCHighThresholdPercent 70, imageGCLowThresholdPercent 60',
        where: 'Nodegroup general of prod-eu',
        nodeCount: '1 node',
        anchor: 'finding-f',
      },
    ])
  })
  it('tell how much disk would become usable, and put that after evictions', () => {
    const large = auditedNode('n', sharedDisk(20, { capacityBytes: 1000 * GiB }))
    const stranded = finding('low', { rule: 'stranded-disk', fix: { config: {}, durable: [], commands: [] } })
    const { rows } = gainsOf([large], stranded, finding('high', { fix: earlier }))
    expect(rows.map(({ gain }) => gain)).toEqual(['no eviction for unused images on 1 node', '100.0\u00a0GiB of disk become usable'])
  })
  it('promise nothing where nothing is gained or known', () => {
    const worse = { ...earlier, config: { imageGCHighThresholdPercent: 90 } }
    expect(gainsOf([auditedNode('n', disk(50))], finding('high', { fix: worse })).rows).toEqual([])
    expect(gainsOf([unreadNode('n', [])], finding('high', { fix: earlier })).rows).toEqual([])
  })
})
