/** Computes everything that a mail says. Both templates only place the values. */

import { dayMs } from '#base/units.ts'
import { areHappeningsCut, type Happening } from '#model/history.ts'
import type { AuditedNode, AuditReport, Delivery } from '#model/report.ts'
import { englishTag, type Language } from '#report/languages/language.ts'
import {
  answersOf,
  type CauseView,
  causeLink,
  causeOnNode,
  causesAndOutlook,
  causeView,
  type FoundCause,
  firstCause,
  moreCauses,
  stepsAlone,
  stepWithCount,
  whereText,
} from '#report/parts/causes.ts'
import { noticesView, planView, policyNotices, tally } from '#report/parts/findings.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import {
  effectText,
  leadingCommands,
  stepsText,
  withoutCommands,
  withoutPrices,
} from '#report/parts/steps.ts'
import { verdictView } from '#report/parts/verdict.ts'
import { type Fold, foldedLine } from '#report/text.ts'
import {
  type MailChanges,
  type MailWords,
  type MostRows,
  mailChanges,
  mailDeliveriesView,
  mailEndedView,
  mailHiddenView,
  mailNotAuditedView,
  openCommandOf,
} from './changes.ts'
import { mailPicture, severityMark } from './picture.ts'
import { mailSubject } from './subject.ts'
import { mailTrend } from './trend.ts'

/** Kinds of events since the last run, the worst first. */
const shownKinds = 2
const shownInputErrors = 10
const shownNotices = 5
const shownPolicyNotices = 3

/** Options that depend on the readers of a mail. */
export interface MailOptions {
  /** The owner whose part of the fleet this is; null: the whole fleet. */
  owner: string | null
  /** Addresses (`mailto:…`, `https://…`) to unsubscribe. */
  unsubscribe: string[]
  language: Language
  /** Whether the page is attached to the mail. Absent: attached unless the mail has a link. */
  isAttached?: boolean
  /** The run covers a part of the fleet, so it has no place in `latest/`. */
  isPart?: boolean
}

export type MailView = ReturnType<typeof mailView>

export interface MailSize {
  /** Share of the usual length of each foreign text, 0 to 1. */
  texts: number
  /** Share of the usual length of each list, 0 to 1. */
  rows: number
  causes: number
}
export const usualSize: MailSize = { texts: 1, rows: 1, causes: 4 }

export function mailView(
  report: AuditReport,
  deliveries: Delivery[],
  { texts, rows, causes: shownCauses }: MailSize,
  { owner, unsubscribe, language, isAttached = true, isPart = false }: MailOptions,
) {
  const { words } = language
  const { document } = report
  const fold: Fold = (text, limit) => language.fold(text, Math.ceil(limit * texts))
  const short: Fold = (text, limit) => foldedLine(text, Math.ceil(limit * texts), () => '…')
  const most: MostRows = count => Math.ceil(count * rows)
  const titleOf = titlesOf(report, language)
  const { causes, outlook } = causesAndOutlook(report, language)
  const verdict = verdictView(report, { outlook, causeCount: causes.length, language })
  const { headline, scope, gaps } = verdict
  const picture = mailPicture(outlook.rows[0]?.node, report, language)
  const cutShort = cutShortView(report, fold, language)
  const changes = mailChanges(report, language)
  // An owner's page is not the report that the command opens.
  const open = owner === null ? openCommandOf(deliveries, document.run.region, isPart) : null
  const mailed = mailDeliveriesView(deliveries, { fold, language, isAttached, open })
  const on = { report, fold, most, titleOf, language }
  const next = nextNodes(outlook, causes, { fold, shownCauses, language })
  const [nearest = null] = outlook.rows.slice(0, 1).map(({ node }) => placeOf(node, language))
  const lost = gaps.find(({ section }) => section === 'not-audited')
  return {
    tag: language.tag,
    sourceTag: englishTag(language),
    words,
    subject: mailSubject(
      document,
      changes,
      {
        headline,
        scope,
        evicting: outlook.evicting,
        first: firstNode(outlook, fold),
        isCutShort: cutShort !== null,
        owner,
      },
      language,
    ),
    preview: cutShort?.text ?? previewText(next, scope, language),
    snapshot: words.mail.snapshot(language.utc(document.run.takenAt)),
    audience: owner === null ? null : words.mail.audience(fold(owner, 80)),
    cutShort,
    picture,
    verdict: {
      ...mailVerdict(report, verdict, { next, nearest, changes, fold, most, language }),
      first:
        firstCause(causes, outlook.rows.slice(0, nextShown), { titleOf, language })?.text ?? null,
      undelivered:
        mailed.failures.length > 0
          ? words.report.undelivered(mailed.failures.map(({ channel }) => channel))
          : null,
    },
    causes: mailCausesView(causes, outlook.rows, changes, { ...on, fold: short, shownCauses }),
    hidden: mailHiddenView(changes, on),
    ended: mailEndedView(changes, on),
    plan: planView(report.plan ?? null, language, fold),
    notices: noticesView(report.notices, language, fold, most(shownNotices)),
    notAudited: lost ? mailNotAuditedView(sentence(lost.text), document.notAudited, on) : null,
    report: mailed,
    unsubscribe:
      unsubscribe.length > 0
        ? words.mail.unsubscribe(unsubscribe.map(address => fold(address, 1000)))
        : null,
    footer: footerText(report, fold, language),
  }
}

