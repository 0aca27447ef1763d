/** Findings in a mail: the worst in full, the next in one line each, the rest counted. */
import { stringify } from 'yaml'
import type { Fix, NodeSample, Severity } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { Language } from '#report/languages/language.ts'
import { docsIn, type TitleOf } from '#report/rule-words.ts'
import type { Fold } from '#report/text.ts'
import { nodeCountText, subjectText, tallyTexts } from './findings.ts'
import { type ListedFinding, type MailChanges, standingText } from './mail-changes.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'

const shown = {
  cards: 2,
  lines: 8,
  ended: 5,
  hidden: 5,
  names: 2,
  configLines: 16,
  targets: 3,
  reasons: 2,
}

interface MailLine extends SeverityMark {
  severityWord: string
  /** `New`, `Worse`; null: no earlier run. */
  label: string | null
  title: string
  ownTitle: string | null
  /** Cluster, subject, confidence, and since when. */
  where: string
  nodeCount: string
  /** What got worse or better; null: the label says everything. */
  why: string | null
}

interface MailFinding extends MailLine {
  consequence: string
  nodeNames: string[]
  nodesLeftOut: string | null
  fix: string
  /** The language of the fix; null: that of the mail. */
  docsTag: string | null
  /** KubeletConfiguration fields to set, as YAML; empty: none. */
  configLines: string[]
  configInReport: string | null
  /** Further fixes in the report. */
  more: string | null
}

interface MailEnded extends SeverityMark {
  severityWord: string
  title: string
  ownTitle: string | null
  where: string
  how: string
}

export interface MailFindingsView {
  /** Null: no finding is listed. */
  title: string | null
  list: MailFinding[]
  lines: MailLine[]
  leftOut: string | null
  standing: string | null
}

interface MailHidden extends SeverityMark {
  severityWord: string
  title: string
  ownTitle: string | null
  where: string
  /** Null: unknown. */
  why: string | null
}

/** Findings that were open in the last run and could not be checked in this one. */
export interface MailHiddenView {
  title: string
  list: MailHidden[]
  leftOut: string | null
}

export interface MailEndedView {
  title: string
  list: MailEnded[]
  leftOut: string | null
}

export function mailFindingsView(
  { listed, standing, since }: MailChanges,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
): MailFindingsView {
  // Waived findings come last: they need no action.
  const cards = listed.slice(0, shown.cards).filter(({ kind }) => kind !== 'waived')
  const lines = listed.slice(cards.length, cards.length + shown.lines)
  const rest = listed.slice(cards.length + shown.lines).map(({ finding }) => finding)
  return {
    title: headingOf(listed, cards.length + lines.length, since !== null, language),
    list: cards.map(each => mailFinding(each, fold, titleOf, language)),
    lines: lines.map(each => mailLine(each, fold, titleOf, language)),
    leftOut:
      rest.length > 0 ? language.words.listed.more(rest.length, tallyTexts(rest, language)) : null,
    standing: standingText(standing, language),
  }
}

function headingOf(
  listed: ListedFinding[],
  shownCount: number,
  isCompared: boolean,
  language: Language,
): string | null {
  const words = language.words.listed
  if (listed.length === 0) return null
  if (isCompared && listed.length > shownCount) return words.some(shownCount, listed.length)
  if (isCompared)
    return listed.some(({ kind }) => kind !== 'unchanged') ? words.changedAndUrgent : words.urgent
  if (listed.length > shownCount) return words.worst(shownCount, listed.length)
  return words.all(listed.length)
}

function mailLine(
  { finding, kind, why }: ListedFinding,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
): MailLine {
  const { words } = language
  const { severity, cluster, subject, confidence, since, nodes } = finding
  const where = [
    fold(cluster, 80),
    subjectText(subject, language),
    words.confidences[confidence],
    since === null ? '' : words.since(fold(since, 20)),
  ]
  return {
    ...markOf(severity, language),
    label: kind === null ? null : words.changes.labels[kind],
    ...foldedTitle(titleOf(finding), fold),
    where: words.list(where.filter(Boolean)),
    nodeCount: nodeCountText(nodes, language),
    why:
      why.length === 0
        ? null
        : words.clauses(why.slice(0, shown.reasons).map(reason => fold(reason, 200))),
  }
}

