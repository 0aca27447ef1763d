import { describe, expect, it } from 'vitest'
import type { ObservedGrowth, Spread } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
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

const { words } = english

const minutes = 60_000
const capacityBytes = 100 * GiB
/** 2 GiB in 5 min. */
const disk = (usedPercent: number, options: Parameters<typeof sharedDisk>[1] = {}) =>
  sharedDisk(usedPercent, { capacityBytes, ...options })
/** Over five days. */
const seen = (bytesPerHour: Spread, more: Partial<ObservedGrowth> = {}): ObservedGrowth => ({
  isSeen: true,
  bytesPerHour,
  overMs: 5 * 24 * 60 * minutes,
  readings: 6,
  falls: 1,
  ...more,
})
const outlookOf = (node: AuditedNode) => diskOutlooks(node, assumptions)
const view = (...nodes: AuditedNode[]) => outlookView({ nodes, assumptions }, english)

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
    ['nothing', disk(50, { evictionHard: {}, highThresholdPercent: 100 })],
  ] as const)('has %s act first', (first, prediction) =>
    expect(outlookOf(auditedNode('n', prediction))[0]!.first).toBe(first),
  )
  it('counts the grace period of a soft threshold to its eviction, not to its pressure', () => {
    const [outlook] = outlookOf(
      auditedNode('n', disk(50, { evictionHard: {}, evictionSoft: { 'nodefs.available': '40%' } })),
    )
    expect(outlook!.pressureMs! / minutes).toBeCloseTo(25, 5)
    expect(outlook!.evictionMs! / minutes).toBeCloseTo(26.5, 5)
  })
  it('is told beside it as the disk was seen to fill: usually, soonest, latest', () => {
    const growing = auditedNode('n', disk(75), {
      growth: { nodefs: seen({ min: GiB / 2, median: GiB, max: 2 * GiB }) },
    })
    const [outlook] = outlookOf(growing)
    expect(outlook!.evictionMs! / minutes).toBeCloseTo(25, 5)
    const { usual, soonest, latest, horizonMs } = outlook!.seen!
    expect([usual, soonest, latest].map(({ evictionMs }) => evictionMs! / minutes)).toEqual([
      600, 300, 1200,
    ])
    expect(usual.imageGcMs! / minutes).toBeCloseTo(540, 5)
    expect(horizonMs).toBe(4 * 5 * 24 * 60 * minutes)
    const still = auditedNode('n', disk(75), {
      growth: { nodefs: seen({ min: 0, median: 0, max: 0 }) },
    })
    expect(outlookOf(still)[0]!.seen!.usual).toEqual({
      imageGcMs: null,
      pressureMs: null,
      evictionMs: null,
      fullMs: null,
    })
    const unseen = auditedNode('n', disk(75), {
      growth: { nodefs: { isSeen: false, why: 'first', readings: 1 } },
    })
    expect(outlookOf(unseen)[0]).toMatchObject({ seen: null, unseen: { why: 'first' } })
  })
  it('has nobody else act first because readings lie far apart: within minutes a disk may fill faster', () => {
    const slow = { growth: { nodefs: seen({ min: 1, median: 1, max: 1 }) } }
    expect(outlookOf(auditedNode('n', disk(50), slow))[0]!.first).toBe('either')
  })
  it('is asked of each disk by itself', () => {
    const both = outlookOf(
      auditedNode(
        'n',
        dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 100 * GiB)),
      ),
    )
    expect(both.map(({ title, imageGcMs }) => [title, imageGcMs !== undefined])).toEqual([
      ['nodefs', false],
      ['imagefs', true],
    ])
  })
  it('is not guessed where a node was not read', () =>
    expect(outlookOf(unreadNode('n', []))).toEqual([]))
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

  it('come in the order in which they evict', () =>
    expect(shown.rows.map(({ name }) => name)).toEqual(['now', 'hungry', 'late', 'calm']))
  it('tell when, what acts first, and who goes', () => {
    expect(shown.rows[2]).toMatchObject({
      imageGc: { text: 'now' },
      eviction: { text: 'in 1\u00a0min 15\u00a0s' },
      first: words.outlook.acts.either,
      isNow: false,
    })
    expect(shown.rows[0]).toMatchObject({
      eviction: { text: 'now' },
      isNow: true,
      victims: `${words.outlook.andThen('ci/build-7f9c', ['shop'])}/search-0`,
    })
    expect(shown.rows[1]).toMatchObject({
      disk: 'memory.available',
      eviction: { text: 'now' },
      victims: 'shop/search-0',
    })
  })
  it('are counted by time, and the counts are every node', () => {
    expect(shown.horizons.map(({ within, nodes }) => `${nodes} ${within}`)).toEqual([
      `${words.nodeCount(2)} now`,
      '1 node within 15\u00a0min',
      '1 node within 6\u00a0h',
      `${words.nodeCount(1)} ${words.outlook.neverOrUnwatched}`,
      words.thresholds.nodesNotKnown(1),
    ])
  })
  it('say what the times rest on', () => {
    const { basis } = words.outlook
    const assumed = ['2\u00a0%', '5\u00a0min'] as const
    expect(shown.basis).toBe(basis('none', 0, false, ...assumed))
    const growth = { nodefs: seen({ min: GiB, median: GiB, max: GiB }) }
    expect(view(auditedNode('n', disk(40), { growth })).basis).toBe(
      basis('all', 1, false, ...assumed),
    )
    expect(view(auditedNode('n', disk(40), { growth }), auditedNode('m', disk(40))).basis).toBe(
      basis('some', 1, false, ...assumed),
    )
  })
  it('name it of each node: what was seen, or why nothing was', () => {
    const day = GiB / 24
    const told = (growth: AuditedNode['growth']) => {
      const [row] = view(auditedNode('n', disk(75), { growth })).rows
      const times = [row!.eviction, row!.imageGc].flatMap(({ text, note }) =>
        [text, note].filter(Boolean),
      )
      return [row!.growth, ...times].map(text => text.replaceAll('\u00a0', ' '))
    }
    expect(told({ nodefs: seen({ min: day, median: 2 * day, max: 5 * day }) })).toEqual([
      `grows 2.0 GiB a day (1.0–5.0 GiB), ${words.growth.readings(6, '5 d', 1)}`,
      ...[
        `${words.growth.about('5')} d`,
        '2 d to 10 d',
        `${words.growth.about('5')} d`,
        '1 d 19 h to 9 d',
      ],
    ])
    expect(told({ nodefs: seen({ min: 0, median: day / 10, max: day }, { falls: 0 }) })).toEqual([
      `grows 102.4 MiB a day (0 B–1.0 GiB), ${words.growth.readings(6, '5', 0)} d`,
      ...[
        `${words.growth.notWithin('20')} d`,
        `${words.growth.fastest('10')} d`,
        `${words.growth.notWithin('20')} d`,
        `${words.growth.fastest('9')} d`,
      ],
    ])
    expect(
      told({
        nodefs: seen({ min: 0, median: GiB, max: GiB }, { overMs: 10 * 60 * minutes, falls: 2 }),
      }).slice(0, 3),
    ).toEqual([
      `grows 1.0 GiB an hour (0 B–1.0 GiB), ${words.growth.readings(6, '10 h', 2)}`,
      ...[`${words.growth.about('10')} h`, words.growth.orLater('10 h')],
    ])
    expect(told({ nodefs: seen({ min: day, median: day, max: day }, { falls: 0 }) })[0]).toBe(
      `grows 1.0 GiB a day, ${words.growth.readings(6, '5', 0)} d`,
    )
    expect(told({ nodefs: { isSeen: false, why: 'few', readings: 2 } }).slice(0, 2)).toEqual([
      `${words.growth.assumed('only')} 2 readings so far`,
      'in 25 min',
    ])
    expect(told(undefined).slice(0, 2)).toEqual(['', 'in 25 min'])
    const first = { growth: { nodefs: { isSeen: false, why: 'first', readings: 1 } as const } }
    expect(view(auditedNode('n', disk(75), first))).toMatchObject({
      rows: [{ growth: '' }],
      basis: expect.stringMatching(
        /^No growth was observed \(no earlier reading since any node started\), so/,
      ),
    })
    const beside = view(
      auditedNode('n', disk(75), first),
      auditedNode('m', disk(75), { growth: { nodefs: seen({ min: day, median: day, max: day }) } }),
    )
    expect(beside.rows.map(({ growth }) => growth)).toContain(
      `${words.growth.assumed(null)}: ${words.growth.unseen.first()}`,
    )
  })
  it('and their counts place those that were seen to get there within a week before those whose growth is assumed, and these before the others', () => {
    const growing = { growth: { nodefs: seen({ min: GiB, median: GiB, max: GiB }) } }
    const still = { growth: { nodefs: seen({ min: 0, median: 0, max: 0 }) } }
    const shown = view(
      auditedNode('still-near', disk(84), still),
      auditedNode('new', disk(83)),
      auditedNode('growing', disk(60), growing),
      auditedNode('evicts', disk(91), still),
    )
    expect(shown.rows.map(({ name }) => name)).toEqual(['evicts', 'growing', 'new', 'still-near'])
    expect(shown.horizons.map(({ within, nodes }) => `${nodes} ${within}`)).toEqual([
      `${words.nodeCount(1)} now`,
      words.outlook.asSeen(`${words.nodeCount(1)} ${words.outlook.withinDays(7)}`),
      words.outlook.asAssumed(`${words.nodeCount(1)} ${words.outlook.within('15\u00a0min')}`),
      words.outlook.asSeen(`${words.nodeCount(1)} ${words.outlook.later}`),
    ])
  })
  it('name no order among pods that have none', () => {
    const prediction = disk(91)
    prediction.eviction!.firstVictims = [
      {
        signal: 'imagefs.available',
        pods: ['a', 'b', 'c'].map(name => ({ namespace: 'x', name, rank: 0 })),
        alike: 5,
      },
    ]
    expect(view(auditedNode('n', prediction)).rows[0]!.victims).toBe(
      `${words.outlook.oneOf(5, 'x')}/a, x/b, x/c, …`,
    )
    prediction.eviction!.firstVictims = null
    expect(view(auditedNode('n', prediction)).rows[0]!.victims).toBe(words.overview.bands.unknown)
  })
  it('beyond ten are counted', () => {
    expect(
      view(...Array.from({ length: 12 }, (_, index) => auditedNode(`n${index}`, disk(50)))).leftOut,
    ).toContain(`${words.news.more(2)} nodes`)
  })
})

