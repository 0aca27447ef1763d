/**
 * The nodes that evict first, one line each, and how many do so within which time: shown first on
 * page and mail.
 */
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'
import type { OutlookView } from './outlook.ts'

const shownNodes = 3

export interface NextView {
  title: string
  nodes: { name: string; where: string; when: string; isNow: boolean }[]
  /** Counts of all nodes by time; null: each node is named. */
  all: string | null
  /** The first nodes in one line. */
  brief: string
}

/**
 * Null: unknown for every node.
 *
 * @param nodeCount number of nodes in the report
 */
export function nextView(
  { rows, horizons }: OutlookView,
  nodeCount: number,
  fold: Fold,
  language: Language,
): NextView | null {
  const { outlook: words, said, list } = language.words
  const soon = rows.filter(({ isForeseen }) => isForeseen).slice(0, shownNodes)
  if (soon.length === 0) return null
  const later = soon.filter(({ isNow }) => !isNow)
  const isAssumed = later.length > 0 && later.every(each => each.isAssumed)
  const title = words.evictFirst(isAssumed)
  const nodes = soon.map(({ name, where, eviction, isNow, ...row }) => {
    const time = row.isAssumed && !isAssumed ? words.asAssumed(eviction.text) : eviction.text
    return { name: fold(name, 80), where: fold(where, 100), when: isNow ? words.now : time, isNow }
  })
  return {
    title,
    nodes,
    brief: words.evictFirstBrief(
      title,
      nodes.map(({ when, name }) => words.evictionOf(when, name)),
    ),
    all:
      nodeCount === soon.length
        ? null
        : said(words.byTime, list(horizons.map(({ nodes, within }) => `${nodes} ${within}`))),
  }
}
