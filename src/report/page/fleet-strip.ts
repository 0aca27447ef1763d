/**
 * All nodes on one axis, by the use of the disk that is nearest to eviction. Few nodes are shapes; many are columns, whose height is
 * their number. The marks are the settings of most nodes; a thin line leads from a node that acts, or is near, to a mark of its own.
 */

import type { Language } from '#report/languages/language.ts'
import type { Gauge, Mark, MarkKind } from '#report/parts/gauge.ts'
import { layOutLadder } from '#report/parts/ladder.ts'
import type { GaugedNode } from '#report/parts/node.ts'
import { closePercent } from '#report/parts/outlook.ts'

const dotSize = 10
/** Percent between a node's use and its own mark, from which on no line joins them. */
const nearPercent = 15
/** A shape for each state, around its centre: a reader tells them apart without colours. */
const shapes = {
  calm: 'M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0',
  'image-gc': 'M0-4.8 4.8 3.8H-4.8z',
  pressure: 'M-4.2-4.2H4.2V4.2H-4.2z',
} satisfies Record<Gauge['state'], string>
/** A taller pile of dots is drawn as columns. */
const highestPile = 12
const columnHeight = 72

const states = ['calm', 'image-gc', 'pressure'] as const

interface Place {
  node: GaugedNode
  percent: number
  state: Gauge['state']
  headroomPercent: number | null
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
  const areDots = highest <= highestPile
  const height = areDots ? highest * dotSize + 4 : columnHeight
  const common = commonMarks(places)
  const ladder = layOutLadder(common, height, 0, language)
  const bottom = ladder.barTop + height
  const drawn = [...piles].toSorted(([a], [b]) => a - b)
  const dots = (areDots ? drawn : []).flatMap(([, pile]) =>
    pile
      .toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state))
      .map((place, index) => {
        const y = bottom - dotSize * (index + 0.5)
        return { ...dotOf(place, common, language), y, anchor: anchorOf(place.node.node) }
      }),
  )
  return {
    ...ladder,
    bottom,
    title: words.title(
      places.length,
      places.filter(
        ({ headroomPercent: left }) => left !== null && left >= 0 && left < closePercent,
      ).length,
      language.percent(closePercent),
    ),
    description: words.description(
      drawn.map(([percent, pile]) => words.pile(pile.length, language.percent(percent))),
    ),
    unread: places.length < nodes.length ? words.unread(nodes.length - places.length) : null,
    hasOwn: dots.some(({ own }) => own !== null),
    legend: states.flatMap(state => {
      const count = places.filter(place => place.state === state).length
      return count === 0 ? [] : [{ state, shape: shapes[state], text: words.states[state](count) }]
    }),
    dots,
    columns: areDots
      ? []
      : drawn.flatMap(([percent, pile]) => columnsOf(percent, pile, highest, bottom, language)),
  }
}

/** A node's shape, and the line to the node's own mark if the common mark of this kind is elsewhere. */
function dotOf(
  { node, percent, state, marks }: Place,
  common: readonly Mark[],
  language: Language,
) {
  const kind: MarkKind = state === 'image-gc' ? 'gc-start' : 'hard'
  const markOf = (marks: readonly Mark[]) => marks.find(mark => mark.kind === kind)
  const [own, usual] = [markOf(marks), markOf(common)]
  const differs =
    own !== undefined &&
    own.percent - percent < nearPercent &&
    Math.round(own.percent) !== Math.round(usual?.percent ?? -1)
  const { strip: words } = language.words
  const name = language.line(node.node.identity.name, 80)
  return {
    // In the middle of its percent, as the others of its pile.
    x: `${Math.min(Math.floor(percent), 99) + 0.5}%`,
    state,
    shape: shapes[state],
    own: differs ? { kind, x: `${own.percent.toFixed(2)}%` } : null,
    text: words.dot(
      name,
      language.percent(percent),
      own ? `${own.name} ${language.percent(own.percent)}` : null,
    ),
  }
}

function placeOf(node: GaugedNode): Place | null {
  const { nearest } = node
  if (nearest?.usedPercent == null) return null
  return { ...nearest, node, percent: nearest.usedPercent }
}

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
    return most ? [{ ...most[0]!, setting: '', amount: null }] : []
  })
}
