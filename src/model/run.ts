/** One run of the service: request and result. */
import type { Coverage, Grade, Severity } from './finding.ts'
import type { PolicyGrants } from './policy-grants.ts'
import type { Delivery } from './report.ts'
import type { Selection } from './selection.ts'

/** What invoked the audit: the schedule, or a person. */
export interface AuditRequest {
  /** RFC 3339; the tick's time, which names the run. Null: on demand. */
  scheduledTime: string | null
  selection: Selection
  /** Read and judge, publish nothing. */
  isDryRun: boolean
  /** Whether the mail is sent: always on schedule; on demand only if requested. */
  isMailed: boolean
  /** A light run between audits: history only, no report. */
  isObservation: boolean
}

/** What the stack sets for the service. */
export interface Settings {
  /** Bucket for reports; null: none. */
  bucket: string | null
  /** Keys begin with it. */
  prefix: string
  /** KMS key for what is written; null: S3's own encryption. */
  kmsKeyId: string | null
  /** KMS HMAC keys that seal journals of runs, and approvals; null: nothing is approved or applied. */
  runKeyId: string | null
  approvalKeyId: string | null
  sender: string | null
  recipients: string[]
  /** SNS topic that receives a message for each run; null: none. */
  topicArn: string | null
  /** URL of a Slack-compatible webhook, a secret that no message contains; null: none. */
  webhookUrl: string | null
  /** Hosts that the webhook may be on; `*` matches any characters. */
  webhookHosts: string[]
  policyGrants: PolicyGrants
  /** A site that serves the bucket and prefix to readers, `https://reports.example.com`, to which keys are appended; null: the report is attached. */
  reportBaseUrl: string | null
  /** Step Functions state machine that large fleets are handed to; null: one function reads all. */
  stateMachineArn: string | null
}

/** The function's answer. */
export interface RunAnswer {
  runId: string
  /**
   * `published-before`: an earlier delivery of the same tick has done everything; nothing was read or sent again. `fanned-out`: the state machine goes on
   * with it; nothing was read yet. `observed`: a light run, which leaves history and no report.
   */
  state: 'published' | 'published-before' | 'dry-run' | 'fanned-out' | 'observed'
  findings: Partial<Record<Severity, number>>
  clusters: { name: string; grade: Grade | null; coverage: Coverage }[]
  notAudited: number
  deliveries: Delivery[]
  /** Null: this invocation judged nothing. */
  summary: RunSummary | null
  /** The report's address for a browser; null: no site serves it, or nothing was published. */
  link: string | null
  /** The command that makes an address of the report, if it is in a bucket that no site serves. */
  open?: string
}

/** What an audit found, in short, in the language of the report. */
export interface RunSummary {
  verdict: string
  /** The worst. */
  causes: {
    severity: Severity
    title: string
    where: string
    step: string
    command: string | null
  }[]
  /** The nodes that evict now or next, with the pods that are evicted first. */
  next: { node: string; where: string; state: string; victims: string }[]
}

/** Whether the schedule began it: a run on demand has more in its name. */
export const isTickRun = (runId: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/.test(runId)

/** `2026-11-21T05-00-00Z`: the same for every delivery of one tick. @param time RFC 3339 */
export const runIdOf = (time: string) =>
  new Date(time)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
