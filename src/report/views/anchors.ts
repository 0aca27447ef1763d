/** Where on the page findings and rules stand. */
import type { Finding } from '#model/finding.ts'

/** Of each section: what goes on is in rows. */
export const shownCards = 50

/** Where on the page something stands: the same place in every run, where ids are as they should be. */
export interface PageAnchors {
  ofCard(finding: Finding): string
  /** By id. Null: it has no card. */
  ofFinding(id: string): string | null
  ofRule(rule: string): string
}

/** @param sections the findings of each section, in the order in which it shows them; @param rules one finding of each rule that is told of */
export function anchorsOf(sections: Finding[][], rules: Finding[]): PageAnchors {
  const taken = new Set<string>()
  const anchor = (prefix: string, id: string) => {
    const own = `${prefix}-${/^[\w-]{1,80}$/.test(id) ? id : 'x'}`
    const free = taken.has(own) ? `${own}--${taken.size}` : own
    taken.add(free)
    return free
  }
  const cards = new Map<Finding, string>()
  const byId = new Map<string, string>()
  for (const finding of sections.flatMap(section => section.slice(0, shownCards))) {
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
