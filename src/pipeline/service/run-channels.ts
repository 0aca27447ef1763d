/** The channels of a run of the service: mails to all recipients and to owners, a topic, a bus, a webhook. */
import { type LanguageId, languageIds } from '#model/language.ts'
import type { ReportOwner, ReportPolicy } from '#model/policy.ts'
import type { AuditRequest, Settings } from '#model/run.ts'
import type { Readers } from '#pipeline/audit/publication.ts'
import { eventBridge } from '#publish/channels/event-bridge.ts'
import type { OnceOptions } from '#publish/channels/message-once.ts'
import { ses } from '#publish/channels/ses.ts'
import { sns } from '#publish/channels/sns.ts'
import { webhook } from '#publish/channels/webhook.ts'
import type { MailChannel } from '#publish/publish.ts'

export interface RunChannels {
  /** Returns the audience's own language first, even without recipients. @param owner null: the general audience */
  readersOf(owner: ReportOwner | null): Readers[]
  /** Why a recipient cannot be reached. The report contains it. */
  mistakes: string[]
}

/** Recipients of the policy, else of the stack. Owners come only from the policy, topic, bus and webhook only from the stack. */
export function runChannels(
  { isMailed }: AuditRequest,
  settings: Settings,
  report: ReportPolicy,
  context: OnceOptions & { region: string },
): RunChannels {
  if (!isMailed) return { readersOf: owner => fileReaders(report, owner), mistakes: [] }
  const from = report.sender ?? settings.sender
  const { unsubscribe, bouncesTo } = report
  const {
    topicArn,
    eventBusArn: busArn,
    webhookUrl: url,
    webhookHosts: allowedHosts,
    webhookFormat: format,
  } = settings
  const mailChannels = (to: string[], owner?: string, language?: LanguageId) =>
    from === null || to.length === 0
      ? []
      : [ses({ ...context, from, to, unsubscribe, bouncesTo, owner, language })]
  const readers = (
    owner: ReportOwner | null,
    recipients: string[],
    others: MailChannel[],
  ): Readers[] => {
    const own = ownLanguage(report, owner)
    const recipientsIn = (language: LanguageId) =>
      recipients.filter(address => (report.languages[address] ?? own) === language)
    return [
      { language: own, channels: [...mailChannels(recipientsIn(own), owner?.name), ...others] },
      ...languageIds
        .filter(language => language !== own && recipientsIn(language).length > 0)
        .map(language => ({
          language,
          channels: mailChannels(recipientsIn(language), owner?.name, language),
        })),
    ]
  }
  const isSenderMissing = from === null && (report.owners.length > 0 || report.recipients !== null)
  return {
    readersOf: owner =>
      owner
        ? readers(owner, owner.recipients, [])
        : readers(owner, report.recipients ?? settings.recipients, [
            ...(topicArn === null ? [] : [sns({ ...context, topicArn })]),
            ...(busArn === null ? [] : [eventBridge({ ...context, busArn })]),
            ...(url === null ? [] : [webhook({ ...context, url, allowedHosts, format })]),
          ]),
    mistakes: isSenderMissing
      ? [
          'the policy names recipients and there is no sender: set report.sender and with it the stack’s parameter policySender, or only the parameter sender, to an address that SES has verified',
        ]
      : [],
  }
}

const ownLanguage = (report: ReportPolicy, owner: ReportOwner | null) =>
  owner?.language ?? report.language

/** Sends nothing: mails are only kept as files. */
export const fileReaders = (report: ReportPolicy, owner: ReportOwner | null): Readers[] => [
  { language: ownLanguage(report, owner), channels: [] },
]
