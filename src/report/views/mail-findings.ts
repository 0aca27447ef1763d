/** Findings in a mail: the worst in full, the next in a line, the rest counted: what is wrong, where, and what to do, in as few words as that takes. */
import { stringify } from 'yaml'
import type { Fix, NodeSample, Severity } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import { counted, formatCount } from '#report/numbers.ts'
import type { Fold } from '#report/text.ts'
import { nodeCountText, severityWords, subjectText, tally } from './findings.ts'
import { type MailChanges, standingText, type ToldFinding, unchanged } from './mail-changes.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'
import { endingWords } from './returned.ts'

const shown = { cards: 2, lines: 8, ended: 5, names: 2, configLines: 6, targets: 3, reasons: 2 }

interface MailLine extends SeverityMark {
  severityWord: string
  /** `New`, `Worse`; null: no run before is known. */
  label: string | null
  title: string
  /** Cluster, subject, confidence, and since when. */
  where: string
  nodeCount: string
  /** What of it is worse, or better; null: the label says it all. */
  why: string | null
}

interface MailFinding extends MailLine {
  consequence: string
  nodeNames: string[]
  nodesLeftOut: string | null
  fix: string
  /** KubeletConfiguration fields to set, as YAML; empty where there are none. */
  configLines: string[]
  configLeftOut: string | null
  /** What else the report has to mend it with. */
  more: string | null
}

interface MailEnded extends SeverityMark {
  severityWord: string
  title: string
  where: string
  how: string
}

export interface MailFindingsView {
  /** Null: none is told of. */
  title: string | null
  list: MailFinding[]
  lines: MailLine[]
  leftOut: string | null
  standing: string | null
}

export interface MailEndedView {
  title: string
  list: MailEnded[]
  leftOut: string | null
}

export function mailFindingsView({ told, standing, since }: MailChanges, fold: Fold): MailFindingsView {
  const cards = told.slice(0, shown.cards)
  const lines = told.slice(shown.cards, shown.cards + shown.lines)
  const rest = told.slice(shown.cards + shown.lines).map(({ finding }) => finding)
  const counts = tally(rest).map(({ count, word }) => `${count} ${word.toLowerCase()}`)
  return {
    title: titleOf(told, cards.length + lines.length, since !== null),
    list: cards.map(each => mailFinding(each, fold)),
    lines: lines.map(each => mailLine(each, fold)),
    leftOut: rest.length > 0 ? `and ${counted(rest.length, 'more finding')} in the report: ${counts.join(', ')}.` : null,
    standing: standingText(standing),
  }
}

function titleOf(told: ToldFinding[], shownCount: number, isCompared: boolean): string | null {
  if (told.length === 0) return null
  if (isCompared && told.length > shownCount) return `${shownCount} of ${formatCount(told.length)} findings that changed or are urgent`
  if (isCompared) return told.some(({ label }) => label !== unchanged) ? 'What changed, and what is urgent' : 'What is urgent'
  if (told.length > shownCount) return `The worst ${shownCount} of ${formatCount(told.length)} findings`
  return told.length === 1 ? 'The finding' : `All ${formatCount(told.length)} findings`
}

function mailLine({ finding, label, why }: ToldFinding, fold: Fold): MailLine {
  const { severity, cluster, subject, confidence, since, nodes } = finding
  const where = [fold(cluster, 80), subjectText(subject), confidence, since === null ? '' : `since ${fold(since, 20)}`]
  return {
    ...markOf(severity),
    label,
    title: fold(finding.title, 200),
    where: where.filter(Boolean).join(', '),
    nodeCount: nodeCountText(nodes),
    why:
      why.length === 0
        ? null
        : why
            .slice(0, shown.reasons)
            .map(reason => fold(reason, 200))
            .join('; '),
  }
}

const markOf = (severity: Severity) => ({ ...severityMark(severity), severityWord: severityWords[severity] })

function mailFinding(told: ToldFinding, fold: Fold): MailFinding {
  const { consequence, nodes, fix, docs } = told.finding
  const { configLines, configLeftOut } = configView(fix.config, fold)
  return {
    ...mailLine(told, fold),
    consequence: fold(consequence, 420),
    ...nodesView(nodes, fold),
    fix: fold(docs.fix, 420),
    configLines,
    configLeftOut,
    more: moreText(fix, fold),
  }
}

/** Null where nothing ended. */
export function mailEndedView({ ended }: MailChanges, fold: Fold): MailEndedView | null {
  if (ended.length === 0) return null
  const list = ended.slice(0, shown.ended).map((past: PastFinding) => ({
    ...markOf(past.severity),
    title: fold(past.title, 200),
    where: `${fold(past.cluster, 80)}, ${subjectText(past.subject)}, since ${fold(past.since, 20)}`,
    how: endingWords[past.ended],
  }))
  const rest = ended.length - list.length
  return { title: 'What ended', list, leftOut: rest > 0 ? `and ${counted(rest, 'more finding')}.` : null }
}

function nodesView(nodes: NodeSample, fold: Fold): Pick<MailFinding, 'nodeNames' | 'nodesLeftOut'> {
  const names = nodes.sample.slice(0, shown.names).map(name => fold(name, 80))
  const rest = nodes.count - names.length
  return {
    nodeNames: names,
    nodesLeftOut: rest > 0 && names.length > 0 ? `and ${formatCount(rest)} more` : null,
  }
}

function configView(config: Fix['config'], fold: Fold): Pick<MailFinding, 'configLines' | 'configLeftOut'> {
  if (Object.keys(config).length === 0) return { configLines: [], configLeftOut: null }
  const lines = stringify(config, { lineWidth: 0 }).trimEnd().split('\n')
  const rest = lines.length - shown.configLines
  return {
    // The indent is YAML, the rest is text.
    configLines: lines.slice(0, shown.configLines).map(line => `${/^ {0,12}/.exec(line)![0]}${fold(line, 100)}`),
    configLeftOut: rest > 0 ? `and ${counted(rest, 'more line')} in the report` : null,
  }
}

function moreText({ commands, durable }: Fix, fold: Fold): string | null {
  const targets = [...new Set(durable.map(({ target }) => fold(target, 30)))]
  const rest = targets.length - shown.targets
  const named = `${targets.slice(0, shown.targets).join(', ')}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}`
  const parts = [
    commands.length > 0 ? counted(commands.length, 'command') : '',
    targets.length > 0 ? `the text that makes it last (${named})` : '',
  ].filter(Boolean)
  return parts.length > 0 ? `In the report: ${parts.join(' and ')}.` : null
}