const firstNode = ({ rows: [row] }: OutlookView, fold: Fold) => ({
  name: fold(row?.name ?? '', 80).split('.')[0]!,
  cluster: fold(row?.cluster ?? '', 40),
})

const footerText = ({ document: { run } }: AuditReport, fold: Fold, { words }: Language) =>
  words.mail.footer(
    fold(run.version, 40),
    fold(run.account ?? words.unknown, 40),
    fold(run.region ?? words.unknown, 40),
  )

/** Nodes that evict now or next. The first one has its answers: what holds its disk, what goes first, what to do. */
const nextNodes = (
  { rows }: OutlookView,
  causes: readonly FoundCause[],
  { fold, shownCauses, language }: { fold: Fold; shownCauses: number; language: Language },
) => {
  const all = language.words
  return rows.slice(0, nextShown).map((row, index) => {
    const { name, where, state, isNow, basis, fill } = row
    const held = [...fill, stepOfNode(row, causes, shownCauses, language)].filter(Boolean)
    return {
      name: fold(name, 80),
      where: fold(where, 100),
      state,
      isNow,
      basis: index === 0 ? fold(basis, 300) : '',
      answers:
        index === 0
          ? answersOf(row, causes, language).map(answer => ({
              ...answer,
              text: fold(answer.text, 300),
              note: fold(answer.note, 200),
            }))
          : [],
      fill: index === 0 || held.length === 0 ? null : fold(all.clauses(held), 300),
    }
  })
}

/** The step that ends the node's cause, if the mail does not show that cause; else the step against what holds its disk. Empty: none, or a shown cause has it. */
function stepOfNode(
  { cluster, name, cause: index, steps }: OutlookView['rows'][number],
  causes: readonly FoundCause[],
  shownCauses: number,
  language: Language,
): string {
  const cause = causes[index ?? -1]
  if (cause === undefined) return stepsText(steps, null, null, language, 'without commands')
  if (index! < shownCauses) return ''
  const step = lineStep(causeOnNode(cause, { cluster, name }), language)
  const text = language.words.said(causeLink(index!, language).text, step)
  return foldedLine(text, nodeStepLimit, () => '…')
}

interface VerdictParts {
  next: ReturnType<typeof nextNodes>
  nearest: string | null
  changes: MailChanges
  fold: Fold
  most: MostRows
  language: Language
}

function mailVerdict(
  report: AuditReport,
  { severity, headline, scope, gaps, complete }: ReturnType<typeof verdictView>,
  { next, nearest, changes, fold, most, language }: VerdictParts,
) {
  const { words } = language
  const { run, findings, waived } = report.document
  return {
    ...severityMark(severity),
    headline,
    next,
    scope,
    night: nightText(report, nearest, language),
    change: changeText(changes, language),
    trend: mailTrend(report, fold, language),
    tally: tally(findings, language).map(({ severity, word, count }) => ({
      ...severityMark(severity),
      word,
      count,
    })),
    waived: waived.length > 0 ? words.mail.waived(waived.length) : null,
    policyNotices: policyNotices(report, language)
      .slice(0, most(shownPolicyNotices))
      .map(notice => fold(notice, 200)),
    gaps: gaps.length > 0 ? words.clauses(gaps.map(({ text }) => text)) : null,
    complete,
    inputErrors: run.inputErrors.slice(0, most(shownInputErrors)).map(error => fold(error, 420)),
  }
}

/** One line with the nodes that evict first, or the scope if there are none. */
function previewText(next: { name: string; state: string }[], scope: string, { words }: Language) {
  if (next.length === 0) return scope
  return `${words.next.evictFirst} ${words.list(next.map(({ state, name }) => `${name} ${state}`))}`
}

