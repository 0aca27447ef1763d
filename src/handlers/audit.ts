/** Runs the audit as a Lambda function, on a schedule or on demand. Returns the run's outcome; an incomplete run fails. */
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { everything } from '#model/input/record.ts'
import type { AuditRequest, RunAnswer } from '#model/run.ts'
import { runService } from '#pipeline/service/service.ts'
import { parseSettings } from '#settings.ts'
import { mistakesIn, selected } from './event-parts.ts'
import { type LambdaContext, runLogged } from './lambda.ts'

export const handler = (event: unknown, context: LambdaContext): Promise<RunAnswer> =>
  runLogged(context, 'run', async (log, runtime) => {
    const request = parseAuditEvent(event)
    // Observations publish no report, so they make no metrics.
    if (request.scheduledTime !== null && !request.isObservation) log.markScheduled()
    const answer = await runService(request, parseSettings(process.env), runtime)
    await log.writeRunEnd(answer)
    return answer
  })

/* Events of the function `audit`, from the schedule or from a person. */

const scheduled = z.strictObject({
  source: z.literal('highwater.schedule'),
  scheduledTime: z.iso.datetime({ error: 'a time like 2026-11-21T05:00:00Z', offset: true }),
  observe: z._default(z.boolean(), false),
})
const onDemand = z.strictObject({
  ...selected,
  dryRun: z._default(z.boolean(), false),
  mail: z._default(z.boolean(), false),
})

/** @throws OperatorError naming every mistake and what would be right */
export function parseAuditEvent(event: unknown): AuditRequest {
  const isScheduled = typeof event === 'object' && event !== null && 'source' in event
  if (isScheduled) {
    const parsed = scheduled.safeParse(event)
    if (!parsed.success) throw refusal(mistakesIn(parsed.error.issues))
    const scheduledTime = new Date(parsed.data.scheduledTime).toISOString()
    const isObservation = parsed.data.observe
    const isMailed = !isObservation
    return { scheduledTime, selection: everything, isDryRun: false, isMailed, isObservation }
  }
  const parsed = onDemand.safeParse(event ?? {})
  if (!parsed.success) throw refusal(mistakesIn(parsed.error.issues))
  const { clusters, nodegroups, nodes, dryRun, mail } = parsed.data
  if (dryRun && mail) throw refusal('mail: a dry run sends no mail: set one of the two')
  return {
    scheduledTime: null,
    selection: { clusters, nodegroups, nodes },
    isDryRun: dryRun,
    isMailed: mail,
    isObservation: false,
  }
}

const refusal = (mistakes: string) =>
  new OperatorError(
    `This event is not one of highwater's. ${mistakes}. Send {"source":"highwater.schedule","scheduledTime":…} ` +
      'or {"clusters":[…],"nodegroups":[…],"nodes":[…],"dryRun":…,"mail":…}, as in events/',
  )
