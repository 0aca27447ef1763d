/** The ways on which a run of the service tells people: mails to everybody and to owners, a topic, a webhook. */
import type { ReportOwner, ReportPolicy } from '#model/policy.ts'
import type { AuditRequest, Settings } from '#model/run.ts'
import type { MailChannel } from '#publish/channel.ts'
import type { OnceOptions } from '#publish/channels/message-once.ts'
import { ses } from '#publish/channels/ses.ts'
import { sns } from '#publish/channels/sns.ts'
import { webhook } from '#publish/channels/webhook.ts'

export interface Ways {
  /** @param owner null: everybody */
  to(owner: ReportOwner | null): MailChannel[]
  /** What keeps somebody from being told: it stands in the report. */
  mistakes: string[]
}

/** Whom the policy names, else whom the stack names; owners only by the policy, topic and webhook only by the stack. */
export function waysOf(
  { isMailed }: AuditRequest,
  settings: Settings,
  report: ReportPolicy,
  context: OnceOptions & { region: string },
): Ways {
  if (!isMailed) return { to: () => [], mistakes: [] }
  const from = report.sender ?? settings.sender
  const { unsubscribe, bouncesTo, webhookHosts: allowedHosts } = report
  const { topicArn, webhookUrl: url } = settings
  const byMail = (to: string[], owner?: string) =>
    from === null || to.length === 0 ? [] : [ses({ ...context, from, to, unsubscribe, bouncesTo, owner })]
  const isSenderMissing = from === null && (report.owners.length > 0 || report.recipients !== null)
  return {
    to: owner =>
      owner === null
        ? [
            ...byMail(report.recipients ?? settings.recipients),
            ...(topicArn === null ? [] : [sns({ ...context, topicArn })]),
            ...(url === null ? [] : [webhook({ ...context, url, allowedHosts })]),
          ]
        : byMail(owner.recipients, owner.name),
    mistakes: isSenderMissing
      ? [
          'the policy names recipients and there is no sender: set report.sender, or the stack’s parameter sender, to an address that SES has verified',
        ]
      : [],
  }
}