function changeText(
  { since, counts, absent }: MailChanges,
  { words: { changes: words }, utc }: Language,
) {
  if (since === null) return null
  return [counts.length === 0 ? words.nothing(utc(since)) : words.some(utc(since), counts), absent]
    .filter(Boolean)
    .join(' ')
}

function cutShortView(
  { document: { notAudited }, nodes }: AuditReport,
  fold: Fold,
  { words: { cutShort: words } }: Language,
) {
  const late = notAudited.filter(({ endedBy }) => endedBy !== undefined)
  const partly = nodes
    .filter(({ coverage }) => coverage === 'partlyRead')
    .flatMap(({ errors }) => errors.find(({ endedBy }) => endedBy !== undefined)?.endedBy ?? [])
  const endedBy = late[0]?.endedBy ?? partly[0]
  if (endedBy === undefined) return null
  const unread = late.filter(({ node }) => node !== null).length
  const clusters = new Set(late.filter(({ node }) => node === null).map(({ cluster }) => cluster))
    .size
  const parts = [
    unread > 0 ? words.unread(unread) : '',
    partly.length > 0 ? words.partly(partly.length) : '',
    clusters > 0 ? words.clusters(clusters) : '',
  ].filter(Boolean)
  return { title: words.title, text: words.text(parts, fold(endedBy, 100)) }
}

const placeOf = ({ cluster, identity }: AuditedNode, { line }: Language) =>
  line(`${cluster}/${identity.name}`, 120)

