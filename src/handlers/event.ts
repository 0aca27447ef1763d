/** What invokes the audit: the schedule, or a person. All mistakes of an event are named at once. */
import * as z from 'zod'
import { OperatorError } from '#model/operator-error.ts'
import type { AuditRequest } from '#model/run.ts'
import { everything } from '#model/selection.ts'

// A Kubernetes node name is a DNS subdomain, an EKS cluster name letters, digits, - and _; * stands for any characters.
const nodeName = z.string().check(z.regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'a node name, as kubectl get nodes shows it'))
const clusterName = z.string().check(z.regex(/^[0-9A-Za-z*][A-Za-z0-9_*-]{0,99}$/, 'an EKS cluster name; * stands for any characters'))
const nodegroupName = z
  .string()
  .check(z.regex(/^[0-9A-Za-z*][A-Za-z0-9_.*-]{0,252}$/, 'a nodegroup or nodepool name; * stands for any characters'))
const names = <Name extends z.core.$ZodType>(name: Name) => z._default(z.array(name).check(z.maxLength(1000)), [])

const scheduled = z.strictObject({
  source: z.literal('highwater.schedule'),
  scheduledTime: z.iso.datetime({ error: 'a time like 2026-11-21T05:00:00Z', offset: true }),
})
const onDemand = z.strictObject({
  clusters: names(clusterName),
  nodegroups: names(nodegroupName),
  nodes: names(nodeName),
  dryRun: z._default(z.boolean(), false),
  mail: z._default(z.boolean(), false),
})

const mostMistakes = 20

/** @throws OperatorError naming every mistake and what would be right */
export function parseAuditEvent(event: unknown): AuditRequest {
  const isScheduled = typeof event === 'object' && event !== null && 'source' in event
  if (isScheduled) {
    const parsed = scheduled.safeParse(event)
    if (!parsed.success) throw refusal(parsed.error.issues)
    const scheduledTime = new Date(parsed.data.scheduledTime).toISOString()
    return { scheduledTime, selection: everything, isDryRun: false, isMailed: true }
  }
  const parsed = onDemand.safeParse(event ?? {})
  if (!parsed.success) throw refusal(parsed.error.issues)
  const { clusters, nodegroups, nodes, dryRun, mail } = parsed.data
  if (dryRun && mail)
    throw refusal([{ code: 'custom', path: ['mail'], message: 'a dry run mails nobody: ask for one of the two', input: event }])
  return { scheduledTime: null, selection: { clusters, nodegroups, nodes }, isDryRun: dryRun, isMailed: mail }
}

function refusal(issues: z.core.$ZodIssue[]): OperatorError {
  const mistakes = issues
    .slice(0, mostMistakes)
    .map(({ path, message }) => `${path.length === 0 ? 'the event' : path.join('.')}: ${message}`)
  if (issues.length > mostMistakes) mistakes.push(`and ${issues.length - mostMistakes} more`)
  return new OperatorError(
    `This event is not one of highwater's. ${mistakes.join('; ')}. Send {"source":"highwater.schedule","scheduledTime":…} ` +
      'or {"clusters":[…],"nodegroups":[…],"nodes":[…],"dryRun":…,"mail":…}, as in events/',
  )
}
