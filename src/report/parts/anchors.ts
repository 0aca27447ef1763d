/** Anchors of findings and rules on the page. */

import type { Finding } from '#model/finding.ts'
import type { Language } from '#report/languages/language.ts'

/** Maximum number of findings with details; further findings are only rows. */
export const shownCards = 50

/** Anchors are the same in every run, if ids are valid. */
export interface PageAnchors {
  ofCard(finding: Finding): string
  /** Anchor by the finding's id. Null: the finding has no card. */
  ofFinding(id: string): string | null
  ofRule(rule: string): string
}

/**
 * @param findings in display order; @param rules one finding of each rule on the page
 */
export function anchorsOf(findings: Finding[], rules: Finding[]): PageAnchors {
  const taken = new Set<string>()
  const anchor = (prefix: string, id: string) => {
    const own = `${prefix}-${/^[\w-]{1,80}$/.test(id) ? id : 'x'}`
    const free = taken.has(own) ? `${own}--${taken.size}` : own
    taken.add(free)
    return free
  }
  const cards = new Map<Finding, string>()
  const byId = new Map<string, string>()
  for (const finding of findings.slice(0, shownCards)) {
    cards.set(finding, anchor('finding', finding.id))
    if (!byId.has(finding.id)) byId.set(finding.id, cards.get(finding)!)
  }
  const byRule = new Map(rules.map(({ rule }) => [rule, anchor('rule', rule)]))
  return {
    ofCard: finding => cards.get(finding) ?? '',
    ofFinding: id => byId.get(id) ?? null,
    ofRule: rule => byRule.get(rule) ?? 'rules',
  }
}

/** A time in UTC, with the data for the script that adds the reader's time zone. */
export function momentOf(time: string | null, { utc }: Language) {
  const at = time === null ? Number.NaN : Date.parse(time)
  return { text: utc(time), iso: Number.isNaN(at) ? null : new Date(at).toISOString() }
}