describe('opportunities', () => {
  const gainsOf = (nodes: AuditedNode[], ...findings: ReturnType<typeof finding>[]) =>
    opportunitiesView(quietReport(nodes, { findings }), ({ id }) => `finding-${id}`, english)
  const earlier = {
    config: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 },
    durable: [],
    commands: [],
  }

  it('tell how much earlier image GC would come', () => {
    const { rows } = gainsOf(
      [auditedNode('n', disk(50))],
      finding('high', { id: 'f', fix: earlier }),
    )
    expect(rows).toEqual([
      {
        gain: words.opportunities.noNeedlessEviction(1),
        gainNote: 'image GC starts 40\u00a0min before eviction, instead of 3\u00a0min before',
        change: 'set imageGCHighThresholdPercent 70, imageGCLowThresholdPercent 60',
        where: 'Nodegroup general of prod-eu',
        nodeCount: words.nodeCount(1),
        anchor: 'finding-f',
      },
    ])
  })
  it('tell how much disk would become usable, and put that after evictions', () => {
    const large = auditedNode('n', sharedDisk(20, { capacityBytes: 1000 * GiB }))
    const stranded = finding('low', {
      rule: 'stranded-disk',
      fix: { config: {}, durable: [], commands: [] },
    })
    const { rows } = gainsOf([large], stranded, finding('high', { fix: earlier }))
    expect(rows.map(({ gain }) => gain)).toEqual([
      words.opportunities.noNeedlessEviction(1),
      '100.0\u00a0GiB of disk become usable',
    ])
  })
  it('promise nothing where nothing is gained or known', () => {
    const worse = { ...earlier, config: { imageGCHighThresholdPercent: 90 } }
    expect(gainsOf([auditedNode('n', disk(50))], finding('high', { fix: worse })).rows).toEqual([])
    expect(gainsOf([unreadNode('n', [])], finding('high', { fix: earlier })).rows).toEqual([])
  })
})
