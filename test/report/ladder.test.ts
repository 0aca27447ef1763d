import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { english } from '#report/languages/language.ts'
import type { Mark } from '#report/parts/gauge.ts'
import {
  type BarWidth,
  barWidths,
  characterWidth,
  type Ladder,
  labelText,
  layOutLadder,
  rowHeight,
} from '#report/parts/ladder.ts'

const mark = (percent: number, overrides: Partial<Mark> = {}): Mark => ({
  kind: 'hard',
  percent,
  name: 'hard eviction',
  setting: 'nodefs.available<10%',
  amount: '72.0 GiB',
  ...overrides,
})

const pixels = (x: string, width: BarWidth) => (Number.parseFloat(x) * barWidths[width]) / 100

/** The box of every label and the line of every leader, at one width. */
function drawn({ marks }: Ladder, width: BarWidth) {
  return marks.map(placed => {
    const x = pixels(placed.x, width)
    const length = labelText(placed, width).length * characterWidth
    const box = {
      left: placed.isAbove ? x + 6 : x - 6 - length,
      right: placed.isAbove ? x + 6 + length : x - 6,
      top: placed.labelY - 12,
      bottom: placed.labelY + 4,
    }
    return { box, leader: { x, top: placed.leaderTop, bottom: placed.leaderBottom } }
  })
}

function collisions(ladder: Ladder, width: BarWidth): string[] {
  const all = drawn(ladder, width)
  const barBottom = ladder.barTop + ladder.barHeight
  return all.flatMap(({ box }, index) => [
    ...(box.left < 0 || box.right > barWidths[width] || box.top < 0 || box.bottom > ladder.height
      ? [`label ${index} leaves the picture`]
      : []),
    ...(box.top < barBottom && box.bottom > ladder.barTop
      ? [`label ${index} lies on the bar`]
      : []),
    ...all.flatMap((other, at) => [
      ...(at > index &&
      box.left < other.box.right &&
      other.box.left < box.right &&
      box.top < other.box.bottom &&
      other.box.top < box.bottom
        ? [`labels ${index} and ${at} overlap`]
        : []),
      ...(other.leader.x > box.left &&
      other.leader.x < box.right &&
      other.leader.top < box.bottom &&
      other.leader.bottom > box.top
        ? [`leader ${at} crosses label ${index}`]
        : []),
    ]),
  ])
}

const widths = Object.keys(barWidths) as BarWidth[]

describe.each(widths)('labels on a bar as wide as a %s', width => {
  it.each([
    { places: [80, 80, 84, 85, 90] },
    { places: [0, 1, 2, 98, 99, 100] },
    { places: [50, 69, 70, 80, 85] },
    { places: [49.9, 50, 50.1, 10, 90] },
    { places: [-4, 130] },
  ])('touch nothing with marks at $places', ({ places }) => {
    expect(
      collisions(
        layOutLadder(
          places.map(place => mark(place)),
          24,
          9,
          english,
        ),
        width,
      ),
    ).toEqual([])
  })
  it('touch nothing, wherever the marks are', () => {
    const kinds: Partial<Mark>[] = [
      { kind: 'gc-start', name: 'image GC starts', setting: 'imageGCHighThresholdPercent 85' },
      {
        kind: 'soft',
        name: 'soft eviction',
        setting: 'imagefs.available<20% for 1 min 30 s, nodefs.available<20% for 1 min 30 s',
        amount: null,
      },
      { kind: 'alert', name: 'your alert', setting: 'policy alertPercent 80' },
      {},
    ]
    const anyMark = fc.record({
      percent: fc.double({ min: -20, max: 120, noNaN: true }),
      index: fc.nat(kinds.length - 1),
    })
    fc.assert(
      fc.property(fc.array(anyMark, { maxLength: 9 }), marks => {
        expect(
          collisions(
            layOutLadder(
              marks.map(({ percent, index }) => mark(percent, kinds[index])),
              24,
              9,
              english,
            ),
            width,
          ),
        ).toEqual([])
      }),
    )
  })
})

it('puts every mark at its exact place', () => {
  expect(
    layOutLadder([mark(90), mark(84), mark(33.333)], 24, 9, english).marks.map(({ x, place }) => [
      x,
      place,
    ]),
  ).toEqual([
    ['33.33%', '33.3\u00a0%'],
    ['84.00%', '84\u00a0%'],
    ['90.00%', '90\u00a0%'],
  ])
})

it('keeps what lies outside at the end of the bar', () => {
  expect(layOutLadder([mark(-3), mark(120)], 24, 9, english).marks.map(({ x }) => x)).toEqual([
    '0.00%',
    '100.00%',
  ])
})

it('says more where there is room, and never what would not fit', () => {
  const [placed] = layOutLadder([mark(90)], 24, 9, english).marks
  expect(widths.map(width => labelText(placed!, width))).toMatchSnapshot()
  expect(
    labelText(
      layOutLadder([mark(52, { setting: 'x'.repeat(200) })], 24, 9, english).marks[0]!,
      'desk',
    ),
  ).toBe('hard eviction 52\u00a0%, 72.0 GiB')
})

it('is as high as its rows', () => {
  expect(layOutLadder([], 10, 9, english).height).toBe(23)
  expect(
    layOutLadder([mark(90), mark(91)], 10, 9, english).height -
      layOutLadder([mark(90)], 10, 9, english).height,
  ).toBe(rowHeight)
})
