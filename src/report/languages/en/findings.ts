/** Findings, and what the page says after them: what was waived, not known, not audited, and how it was all read. */
import type { Confidence } from '#model/finding.ts'
import { counted, formatCount } from '#report/numbers.ts'

const nodes = (count: number) => counted(count, 'node')

/** Null: it follows from what was read, and `certain` says so. */
const doubts: Record<Confidence, string | null> = {
  certain: null,
  likely:
    'Likely: it rests on something that was not read, and that is so on nearly every such node.',
  possible: 'Possible: whether it is so depends on what was not read.',
}

const findings = {
  title: 'Findings',
  none: 'None in what was read.',
  link: 'Link to this finding',
  doubts,
  byName: (nodeCount: string) => `${nodeCount}, by name`,
  evidence: 'Evidence',
  whatWasRead: 'What was read',
  value: 'Value',
  moreInDocument: (count: number) => `${formatCount(count)} more in findings.json`,
  fix: 'Fix',
  commands: 'Commands',
  durable: (target: string) => `So that new nodes have it: ${target}`,
  rule: (rule: string) => `The rule: ${rule}`,
  more: 'More findings',
  moreInShort: 'More findings, in short',
  sumsCaption: 'Findings that have no row of their own, by rule',
  columns: {
    severity: 'Severity',
    finding: 'Finding',
    cluster: 'Cluster',
    subject: 'Subject',
    nodes: 'Nodes',
    confidence: 'Confidence',
    rule: 'Rule',
    findings: 'Findings',
    clusters: 'Clusters',
    until: 'Until',
    reason: 'Reason',
  },
  /** `tallied`: counts by severity; `others`: how many of them no sum below has. */
  leftOut: (count: number, tallied: string[], others: number) =>
    `${counted(count, 'more finding')} (${tallied.join(', ')}) in findings.json only: the page would be too heavy with them. By rule they are:${
      others === 0 ? '' : ` (and ${formatCount(others)} of other rules)`
    }`,
  tallied: (count: string, severity: string) => `${count} ${severity}`,
}

const rules = {
  title: 'The rules that speak here',
  what: 'What',
  why: 'Why',
  fix: 'Fix',
  family: 'Family',
  sources: 'Sources',
}

const waived = {
  title: 'Waived',
  caption: 'Findings that a waiver of the policy covers, until its last day',
  none: 'Nothing is waived.',
  noReason: 'no reason given',
  idle: (waiver: string, until: string) =>
    `The waiver of ${waiver}, until ${until}, covers nothing that was found: it can go, or does not match what it should.`,
  leftOut: (count: number) => `${formatCount(count)} more in findings.json.`,
}

const remainder = {
  passed: 'Passed',
  outcomes: 'Outcomes of each cluster, and the rules that found nothing',
  outcomesCaption: 'Outcomes: one for each rule and subject',
  columns: {
    cluster: 'Cluster',
    pass: 'Pass',
    fail: 'Fail',
    unknown: 'Unknown',
    notApplicable: 'Not applicable',
    error: 'Error',
    rule: 'Rule',
    subject: 'Subject',
    nodes: 'Nodes',
    node: 'Node',
    why: 'Why',
  },
  quietRules: (count: number, all: number) =>
    `${formatCount(count)} of ${counted(all, 'rule')} found nothing and left no question open${count > 0 ? ':' : '.'}`,
  noRulePassed: 'No rule passed anywhere: nothing was read that one could judge.',
  undecided: 'Questions without an answer',
  undecidedCaption:
    'What a rule could not tell for lack of data, and why: none of it counts as passed',
  allDecided: 'Every rule could decide.',
  notAudited: 'Not audited',
  notAuditedCaption: 'What was not looked at, and why',
  nothingLeftOut: 'Nothing was left out.',
  clusterItself: 'the cluster itself',
  wholeCluster: 'the whole cluster',
  howRead: 'How it was read',
  inputErrors: 'Errors in the input',
  leftOut: (count: number) => `${formatCount(count)} more in findings.json.`,
  snapshotTaken: 'Snapshot taken',
  source: 'Source',
  live: 'the clusters themselves',
  saved: 'a saved snapshot',
  nodes: 'Nodes',
  account: 'AWS account',
  region: 'Region',
  rules: 'Rules',
  asked: (count: number, way: string, mode: string, rights: string, answered: string[]) =>
    `${nodes(count)} asked ${way} (mode ${mode}, which needs ${rights}): ${answered.join(', ')}`,
  answered: (count: number, state: string) => `${formatCount(count)} ${state}`,
}

export const ofFindings = { findings, rules, waived, remainder }
