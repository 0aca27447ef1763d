/**
 * Requests of BatchImportFindings for AWS Security Hub, in the AWS Security Finding Format: an
 * array with one API request per entry. Waived and ended findings are archived; an ended one is
 * PASSED if it was fixed or replaced. Undecided rules and unread nodes have the compliance status
 * NOT_AVAILABLE, and are archived when decided or read.
 */

import { createHash } from 'node:crypto'
import type { Finding, NodeSample, NotAudited, Severity, UnknownOutcome } from '#model/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { AuditReport } from '#model/report.ts'
import type { Subject } from '#model/subject.ts'
import type { Format } from '#report/format.ts'
import {
  closedText,
  endedText,
  evidenceLines,
  fittedText,
  fixLines,
  isRepaired,
  nameText,
  subjectPath,
  unknownKey,
  utcTime,
} from '#report/statements.ts'

/** Source: Security Hub API reference, BatchImportFindings. */
const findingsPerRequest = 100
/** Source: Security Hub API reference, AwsSecurityFinding, Recommendation and Resource: characters at most in each field. */
const limits = {
  title: 256,
  description: 1024,
  recommendation: 512,
  id: 512,
  generator: 512,
  field: 2048,
  other: 1024,
}

const labels: Record<Severity, string> = {
  critical: 'CRITICAL',
  high: 'HIGH',
  medium: 'MEDIUM',
  low: 'LOW',
  info: 'INFORMATIONAL',
}

export const asff: Format = {
  id: 'asff',
  name: 'findings.asff.json',
  contentType: 'application/json',
  unfit: ({ document: { run } }) =>
    run.account === null || run.region === null
      ? 'Security Hub wants the account and the region of what was read, and this snapshot does not tell them: audit the live fleet, or write "account" and "region" into its first line'
      : null,
  render(report) {
    const findings = findingsOf(report)
    const requests = Array.from(
      { length: Math.ceil(findings.length / findingsPerRequest) },
      (_, index) => ({
        Findings: findings.slice(index * findingsPerRequest, (index + 1) * findingsPerRequest),
      }),
    )
    return `[\n${requests.map(request => JSON.stringify(request)).join(',\n')}\n]\n`
  },
}

interface AsffEntry {
  id: string
  rule: string
  title: string
  description: string
  severity: Severity
  cluster: string
  subject: Subject
  nodes: NodeSample
  status: 'FAILED' | 'PASSED' | 'NOT_AVAILABLE'
}

function findingsOf({ document, before }: AuditReport): object[] {
  const { run, findings, waived, unknowns, notAudited } = document
  const base = importedBy(run)
  return [
    ...[...findings, ...waived].map(finding => importedFinding(finding, base)),
    ...(before?.ended ?? []).map(past => endedFinding(past, base)),
    ...[...unknowns.map(undecided), ...notAudited.map(unaudited)].map(base),
    ...[
      ...(before?.closed.unknowns ?? []).map(undecided),
      ...(before?.closed.notAudited ?? []).map(unaudited),
    ].map(entry => ({
      ...base({ ...entry, description: closedText(run.takenAt, entry.description) }),
      RecordState: 'ARCHIVED',
    })),
  ]
}

const unavailable = { severity: 'info', status: 'NOT_AVAILABLE' } as const

const undecided = (unknown: UnknownOutcome): AsffEntry => ({
  ...unknown,
  ...unavailable,
  id: hashed(unknownKey(unknown)),
  title: `${unknown.rule} could not be decided`,
  description: unknown.reason,
})

const unaudited = ({ cluster, node, reason }: NotAudited): AsffEntry => ({
  ...unavailable,
  id: hashed(JSON.stringify(['not-audited', cluster, node])),
  rule: 'not-audited',
  title: `Not audited: ${node ?? cluster}`,
  description: reason,
  cluster,
  subject: { kind: node === null ? 'Cluster' : 'Node', namespace: null, name: node ?? cluster },
  nodes: { count: node === null ? 0 : 1, sample: node === null ? [] : [node] },
})

function importedFinding(finding: Finding, base: ReturnType<typeof importedBy>): object {
  const { title, consequence, waived, since, confidence } = finding
  const entry = base({ ...finding, title, description: consequence, status: 'FAILED' })
  const evidence = evidenceLines(finding).join('; ')
  return {
    ...entry,
    ...(since !== null && {
      CreatedAt: `${since}T00:00:00Z`,
      FirstObservedAt: `${since}T00:00:00Z`,
    }),
    RecordState: waived ? 'ARCHIVED' : 'ACTIVE',
    Remediation: {
      Recommendation: { Text: fittedText(fixLines(finding).join(' '), limits.recommendation) },
    },
    ProductFields: {
      ...entry.ProductFields,
      'highwater/confidence': confidence,
      ...(evidence !== '' && { 'highwater/evidence': fittedText(evidence, limits.field) }),
      ...(waived && {
        'highwater/waived': fittedText(`until ${waived.until}: ${waived.reason}`, limits.field),
      }),
    },
  }
}

function endedFinding(past: PastFinding, base: ReturnType<typeof importedBy>): object {
  const status = isRepaired(past) ? 'PASSED' : 'NOT_AVAILABLE'
  const entry = base({
    ...past,
    description: endedText(past),
    nodes: { count: 0, sample: [] },
    status,
  })
  const since = `${past.since}T00:00:00Z`
  return {
    ...entry,
    CreatedAt: since,
    FirstObservedAt: since,
    LastObservedAt: `${past.lastSeen}T00:00:00Z`,
    RecordState: 'ARCHIVED',
  }
}

const importedBy = ({ account, region, takenAt, version }: AuditReport['document']['run']) => {
  const [owner, place] = [fittedText(account ?? '', 64), fittedText(region ?? '', 64)]
  const at = utcTime(takenAt)
  const partition = partitionOf(place)
  return ({
    id,
    rule,
    title,
    description,
    severity,
    cluster,
    subject,
    nodes,
    status,
  }: AsffEntry) => ({
    SchemaVersion: '2018-10-08',
    Id: `highwater/${place}/${owner}/${id}`.slice(0, limits.id),
    ProductArn: `arn:${partition}:securityhub:${place}:${owner}:product/${owner}/default`,
    ProductName: 'highwater',
    GeneratorId: `highwater/${rule}`.slice(0, limits.generator),
    AwsAccountId: owner,
    Region: place,
    Types: ['Software and Configuration Checks'],
    CreatedAt: at,
    UpdatedAt: at,
    LastObservedAt: at,
    Severity: { Label: labels[severity], Original: severity },
    Title: fittedText(title, limits.title),
    Description: fittedText(description, limits.description),
    Resources: [
      {
        Type: 'Other',
        Id: fittedText(subjectPath(cluster, subject), limits.id),
        Partition: partition,
        Region: place,
        Details: {
          Other: {
            nodes: String(nodes.count),
            sample: fittedText(nodes.sample.map(nameText).join(' '), limits.other),
          },
        },
      },
    ],
    Compliance: { Status: status },
    RecordState: 'ACTIVE',
    ProductFields: {
      'highwater/version': fittedText(version, limits.field),
      'highwater/cluster': fittedText(cluster, limits.field),
    },
  })
}

/** Source: AWS general reference, ARN partitions. */
function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  if (region.startsWith('us-gov-')) return 'aws-us-gov'
  if (region.startsWith('us-isob-')) return 'aws-us-iso-b'
  return region.startsWith('us-iso-') ? 'aws-us-iso' : 'aws'
}

const hashed = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 16)
