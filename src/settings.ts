/** Environment → Settings of the service: stack parameters reach the function this way. All mistakes are named at once. */
import * as z from 'zod/mini'
import { OperatorError } from '#model/operator-error.ts'

export interface Settings {
  /** Where reports are kept; null: nowhere, then there must be recipients. */
  bucket: string | null
  /** Keys begin with it. */
  prefix: string
  /** KMS key for what is written; null: S3's own encryption. */
  kmsKeyId: string | null
  sender: string | null
  recipients: string[]
  /** A site that serves the bucket to readers, e.g. https://reports.example.com; null: the report is attached. */
  reportBaseUrl: string | null
}

const address = z.string().check(z.regex(/^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,255}$/, 'an e-mail address'))
const optional = <Type extends z.core.$ZodType>(type: Type) => z.optional(type)
const schema = z.object({
  HIGHWATER_BUCKET: optional(z.string().check(z.regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'an S3 bucket name'))),
  HIGHWATER_PREFIX: optional(z.string().check(z.regex(/^((?!\.{1,2}\/)[\w!.*'()-]+\/)*$/, 'a key prefix that ends in /'))),
  HIGHWATER_KMS_KEY_ID: optional(z.string().check(z.regex(/^[\w:/-]+$/, 'a KMS key id or ARN'))),
  HIGHWATER_SENDER: optional(address),
  HIGHWATER_RECIPIENTS: optional(z.string()),
  HIGHWATER_REPORT_BASE_URL: optional(z.url({ protocol: /^https$/, error: 'an https:// address' })),
})

/** @param environment  an empty value counts as absent. @throws OperatorError */
export function parseSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([name, value]) => name.startsWith('HIGHWATER_') && value !== ''))
  const parsed = schema.safeParse(given)
  const recipients = (given.HIGHWATER_RECIPIENTS ?? '').split(',').flatMap(entry => entry.trim() || [])
  const mistakes = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  for (const recipient of recipients)
    if (!address.safeParse(recipient).success) mistakes.push(`HIGHWATER_RECIPIENTS: ${recipient} is no e-mail address`)
  // Source: SES API reference, Destination: 50 recipients in all.
  if (recipients.length > 50)
    mistakes.push(`HIGHWATER_RECIPIENTS: ${recipients.length} addresses, SES takes 50 in one mail: use a distribution list`)
  if (recipients.length > 0 && !given.HIGHWATER_SENDER) mistakes.push('HIGHWATER_SENDER: recipients without a sender')
  if (recipients.length === 0 && given.HIGHWATER_SENDER) mistakes.push('HIGHWATER_RECIPIENTS: a sender without recipients')
  if (recipients.length === 0 && !given.HIGHWATER_BUCKET)
    mistakes.push('HIGHWATER_BUCKET or HIGHWATER_RECIPIENTS: a report would reach nobody')
  if (!parsed.success || mistakes.length > 0) throw new OperatorError(`The settings of the function are wrong: ${mistakes.join('; ')}`)
  const data = parsed.data
  return {
    bucket: data.HIGHWATER_BUCKET ?? null,
    prefix: data.HIGHWATER_PREFIX ?? '',
    kmsKeyId: data.HIGHWATER_KMS_KEY_ID ?? null,
    sender: data.HIGHWATER_SENDER ?? null,
    recipients,
    reportBaseUrl: data.HIGHWATER_REPORT_BASE_URL?.replace(/\/$/, '') ?? null,
  }
}
