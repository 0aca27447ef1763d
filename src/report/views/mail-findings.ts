/** The worst findings in a mail: what is wrong, where, and what to do, in as few words as that takes. */
import { stringify } from 'yaml'
import type { Finding, Fix, NodeSample } from '#model/finding.ts'
import { counted, formatCount } from '#report/numbers.ts'
import type { Fold } from '#report/text.ts'
import { nodeCountText, severityWords, subjectText, tally, worstFirst } from './findings.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'

const shown = { findings: 5, names: 3, configLines: 8, targets: 3 }

interface MailFinding extends SeverityMark {
  severityWord: string
  title: string
  /** Cluster, subject, confidence, and since when. */
  where: string
  consequence: string
  nodeCount: string
  nodeNames: string[]
  nodesLeftOut: string | null
  fix: string
  /** KubeletConfiguration fields to set, as YAML; empty where there are none. */
  configLines: string[]
  configLeftOut: string | null
  /** What else the report has to mend it with. */
  more: string | null
}

export interface MailFindingsView {
  title: string
  list: MailFinding[]
  leftOut: string | null
}

export function mailFindingsView(findings: Finding[], fold: Fold): MailFindingsView {
  const sorted = findings.toSorted(worstFirst)
  const rest = sorted.slice(shown.findings)
  const counts = tally(rest).map(({ count, word }) => `${count} ${word.toLowerCase()}`)
  const all = sorted.length === 1 ? 'The finding' : `All ${formatCount(sorted.length)} findings`
  return {
    title: rest.length > 0 ? `The worst ${shown.findings} of ${formatCount(sorted.length)} findings` : all,
    list: sorted.slice(0, shown.findings).map(finding => mailFinding(finding, fold)),
    leftOut: rest.length > 0 ? `and ${counted(rest.length, 'more finding')} in the report: ${counts.join(', ')}.` : null,
  }
}

function mailFinding(finding: Finding, fold: Fold): MailFinding {
  const { severity, cluster, subject, confidence, since, fix, docs } = finding
  const where = [fold(cluster, 80), subjectText(subject), confidence, since === null ? '' : `since ${fold(since, 20)}`]
  const { configLines, configLeftOut } = configView(fix.config, fold)
  return {
    ...severityMark(severity),
    severityWord: severityWords[severity],
    title: fold(finding.title, 200),
    where: where.filter(Boolean).join(', '),
    consequence: fold(finding.consequence, 420),
    ...nodesView(finding.nodes, fold),
    fix: fold(docs.fix, 420),
    configLines,
    configLeftOut,
    more: moreText(fix, fold),
  }
}

function nodesView(nodes: NodeSample, fold: Fold): Pick<MailFinding, 'nodeCount' | 'nodeNames' | 'nodesLeftOut'> {
  const names = nodes.sample.slice(0, shown.names).map(name => fold(name, 80))
  const rest = nodes.count - names.length
  return {
    nodeCount: nodeCountText(nodes),
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
