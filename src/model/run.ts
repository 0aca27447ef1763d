/** One run of the service: request and result. */

import type { Selection } from '#model/input/record.ts'
import type { Coverage, Grade, Severity } from './finding.ts'
import type { PolicyGrants } from './policy.ts'
import type { Delivery } from './report.ts'

/** What invoked the audit: the schedule, or a person. */
export interface AuditRequest {
  /** RFC 3339: the scheduled time, which names the run. Null: the run is on demand. */
  scheduledTime: string | null
  selection: Selection
  /** Read and judge, publish nothing. */
  isDryRun: boolean
  /** Whether to send the mail. Scheduled runs always send it, runs on demand only if requested. */
  isMailed: boolean
  /** A light run between audits: it writes history and no report. */
  isObservation: boolean
}

/** Settings that the stack gives the service. */
export interface Settings {
  /** Bucket for reports; null: none. */
  bucket: string | null
  /** Prefix of all keys in the bucket. */
  prefix: string
  /** KMS key that encrypts written objects; null: S3's own encryption. */
  kmsKeyId: string | null
  /** KMS HMAC keys that seal run journals (`runKeyId`) and approvals. Null: nothing is approved or applied. */
  runKeyId: string | null
  approvalKeyId: string | null
  sender: string | null
  recipients: string[]
  /** SNS topic that receives a message for each run; null: none. */
  topicArn: string | null
  /** EventBridge bus that receives an event for each changed finding; null: none. */
  eventBusArn: string | null
  /** URL of a webhook of Slack or Teams, a secret that no message contains; null: none. */
  webhookUrl: string | null
  /** The messenger behind the webhook. */
  webhookFormat: 'slack' | 'teams'
  /** Permitted hosts of the webhook; `*` matches any characters. */
  webhookHosts: string[]
  policyGrants: PolicyGrants
  /** Site that serves the bucket's prefix to readers (`https://reports.example.com`); keys are appended. Null: the report is attached. */
  reportBaseUrl: string | null
  /** Step Functions state machine that reads large fleets. Null: one function reads all clusters. */
  stateMachineArn: string | null
}

/** The function's answer. */
export interface RunAnswer {
  runId: string
  /**
   * `published-before`: an earlier delivery of the same scheduled event did everything; nothing was read or sent again. `fanned-out`: the state machine
   * continues the run; nothing was read yet. `observed`: a light run wrote history and no report.
   */
  state: 'published' | 'published-before' | 'dry-run' | 'fanned-out' | 'observed'
  findings: Partial<Record<Severity, number>>
  clusters: { name: string; grade: Grade | null; coverage: Coverage }[]
  notAudited: number
  deliveries: Delivery[]
  /** Null: this invocation judged no node. */
  summary: RunSummary | null
  /** URL of the report for a browser. Null: no site serves the report, or nothing was published. */
  link: string | null
  /** Command that creates a URL of the report, if no site serves its bucket. */
  open?: string
}

/** Answer of an invocation that audited nothing. */
export const unauditedAnswer = {
  findings: {},
  clusters: [],
  notAudited: 0,
  deliveries: [],
  summary: null,
  link: null,
} satisfies Omit<RunAnswer, 'runId' | 'state'>

/** Short result of an audit, in the language of the report. */
export interface RunSummary {
  verdict: string
  /** The worst causes. */
  causes: {
    severity: Severity
    title: string
    where: string
    step: string
    command: string | null
  }[]
  /** Nodes that evict now or next, with the pods that they evict first. */
  next: { node: string; where: string; state: string; victims: string }[]
}

/** Whether the schedule started the run. The id of a run on demand is longer. */
export const isTickRun = (runId: string) => /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/.test(runId)

/** `2026-11-21T05-00-00Z`: the same id for every delivery of a scheduled event. @param time RFC 3339 */
export const runIdOf = (time: string) =>
  new Date(time)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