const foldedTitle = ({ title, ownTitle }: ReturnType<TitleOf>, fold: Fold) => ({
  title: fold(title, 200),
  ownTitle: ownTitle === null ? null : fold(ownTitle, 200),
})

const markOf = (severity: Severity, { words }: Language) => ({
  ...severityMark(severity),
  severityWord: words.severities[severity],
})

function mailFinding(
  listed: ListedFinding,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
): MailFinding {
  const { consequence, nodes, fix } = listed.finding
  const docs = docsIn(language, listed.finding)
  const { configLines, configInReport } = configView(fix.config, fold, language)
  return {
    ...mailLine(listed, fold, titleOf, language),
    consequence: fold(consequence, 420),
    ...nodesView(nodes, fold, language),
    fix: fold(docs.fix, 420),
    docsTag: docs.docsTag,
    configLines,
    configInReport,
    more: moreText(fix, fold, language),
  }
}

/** Null: no finding ended. */
export function mailEndedView(
  { ended }: MailChanges,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
): MailEndedView | null {
  const { changes: words, since, list: join } = language.words
  if (ended.length === 0) return null
  const list = ended
    .slice(0, shown.ended)
    .map((past: PastFinding) => ({
      ...markOf(past.severity, language),
      ...foldedTitle(titleOf(past), fold),
      where: join([
        fold(past.cluster, 80),
        subjectText(past.subject, language),
        since(fold(past.since, 20)),
      ]),
      how: language.words.returned.endings[past.ended],
    }))
  const rest = ended.length - list.length
  return { title: words.ended, list, leftOut: rest > 0 ? words.moreEnded(rest) : null }
}

/** Null: every known finding could be checked. */
export function mailHiddenView(
  { hidden }: MailChanges,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
): MailHiddenView | null {
  const { changes: words, clauses, list: join, since } = language.words
  if (hidden.length === 0) return null
  const list = hidden
    .slice(0, shown.hidden)
    .map(({ severity, why, nodes, ...finding }) => ({
      ...markOf(severity, language),
      ...foldedTitle(titleOf(finding), fold),
      where: join(
        [
          fold(finding.cluster, 80),
          subjectText(finding.subject, language),
          nodeCountText(nodes, language),
          since(fold(finding.since, 20)),
          words.lastSeen(fold(finding.lastSeen, 20)),
        ].filter(Boolean),
      ),
      why:
        why.length === 0
          ? null
          : clauses(why.slice(0, shown.reasons).map(reason => fold(reason, 200))),
    }))
  const rest = hidden.slice(list.length)
  return {
    title: words.hidden(hidden.length),
    list,
    leftOut: rest.length > 0 ? words.moreHidden(rest.length, tallyTexts(rest, language)) : null,
  }
}

function nodesView(
  nodes: NodeSample,
  fold: Fold,
  { words }: Language,
): Pick<MailFinding, 'nodeNames' | 'nodesLeftOut'> {
  const names = nodes.sample.slice(0, shown.names).map(name => fold(name, 80))
  const rest = nodes.count - names.length
  return {
    nodeNames: names,
    nodesLeftOut: rest > 0 && names.length > 0 ? words.andMore(rest) : null,
  }
}

function configView(
  config: Fix['config'],
  fold: Fold,
  { words }: Language,
): Pick<MailFinding, 'configLines' | 'configInReport'> {
  if (Object.keys(config).length === 0) return { configLines: [], configInReport: null }
  const lines = stringify(config, { lineWidth: 0 }).trimEnd().split('\n')
  // All lines or none: a map like evictionHard replaces the existing one, so half of it would lose
  // thresholds.
  if (lines.length > shown.configLines)
    return { configLines: [], configInReport: words.listed.configInReport(lines.length) }
  // The indent is YAML, the rest is text.
  return {
    configLines: lines.map(line => `${/^ {0,12}/.exec(line)![0]}${fold(line, 100)}`),
    configInReport: null,
  }
}

function moreText({ commands, durable }: Fix, fold: Fold, { words }: Language): string | null {
  const targets = [...new Set(durable.map(({ target }) => fold(target, 30)))]
  if (commands.length + targets.length === 0) return null
  return words.listed.inReport(
    commands.length,
    targets.slice(0, shown.targets),
    Math.max(targets.length - shown.targets, 0),
  )
}
