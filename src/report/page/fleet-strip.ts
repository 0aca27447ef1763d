/**
 * All nodes on one axis, by the use of the disk that is nearest to eviction. Few nodes are dots; many are columns, whose height is
 * their number. The marks are the settings of most nodes.
 */
import type { Language } from '#report/languages/language.ts'
import type { Gauge, Mark, MarkKind } from '#report/parts/gauge.ts'
import { layOutLadder } from '#report/parts/ladder.ts'
import type { GaugedNode } from '#report/parts/node.ts'

const dot = { size: 8, radius: 3.4 }
/** A taller pile of dots is drawn as columns. */
const highestPile = 12
const columnHeight = 72

interface Place {
  node: GaugedNode
  percent: number
  state: Gauge['state']
  marks: Mark[]
}

export type AnchorOf = (node: GaugedNode['node']) => string | null

/** Null: fewer than two nodes have a disk that was observed. */
export function fleetStrip(nodes: readonly GaugedNode[], anchorOf: AnchorOf, language: Language) {
  const { strip: words } = language.words
  const places = nodes.flatMap(node => placeOf(node) ?? [])
  if (places.length < 2) return null
  const piles = Map.groupBy(places, ({ percent }) => Math.min(Math.floor(percent), 99))
  const highest = Math.max(...[...piles.values()].map(pile => pile.length))
  const height = highest > highestPile ? columnHeight : highest * dot.size + 4
  const ladder = layOutLadder(commonMarks(places), height, 0, language)
  const bottom = ladder.barTop + height
  const drawn = [...piles].toSorted(([a], [b]) => a - b)
  return {
    ...ladder,
    bottom,
    title: words.title,
    description: words.description(
      drawn.map(([percent, pile]) => words.pile(pile.length, language.percent(percent))),
    ),
    count: words.count(places.length, nodes.length - places.length),
    dots:
      highest > highestPile
        ? []
        : drawn.flatMap(([percent, pile]) =>
            pile
              .toSorted(worstLast)
              .map(({ node, state }, index) => ({
                x: `${percent + 0.5}%`,
                y: bottom - dot.size * (index + 0.5),
                radius: dot.radius,
                state,
                anchor: anchorOf(node.node),
                text: words.dot(
                  language.line(node.node.identity.name, 80),
                  language.percent(percent),
                ),
              })),
          ),
    columns:
      highest > highestPile
        ? drawn.flatMap(([percent, pile]) => columnsOf(percent, pile, highest, bottom, language))
        : [],
  }
}

/** The disk with the least headroom. */
function placeOf(node: GaugedNode): Place | null {
  const [nearest] = node.gauges
    .filter(({ filesystem, usedPercent }) => filesystem !== null && usedPercent !== null)
    .toSorted(
      (a, b) =>
        (a.headroomPercent ?? Number.MAX_VALUE) - (b.headroomPercent ?? Number.MAX_VALUE) ||
        (b.usedPercent ?? 0) - (a.usedPercent ?? 0),
    )
  if (nearest?.usedPercent == null) return null
  return { node, percent: nearest.usedPercent, state: nearest.state, marks: nearest.marks }
}

const states = ['calm', 'image-gc', 'pressure'] as const
const worstLast = (a: Place, b: Place) => states.indexOf(a.state) - states.indexOf(b.state)

/** One column a state, one on the other, the worst on top. A few nodes are still 2 px high. */
function columnsOf(
  percent: number,
  pile: Place[],
  highest: number,
  bottom: number,
  { words, percent: shown }: Language,
) {
  let y = bottom
  return states.flatMap(state => {
    const count = pile.filter(place => place.state === state).length
    if (count === 0) return []
    const height = Math.max(2, Math.round((columnHeight * count) / highest))
    y -= height
    const text = words.strip.pile(count, shown(percent))
    return [{ x: `${percent}%`, y, height, state, text }]
  })
}

/** Of each kind of mark the place that most nodes have. */
function commonMarks(places: readonly Place[]): Mark[] {
  const kinds: MarkKind[] = ['alert', 'gc-start', 'soft', 'hard']
  return kinds.flatMap(kind => {
    const own = places.flatMap(({ marks }) => marks.filter(mark => mark.kind === kind))
    const byPlace = [...Map.groupBy(own, ({ percent }) => Math.round(percent)).values()]
    const [most] = byPlace.toSorted((a, b) => b.length - a.length)
    return most === undefined ? [] : [{ ...most[0]!, setting: '', amount: null }]
  })
}
