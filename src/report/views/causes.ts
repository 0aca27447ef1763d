/** Causes of the findings, worst first: what is wrong, where, and one step that ends it. */
import type { CauseSetting, Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { causesOf, type FoundCause } from '#report/causes.ts'
import type { Language } from '#report/languages/language.ts'
import { firstAdvice, type TitleOf } from '#report/rule-words.ts'
import type { PageAnchors } from './anchors.ts'
import { shownTitle, subjectText, tallyTexts } from './findings.ts'
import { nameLimit } from './node.ts'
import { type OutlookView, outlookView } from './outlook.ts'

const limits = { settings: 2, others: 2, findings: 20, commands: 6, adviceLength: 260 }

interface ShownCause {
  titleOf: TitleOf
  language: Language
}

const shownCauses = 12

const causeAnchor = (index: number) => `cause-${index + 1}`

export type CausesView = ReturnType<typeof causesView>

export function causesView(
  causes: FoundCause[],
  on: ShownCause,
  anchorOf: PageAnchors['ofFinding'],
  isRead: boolean,
) {
  const views = causes.map((cause, index) => causeDetails(cause, index, on, anchorOf))
  const rest = causes.slice(shownCauses)
  return {
    count: on.language.count(causes.length),
    shown: views.slice(0, shownCauses),
    rest: views.slice(shownCauses),
    restTitle: rest.length === 0 ? null : moreCauses(rest, on.language),
    none: isRead ? on.language.words.causes.none : on.language.words.verdict.nothingRead,
  }
}

export const moreCauses = (rest: FoundCause[], language: Language): string =>
  language.words.causes.more(rest.length, tallyTexts(rest, language))

export type CauseView = ReturnType<typeof causeView>

export function causeView(cause: FoundCause, index: number, { titleOf, language }: ShownCause) {
  const { words } = language
  return {
    anchor: causeAnchor(index),
    number: `${index + 1}.`,
    severity: cause.severity,
    severityWord: words.severities[cause.severity],
    ...shownTitle(titleOf(titled(cause)), language),
    statement: statementOf(cause, language),
    where: whereText(cause, language),
    shortWhere: shortWhere(cause, language),
    step: stepText(cause, language),
    ends: cause.findings.length > 1 ? words.causes.ends(cause.findings.length) : null,
    commands: cause.commands
      .slice(0, limits.commands)
      .map(command => language.block(command, 1000)),
  }
}

/** The worst finding's title, or its rule's title if that rule's findings have different titles. */
function titled({ findings }: FoundCause): Pick<Finding, 'rule' | 'title'> {
  const [worst] = findings
  const { rule, title, docs } = worst!
  const isOne = findings.every(finding => finding.rule !== rule || finding.title === title)
  return isOne ? { rule, title } : { rule, title: docs.title }
}

function causeDetails(
  cause: FoundCause,
  index: number,
  on: ShownCause,
  anchorOf: PageAnchors['ofFinding'],
) {
  const { language, titleOf } = on
  const { causes: words, of } = language.words
  const { findings, commands } = cause
  const left = findings.length - limits.findings
  const commandsLeft = commands.length - limits.commands
  return {
    ...causeView(cause, index, on),
    about: words.details(findings.length, commands.length),
    command: commands[0] === undefined ? null : language.line(commands[0], 1000),
    consequence: language.line(findings[0]!.consequence, 1200),
    findings: findings
      .slice(0, limits.findings)
      .map(finding => ({
        title: language.line(titleOf(finding).title, 240),
        where: of(
          subjectText(finding.subject, language),
          language.line(finding.cluster, nameLimit),
        ),
        anchor: anchorOf(finding.id),
      })),
    findingsLeftOut: left > 0 ? words.moreFindings(left) : null,
    commandsLeftOut: commandsLeft > 0 ? words.moreCommands(commandsLeft) : null,
  }
}

/** `evictionHard.nodefs.available is 30%`. */
function statementOf({ settings, isDefault }: FoundCause, { words, line }: Language) {
  const [first] = settings
  if (first === undefined || (first.now.length === 0 && !first.path.startsWith('evictionHard.')))
    return null
  const now = first.now.length === 0 ? null : line(first.now.slice(0, 3).join(', '), 80)
  const statement = words.causes.setting(line(first.path, 120), now)
  return isDefault ? words.causes.byDefault(statement) : statement
}

/** Where the cause is: one node by its name, several nodes by their number. */
function whereText({ findings, nodes: { count, places } }: FoundCause, language: Language): string {
  const { words, line } = language
  const { cluster, subject, nodes } = findings[0]!
  const place = words.of(subjectText(subject, language), line(cluster, nameLimit))
  const [name] = nodes.sample
  if (count === 1 && name !== undefined)
    return subject.kind === 'Node' ? place : words.list([line(name, nameLimit), place])
  const subjects = places.reduce((sum, one) => sum + one.subjects.length, 0)
  if (count === 0)
    return subjects === 1
      ? place
      : words.said(
          words.list(places.map(one => line(one.cluster, 80))),
          words.causes.objects(subjects),
        )
  if (subjects === 1) return words.said(place, words.nodeCount(count))
  return words.causes.within(count, places.length)
}

function shortWhere(cause: FoundCause, language: Language): string {
  const { words, line } = language
  const { cluster, nodes, subject } = cause.findings[0]!
  const name = nodes.sample[0] ?? subject.name
  return cause.nodes.count === 1
    ? words.of(line(name, nameLimit), line(cluster, nameLimit))
    : whereText(cause, language)
}

function stepText({ settings, findings }: FoundCause, language: Language): string {
  const { words, line } = language
  if (settings.length === 0) return line(firstAdvice(findings[0]!, language), limits.adviceLength)
  const shown = settings.slice(0, limits.settings).map(setting => settingText(setting, language))
  const more = settings.length - shown.length
  return words.causes.set([...shown, ...(more > 0 ? [words.causes.moreSettings(more)] : [])])
}

/** `imageGCHighThresholdPercent 80 (66 on Nodegroup general)`. */
function settingText({ path, values }: CauseSetting, language: Language): string {
  const { words, line } = language
  const { causes } = words
  const [first, ...others] = values
  const field = line(path, 120)
  const shown = (value: string) => line(value, 80)
  if (others.length === 0) return causes.value(field, shown(first!.value))
  return causes.valueBut(
    field,
    shown(first!.value),
    others
      .slice(0, limits.others)
      .map(({ value, subjects }) =>
        subjects.length === 1
          ? causes.other(shown(value), subjectText(subjects[0]!.subject, language))
          : causes.others(shown(value), subjects.length),
      ),
  )
}

/** The causes, and the nodes that break next, each with the index of its cause. */
export function causesAndOutlook(
  report: AuditReport,
  language: Language,
): { causes: FoundCause[]; outlook: OutlookView } {
  const causes = causesOf(report)
  const indexOf = causeOfNodes(causes)
  const outlook = outlookView(report, language, ({ cluster, identity: { name, group } }) =>
    indexOf(cluster, name, group),
  )
  const nearestOf = (index: number) => outlook.rows.find(({ cause }) => cause === index)
  return {
    causes: causes.map((cause, index) => ({
      ...cause,
      commands: nearestFirst(cause, nearestOf(index)),
    })),
    outlook,
  }
}

/** The commands for the node that is nearest to eviction come first. */
function nearestFirst(
  { findings, commands }: FoundCause,
  nearest: OutlookView['rows'][number] | undefined,
): string[] {
  const own = findings.filter(
    ({ cluster, nodes }) =>
      nearest !== undefined && cluster === nearest.cluster && nodes.sample.includes(nearest.name),
  )
  return [...new Set([...own.flatMap(({ fix }) => fix.commands), ...commands])]
}

/** Finds the index of the cause of a node's worst image GC or eviction finding; null: none. */
function causeOfNodes(
  causes: FoundCause[],
): (cluster: string, node: string, group: Finding['subject']) => number | null {
  const places = causes.map(({ findings }) =>
    findings.filter(({ family }) => family === 'image-gc' || family === 'eviction'),
  )
  return (cluster, node, group) => {
    const isOn = (finding: Finding) =>
      finding.cluster === cluster &&
      (finding.nodes.sample.includes(node) ||
        (finding.nodes.count > finding.nodes.sample.length &&
          finding.subject.kind === group.kind &&
          finding.subject.name === group.name))
    const index = places.findIndex(findings => findings.some(isOn))
    return index < 0 ? null : index
  }
}
