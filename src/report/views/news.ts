/** What is new since the last run. */
import { type Change, type ChangedFinding, changes, type Delta } from '#model/delta.ts'
import type { Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { type TitleOf, titlesOf } from '#report/rule-words.ts'
import { shownTitle, subjectText } from './findings.ts'
import { absentText } from './mail-changes.ts'
import { type Moment, momentOf } from './moment.ts'
import { nameLimit } from './node.ts'
import { returnedTexts } from './returned.ts'

const shown = { perChange: 20, reasons: 4, notes: 10, clusters: 20 }

interface NewsRow {
  word: string
  severity: string
  severityWord: string
  title: string
  ownTitle: string | null
  where: string
  why: string
  anchor: string | null
}

interface NewsGroup {
  title: string
  /** Shown at once, or folded. */
  isOpen: boolean
  rows: NewsRow[]
  leftOut: string | null
}

export interface NewsView {
  since: Moment | null
  /** One sentence: what changed, or why that is unknown. */
  summary: string
  grades: string[]
  groups: NewsGroup[]
  notes: string[]
}

const groups: {
  title: 'newOrWorse' | 'fixedOrBetter' | 'neither'
  of: Change[]
  isOpen: boolean
}[] = [
  { title: 'newOrWorse', of: ['new', 'worse', 'waiverExpired', 'newlySeen'], isOpen: true },
  {
    title: 'fixedOrBetter',
    of: ['fixed', 'better', 'fixedOrGone', 'gone', 'waivedSince'],
    isOpen: false,
  },
  { title: 'neither', of: ['moved', 'cannotTell'], isOpen: false },
]

type AnchorOf = (id: string) => string | null
interface ShownAs {
  anchorOf: AnchorOf
  titleOf: TitleOf
}

/** @param anchorOf place of a finding's card on the page, by id; null: none */
export function newsView(
  { document, before, ruleTitles }: Pick<AuditReport, 'document' | 'before' | 'ruleTitles'>,
  anchorOf: AnchorOf,
  language: Language,
): NewsView {
  const shownAs: ShownAs = { anchorOf, titleOf: titlesOf({ document, ruleTitles }, language) }
  if (!before) return withoutHistory(document.delta, document.findings, shownAs, language)
  const words = language.words.news
  const { delta, takenAt } = before
  const { findings, unchanged } = delta
  const texts = returnedTexts(before, language)
  const returned = new Map((document.delta.regressed ?? []).map(id => [id, texts.get(id) ?? '']))
  const count = (...of: Change[]) => of.reduce((sum, change) => sum + findings[change].length, 0)
  const changed = count(...changes)
  const parts = [
    [count('new', 'newlySeen'), words.counts.new],
    [count('worse', 'waiverExpired'), words.counts.worse],
    [count('better'), words.counts.better],
    [count('fixed', 'fixedOrGone', 'gone'), words.counts.ended],
    [count('moved', 'waivedSince'), words.counts.otherwise],
    [count('cannotTell'), words.counts.cannotTell],
    [unchanged.open + unchanged.waived, words.counts.unchanged],
  ] as const
  const counted = parts.filter(([number]) => number > 0).map(([number, text]) => text(number))
  return {
    since: momentOf(takenAt, language),
    summary: [
      words.summary(changed > 0, counted),
      ...nodesText(delta.nodes, language),
      absentText(before, language),
    ]
      .filter(Boolean)
      .join(' '),
    grades: gradeTexts(delta.clusters, language),
    groups: groups.flatMap(group => newsGroup(group, findings, shownAs, returned, language) ?? []),
    notes: bounded(
      delta.notes.map(note => language.line(note, 300)),
      shown.notes,
      language,
    ),
  }
}

/** Without history only the findings document itself is known of the earlier run. */
function withoutHistory(
  delta: { new: string[]; resolved: string[] },
  findings: Finding[],
  { anchorOf, titleOf }: ShownAs,
  language: Language,
): NewsView {
  const { words: all, line } = language
  const words = all.news
  const known = findings.filter(({ id }) => delta.new.includes(id))
  const isKnown = delta.new.length + delta.resolved.length > 0
  const rows = known
    .slice(0, shown.perChange)
    .map(({ id, severity, rule, title, cluster, subject }) => ({
      word: words.changed.new,
      severity,
      severityWord: all.severities[severity],
      ...shownTitle(titleOf({ rule, title }), language),
      where: all.of(subjectText(subject, language), line(cluster, nameLimit)),
      why: '',
      anchor: anchorOf(id),
    }))
  return {
    since: null,
    summary: isKnown
      ? words.withoutHistory(delta.new.length, delta.resolved.length)
      : words.noEarlierRun,
    grades: [],
    groups:
      rows.length === 0
        ? []
        : [
            {
              title: words.newOrWorse,
              isOpen: true,
              rows,
              leftOut: moreText(delta.new.length - rows.length, language),
            },
          ],
    notes: [],
  }
}

/** @param returned ids of new findings that had ended before, with when and how they ended */
function newsGroup(
  { title, of, isOpen }: (typeof groups)[number],
  findings: Delta['findings'],
  shownAs: ShownAs,
  returned: ReadonlyMap<string, string>,
  language: Language,
): NewsGroup | null {
  const { words: every, count } = language
  const words = every.news
  const all = of.flatMap(change => findings[change].map(finding => ({ change, finding })))
  if (all.length === 0) return null
  return {
    title: every.said(words[title], count(all.length)),
    isOpen,
    rows: all
      .slice(0, shown.perChange)
      .map(({ change, finding }) =>
        newsRow(
          returned.has(finding.id) ? words.backAgain : words.changed[change],
          withWhy(finding, returned.get(finding.id)),
          shownAs,
          language,
        ),
      ),
    leftOut: moreText(all.length - shown.perChange, language),
  }
}

const withWhy = (finding: ChangedFinding, why: string | undefined) =>
  why ? { ...finding, why: [why, ...finding.why] } : finding

const moreText = (count: number, { words }: Language) =>
  count > 0 ? words.news.moreInDiff(count) : null

function newsRow(
  word: string,
  { id, rule, title, cluster, subject, before, after, why }: ChangedFinding,
  { anchorOf, titleOf }: ShownAs,
  language: Language,
): NewsRow {
  const { words, line } = language
  const { severity } = (after ?? before)!
  return {
    word,
    severity,
    severityWord: words.severities[severity],
    ...shownTitle(titleOf({ rule, title }), language),
    where: words.of(subjectText(subject, language), line(cluster, nameLimit)),
    why: words.clauses(
      bounded(
        why.map(reason => line(reason, 240)),
        shown.reasons,
        language,
      ),
    ),
    anchor: after === null ? null : anchorOf(id),
  }
}

/** Empty if no node was added, removed or read less. */
function nodesText({ come, gone, notReadNow }: Delta['nodes'], { words }: Language): string[] {
  const { nodeCounts } = words.news
  const counts = [
    ...(come?.length ? [nodeCounts.added(come.length)] : []),
    ...(gone?.length ? [nodeCounts.removed(gone.length)] : []),
    ...(notReadNow.length > 0 ? [nodeCounts.notRead(notReadNow.length)] : []),
  ]
  return counts.length === 0 ? [] : [words.news.nodes(counts)]
}

function gradeTexts(clusters: Delta['clusters'], language: Language): string[] {
  const { news: words, verdict } = language.words
  const texts = clusters.flatMap(({ name, before, after }) => {
    const was = before === null ? words.notInLastRun : (before.grade ?? verdict.noGrade)
    const is = after === null ? words.notInThisRun : (after.grade ?? verdict.noGrade)
    return was === is ? [] : [words.grade(language.line(name, nameLimit), was, is)]
  })
  return bounded(texts, shown.clusters, language)
}

const bounded = (texts: string[], limit: number, { words }: Language) =>
  texts.length > limit ? [...texts.slice(0, limit), words.news.more(texts.length - limit)] : texts
