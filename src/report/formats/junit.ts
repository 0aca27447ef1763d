/**
 * JUnit XML as Jenkins' xUnit plugin reads it, one suite per cluster. A finding is a failure.
 * Waived findings are skipped, with their reason. An unread node or cluster is an error. A rule
 * passes only if all its outcomes were decided; an undecided rule has no test case.
 */
import type { ClusterResult, Finding, FindingsDocument, NotAudited } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import {
  evidenceLines,
  fixLines,
  lineText,
  nameText,
  nodesText,
  subjectPath,
  unreadableNodes,
  utcTime,
} from '#report/parts/findings.ts'

interface Case {
  name: string
  rule: string
  /** Null: the test case passed. */
  outcome: {
    element: 'failure' | 'skipped' | 'error'
    type: string
    message: string
    lines: string[]
  } | null
}

export const junit: Format = {
  id: 'junit',
  name: 'junit.xml',
  contentType: 'application/xml; charset=utf-8',
  render(report) {
    const suites = suitesOf(report)
    const all = suites.flatMap(({ cases }) => cases)
    const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="highwater"${numbers(all, ['tests', 'failures', 'errors'])}>\n`
    return `${head}${suites.map(suite => suiteText(suite, report.document.run.takenAt)).join('')}</testsuites>\n`
  },
}

interface Suite {
  name: string
  cases: Case[]
}

function suitesOf(report: AuditReport): Suite[] {
  const { run, clusters, findings, waived, notAudited } = report.document
  const isUnreadable = unreadableNodes(report)
  const names = new Set(
    [...clusters, ...notAudited.map(({ cluster }) => ({ name: cluster }))].map(({ name }) => name),
  )
  const byCluster = <Entry extends { cluster: string }>(entries: Entry[]) =>
    Map.groupBy(entries, ({ cluster }) => cluster)
  const [open, accepted, unread] = [byCluster(findings), byCluster(waived), byCluster(notAudited)]
  const suites = [...names].map(name => ({
    name,
    cases: [
      ...(open.get(name) ?? []).map(failedCase),
      ...(accepted.get(name) ?? []).map(skippedByWaiver),
      ...(unread.get(name) ?? []).map(entry => unreadCase(entry, isUnreadable(entry))),
      ...quietCases(
        clusters.find(cluster => cluster.name === name),
        report.document,
      ),
    ],
  }))
  const broken = run.inputErrors.map(error => errorCase('input', 'input-error', lineText(error)))
  return broken.length === 0 ? suites : [...suites, { name: 'input', cases: broken }]
}

const failedCase = (finding: Finding): Case => ({
  name: `${lineText(finding.title)}: ${subjectPath(finding.cluster, finding.subject)}`,
  rule: finding.rule,
  outcome: {
    element: 'failure',
    type: finding.severity,
    message: lineText(finding.consequence),
    lines: detailLines(finding),
  },
})

const skippedByWaiver = (finding: Finding): Case => ({
  ...failedCase(finding),
  outcome: {
    element: 'skipped',
    type: 'waived',
    message: `waived until ${lineText(finding.waived?.until ?? 'unknown')}: ${lineText(finding.waived?.reason ?? 'no reason given')}`,
    lines: detailLines(finding),
  },
})

const detailLines = (finding: Finding) => [
  lineText(finding.consequence),
  ...[nodesText(finding.nodes) ?? []].flat(),
  ...evidenceLines(finding),
  'What to do:',
  ...fixLines(finding),
]

function unreadCase({ cluster, node, reason }: NotAudited, isUnreadable: boolean): Case {
  const name = `not audited: ${nameText(cluster)}${node === null ? '' : `/${nameText(node)}`}`
  if (!isUnreadable) return errorCase(name, 'not-audited', lineText(reason))
  return {
    name,
    rule: 'not-audited',
    outcome: { element: 'skipped', type: 'not-auditable', message: lineText(reason), lines: [] },
  }
}

const errorCase = (name: string, rule: string, message: string): Case => ({
  name,
  rule,
  outcome: { element: 'error', type: rule, message, lines: [] },
})

/**
 * Passing test cases for rules without any other test case. If a rule failed with an error, no rule
 * is reported as passed: the document does not name the failed rule.
 */
function quietCases(
  cluster: ClusterResult | undefined,
  { run, findings, waived, unknowns }: FindingsDocument,
): Case[] {
  if (!cluster || cluster.coverage.nodes === cluster.coverage.notRead) return []
  if (cluster.outcomes.error > 0)
    return [
      errorCase(
        `${cluster.outcomes.error} outcomes of rules that broke`,
        'rule-error',
        'Rules that are not named here are not known to pass',
      ),
    ]
  const reported = new Set(
    [...findings, ...waived, ...unknowns]
      .filter(entry => entry.cluster === cluster.name)
      .map(({ rule }) => rule),
  )
  return run.rules
    .filter(rule => !reported.has(rule))
    .map(rule => ({ name: 'passes or does not apply', rule, outcome: null }))
}

const counts = {
  tests: () => true,
  failures: ({ outcome }: Case) => outcome?.element === 'failure',
  errors: ({ outcome }: Case) => outcome?.element === 'error',
  skipped: ({ outcome }: Case) => outcome?.element === 'skipped',
}

const numbers = (cases: Case[], names: (keyof typeof counts)[]) =>
  names.map(name => ` ${name}="${cases.filter(counts[name]).length}"`).join('')

function suiteText({ name, cases }: Suite, takenAt: string) {
  const all = numbers(cases, ['tests', 'failures', 'errors', 'skipped'])
  return `<testsuite name="${escapeXml(nameText(name))}"${all} timestamp="${utcTime(takenAt).slice(0, -1)}">\n${cases.map(caseText).join('')}</testsuite>\n`
}

function caseText({ name, rule, outcome }: Case) {
  const head = `<testcase classname="highwater.${escapeXml(rule)}" name="${escapeXml(name)}"`
  if (!outcome) return `${head}/>\n`
  const { element, type, message, lines } = outcome
  return `${head}><${element} type="${escapeXml(type)}" message="${escapeXml(message)}">${escapeXml(lines.join('\n'))}</${element}></testcase>\n`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escapeXml = (text: string) => text.replace(/[&<>"]/g, character => entities[character] ?? '')
