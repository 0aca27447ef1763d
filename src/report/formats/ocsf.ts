/**
 * OCSF 1.2.0, class Compliance Finding (2003), an array of events. A finding fails its control, a
 * waived one is suppressed, an ended one is closed as resolved. Unread nodes are a warning ("did not
 * yield a result due to missing information"), closed when read. Undecided rules are left out.
 */

import { hash } from 'node:crypto'
import type { Confidence, Finding, NodeSample, NotAudited, Severity } from '#model/finding.ts'
import { isRepaired, type PastFinding } from '#model/history.ts'
import type { Subject } from '#model/input/record.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import {
  closedText,
  endedText,
  evidenceLines,
  fixLines,
  lineText,
  nameText,
  subjectPath,
  utcTime,
} from '#report/parts/findings.ts'

const classUid = 2003
/** Activity id of a closed finding. */
const closed = 3
const severityIds: Record<Severity, { id: number; caption: string }> = {
  info: { id: 1, caption: 'Informational' },
  low: { id: 2, caption: 'Low' },
  medium: { id: 3, caption: 'Medium' },
  high: { id: 4, caption: 'High' },
  critical: { id: 5, caption: 'Critical' },
}
const confidenceIds: Record<Confidence, number> = { possible: 1, likely: 2, certain: 3 }
const compliances = {
  unknown: { id: 0, caption: 'Unknown' },
  pass: { id: 1, caption: 'Pass' },
  fail: { id: 3, caption: 'Fail' },
  warning: { id: 2, caption: 'Warning' },
} as const

export const ocsf: Format = {
  id: 'ocsf',
  name: 'findings.ocsf.json',
  contentType: 'application/json',
  render: report =>
    `[\n${eventsOf(report)
      .map(event => JSON.stringify(event))
      .join(',\n')}\n]\n`,
}

interface OcsfEntry {
  uid: string
  title: string
  desc: string
  rule: string
  cluster: string
  subject: Subject
  nodes: NodeSample
  severity: Severity
  compliance: keyof typeof compliances
  isSuppressed: boolean
}

function eventsOf({ document, before }: AuditReport): object[] {
  const { run, findings, waived, notAudited } = document
  const event = eventOn(run)
  return [
    ...[...findings, ...waived].map(finding => findingEvent(finding, run.takenAt, event)),
    ...(before?.ended ?? []).map(past => endedEvent(past, event)),
    ...notAudited.map(unauditedEntry).map(event),
    ...(before?.readAgain ?? []).map(unauditedEntry).map(entry => {
      const text = closedText(run.takenAt, entry.desc)
      return resolvedEvent(event({ ...entry, desc: text }), text)
    }),
  ]
}

const unauditedEntry = ({ cluster, node, reason }: NotAudited): OcsfEntry => ({
  severity: 'info',
  compliance: 'warning',
  isSuppressed: false,
  uid: hashKey(JSON.stringify(['not-audited', cluster, node])),
  title: 'Not audited',
  desc: lineText(reason),
  rule: 'not-audited',
  cluster,
  subject: { kind: node === null ? 'Cluster' : 'Node', namespace: null, name: node ?? cluster },
  nodes: { count: node === null ? 0 : 1, sample: node === null ? [] : [node] },
})

const resolvedEvent = (event: ReturnType<ReturnType<typeof eventOn>>, why: string) => ({
  ...event,
  activity_id: closed,
  type_uid: classUid * 100 + closed,
  status_id: 4,
  status: 'Resolved',
  status_detail: why,
})

function findingEvent(
  finding: Finding,
  takenAt: string,
  event: ReturnType<typeof eventOn>,
): object {
  const { id, title, consequence, waived, since, confidence, family } = finding
  const base = event({
    ...finding,
    uid: id,
    title,
    desc: lineText(consequence),
    compliance: 'fail',
    isSuppressed: waived !== null,
  })
  const activity = since === null || since === utcTime(takenAt).slice(0, 10) ? 1 : 2
  return {
    ...base,
    activity_id: activity,
    type_uid: classUid * 100 + activity,
    confidence_id: confidenceIds[confidence],
    finding_info: {
      ...base.finding_info,
      types: [family],
      ...(since !== null && { first_seen_time: Date.parse(`${since}T00:00:00Z`) }),
    },
    remediation: { desc: fixLines(finding).join('\n') },
    ...(waived && {
      status_detail: `waived until ${lineText(waived.until)}: ${lineText(waived.reason)}`,
    }),
    unmapped: { ...base.unmapped, evidence: evidenceLines(finding), since },
  }
}

function endedEvent(past: PastFinding, event: ReturnType<typeof eventOn>): object {
  const { id: uid, since, lastSeen } = past
  const compliance = isRepaired(past) ? 'pass' : 'unknown'
  const base = event({
    ...past,
    uid,
    desc: endedText(past),
    nodes: { count: 0, sample: [] },
    compliance,
    isSuppressed: false,
  })
  const times = {
    first_seen_time: Date.parse(`${since}T00:00:00Z`),
    last_seen_time: Date.parse(`${lastSeen}T00:00:00Z`),
  }
  return {
    ...resolvedEvent(base, endedText(past)),
    finding_info: { ...base.finding_info, ...times },
    unmapped: { ...base.unmapped, since },
  }
}

const eventOn = ({ version, takenAt, account, region }: AuditReport['document']['run']) => {
  const time = Date.parse(utcTime(takenAt))
  const isOnAws = account !== null && region !== null
  return ({
    uid,
    title,
    desc,
    rule,
    cluster,
    subject,
    nodes,
    severity,
    compliance,
    isSuppressed,
  }: OcsfEntry) => ({
    activity_id: 1,
    category_uid: 2,
    class_uid: classUid,
    type_uid: classUid * 100 + 1,
    time,
    severity_id: severityIds[severity].id,
    severity: severityIds[severity].caption,
    status_id: isSuppressed ? 3 : 1,
    status: isSuppressed ? 'Suppressed' : 'New',
    compliance: {
      control: rule,
      standards: ['highwater'],
      status_id: compliances[compliance].id,
      status: compliances[compliance].caption,
    },
    finding_info: {
      uid,
      title: lineText(title),
      desc,
      analytic: { type_id: 1, type: 'Rule', uid: rule, name: rule },
    },
    metadata: {
      version: '1.2.0',
      product: { name: 'highwater', vendor_name: 'highwater', version: nameText(version) },
      ...(isOnAws && { profiles: ['cloud'] }),
    },
    ...(isOnAws && {
      cloud: { provider: 'AWS', account: { uid: nameText(account) }, region: nameText(region) },
    }),
    resource: {
      uid: subjectPath(cluster, subject),
      name: nameText(subject.name),
      type: subject.kind,
      ...(subject.namespace !== null && { namespace: nameText(subject.namespace) }),
    },
    unmapped: {
      cluster: nameText(cluster),
      nodes: { count: nodes.count, sample: nodes.sample.map(nameText) },
    },
  })
}

/** An id in the same form as the ids of findings. */
const hashKey = (key: string) => hash('sha256', key).slice(0, 16)