/** One line about what happened on the nodes since the last run. Null: nothing is known to have happened. @param nearest the node that the verdict names first, with its cluster */
function nightText(report: AuditReport, nearest: string | null, language: Language) {
  const { words, utc, line } = language
  const before = report.before?.takenAt ?? null
  const sinceMs =
    before === null ? Date.parse(report.document.run.takenAt) - dayMs : Date.parse(before)
  if (Number.isNaN(sinceMs)) return null
  const all = report.nodes.flatMap(node =>
    (node.happened ?? [])
      .filter(({ at }) => Date.parse(at) > sinceMs)
      .map(one => ({ one, node: placeOf(node, language) })),
  )
  const countHappenings = (matches: (one: Happening) => boolean) => {
    const found = all.filter(({ one }) => matches(one))
    const nodes = new Set(found.map(({ node }) => node)).size
    return { count: found.length, nodes, first: found[0] }
  }
  const { night } = words
  interface Kind extends ReturnType<typeof countHappenings> {
    text(count: number, nodes: number): string
    subject?: 'pod' | 'condition'
  }
  const evicted = countHappenings(({ what }) => what === 'evicted')
  const kinds: Kind[] = [
    { ...evicted, text: night.evicted, subject: 'pod' },
    { ...countHappenings(({ what }) => what === 'refused'), text: night.refused, subject: 'pod' },
    {
      ...countHappenings(one => one.what === 'condition' && one.subject.endsWith('Pressure')),
      text: night.pressure,
      subject: 'condition',
    },
    {
      ...countHappenings(({ what }) => what === 'image-gc-failed'),
      // Equal events are one with a count, which can include rounds of earlier days.
      text: (_, nodes) => night.imageGcFailed(nodes),
    },
    { ...countHappenings(({ what }) => what === 'image-deleted'), text: night.imagesDeleted },
    { ...countHappenings(({ what }) => what === 'reboot'), text: night.reboots },
  ]
  const parts = kinds.flatMap(({ count, nodes, first, text, subject }) => {
    if (!first) return []
    const { one, node: place } = first
    if (subject === 'condition' && count === 1)
      return [night.onePressure[one.status ?? 'Unknown'](line(one.subject, 40), utc(one.at), place)]
    const all = text(count, nodes)
    // A pod that was refused is named where none was evicted.
    if (subject !== 'pod' || (text === night.refused && evicted.count > 0)) return [all]
    const named = count === 1 ? night.onePod : night.firstPod
    return [named(all, line(one.subject, 160), place === nearest ? null : place)]
  })
  if (parts.length === 0) return null
  const isCut = report.nodes.some(({ happened }) => areHappeningsCut(happened))
  return night[isCut ? 'atLeast' : 'line'](
    utc(new Date(sinceMs).toISOString()),
    parts.slice(0, shownKinds),
  )
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/* Causes in a mail: the worst three as cards, the next in two lines, the rest counted. Each shown cause has its step, and a command if it changes something. */

const shownCards = 3
const lineLimit = 200
/** Two lines on a phone. */
const nodeStepLimit = 90
/** Number of nodes that the verdict names. */
const nextShown = 3

/** Null: there are no findings. */
function mailCausesView(
  causes: FoundCause[],
  rows: OutlookView['rows'],
  changes: MailChanges,
  { shownCauses, ...words }: MailWords & { shownCauses: number },
) {
  if (causes.length === 0) return null
  const { fold, titleOf, language } = words
  const listed = causes.slice(0, shownCauses)
  const views = listed.map((cause, index) => causeView(cause, index, { titleOf, language }))
  const nearestName = (index: number) => rows.find(({ cause }) => cause === index)?.name ?? null
  const isOfVerdict = (index: number) =>
    rows.slice(0, nextShown).some(({ cause }) => cause === index)
  const cards = listed.map((cause, index) => ({
    ...mailCard(cause, views[index]!, words),
    label: labelOf(
      cause,
      changes,
      rows.some(row => row.isNow && row.cause === index),
      language,
    ),
    where: fold(whereOf(cause, nearestName(index), language), 200),
    number: views[index]!.number,
  }))
  const rest = causes.slice(shownCauses)
  return {
    cards: cards.slice(0, shownCards),
    lines: cards
      .slice(shownCards)
      .map(({ statementLabel, statement, ends, commands, ...card }, line) => {
        const index = shownCards + line
        const { steps } = listed[index]!
        // What only reads is on the page: a mail is short.
        const isReading = leadingCommands(steps).every(({ effect }) => effect === 'reads')
        return {
          ...card,
          where: isOfVerdict(index) ? card.where : fold(views[index]!.shortWhere, 160),
          step: withRemarks(
            fold(lineStep(listed[index]!, language), lineLimit),
            isReading ? [] : [effectText(steps, language), views[index]!.oneOf],
            language,
          ),
          commands: isReading ? [] : commands,
        }
      }),
    leftOut: rest.length === 0 ? null : moreCauses(rest, language),
  }
}

/** The steps without prices and without what their commands do; the first alone if all are too long for a line. */
function lineStep(cause: FoundCause, language: Language) {
  const { steps } = withoutPrices({ steps: withoutCommands(cause.steps) })
  const all = stepsAlone({ ...cause, steps }, language)
  return all.length <= lineLimit
    ? all
    : stepsAlone({ ...cause, steps: steps.slice(0, 1) }, language)
}

/** `… (replaces 1 node, 1 of 3 commands)`: what the shown command does, and that it is not the only one. */
function withRemarks(step: string, remarks: (string | null)[], { words }: Language) {
  const shown = remarks.flatMap(remark => remark ?? [])
  return shown.length === 0 ? step : words.steps.labelledBy(step, words.list(shown))
}

/** The templates write the full stop. */
const withoutStop = (text: string) => text.replace(/\.$/, '')

/** Where the cause is, with the node that is nearest to eviction, if that has a finding of the rule. */
function whereOf(cause: FoundCause, nearest: string | null, language: Language) {
  const { findings, nodes } = cause
  const names = findings.flatMap(({ rule, nodes }) =>
    rule === findings[0]!.rule ? nodes.sample : [],
  )
  const isOfRule = nodes.ofRule === undefined || (nearest !== null && names.includes(nearest))
  const name = (isOfRule ? nearest : null) ?? names[0]
  return whereText(cause, language, name === undefined ? null : language.line(name, 80))
}

function mailCard(cause: FoundCause, view: CauseView, { fold, language }: MailWords) {
  const rule = cause.findings[0]?.rule ?? ''
  const commands =
    view.leading > 0
      ? view.commands.slice(0, view.leading).map(({ command }) => command)
      : [`highwater explain ${rule}`]
  // Half a command does something else.
  const shown = commands.filter(command => fold(command, 400) === command)
  const step = withoutStop(fold(stepWithCount(view), 500))
  return {
    ...severityMark(cause.severity),
    severityWord: view.severityWord,
    title: fold(view.title, 160),
    ownTitle: view.ownTitle === null ? null : fold(view.ownTitle, 160),
    statementLabel: view.statement === null ? null : view.statementLabel,
    statement: view.statement === null ? null : fold(withoutStop(view.statement), 340),
    step: shown.length === 0 ? language.words.mail.inReport(step) : step,
    ends: view.ends,
    commands: shown,
  }
}

/** What is new about the cause's worst changed finding. Null: nothing, no earlier run, or better where a node still evicts. */
function labelOf(
  { findings }: FoundCause,
  { listed, since }: MailChanges,
  evicts: boolean,
  { words }: Language,
) {
  if (since === null) return null
  const ids = new Set(findings.map(({ id }) => id))
  const kind = listed.find(({ finding, kind }) => ids.has(finding.id) && kind !== 'unchanged')?.kind
  return kind == null || (kind === 'better' && evicts) ? null : words.changes.labels[kind]
}
