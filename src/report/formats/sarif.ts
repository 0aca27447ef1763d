/**
 * SARIF 2.1.0 (OASIS, errata 01). A finding is a result, a waived one a result with an accepted
 * suppression. Unread nodes are notifications of the invocation. Undecided rules are only counted,
 * in the clusters' `outcomes`.
 */
import type { Finding, Severity } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import {
  evidenceLines,
  fixLines,
  lineText,
  nameText,
  nodesText,
  subjectPath,
  utcTime,
} from '#report/parts/findings.ts'

/** Source: GitHub docs, SARIF support for code scanning: results per run. More results become several runs. */
export const resultsPerRun = 25_000

export const sarifText = (runs: readonly object[]) =>
  `${JSON.stringify({
    $schema:
      'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs,
  })}\n`

/** @param id of the automation */
export const sarifRun = (id: string, version: string, rules: object[], results: object[]) => ({
  tool: { driver: { name: 'highwater', version, rules } },
  automationDetails: { id },
  columnKind: 'utf16CodeUnits',
  results,
})

/** A name of dots would lead to a file of the repository. */
const uriPart = (name: string) => (/^\.{1,2}$/.test(name) ? '_' : encodeURIComponent(name))

export const sarifLevels: Record<Severity, 'error' | 'warning' | 'note'> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
}

export const sarif: Format = {
  id: 'sarif',
  name: 'findings.sarif',
  contentType: 'application/sarif+json',
  render: report => sarifText(runsOf(report)),
}

function runsOf({ document }: AuditReport): object[] {
  const { run, clusters, findings, waived } = document
  const all = [...findings, ...waived]
  const rules = rulesOf(run.rules, all)
  const indexes = new Map(rules.map(({ id }, index) => [id, index]))
  const results = all.map(finding => resultOf(finding, indexes.get(finding.rule) ?? -1))
  const runs = Math.max(1, Math.ceil(results.length / resultsPerRun))
  return Array.from({ length: runs }, (_, index) => {
    const some = results.slice(index * resultsPerRun, (index + 1) * resultsPerRun)
    return {
      ...sarifRun(`highwater/${index + 1}`, run.version, rules, some),
      ...(index === 0 && { invocations: [invocationOf(document)] }),
      properties: {
        clusters: clusters.map(({ name, grade, coverage, outcomes }) => ({
          name: nameText(name),
          grade,
          coverage: {
            ...coverage,
            ...(coverage.insightsUnread && { insightsUnread: lineText(coverage.insightsUnread) }),
          },
          outcomes,
        })),
      },
    }
  })
}

function rulesOf(ids: string[], findings: Finding[]) {
  const docs = new Map(findings.map(({ rule, docs, family }) => [rule, { docs, family }]))
  return [...new Set([...ids, ...docs.keys()])].map(id => {
    const found = docs.get(id)
    if (!found) return { id }
    const { title, why, fix, sources } = found.docs
    return {
      id,
      shortDescription: { text: lineText(title) },
      fullDescription: { text: lineText(why) },
      help: { text: `${lineText(fix)}\nSources: ${sources.map(lineText).join('; ')}` },
      properties: { tags: [found.family] },
    }
  })
}

function resultOf(finding: Finding, ruleIndex: number): object {
  const {
    id,
    rule,
    severity,
    confidence,
    cluster,
    subject,
    nodes,
    title,
    consequence,
    since,
    waived,
  } = finding
  const path = subjectPath(cluster, subject)
  return {
    ruleId: rule,
    ruleIndex,
    kind: 'fail',
    level: sarifLevels[severity],
    message: {
      text: [`${lineText(title)}. ${lineText(consequence)}`, nodesText(nodes) ?? []]
        .flat()
        .join(' '),
    },
    locations: [
      {
        // Viewers require a file. A finding has none, so the URI names the object and its cluster.
        physicalLocation: {
          artifactLocation: { uri: `clusters/${path.split('/').map(uriPart).join('/')}` },
        },
        logicalLocations: [
          { name: nameText(subject.name), fullyQualifiedName: path, kind: 'resource' },
        ],
      },
    ],
    partialFingerprints: { 'highwater/1': id },
    ...(waived && {
      suppressions: [
        {
          kind: 'external',
          status: 'accepted',
          justification: `until ${lineText(waived.until)}: ${lineText(waived.reason)}`,
        },
      ],
    }),
    properties: {
      severity,
      confidence,
      nodes: { count: nodes.count, sample: nodes.sample.map(nameText) },
      since,
      evidence: evidenceLines(finding),
      fix: fixLines(finding),
    },
  }
}

function invocationOf({ run, notAudited }: AuditReport['document']): object {
  const unread = notAudited.map(({ cluster, node, reason }) => ({
    level: node === null ? 'error' : 'warning',
    message: {
      text: `Not audited: ${nameText(cluster)}${node === null ? '' : `/${nameText(node)}`}: ${lineText(reason)}`,
    },
    descriptor: { id: 'not-audited' },
  }))
  const broken = run.inputErrors.map(error => ({
    level: 'error',
    message: { text: lineText(error) },
    descriptor: { id: 'input-error' },
  }))
  return {
    // SARIF defines success as a run that was not aborted: inputs and clusters could be read.
    executionSuccessful:
      run.inputErrors.length === 0 && notAudited.every(({ node }) => node !== null),
    endTimeUtc: utcTime(run.takenAt),
    toolExecutionNotifications: [...broken, ...unread],
  }
}
