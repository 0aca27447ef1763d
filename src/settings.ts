/** Environment → Settings of the service: stack parameters reach the function this way. All mistakes are named at once. */
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { addressPattern, mostRecipients } from '#model/policy/defaults.ts'
import type { Settings } from '#model/run.ts'

const address = z.string().check(z.regex(addressPattern, 'an e-mail address'))
/** Separated by commas. Empty entries are dropped. */
const list = (each: z.core.$ZodCheck<string>) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform(text => text.split(',').flatMap(entry => entry.trim() || [])),
    ),
    z.array(z.string().check(each)),
  )
/** Source: IAM user guide, IAM ARNs; with `*` as in a statement's Resource. */
const rolePattern = /^arn:[\w-]+:iam::[\d*]{1,12}:role\/[\w+=,.@/*-]{1,512}$/
const optional = <Type extends z.core.$ZodType>(type: Type) => z.optional(type)
const schema = z.strictObject({
  HIGHWATER_BUCKET: optional(
    z
      .string()
      .check(z.regex(/^(?=.{3,63}$)[a-z0-9]+([.-][a-z0-9]+|-+[a-z0-9]+)*$/, 'an S3 bucket name')),
  ),
  HIGHWATER_PREFIX: optional(
    z.string().check(z.regex(/^((?!\.{1,2}\/)[\w!.*'()-]+\/)*$/, 'a key prefix that ends in /')),
  ),
  HIGHWATER_KMS_KEY_ID: optional(z.string().check(z.regex(/^[\w:/-]+$/, 'a KMS key id or ARN'))),
  HIGHWATER_RUN_KEY_ID: optional(z.string().check(z.regex(/^[\w:/-]+$/, 'a KMS key id or ARN'))),
  HIGHWATER_APPROVAL_KEY_ID: optional(
    z.string().check(z.regex(/^[\w:/-]+$/, 'a KMS key id or ARN')),
  ),
  HIGHWATER_SENDER: optional(address),
  HIGHWATER_RECIPIENTS: optional(z.string()),
  HIGHWATER_REPORT_BASE_URL: optional(
    z
      .string()
      .check(
        z.regex(
          /^https:\/\/[\w.-]+(:\d+)?(\/[\w.~%+-]+)*\/*$/,
          'an https:// address without query or credentials',
        ),
      ),
  ),
  HIGHWATER_TOPIC_ARN: optional(
    z
      .string()
      .check(
        z.regex(
          /^arn:[\w-]+:sns:[a-z]{2}(-[a-z]+)+-\d:\d{12}:[\w-]{1,256}$/,
          'the ARN of an SNS topic (standard, not FIFO)',
        ),
      ),
  ),
  HIGHWATER_EVENT_BUS_ARN: optional(
    z
      .string()
      .check(
        z.regex(
          /^arn:[\w-]+:events:[a-z]{2}(-[a-z]+)+-\d:\d{12}:event-bus\/[\w./-]{1,256}$/,
          'the ARN of an EventBridge bus',
        ),
      ),
  ),
  HIGHWATER_WEBHOOK_URL: optional(
    z
      .string()
      .check(
        z.regex(
          /^https:\/\/[a-z0-9.-]+(:\d+)?\/[\w.~%+=&?/@:-]*$/,
          'an https:// address without credentials before its host',
        ),
      ),
  ),
  HIGHWATER_STATE_MACHINE_ARN: optional(
    z
      .string()
      .check(
        z.regex(
          /^arn:[\w-]+:states:[a-z]{2}(-[a-z]+)+-\d:\d{12}:stateMachine:[\w-]{1,80}$/,
          'the ARN of a state machine',
        ),
      ),
  ),
  /** Read where the log lines are written. */
  HIGHWATER_SERVICE: optional(z.string()),
  HIGHWATER_DEBUG: optional(z.string()),
  HIGHWATER_WEBHOOK_HOSTS: optional(
    list(z.regex(/^[a-z0-9*]([a-z0-9.*-]{0,251}[a-z0-9*])?$/, 'host names in lower case')),
  ),
  HIGHWATER_WEBHOOK_FORMAT: optional(z.enum(['slack', 'teams'])),
  HIGHWATER_SHOWS_OWN_TOKEN: optional(z.enum(['yes', 'no'])),
  HIGHWATER_REMEDIATION: optional(z.enum(['on', 'off'])),
  HIGHWATER_SHARES_RUN_KEY: optional(z.enum(['yes', 'no'])),
  HIGHWATER_MEMBER_ROLE_ARNS: optional(list(z.regex(rolePattern, 'ARNs of IAM roles'))),
  HIGHWATER_KUBELET_ROLE_ARNS: optional(list(z.regex(rolePattern, 'ARNs of IAM roles'))),
  HIGHWATER_POLICY_RECIPIENTS: optional(
    list(z.regex(/^([^\s@<>,;*]{1,64}@)?[a-zA-Z0-9.-]{1,253}$/, 'addresses and domains')),
  ),
  HIGHWATER_POLICY_SENDER: optional(z.string()),
  HIGHWATER_INSPECT_OUTPUT_BUCKET: optional(z.string()),
})

