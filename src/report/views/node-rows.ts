/** Nodes as rows of a table, and the size of those rows on the page. */
import type { Language } from '#report/languages/language.ts'
import type { Gauge } from './gauge.ts'
import { type GaugedNode, nameLimit } from './node.ts'

const reasonLimit = 200
/** Maximum length of a reason if thousands of nodes are listed: hundreds might be unread. */
const shortReasonLimit = 100

export type NodeRow = ReturnType<typeof nodeRow>

export function nodeRow(
  { node, gauges, state, headroomPercent }: GaugedNode,
  isOneOfMany: boolean,
  { words, line, percent }: Language,
) {
  const usedOf = (gauge: Gauge | undefined) =>
    gauge === undefined ? '' : percent(gauge.usedPercent)
  const reason =
    node.errors.map(({ what, message }) => `${what}: ${message}`).join('; ') || words.noReason
  return {
    name: line(node.identity.name, nameLimit),
    coverage: words.coverage[node.coverage],
    disk: usedOf(gauges.find(({ holdsImages }) => holdsImages)),
    nodefs: usedOf(gauges.find(({ kind, holdsImages }) => kind === 'disk' && !holdsImages)),
    memory: usedOf(gauges.find(({ kind }) => kind === 'memory')),
    headroom:
      headroomPercent !== null && headroomPercent < 0 ? words.none : percent(headroomPercent),
    state: words.node.states[state],
    reason: gauges.length > 0 ? null : line(reason, isOneOfMany ? shortReasonLimit : reasonLimit),
  }
}

const encoder = new TextEncoder()
/** Bytes of a row's tags. */
const rowTags = '<tr><th><td><td><td><td><td><td>\n'.length
/** Lengths of the HTML escapes of characters. */
const escapedLengths: Record<string, number> = {
  '&': 5,
  '<': 4,
  '>': 4,
  '"': 6,
  "'": 6,
  '`': 6,
  '=': 6,
}

/** Approximate size of the row's HTML in bytes. */
export function rowBytes({ reason, ...cells }: NodeRow): number {
  const text =
    reason === null ? Object.values(cells).join('') : `${cells.name}${cells.coverage}${reason}`
  const escapes = text.match(/[&<>"'`=]/g) ?? []
  return escapes.reduce(
    (sum, character) => sum + escapedLengths[character]! - 1,
    rowTags + encoder.encode(text).length,
  )
}
