/** Remediation as a Lambda function, deployed only if the stack turns it on. Returns the result and the next step. */
import * as z from 'zod'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import type { RemediationAnswer, RemediationRequest } from '#model/plan.ts'
import { runRemediation } from '#pipeline/remediation/run/service.ts'
import { parseChange } from '#replay/configuration/configuration-change.ts'
import { parseSettings } from '#settings.ts'
import { mistakesIn, names, selected, textMatching } from './event-parts.ts'
import { type LambdaContext, runLogged } from './lambda.ts'

/** Maximum number of unsealed objects named in the function's error; the log names all. */
const mostUnsealed = 10

export async function handler(event: unknown, context: LambdaContext): Promise<RemediationAnswer> {
  const answer = await runLogged(context, 'run', async (log, runtime) => {
    const request = parseRemediationEvent(event)
    const found = await runRemediation(request, parseSettings(process.env), runtime)
    await log.writeRemediation(found)
    return found
  })
  // The error text reaches people through the alarm on failed invocations.
  if ('unsealed' in answer && answer.unsealed.length > 0)
    throw new OperatorError(answer.unsealed.slice(0, mostUnsealed).join(' '), { isBadInput: false })
  return answer
}

/* Events of the function `remediate`, from a person or from the schedule that resumes runs. */

const ruleId = textMatching(/^[a-z][a-z0-9-]{0,99}$/, 'the id of a rule')
const findingId = textMatching(/^[a-f0-9]{16}$/, 'the id of a finding, 16 hexadecimal digits')
const change = z.string().check(z.minLength(3), z.maxLength(500))

const digest = textMatching(/^[a-f0-9]{64}$/, "a plan's digest, all 64 characters")
const run = textMatching(
  /^[a-f0-9]{16}$/,
  "a run's id, the first 16 characters of its plan's digest",
)

const forms = z.discriminatedUnion(
  'action',
  [
    z.strictObject({
      action: z.literal('plan'),
      ...selected,
      rules: names(ruleId),
      findings: names(findingId),
      set: names(change),
      allowActAtOnce: z._default(z.boolean(), false),
      source: z._default(z.enum(['live', 'latest']), 'live'),
    }),
    z.strictObject({
      action: z.literal('apply'),
      plan: digest,
      skipChanged: z._default(z.boolean(), false),
    }),
    z.strictObject({ action: z.literal('resume'), run: z._default(z.nullable(run), null) }),
    z.strictObject({
      action: z.literal('rollback'),
      run,
      despiteErrors: z._default(z.boolean(), false),
    }),
  ],
  { error: 'action is one of plan, apply, resume, rollback' },
)

/** @throws OperatorError naming every mistake and what would be right */
export function parseRemediationEvent(event: unknown): RemediationRequest {
  const parsed = forms.safeParse(event ?? {})
  if (!parsed.success) throw refusal(mistakesIn(parsed.error.issues))
  if (parsed.data.action !== 'plan') return parsed.data
  const { clusters, nodegroups, nodes, set, ...request } = parsed.data
  return { ...request, selection: { clusters, nodegroups, nodes }, changes: changesOf(set) }
}

function changesOf(set: readonly string[]) {
  const mistakes: string[] = []
  const changes = set.flatMap((text, index) => {
    try {
      return [parseChange(text)]
    } catch (error) {
      mistakes.push(`set.${index}: ${messageOf(error)}`)
      return []
    }
  })
  if (mistakes.length > 0) throw refusal(mistakes.join('; '))
  return changes
}

const refusal = (mistakes: string) =>
  new OperatorError(
    `This event is not one of remediation's. ${mistakes}. Send {"action":"plan","clusters":[…],"nodegroups":[…],"nodes":[…],"rules":[…],"findings":[…],"set":["FIELD=VALUE"]}, ` +
      '{"action":"apply","plan":DIGEST}, {"action":"resume"} or {"action":"rollback","run":RUN}, as in events/plan.json and events/apply.json',
  )
