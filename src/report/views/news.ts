/** What is new since the last run: for whoever read that one, this is the page. */
import { type Change, type ChangedFinding, changes, type Delta } from '#model/delta.ts'
import type { Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import { severityWords, subjectText } from './findings.ts'
import { type Moment, momentOf } from './moment.ts'
import { nameLimit } from './node.ts'
import { returnedTexts } from './returned.ts'

const shown = { perChange: 20, reasons: 4, notes: 10, clusters: 20 }

interface NewsRow {
  word: string
  severity: string
  severityWord: string
  title: string
  where: string
  why: string
  anchor: string | null
}

interface NewsGroup {
  title: string
  /** Shown at once, or unfolded. */
  isOpen: boolean
  rows: NewsRow[]
  leftOut: string | null
}

export interface NewsView {
  since: Moment | null
  /** One sentence: what changed, or why that is not known. */
  summary: string
  grades: string[]
  groups: NewsGroup[]
  notes: string[]
}

const words: Record<Change, string> = {
  new: 'New',
  worse: 'Worse',
  waiverExpired: 'Waiver ended',
  newlySeen: 'Seen for the first time',
  cannotTell: 'Cannot be told',
  moved: 'On other nodes',
  better: 'Better',
  fixed: 'Fixed',
  fixedOrGone: 'Fixed or gone',
  gone: 'Gone with its nodes',
  waivedSince: 'Waived since',
}
const groups: { title: string; of: Change[]; isOpen: boolean }[] = [
  { title: 'New or worse', of: ['new', 'worse', 'waiverExpired', 'newlySeen'], isOpen: true },
  { title: 'Fixed, better or gone', of: ['fixed', 'better', 'fixedOrGone', 'gone', 'waivedSince'], isOpen: false },
  { title: 'Neither', of: ['moved', 'cannotTell'], isOpen: false },
]

/** @param anchorOf where on the page a finding has its card, by id; null: nowhere */
export function newsView(
  { document, before }: Pick<AuditReport, 'document' | 'before'>,
  anchorOf: (id: string) => string | null,
): NewsView {
  if (!before) return withoutHistory(document.delta, document.findings, anchorOf)
  const { delta, takenAt } = before
  const { findings, unchanged } = delta
  const texts = returnedTexts(before)
  const returned = new Map((document.delta.regressed ?? []).map(id => [id, texts.get(id) ?? '']))
  const count = (...of: Change[]) => of.reduce((sum, change) => sum + findings[change].length, 0)
  const changed = count(...changes)
  const parts = [
    [count('new', 'newlySeen'), 'new'],
    [count('worse', 'waiverExpired'), 'worse'],
    [count('better'), 'better'],
    [count('fixed', 'fixedOrGone', 'gone'), 'fixed or gone'],
    [count('moved', 'waivedSince'), 'otherwise changed'],
    [count('cannotTell'), 'cannot be told'],
    [unchanged.open + unchanged.waived, 'unchanged'],
  ] as const
  const told = parts.filter(([number]) => number > 0).map(([number, what]) => `${formatCount(number)} ${what}`)
  return {
    since: momentOf(takenAt),
    summary: `${changed === 0 ? 'No finding has changed' : 'Findings'}: ${told.length === 0 ? 'there was none, and there is none' : told.join(', ')}.${nodesText(delta.nodes)}`,
    grades: gradeTexts(delta.clusters),
    groups: groups.flatMap(group => newsGroup(group, findings, anchorOf, returned) ?? []),
    notes: bounded(
      delta.notes.map(note => shownLine(note, 300)),
      shown.notes,
    ),
  }
}

/** Of an earlier run no more is known than what the findings document itself says. */
function withoutHistory(
  delta: { new: string[]; resolved: string[] },
  findings: Finding[],
  anchorOf: (id: string) => string | null,
): NewsView {
  const known = findings.filter(({ id }) => delta.new.includes(id))
  const isKnown = delta.new.length + delta.resolved.length > 0
  const rows = known.slice(0, shown.perChange).map(({ id, severity, title, cluster, subject }) => ({
    word: words.new,
    severity,
    severityWord: severityWords[severity],
    title: shownLine(title, 240),
    where: `${subjectText(subject)} of ${shownLine(cluster, nameLimit)}`,
    why: '',
    anchor: anchorOf(id),
  }))
  return {
    since: null,
    summary: isKnown
      ? `Since the last run: ${formatCount(delta.new.length)} new, ${formatCount(delta.resolved.length)} fixed or gone.`
      : 'No earlier run is known, so nothing here is called new.',
    grades: [],
    groups: rows.length === 0 ? [] : [{ title: groups[0]!.title, isOpen: true, rows, leftOut: moreText(delta.new.length - rows.length) }],
    notes: [],
  }
}

type AnchorOf = (id: string) => string | null

/** @param returned ids of new findings that were there before, and how and when they had ended */
function newsGroup(
  { title, of, isOpen }: (typeof groups)[number],
  findings: Delta['findings'],
  anchorOf: AnchorOf,
  returned: ReadonlyMap<string, string>,
): NewsGroup | null {
  const all = of.flatMap(change => findings[change].map(finding => ({ change, finding })))
  if (all.length === 0) return null
  return {
    title: `${title}: ${formatCount(all.length)}`,
    isOpen,
    rows: all
      .slice(0, shown.perChange)
      .map(({ change, finding }) =>
        newsRow(returned.has(finding.id) ? 'Back again' : words[change], withWhy(finding, returned.get(finding.id)), anchorOf),
      ),
    leftOut: moreText(all.length - shown.perChange),
  }
}

const withWhy = (finding: ChangedFinding, why: string | undefined) => (why ? { ...finding, why: [why, ...finding.why] } : finding)

const moreText = (count: number) => (count > 0 ? `${formatCount(count)} more: highwater diff names every one.` : null)

function newsRow(word: string, { id, title, cluster, subject, before, after, why }: ChangedFinding, anchorOf: AnchorOf): NewsRow {
  const { severity } = (after ?? before)!
  return {
    word,
    severity,
    severityWord: severityWords[severity],
    title: shownLine(title, 240),
    where: `${subjectText(subject)} of ${shownLine(cluster, nameLimit)}`,
    why: bounded(
      why.map(reason => shownLine(reason, 240)),
      shown.reasons,
    ).join('; '),
    anchor: after === null ? null : anchorOf(id),
  }
}

function nodesText({ come, gone, notReadNow }: Delta['nodes']): string {
  const parts = [
    come?.length ? `${counted(come.length, 'node')} came` : '',
    gone?.length ? `${counted(gone.length, 'node')} went` : '',
    notReadNow.length > 0 ? `${counted(notReadNow.length, 'node or cluster', 'nodes or clusters')} not read to the end this time` : '',
  ].filter(Boolean)
  return parts.length === 0 ? '' : ` Nodes: ${parts.join(', ')}.`
}

function gradeTexts(clusters: Delta['clusters']): string[] {
  const texts = clusters.flatMap(({ name, before, after }) => {
    const was = before === null ? 'not in the last run' : (before.grade ?? 'no grade')
    const is = after === null ? 'not in this run' : (after.grade ?? 'no grade')
    return was === is ? [] : [`${shownLine(name, nameLimit)}: ${was} → ${is}`]
  })
  return bounded(texts, shown.clusters)
}

const bounded = (texts: string[], limit: number) =>
  texts.length > limit ? [...texts.slice(0, limit), `${formatCount(texts.length - limit)} more`] : texts