/** @param environment  an empty value counts as absent. @throws OperatorError */
export function parseSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => name.startsWith('HIGHWATER_') && value !== '',
    ),
  )
  const parsed = schema.safeParse(given)
  const recipients = [
    ...new Set((given.HIGHWATER_RECIPIENTS ?? '').split(',').flatMap(entry => entry.trim() || [])),
  ]
  const mistakes = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) =>
        path.length === 0 ? message : `${path.join('.')}: ${message}`,
      )
  for (const recipient of recipients)
    if (!addressPattern.test(recipient))
      mistakes.push(`HIGHWATER_RECIPIENTS: ${recipient} is no e-mail address`)
  if (recipients.length > mostRecipients)
    mistakes.push(
      `HIGHWATER_RECIPIENTS: ${recipients.length} addresses, SES takes ${mostRecipients} in one mail: use a distribution list`,
    )
  if (recipients.length > 0 && !given.HIGHWATER_SENDER)
    mistakes.push('HIGHWATER_SENDER: recipients without a sender')
  if (!parsed.success || mistakes.length > 0)
    throw new OperatorError(`The settings of the function are wrong: ${mistakes.join('; ')}`)
  const data = parsed.data
  return {
    bucket: data.HIGHWATER_BUCKET ?? null,
    prefix: data.HIGHWATER_PREFIX ?? '',
    kmsKeyId: data.HIGHWATER_KMS_KEY_ID ?? null,
    runKeyId: data.HIGHWATER_RUN_KEY_ID ?? null,
    approvalKeyId: data.HIGHWATER_APPROVAL_KEY_ID ?? null,
    sender: data.HIGHWATER_SENDER ?? null,
    recipients,
    topicArn: data.HIGHWATER_TOPIC_ARN ?? null,
    eventBusArn: data.HIGHWATER_EVENT_BUS_ARN ?? null,
    webhookUrl: data.HIGHWATER_WEBHOOK_URL ?? null,
    reportBaseUrl: data.HIGHWATER_REPORT_BASE_URL?.replace(/(?<!\/)\/+$/, '') ?? null,
    stateMachineArn: data.HIGHWATER_STATE_MACHINE_ARN ?? null,
    webhookHosts: data.HIGHWATER_WEBHOOK_HOSTS ?? ['hooks.slack.com'],
    webhookFormat: data.HIGHWATER_WEBHOOK_FORMAT ?? 'slack',
    policyGrants: {
      memberRoles: data.HIGHWATER_MEMBER_ROLE_ARNS ?? [],
      kubeletRoles: data.HIGHWATER_KUBELET_ROLE_ARNS ?? [],
      showsOwnToken: data.HIGHWATER_SHOWS_OWN_TOKEN === 'yes',
      plans: data.HIGHWATER_REMEDIATION === 'on',
      approvals: data.HIGHWATER_SHARES_RUN_KEY !== 'yes',
      mail: mailGrants(data, recipients),
      inspectOutputBucket: data.HIGHWATER_INSPECT_OUTPUT_BUCKET ?? null,
    },
  }
}

/** By default the domains of the stack's own addresses. @param recipients of the stack */
function mailGrants(
  {
    HIGHWATER_POLICY_RECIPIENTS: given,
    HIGHWATER_SENDER: sender,
    HIGHWATER_POLICY_SENDER: policySender,
  }: z.infer<typeof schema>,
  recipients: string[],
) {
  const own = [...recipients, sender, policySender].filter(address => address !== undefined)
  const domains = own.map(address => address.slice(address.lastIndexOf('@') + 1))
  const granted = given ? [...recipients, ...given] : domains
  return [...new Set(granted.map(entry => entry.toLowerCase()))]
}
