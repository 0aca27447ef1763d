import { describe, expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction.ts'
import type { FirstVictims } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { outlookView } from '#report/parts/outlook.ts'
import {
  auditedNode,
  dedicatedDisks,
  diskLedger,
  filesystem,
  GiB,
  noFilesystems,
  quietReport,
  sharedDisk,
  threshold,
} from '#test/report-builder.ts'

type Prediction = Parameters<typeof auditedNode>[1]

const firstOf = (prediction: Prediction, ledger?: DiskLedger) => {
  const node = auditedNode('n1', prediction, ledger && { ledger })
  const { text, note } = outlookView(quietReport([node]), english).rows[0]!.first!
  return `${text}; ${note}`.replaceAll('\u00a0', ' ')
}

it('says that unused images go before pods where images share the disk', () => {
  expect(firstOf(sharedDisk(95))).toMatch(/; if deleting unused images is not enough$/)
  expect(firstOf(sharedDisk(95), diskLedger(['images-unused', 3 * GiB, 3 * GiB]))).toMatch(
    /; if deleting 3\.0.GiB of unused images is not enough$/,
  )
  expect(
    firstOf(
      sharedDisk(40, { inodesFreePercent: 4 }),
      diskLedger(['images-unused', 3 * GiB, 3 * GiB]),
    ),
  ).toMatch(/; if deleting unused images is not enough$/)
  expect(firstOf(sharedDisk(40, { memoryAvailableBytes: 50 * 2 ** 20 }))).toMatch(/; $/)
  // An estimate is no measurement.
  expect(firstOf(sharedDisk(95), diskLedger(['images-unused', 0, 3 * GiB]))).toMatch(
    /; if deleting up to 3\.0.GiB of unused images is not enough$/,
  )
})

it.each([
  ['nothing else', sharedDisk(95), undefined],
  ['inodes', sharedDisk(95, { inodesFreePercent: 2 }), 'nodefs.inodesFree'],
  ['memory', sharedDisk(95, { memoryAvailableBytes: 50 * 2 ** 20 }), 'memory.available'],
])('names the other threshold that a node is past: %s', (_, prediction, signal) => {
  const { basis } = outlookView(quietReport([auditedNode('n1', prediction)]), english).rows[0]!
  expect(/also past the threshold of (\S+)$/.exec(basis)?.[1]).toBe(signal)
})

it('names no pod where the unused images are enough for certain', () => {
  const enough = (low: number, high = low) => {
    const node = auditedNode('n1', sharedDisk(82), {
      ...{ firstVictims: [{ signal: 'imagefs.available', pods, alike: 1 }] },
      ledger: diskLedger(['images-unused', low * GiB, high * GiB]),
    })
    const { first, victims } = outlookView(quietReport([node]), english).rows[0]!
    return [first!.text, victims].map(text => text.replaceAll('\u00a0', ' '))
  }
  const pods = ['cart', 'web'].map((name, rank) => ({ namespace: 'shop', name, rank }))
  const none = 'no pod: 9.0 GiB of unused images go first, which is enough'
  expect(enough(9)).toEqual([none, none])
  expect(enough(7)).toEqual(['shop/cart', '7.0 GiB of unused images, then shop/cart'])
  expect(enough(7, 9)[0]).toBe('shop/cart')
})

it('promises no unused images after a round that found none', () => {
  const node = auditedNode('n1', sharedDisk(95))
  const failed = { what: 'image-gc-failed' as const, subject: 'n1', message: '' }
  const noteAfter = (minutes: number) => {
    const at = new Date(Date.parse(node.at) - minutes * 60_000).toISOString()
    const happened = [{ ...failed, at }]
    return outlookView(quietReport([{ ...node, happened }]), english).rows[0]!.first!.note
  }
  expect(noteAfter(3)).toBe('')
  expect(noteAfter(90)).not.toBe('')
})

it('promises no unused images after minutes of pressure, in which the kubelet deletes them', () => {
  const node = auditedNode('n1', sharedDisk(95))
  const noteAfter = (minutes: number | null, condition = 'DiskPressure') => {
    const sinceMs = Date.parse(node.at) - (minutes ?? 0) * 60_000
    const since = minutes === null ? null : new Date(sinceMs).toISOString()
    const pressures = [{ condition, since }]
    return outlookView(quietReport([{ ...node, pressures }]), english).rows[0]!.first!.note
  }
  expect(noteAfter(1)).toBe('if deleting unused images is not enough')
  expect(noteAfter(5)).toBe('')
  expect(noteAfter(null)).toBe('')
  expect(noteAfter(5, 'MemoryPressure')).not.toBe('')
})

it('promises no unused images where the replay finds none', () => {
  const prediction = sharedDisk(95)
  expect(
    firstOf({ ...prediction, imageGC: { ...prediction.imageGC!, deletableBytes: 0 } }),
  ).toMatch(/; $/)
})

it('counts a node whose kubelet reports no image filesystem, if its own disk evicts', () => {
  const { filesystems, ...rest } = sharedDisk(95)
  const alone = { ...rest, filesystems: { ...filesystems, imagefs: null, layout: null } }
  expect(outlookView(quietReport([auditedNode('n1', alone)]), english).evicting).toBe(1)
})

const [full, empty] = [filesystem(20 * GiB, GiB), filesystem(20 * GiB, 19 * GiB)]

it('says that pods go first on a disk without images', () => {
  expect(firstOf(dedicatedDisks(full, empty))).toMatch(/; $/)
  expect(firstOf(dedicatedDisks(empty, full))).toMatch(/; if deleting unused images/)
})

it('puts a disk that no threshold watches and that is full within the hour first', () => {
  const bytesPerHour = (gib: number) => ({ min: gib * GiB, median: gib * GiB, max: gib * GiB })
  const seen = (gib: number) => ({
    isSeen: true as const,
    ...{ readings: 5, falls: 0, overMs: 96 * 3_600_000, bytesPerHour: bytesPerHour(gib) },
  })
  const unwatched = sharedDisk(50, { evictionHard: {} })
  const report = quietReport([
    auditedNode('still', sharedDisk(80)),
    auditedNode('slow', sharedDisk(50), { growth: { nodefs: seen(1) } }),
    auditedNode('fast', unwatched, { growth: { nodefs: seen(40) } }),
  ])
  const { rows } = outlookView(report, english)
  expect(rows.map(({ name, state }) => [name, state.replaceAll('\u00a0', ' ')])).toEqual([
    ['fast', 'in about 1 h'],
    ['slow', 'in about 1 d 4 h'],
    ['still', '4.0 GiB (5 %) to eviction'],
  ])
  expect(rows.map(({ first }) => first === null)).toEqual([true, false, false])
  expect(rows[0]!.note).toContain('to full: no threshold watches it')
  expect(rows[0]!.victims).toBe(english.words.next.noThreshold)
  expect(rows[1]!.victims).not.toBe(english.words.next.noThreshold)
})

it('calls pods unread only if no order of eviction is known', () => {
  const pods = [{ namespace: 'shop', name: 'cart', rank: 0 }]
  const rowOf = (firstVictims: FirstVictims[]) => {
    const node = auditedNode('n1', sharedDisk(95), { firstVictims })
    return outlookView(quietReport([node]), english).rows[0]!.first?.text
  }
  expect(rowOf([])).toMatch(/were not read/)
  expect(rowOf([{ signal: 'memory.available', pods, alike: 1 }])).toMatch(/unknown(?!:)/)
})

it('marks pods that go first because they have no statistics', () => {
  const pods = ['kiosk', 'helm'].map(name => ({ namespace: 'apps', name, rank: 0 }))
  const firstVictims: FirstVictims[] = (['nodefs.available', 'imagefs.available'] as const).map(
    signal => ({ signal, pods, alike: 2, isUnmeasured: true }),
  )
  const node = auditedNode('n1', sharedDisk(95), { firstVictims })
  const { first } = outlookView(quietReport([node]), english).rows[0]!
  expect(first?.text).toContain('any of 2 pods of the same rank (apps/kiosk, apps/helm), without')
})

/** Process ids that are left of 1,000, with or without a threshold. */
function withPids(left: number, value?: string) {
  const prediction = sharedDisk(40)
  const { eviction } = prediction
  const observed = { available: left, capacity: 1000, time: null }
  eviction!.signals['pid.available'] = { availableBytes: left, capacityBytes: 1000 }
  if (value !== undefined) eviction!.thresholds.push(threshold('pid.available', value, observed))
  return prediction
}

describe('inodes, memory and process ids', () => {
  const noThreshold = { 'memory.available': '100Mi', 'nodefs.available': '10%' }
  const MiB = GiB / 1024
  const viewOf = (...nodes: [string, Prediction][]) =>
    outlookView(
      quietReport(nodes.map(([name, prediction]) => auditedNode(name, prediction))),
      english,
    )
  const inodes = (left: number, evictionHard?: Record<string, string>) =>
    sharedDisk(40, { inodesFreePercent: left, ...(evictionHard && { evictionHard }) })

  it('are ranked with disks by what is left', () => {
    const view = viewOf(
      ['disk', sharedDisk(82)],
      ['inodes', inodes(2, noThreshold)],
      ['watched-inodes', inodes(9)],
      ['memory', sharedDisk(40, { memoryAvailableBytes: 150 * MiB })],
      ['pids', withPids(15)],
      ['watched-pids', withPids(110, '10%')],
      ['calm', sharedDisk(40)],
    )
    const rows = view.rows.map(({ name, state, disk }) => [name, state, disk].join('; '))
    expect(rows.map(text => text.replaceAll('\u00a0', ' '))).toEqual([
      'memory; 50.0 MiB memory (0.2 %) to eviction; memory 99.5 % used',
      'watched-pids; 10 process ids (1 %) to eviction; process ids 89 % used',
      'pids; 15 process ids (1.5 %) to full: no threshold watches it; process ids 98.5 % used',
      'inodes; 838,861 inodes of nodefs = imagefs (2 %) to full: no threshold watches it; inodes of nodefs = imagefs 98 % used',
      'disk; 2.4 GiB (3 %) to eviction; nodefs = imagefs 82 % used',
      'watched-inodes; 1,677,722 inodes of nodefs = imagefs (4 %) to eviction; inodes of nodefs = imagefs 91 % used',
    ])
    expect(view.counts.map(({ text }) => text.replaceAll('\u00a0', ' '))).toEqual([
      '6 nodes with under 5 % headroom',
      '1 node with over 15 % headroom',
    ])
  })

  it('leave out memory that most of the node uses, in the list and not in the counts', () => {
    const used = { memoryAvailableBytes: 3 * GiB }
    const view = viewOf(['disk', sharedDisk(74, used)], ['memory', sharedDisk(40, used)])
    expect(view.rows.map(({ name, disk }) => `${name} ${disk}`.replaceAll('\u00a0', ' '))).toEqual([
      'disk nodefs = imagefs 74 % used',
    ])
    expect(view.counts.map(({ text }) => text.replaceAll('\u00a0', ' '))).toEqual([
      '2 nodes with 5 to 15 %',
    ])
  })

  it('give no forecast for a node whose disk was not read', () => {
    const prediction = { ...sharedDisk(40), filesystems: noFilesystems }
    expect(viewOf(['n1', prediction]).counts.map(({ text }) => text)).toEqual([
      'no forecast for 1 node',
    ])
  })
})

it('says of a node past its threshold with critical pods alone that it evicts none', () => {
  const signals = ['nodefs.available', 'imagefs.available'] as const
  const firstVictims = signals.map(signal => ({ signal, pods: [], alike: 0 }))
  const { rows, evicting, counts } = outlookView(
    quietReport([
      auditedNode('powerless', sharedDisk(97), { firstVictims }),
      auditedNode('evicting', sharedDisk(95)),
    ]),
    english,
  )
  expect(evicting).toBe(1)
  expect(rows.map(({ name, state, isNow }) => [name, state, isNow])).toEqual([
    ['evicting', 'evicts now', true],
    ['powerless', 'past its eviction threshold, with no pod to evict', true],
  ])
  expect(counts.map(({ text }) => text)).toEqual([
    '1 node evicts now',
    '1 node past its eviction threshold, with no pod to evict',
  ])
})
