/** Findings as cards, worst first; what the page cannot hold becomes a row, what not even that is counted. */
import { stringify } from 'yaml'
import { type Confidence, type DurableFix, type Finding, type NodeSample, type Severity, type Subject, severities } from '#model/finding.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { compareText, shownBlock, shownLine } from '#report/text.ts'
import { type PageAnchors, shownCards } from './anchors.ts'
import { nameLimit } from './node.ts'

const findingLimits = { rows: 500, sums: 100, names: 20, evidence: 24, snippets: 8, commands: 12, sources: 12, rules: 120 }

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
  family: string
  confidence: string
}

/** What a rule is about, to be believed or looked up. */
export interface RuleView {
  ruleAnchor: string
  rule: string
  family: string
  docs: { title: string; why: string; fix: string; sources: string[] }
}

interface FindingView extends FindingRow {
  anchor: string
  ruleAnchor: string
  nodesNumber: number
  /** What to do, as the rule says it. */
  advice: string
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
}

/** Findings of one rule and severity that have not even a row: how many, and where. */
interface FindingSum {
  severity: Severity
  severityWord: string
  rule: string
  count: string
  clusterCount: string
}

export interface WaivedView extends FindingRow {
  until: string
  reason: string
}

export interface FindingsView {
  count: string
  cards: FindingView[]
  rows: FindingRow[]
  sums: FindingSum[]
  /** What the sums are of; null: every finding has a card or a row. */
  leftOut: string | null
}

/** @param sorted worst first */
export function findingsView(sorted: Finding[], page: PageAnchors): FindingsView {
  const { rows } = findingLimits
  const leftOut = sorted.slice(shownCards + rows)
  const sums = sumsOf(leftOut)
  const shown = sums.slice(0, findingLimits.sums)
  const notSummed = sums.slice(shown.length).reduce((sum, { findings }) => sum + findings.length, 0)
  return {
    count: formatCount(sorted.length),
    cards: sorted.slice(0, shownCards).map(finding => findingView(finding, page)),
    rows: sorted.slice(shownCards, shownCards + rows).map(findingRow),
    sums: shown.map(sumView),
    leftOut:
      leftOut.length === 0
        ? null
        : `${counted(leftOut.length, 'more finding')} (${tally(leftOut)
            .map(({ count, word }) => `${count} ${word.toLowerCase()}`)
            .join(', ')}) in findings.json only: the page would be too heavy with them. By rule they are:${
            notSummed === 0 ? '' : ` (and ${formatCount(notSummed)} of other rules)`
          }`,
  }
}

function sumsOf(findings: Finding[]): { findings: Finding[] }[] {
  return [...Map.groupBy(findings, ({ severity, rule }) => `${severity} ${rule}`).values()].map(alike => ({ findings: alike }))
}

function sumView({ findings }: { findings: Finding[] }): FindingSum {
  const { severity, rule } = findings[0]!
  return {
    severity,
    severityWord: severityWords[severity],
    rule: shownLine(rule, 80),
    count: counted(findings.length, 'finding'),
    clusterCount: counted(new Set(findings.map(({ cluster }) => cluster)).size, 'cluster'),
  }
}

/** One finding of each rule, by rule. */
export function oneOfEachRule(findings: Finding[]): Finding[] {
  const byRule = new Map(findings.map(finding => [finding.rule, finding]))
  return [...byRule.values()].toSorted((a, b) => compareText(a.rule, b.rule)).slice(0, findingLimits.rules)
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

function findingRow({ severity, title, cluster, subject, nodes, rule, family, confidence }: Finding): FindingRow {
  return {
    severity,
    severityWord: severityWords[severity],
    title: shownLine(title, 240),
    cluster: shownLine(cluster, nameLimit),
    subject: subjectText(subject),
    nodeCount: nodeCountText(nodes),
    rule: shownLine(rule, 80),
    family: shownLine(family, 40),
    confidence: shownLine(confidence, 40),
  }
}

export const ruleView = ({ rule, family, docs }: Finding, page: PageAnchors): RuleView => ({
  ruleAnchor: page.ofRule(rule),
  rule: shownLine(rule, 80),
  family: shownLine(family, 40),
  docs: {
    title: shownLine(docs.title, 240),
    why: shownBlock(docs.why, 2000),
    fix: shownBlock(docs.fix, 2000),
    sources: docs.sources.slice(0, findingLimits.sources).map(source => shownLine(source, 300)),
  },
})

function findingView(finding: Finding, page: PageAnchors): FindingView {
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
    anchor: page.ofCard(finding),
    ruleAnchor: page.ofRule(finding.rule),
    nodesNumber: nodes.count,
    advice: shownBlock(finding.docs.fix, 2000),
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
  }
}
