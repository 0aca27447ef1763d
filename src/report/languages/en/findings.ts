/** Texts of the findings, and of the later sections: waived, undecided, not audited, how everything was read. */
import type { Confidence, WaiverNotice } from '#model/finding/finding.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { nodes } from './counts.ts'

/** Null: `certain` needs no explanation. */
const doubts: Record<Confidence, string | null> = {
  certain: null,
  likely:
    'Likely: it depends on something that was not read, but that is true on nearly every such node.',
  possible: 'Possible: it depends on something that was not read.',
}

const findings = {
  title: 'Findings',
  none: 'None in what was read.',
  link: 'Link to this finding',
  cause: (number: string) => `cause ${number}`,
  doubts,
  byName: (nodeCount: string) => `${nodeCount}, by name`,
  evidence: 'Evidence',
  whatWasRead: 'Read',
  value: 'Value',
  moreInDocument: (count: number) => `${formatCount(count)} more in findings.json`,
  fix: 'Fix',
  commands: 'Commands',
  durable: (target: string) => `For new nodes: ${target}`,
  rule: (rule: string) => `The rule: ${rule}`,
  more: 'More findings',
  moreInShort: 'More findings, in short',
  sumsCaption: 'Findings without a row, by rule',
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
  /** `tallied`: counts by severity; `others`: findings of rules that the list below leaves out. */
  leftOut: (count: number, tallied: string[], others: number) =>
    `${counted(count, 'more finding')} (${tallied.join(', ')}) only in findings.json, to keep the page light. By rule:${
      others === 0 ? '' : ` (and ${formatCount(others)} of other rules)`
    }`,
  tallied: (count: string, severity: string) => `${count} ${severity}`,
}

const rules = {
  title: 'Rules on this page',
  what: 'What',
  why: 'Why',
  fix: 'Fix',
  family: 'Family',
  sources: 'Sources',
}

const waived = {
  title: 'Waived',
  caption: 'Findings covered by a waiver of the policy, until its last day',
  none: 'Nothing is waived.',
  noReason: 'no reason given',
  notices: {
    expired: (waiver, until) =>
      `The waiver of ${waiver} ended on ${until}: renew it, or fix its findings and remove it.`,
    'no-cluster': (waiver, until) =>
      `The waiver of ${waiver}, until ${until}, names no cluster of this run: remove it or correct it.`,
    idle: (waiver, until) =>
      `The waiver of ${waiver}, until ${until}, matches no finding: remove it or correct it.`,
    'ends-soon': (waiver, until) => `The waiver of ${waiver} ends on ${until}.`,
  } satisfies Record<WaiverNotice['state'], (waiver: string, until: string) => string>,
  ownerless: (count: number, places: string[]) =>
    `${counted(count, 'finding')} without an owner (policy report.owners): ${places.join(', ')}`,
  leftOut: (count: number) => `${formatCount(count)} more in findings.json.`,
}

const remainder = {
  columns: {
    cluster: 'Cluster',
    node: 'Node',
    why: 'Why',
    checks: 'Checks',
    where: 'Where',
    ends: 'What decides them',
  },
  checksOf: (rules: number, clusters: number) =>
    `${counted(rules, 'rule')} in ${counted(clusters, 'cluster')}`,
  /** `all`: number of checks with this reason. */
  modeBoth: (count: number, all: number) =>
    `mode both${count === all ? '' : `: ${formatCount(count)} of ${formatCount(all)}`}`,
  /** `all`: undecided checks. */
  modeBothFirst: (count: number, all: number) =>
    `Mode both decides ${formatCount(count)} of ${counted(all, 'undecided check')}.`,
  undecided: 'Undecided',
  undecidedCaption: 'Checks without the data to decide, and why. They do not count as passed',
  allDecided: 'Every rule could decide.',
  notAudited: 'Not audited',
  notAuditedCaption: 'What was not audited, and why',
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
    `${nodes(count)} read ${way} (mode ${mode}, which needs ${rights}): ${answered.join(', ')}`,
  cutImageLists: (count: number) =>
    `${nodes(count)} may list only the largest images: the runtime was not read`,
  answered: (count: number, state: string) => `${formatCount(count)} ${state}`,
}

export const ofFindings = { findings, rules, waived, remainder }
