/**
 * The whole fleet in one picture: every node by its distance to eviction, group by group. Small
 * groups are drawn as tiles, large ones as a bar. Texts and pictures have the same numbers, and
 * both add up to every node.
 */
import type { Language } from '#report/languages/language.ts'
import { groupAnchor, type NodeGroup } from './fleet.ts'
import type { GaugedNode } from './node.ts'

/** Groups of at least this size are drawn as a bar. */
const tiledNodes = 1500
const shownGroups = 60
const tilePixels = 14
const tilesARow = 40

const bands = ['met', 'image-gc', 'close', 'near', 'calm', 'unknown'] as const
type Band = (typeof bands)[number]

export interface OverviewView {
  legend: { band: Band; name: string; nodes: string; path: string }[]
  groups: OverviewRow[]
  /** All further groups, as one. */
  others: OverviewRow | null
}

interface OverviewRow {
  anchor: string | null
  title: string
  cluster: string
  description: string
  /** Tiles, one path per band; empty if the group is a bar. */
  tiles: { band: Band; path: string }[]
  width: number
  height: number
  parts: { band: Band; x: string; width: string }[]
}

/**
 * One shape per band, so that colours are not needed; 12 by 12 pixels, from the upper left corner.
 */
const shapes: Record<Band, string> = {
  met: 'h12v12h-12z',
  'image-gc': 'h12v12h-12zm4 4v4h4v-4z',
  close: 'm6 0l6 12h-12z',
  near: 'm6 0l6 6-6 6-6-6z',
  calm: 'm3 3h6v6h-6z',
  unknown: 'h12v12h-12zm2 2v8h8v-8z',
}

function bandOf({ state, headroomPercent }: GaugedNode): Band {
  if (state === 'pressure') return 'met'
  if (state === 'image-gc') return 'image-gc'
  if (headroomPercent === null) return 'unknown'
  if (headroomPercent < 5) return 'close'
  return headroomPercent < 15 ? 'near' : 'calm'
}

export function overviewView(groups: NodeGroup[], language: Language): OverviewView {
  const words = language.words.overview
  const nodeCount = groups.reduce((sum, { members }) => sum + members.length, 0)
  const isTiled = nodeCount <= tiledNodes
  const all = countsOf(groups.flatMap(({ members }) => members))
  const rest = groups.slice(shownGroups)
  const others: NodeGroup = {
    title: words.moreGroups(rest.length),
    cluster: '',
    members: rest.flatMap(({ members }) => members),
  }
  return {
    legend: bands
      .filter(band => all[band] > 0)
      .map(band => ({
        band,
        name: words.bands[band],
        nodes: language.count(all[band]),
        path: `M0 0${shapes[band]}`,
      })),
    groups: groups
      .slice(0, shownGroups)
      .map((group, index) => overviewRow(group, isTiled, groupAnchor(index), language)),
    others: rest.length === 0 ? null : overviewRow(others, false, null, language),
  }
}

function countsOf(members: GaugedNode[]): Record<Band, number> {
  const counts: Record<Band, number> = {
    met: 0,
    'image-gc': 0,
    close: 0,
    near: 0,
    calm: 0,
    unknown: 0,
  }
  for (const member of members) counts[bandOf(member)]++
  return counts
}

const countsText = (counts: Record<Band, number>, { words, count }: Language) =>
  words.list(
    bands
      .filter(band => counts[band] > 0)
      .map(band => words.said(words.overview.bands[band], count(counts[band]))),
  )

/** All nodes in one band. */
const wholeText = (counts: Record<Band, number>, { words }: Language) =>
  words.overview.bands[bands.find(band => counts[band] > 0) ?? 'unknown']

function overviewRow(
  { title, cluster, members }: NodeGroup,
  isTiled: boolean,
  anchor: string | null,
  language: Language,
): OverviewRow {
  const counts = countsOf(members)
  const rows = Math.ceil(members.length / tilesARow)
  return {
    anchor,
    title,
    cluster,
    description: language.words.overview.described(
      members.length,
      Object.values(counts).includes(members.length)
        ? wholeText(counts, language)
        : countsText(counts, language),
    ),
    tiles: isTiled ? tilesOf(counts) : [],
    width: Math.min(members.length, tilesARow) * tilePixels,
    height: isTiled ? rows * tilePixels : tilePixels,
    parts: isTiled ? [] : partsOf(counts, members.length),
  }
}

/** Nearest to eviction first, row by row: each a square with a gap. */
function tilesOf(counts: Record<Band, number>): OverviewRow['tiles'] {
  let place = 0
  return bands.flatMap(band => {
    const squares = Array.from({ length: counts[band] }, () => {
      const [x, y] = [(place % tilesARow) * tilePixels, Math.floor(place / tilesARow) * tilePixels]
      place += 1
      return `M${x} ${y}${shapes[band]}`
    })
    return squares.length === 0 ? [] : [{ band, path: squares.join('') }]
  })
}

function partsOf(counts: Record<Band, number>, all: number): OverviewRow['parts'] {
  let before = 0
  return bands.flatMap(band => {
    if (counts[band] === 0) return []
    const part = {
      band,
      x: `${((100 * before) / all).toFixed(2)}%`,
      width: `${((100 * counts[band]) / all).toFixed(2)}%`,
    }
    before += counts[band]
    return [part]
  })
}
