import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DiskHolder, FilesystemLedger, LedgerLine } from '#model/prediction.ts'
import { english } from '#report/languages/language.ts'
import { hasEstimateOf, segmentLegend, segmentsOf } from '#report/parts/node.ts'

const line = (holder: DiskHolder, bytes: number, lowBytes = bytes): LedgerLine => ({
  ...{ holder, bytes, lowBytes, highBytes: bytes, inodes: null },
  source: 'du',
})
const disk = (lines: LedgerLine[]): FilesystemLedger => ({
  filesystem: 'nodefs',
  capacityBytes: 1000,
  usedBytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
  usedInodes: null,
  lines,
})

describe('segmentsOf', () => {
  it('draws a measured holder solid, and the part of a range above its lower bound as an estimate', () => {
    const found = segmentsOf(disk([line('images-in-use', 300, 100), line('journal', 50)]), english)
    expect(found.map(({ kind, x, width, isEstimate }) => [kind, x, width, isEstimate])).toEqual([
      ['images', '0.00%', '10.00%', false],
      ['images', '10.00%', '20.00%', true],
      ['logs', '30.00%', '5.00%', false],
    ])
  })

  it('cuts the pods at their owners, largest first, without logs', () => {
    const owner = (name: string, layerBytes: number, volumeBytes: number) => ({
      ...{ namespace: 'shop', owner: `Deployment ${name}`, pods: 1, logBytes: 900 },
      ...{ layerBytes, volumeBytes, bytes: layerBytes + volumeBytes + 900 },
      ...{ requestBytes: null, limitBytes: null },
    })
    const lines = [line('pod-volumes', 100), line('writable-layers', 60)]
    const owners = [owner('small', 1, 0), owner('cart', 20, 40), owner('web', 0, 70)]
    expect(
      segmentsOf(disk(lines), english, owners).map(({ kind, width, text }) => [
        kind,
        width,
        text.replaceAll('\u00a0', ' '),
      ]),
    ).toEqual([
      ['pods', '7.00%', 'Deployment shop/web: 70 B'],
      ['pods', '6.00%', 'Deployment shop/cart: 60 B'],
      ['pods', '3.00%', 'pods: 30 B'],
    ])
  })

  it('draws what no measurement covers only as an estimate', () => {
    const [only] = segmentsOf(disk([line('unread', 200)]), english)
    expect(only).toMatchObject({ kind: 'unknown', width: '20.00%', isEstimate: true })
  })

  it.each([
    ['a holder with bounds', line('images-in-use', 300, 100), true],
    ['a measured holder', line('images-in-use', 300), false],
    ['what was not measured', line('unread', 200), false],
  ])('asks the legend to explain bounds: %s', (_, one, isExplained) => {
    expect(hasEstimateOf(segmentsOf(disk([one]), english))).toBe(isExplained)
  })

  it('ends where the use ends, whatever the lines say', () => {
    const lines = fc.array(
      fc
        .record({ bytes: fc.nat(900), lowBytes: fc.nat(900) })
        .map(one => ({ ...line('images', one.bytes, one.lowBytes) })),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(lines, fc.nat(1000), (some, usedBytes) => {
        const widths = segmentsOf({ ...disk(some), usedBytes }, english).map(({ width }) =>
          Number.parseFloat(width),
        )
        expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual(
          usedBytes / 10 + 0.1,
        )
      }),
    )
  })
})

it.each([
  ['unread', 'not measured'],
  ['not-explained', 'not explained'],
] as const)('segmentLegend calls %s %s', (holder, label) => {
  expect(segmentLegend(disk([line(holder, 200)]), english)).toMatchObject([{ label }])
})

it('segmentLegend gives a range for an estimate, largest first', () => {
  const legend = segmentLegend(
    disk([line('journal', 2 ** 30), line('images-unused', 2 ** 31, 0)]),
    english,
  )
  expect(legend.map(({ kind, amount }) => [kind, amount.replaceAll('\u00a0', ' ')])).toEqual([
    ['unused-images', 'up to 2.0 GiB'],
    ['logs', '1.0 GiB'],
  ])
})

it('segmentLegend gives one amount where both bounds read alike', () => {
  const [only] = segmentLegend(disk([line('journal', 2 ** 31, 2 ** 31 - 1000)]), english)
  expect(only?.amount.replaceAll('\u00a0', ' ')).toBe('2.0 GiB')
})

describe('a kind of unlike holders', () => {
  const labels = (...lines: LedgerLine[]) =>
    segmentLegend(disk(lines), english).map(({ label }) => label)

  it.each([
    [
      'one holder',
      [line('other-namespaces', 200)],
      english.words.ledger.holders['other-namespaces'],
    ],
    [
      'the same holder twice',
      [line('other-namespaces', 120), line('other-namespaces', 80)],
      english.words.ledger.holders['other-namespaces'],
    ],
    [
      'two',
      [line('other-namespaces', 200), line('log-debris', 9)],
      english.words.ledger.kinds.leftover,
    ],
    [
      'next to nothing beside',
      [line('other-namespaces', 200), line('log-debris', 1)],
      english.words.ledger.holders['other-namespaces'],
    ],
    ['not measured', [line('unread', 200)], english.words.ledger.kinds.unknown],
    [
      'measured and not explained',
      [line('not-explained', 200)],
      english.words.ledger.holders['not-explained'],
    ],
  ])('is called by its name where it has %s', (_, lines, expected) => {
    expect(labels(...lines)).toEqual([expected])
  })
})
