/**
 * Findings as cards, worst first. Findings beyond the limit of cards become rows. Findings beyond
 * the limit of rows are only counted.
 */

import { stringify } from 'yaml'
import { by, firstLines, nodeKey } from '#base/text.ts'
import type { Ending } from '#model/delta.ts'
import {
  type Finding,
  type NodeSample,
  type NotAudited,
  type Severity,
  severities,
  type WaiverNotice,
} from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { Subject } from '#model/input/record.ts'
import type { ReportedPlan } from '#model/plan.ts'
import type { AuditReport, RemediationNotices, ReportedRun } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { type Fold, plural, shownLine } from '#report/text.ts'
import { type PageAnchors, shownCards } from './anchors.ts'
import { nameLimit } from './node.ts'
import { docsIn, type TitleOf } from './rule-words.ts'
import { commandsView } from './steps.ts'

const findingLimits = {
  rows: 500,
  sums: 100,
  names: 20,
  evidence: 24,
  snippets: 8,
  commands: 12,
  sources: 12,
  rules: 120,
}

/** The page, titles and language with which findings are shown. */
export interface Shown {
  page: PageAnchors
  titleOf: TitleOf
  language: Language
}

/** The link to a finding's cause, by the finding's id. */
type CauseOf = (id: string) => { anchor: string; text: string } | null

/** @param sorted worst first */
export function findingsView(sorted: Finding[], on: Shown & { causeOf: CauseOf; takenAt: string }) {
  const { language } = on
  const { rows } = findingLimits
  const leftOut = sorted.slice(shownCards + rows)
  const sums = [...Map.groupBy(leftOut, ({ severity, rule }) => `${severity} ${rule}`).values()]
  const shown = sums.slice(0, findingLimits.sums)
  const notSummed = sums.slice(shown.length).flat().length
  return {
    count: language.count(sorted.length),
    cards: sorted
      .slice(0, shownCards)
      .map(finding => ({ ...findingView(finding, on), cause: on.causeOf(finding.id) })),
    rows: sorted.slice(shownCards, shownCards + rows).map(finding => findingRow(finding, on)),
    sums: shown.map(alike => sumView(alike, language)),
    leftOut:
      leftOut.length === 0
        ? null
        : language.words.findings.leftOut(leftOut.length, tallyTexts(leftOut, language), notSummed),
  }
}

function sumView(findings: Finding[], { words, line }: Language) {
  const { severity, rule } = findings[0]!
  return {
    severity,
    severityWord: words.severities[severity],
    rule: line(rule, 80),
    count: words.findingCount(findings.length),
    clusterCount: words.clusterCount(new Set(findings.map(({ cluster }) => cluster)).size),
  }
}

/** One finding of each rule, ordered by rule. */
export function oneOfEachRule(findings: Finding[]): Finding[] {
  const byRule = new Map(findings.map(finding => [finding.rule, finding]))
  return [...byRule.values()].toSorted(by(({ rule }) => rule)).slice(0, findingLimits.rules)
}

/** Number of findings per severity, worst first. Severities without findings are left out. */
export function tally(findings: Pick<Finding, 'severity'>[], { words, count }: Language) {
  const counts = countBySeverity(findings)
  return severities
    .filter(severity => counts[severity] > 0)
    .map(severity => ({
      severity,
      word: words.severities[severity],
      count: count(counts[severity]),
    }))
}

/** `4 high`, `3 low`. */
export const tallyTexts = (findings: Pick<Finding, 'severity'>[], language: Language) =>
  tally(findings, language).map(({ severity, count }) =>
    language.words.findings.tallied(count, language.words.severityNames[severity]),
  )

export const waivedView = (finding: Finding, on: Shown) => ({
  ...findingRow(finding, on),
  until: on.language.line(finding.waived?.until ?? on.language.words.unknown, 40),
  reason: on.language.line(finding.waived?.reason ?? on.language.words.waived.noReason, 400),
})

