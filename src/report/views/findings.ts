/** Findings as cards, worst first; what the page cannot hold becomes a row, what not even that is counted. */
import { stringify } from 'yaml'
import { type Confidence, type DurableFix, type Finding, type NodeSample, type Severity, type Subject, severities } from '#model/finding.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { compareText, shownBlock, shownLine } from '#report/text.ts'
import { nameLimit } from './node.ts'

const findingLimits = { cards: 100, rows: 1000, names: 20, evidence: 24, snippets: 8, commands: 12, sources: 12, rules: 60 }

export const severityWords: Record<Severity, string> = { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', info: 'Info' }

/** Where a durable fix goes, for the line that a reader unfolds. */
const targetWords: Record<DurableFix['target'], string> = {
  nodeadm: 'NodeConfig (nodeadm)',
  'launch-template': 'user data of the launch template',
  bottlerocket: 'Bottlerocket settings (TOML user data)',
  karpenter: 'Karpenter EC2NodeClass',
  eksctl: 'eksctl ClusterConfig',
  terraform: 'Terraform',
  'auto-mode': 'NodeClass of EKS Auto Mode',
}

export interface FindingRow {
  severity: Severity
  severityWord: string
  title: string
  cluster: string
  subject: string
  nodeCount: string
  rule: string
  confidence: string
}

/** What a rule is about, to be believed or looked up. */
export interface RuleView {
  rule: string
  family: string
  docs: { title: string; why: string; fix: string; sources: string[] }
}

interface FindingView extends FindingRow, RuleView {
  anchor: string
  doubt: string | null
  since: string | null
  /** Two names or one, where that is all of them; else null, and the list is folded. */
  fewNames: string | null
  nodeNames: string[]
  nodesLeftOut: string | null
  consequence: string
  evidence: { what: string; value: string }[]
  evidenceLeftOut: string | null
  config: string | null
  durable: { target: string; snippet: string }[]
  commands: string[]
  hasFix: boolean
}

export interface WaivedView extends FindingRow {
  until: string
  reason: string
}

export interface FindingsView {
  cards: FindingView[]
  rows: FindingRow[]
  /** Rules of the rows that no card tells of. */
  rules: RuleView[]
  leftOut: string | null
}

export function findingsView(findings: Finding[]): FindingsView {
  const { cards, rows } = findingLimits
  const sorted = findings.toSorted(worstFirst)
  const onCards = sorted.slice(0, cards)
  const inRows = sorted.slice(cards, cards + rows)
  const leftOut = sorted.slice(cards + rows)
  return {
    cards: onCards.map(findingView),
    rows: inRows.map(findingRow),
    rules: rulesOf(inRows, onCards),
    leftOut:
      leftOut.length === 0
        ? null
        : `${counted(leftOut.length, 'more finding')} (${tally(leftOut)
            .map(({ count, word }) => `${count} ${word.toLowerCase()}`)
            .join(', ')}) in findings.json only: the page would be too heavy with them.`,
  }
}

/** Each rule once, without those that are told of already. */
export function rulesOf(findings: Finding[], told: Finding[] = []): RuleView[] {
  const known = new Set(told.map(({ rule }) => rule))
  const byRule = new Map(findings.filter(({ rule }) => !known.has(rule)).map(finding => [finding.rule, finding]))
  return [...byRule.values()]
    .toSorted((a, b) => compareText(a.rule, b.rule))
    .slice(0, findingLimits.rules)
    .map(ruleView)
}

/** How many of each severity, worst first, without those that do not occur. */
export function tally(findings: Finding[]): { severity: Severity; word: string; count: string }[] {
  return severities
    .map(severity => ({
      severity,
      word: severityWords[severity],
      number: findings.filter(finding => finding.severity === severity).length,
    }))
    .filter(({ number }) => number > 0)
    .map(({ severity, word, number }) => ({ severity, word, count: formatCount(number) }))
}

export const waivedView = (finding: Finding): WaivedView => ({
  ...findingRow(finding),
  until: shownLine(finding.waived?.until ?? 'unknown', 40),
  reason: shownLine(finding.waived?.reason ?? 'no reason given', 400),
})

const confidences = ['certain', 'likely', 'possible']

/** Null: it follows from what was read, and `certain` says so. */
const doubts: Record<Confidence, string | null> = {
  certain: null,
  likely: 'Likely: it rests on something that was not read, and that is so on nearly every such node.',
  possible: 'Possible: whether it is so depends on what was not read.',
}

export function worstFirst(a: Finding, b: Finding): number {
  const text = ({ cluster, rule, subject, id }: Finding) =>
    JSON.stringify([cluster, rule, subject.kind, subject.namespace, subject.name, id])
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    confidences.indexOf(a.confidence) - confidences.indexOf(b.confidence) ||
    b.nodes.count - a.nodes.count ||
    compareText(text(a), text(b))
  )
}

export function subjectText({ kind, namespace, name }: Subject): string {
  return shownLine(`${kind} ${namespace === null ? name : `${namespace}/${name}`}`, nameLimit)
}

/** Empty of what is no node's. */
export const nodeCountText = ({ count }: NodeSample) => (count === 0 ? '' : counted(count, 'node'))

function findingRow({ severity, title, cluster, subject, nodes, rule, confidence }: Finding): FindingRow {
  return {
    severity,
    severityWord: severityWords[severity],
    title: shownLine(title, 240),
    cluster: shownLine(cluster, nameLimit),
    subject: subjectText(subject),
    nodeCount: nodeCountText(nodes),
    rule: shownLine(rule, 80),
    confidence: shownLine(confidence, 40),
  }
}

const ruleView = ({ rule, family, docs }: Finding): RuleView => ({
  rule: shownLine(rule, 80),
  family: shownLine(family, 40),
  docs: {
    title: shownLine(docs.title, 240),
    why: shownBlock(docs.why, 2000),
    fix: shownBlock(docs.fix, 2000),
    sources: docs.sources.slice(0, findingLimits.sources).map(source => shownLine(source, 300)),
  },
})

function findingView(finding: Finding, index: number): FindingView {
  const { fix, evidence, nodes } = finding
  const names = nodes.sample.slice(0, findingLimits.names).map(name => shownLine(name, nameLimit))
  const config = Object.keys(fix.config).length === 0 ? null : shownBlock(stringify(fix.config).trimEnd(), 4000)
  const durable = fix.durable
    .slice(0, findingLimits.snippets)
    .map(({ target, snippet }) => ({ target: targetWords[target], snippet: shownBlock(snippet.trimEnd(), 4000) }))
  const commands = fix.commands.slice(0, findingLimits.commands).map(command => shownBlock(command, 1000))
  const leftOut = evidence.length - findingLimits.evidence
  return {
    ...findingRow(finding),
    ...ruleView(finding),
    anchor: `finding-${index + 1}`,
    doubt: doubts[finding.confidence],
    since: finding.since === null ? null : shownLine(finding.since, 40),
    fewNames: names.length > 0 && names.length <= 2 && names.length >= nodes.count ? names.join(', ') : null,
    nodeNames: names,
    nodesLeftOut: nodes.count > names.length ? `and ${formatCount(nodes.count - names.length)} more` : null,
    consequence: shownLine(finding.consequence, 1200),
    evidence: evidence
      .slice(0, findingLimits.evidence)
      .map(({ what, value }) => ({ what: shownLine(what, 200), value: shownLine(value, 400) })),
    evidenceLeftOut: leftOut > 0 ? `${formatCount(leftOut)} more in findings.json` : null,
    config,
    durable,
    commands,
    hasFix: config !== null || durable.length > 0 || commands.length > 0,
  }
}