const confidences = ['certain', 'likely', 'possible']

export const worstFirst = by<Finding>(
  ({ severity }) => severities.indexOf(severity),
  ({ confidence }) => confidences.indexOf(confidence),
  ({ nodes }) => -nodes.count,
  ({ cluster }) => cluster,
  ({ rule }) => rule,
  ({ subject }) => subject.kind,
  ({ subject }) => subject.namespace ?? '',
  ({ subject }) => subject.name,
  ({ id }) => id,
)

/** Bounds both titles of a finding. */
export const shownTitle = ({ title, ownTitle }: ReturnType<TitleOf>, { line }: Language) => ({
  title: line(title, 240),
  ownTitle: ownTitle === null ? null : line(ownTitle, 240),
})

export const subjectText = ({ kind, namespace, name }: Subject, { line }: Language) =>
  line(`${kind} ${namespace === null ? name : `${namespace}/${name}`}`, nameLimit)

/** Empty for findings that are not on nodes. */
export const nodeCountText = ({ count }: NodeSample, { words }: Language) =>
  count === 0 ? '' : words.nodeCount(count)

function findingRow(
  { severity, title, cluster, subject, nodes, rule, family, confidence }: Finding,
  { titleOf, language }: Shown,
) {
  const { words, line } = language
  return {
    severity,
    severityWord: words.severities[severity],
    ...shownTitle(titleOf({ rule, title }), language),
    cluster: line(cluster, nameLimit),
    subject: subjectText(subject, language),
    nodeCount: nodeCountText(nodes, language),
    rule: line(rule, 80),
    family: line(family, 40),
    confidence: line(words.confidences[confidence], 40),
  }
}

export function ruleView(finding: Finding, { page, language }: Shown) {
  const { rule, family } = finding
  const { line, block } = language
  const { title, why, fix, sources, docsTag } = docsIn(language, finding)
  return {
    ruleAnchor: page.ofRule(rule),
    rule: line(rule, 80),
    family: line(family, 40),
    docs: {
      title: line(title, 240),
      why: block(why, 2000),
      fix: block(fix, 2000),
      sources: sources.slice(0, findingLimits.sources).map(source => line(source, 300)),
    },
    docsTag,
  }
}

/** Whether an earlier day's run had the finding: the run's own day says nothing. */
export const isOpenBefore = (
  finding: Finding,
  takenAt: string,
): finding is Finding & { since: string } =>
  finding.since !== null && finding.since < takenAt.slice(0, 10)

function findingView(finding: Finding, on: Shown & { takenAt: string }) {
  const { page, language, takenAt } = on
  const { words: all, line, block } = language
  const words = all.findings
  const { fix, evidence, nodes } = finding
  const docs = docsIn(language, finding)
  const names = nodes.sample.slice(0, findingLimits.names).map(name => line(name, nameLimit))
  const config =
    Object.keys(fix.config).length === 0 ? null : block(stringify(fix.config).trimEnd(), 4000)
  const durable = fix.durable
    .slice(0, findingLimits.snippets)
    .map(({ target, snippet }) => ({
      target: words.durable(all.targets[target]),
      snippet: block(snippet.trimEnd(), 4000),
    }))
  const commands = commandsView(finding.steps, language)
  const leftOut = evidence.length - findingLimits.evidence
  return {
    ...findingRow(finding, on),
    anchor: page.ofCard(finding),
    ruleAnchor: page.ofRule(finding.rule),
    ruleLink: words.rule(line(finding.rule, 80)),
    nodesNumber: nodes.count,
    advice: block(docs.fix, 2000),
    docsTag: docs.docsTag,
    doubt: finding.confidence === 'certain' ? null : words.doubts[finding.confidence],
    since: finding.since === null ? null : line(finding.since, 40),
    sinceText: isOpenBefore(finding, takenAt) ? all.since(line(finding.since, 40)) : null,
    fewNames:
      names.length > 0 && names.length <= 2 && names.length >= nodes.count ? all.list(names) : null,
    namesTitle: words.byName(all.nodeCount(nodes.count)),
    nodeNames: names,
    nodesLeftOut: nodes.count > names.length ? all.andMore(nodes.count - names.length) : null,
    consequence: line(finding.consequence, 1200),
    evidence: evidence
      .slice(0, findingLimits.evidence)
      .map(({ what, value }) => ({ what: line(what, 200), value: line(value, 400) })),
    evidenceLeftOut: leftOut > 0 ? words.moreInDocument(leftOut) : null,
    config,
    durable,
    commands,
  }
}

/* Short texts for lists of findings: one bounded line each. Each format escapes them itself. */

const limits = { name: 253, line: 1000, evidence: 24, commands: 12, names: 20 }

export const nameText = (text: string) => shownLine(withoutNoncharacters(text), limits.name)
export const lineText = (text: string) => shownLine(withoutNoncharacters(text), limits.line)

/** Replaces characters that XML and YAML do not allow. */
const withoutNoncharacters = (text: string) => text.replace(/[\ufffe\uffff]/g, '\ufffd')

/** `prod/Nodegroup/general`; a namespace stands before the name. */
export const subjectPath = (cluster: string, { kind, namespace, name }: Subject) =>
  [cluster, kind, ...(namespace === null ? [] : [namespace]), name].map(nameText).join('/')

/** `412 nodes: a, b, … and 392 more`; null for findings on objects of the cluster. */
export function nodesText(
  { count, sample }: Finding['nodes'],
  limit: number = limits.names,
): string | null {
  if (count === 0) return null
  const names = sample.slice(0, limit).map(nameText)
  const more =
    count > names.length ? `${names.length === 0 ? '' : ' '}and ${count - names.length} more` : ''
  return `${plural(count, 'node').replace('\u00a0', ' ')}: ${names.join(', ')}${names.length > 0 && more !== '' ? ',' : ''}${more}`
}

/** One line for each piece of evidence; a last line counts the rest. */
export function evidenceLines({ evidence }: Finding) {
  const lines = evidence.map(({ what, value }) => `${lineText(what)}: ${lineText(value)}`)
  return firstLines(lines, limits.evidence)
}

/** Lines with the rule's advice, the fields to set and the commands. */
export function fixLines({ fix: { config }, steps, docs }: Finding) {
  const commands = steps.flatMap(step => step.commands.map(({ command }) => command))
  const fields = Object.entries(config).map(
    ([field, value]) => `${nameText(field)}: ${lineText(JSON.stringify(value) ?? 'null')}`,
  )
  const shown = firstLines(commands.map(lineText), limits.commands, 'more commands')
  return [lineText(docs.fix), ...fields, ...shown]
}

/** Within a severity, the document's order stays. */
export const bySeverity = by<Pick<Finding, 'severity'>>(({ severity }) =>
  severities.indexOf(severity),
)

export const countBySeverity = (findings: Pick<Finding, 'severity'>[]) => {
  const counts: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: 0, info: 0 }
  for (const { severity } of findings) counts[severity]++
  return counts
}

/**
 * Whether an entry is a node that can never be read (Fargate). Such nodes are listed, but are not a
 * failure of the run.
 */
export function unreadableNodes({ nodes }: AuditReport): (entry: NotAudited) => boolean {
  const keys = new Set(
    nodes
      .filter(({ identity: { owner } }) => owner === 'fargate')
      .map(({ cluster, identity: { name } }) => nodeKey(cluster, name)),
  )
  return ({ cluster, node }) => node !== null && keys.has(nodeKey(cluster, node))
}

/** RFC 3339 in UTC, to the second; the epoch if `time` is invalid. */
export function utcTime(time: string) {
  const at = Date.parse(time)
  return `${new Date(Number.isNaN(at) ? 0 : at).toISOString().slice(0, 19)}Z`
}

const endings: Record<Ending, string> = {
  fixed: 'it was fixed',
  replaced: 'its nodes were replaced by others without it',
  gone: 'its nodes are gone',
  moved: 'another finding tells of its nodes',
}

/** `Ended on 2026-11-21: it was fixed. It stood since 2026-11-01.` */
export const endedText = ({ on, ended, since }: PastFinding) =>
  `Ended on ${on}: ${endings[ended]}. It stood since ${since}.`

/** Text for a node or cluster that was unread in the last run, and is not in this run. */
export const closedText = (takenAt: string, reason: string) =>
  `No longer said on ${utcTime(takenAt).slice(0, 10)}. Before: ${reason}`

/* The plan made with an audit: how much it changes, and the command that approves the plan. */

/** Null: no plan was requested. */
export function planView(
  plan: ReportedPlan | null,
  { words: { plan: words }, ...language }: Language,
  fold: Fold = language.fold,
) {
  if (!plan) return null
  if (plan.state === 'failed') return { text: words.failed(fold(plan.why, 600)), approval: null }
  const { nodes, waves, never, refused, unchanged, digest, command } = plan
  const beside = words.beside(never, refused, unchanged)
  if (nodes === 0) return { text: words.nothing(beside), approval: null }
  return {
    text: words.made(nodes, waves, beside),
    approval: { digest, command: fold(command, 600) },
  }
}

/* Notices of remediation: its runs of the last week, and the objects that remediation refused. */

/** Null: there is nothing to show. @param limit of runs, and of refused objects */
export function noticesView(
  notices: RemediationNotices | undefined,
  language: Language,
  fold: Fold = language.fold,
  limit = Number.POSITIVE_INFINITY,
) {
  const { runs = [], refused = [] } = notices ?? {}
  if (runs.length === 0 && refused.length === 0) return null
  const more = Math.max(runs.length - limit, 0) + Math.max(refused.length - limit, 0)
  return {
    runs: runs.slice(0, limit).map(run => runView(run, language, fold)),
    refused: refused.slice(0, limit).map(text => fold(text, 600)),
    leftOut: more === 0 ? null : language.words.nodeChanges.leftOut(more),
  }
}

function runView(
  { run, state, planned, changed, failed, rolledBack, ...noted }: ReportedRun,
  { words: { nodeChanges: words, list }, utc }: Language,
  fold: Fold,
) {
  const { approvedBy, startedAt, endedAt, place } = noted
  return {
    title: words.run(run, words.states[state]),
    counts: words.nodes(changed, planned, failed, rolledBack),
    approval: words.approved(fold(list(approvedBy), 400)),
    when: endedAt === null ? words.since(utc(startedAt)) : words.when(utc(startedAt), utc(endedAt)),
    place: fold(place, 400),
  }
}

/** Policy notices for the user: waivers that need attention, and findings without an owner. */
const shownPlaces = 3

export function policyNotices(
  { document: { waiverNotices = [] }, ownerless = [] }: AuditReport,
  language: Language,
) {
  const places = new Set(
    ownerless.map(({ cluster, subject }) => language.line(`${cluster}/${subject.name}`, 100)),
  )
  const shown = [...places].slice(0, shownPlaces)
  return [
    ...waiverNotices.map(notice => waiverNoticeText(notice, language)),
    ...(ownerless.length === 0
      ? []
      : [
          language.words.waived.ownerless(ownerless.length, [
            ...shown,
            ...(places.size > shown.length ? ['…'] : []),
          ]),
        ]),
  ]
}

function waiverNoticeText(notice: WaiverNotice, language: Language) {
  const matched = Object.entries(notice.match).map(([key, pattern]) => `${key} ${pattern}`)
  return language.words.waived.notices[notice.state](
    language.line([notice.rule, ...matched].join(', '), 300),
    language.line(notice.until, 40),
  )
}
