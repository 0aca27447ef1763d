/** Reads what a document that changes a node has printed: the whole answer or nothing, and never the answer of another node. */
import * as z from 'zod'
import { parsedJson } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import { oneLine } from '#clients/failure.ts'
import { applySchema } from '#facts/aws/apply-documents.ts'
import type { ApplyAnswer, PlanStep } from '#model/plan.ts'

export type ApplyAction = ApplyAnswer['action']

/** `isRefused`: refused at the start, so this command changed nothing; another command of the run might have. */
export type ReadAnswer =
  | { isKnown: true; answer: ApplyAnswer }
  | { isKnown: false; why: string; isRefused: boolean }

const text = z.string().max(700)
const hash = z.union([z.string().regex(/^[a-f0-9]{64}$/), z.literal('absent')])
/** Untrusted text from a node. */
const said = text.overwrite(redact)
/** An `ApplyAnswer`, in the form that a journal keeps. */
export const answerForm = z.strictObject({
  run: text,
  action: z.enum(['check', 'apply', 'rollback']),
  instanceId: text,
  outcome: z.enum(['ready', 'applied', 'unchanged', 'restored', 'refused', 'failed', 'broken']),
  reason: said.nullable(),
  oldSha256: hash.nullable(),
  newSha256: hash.nullable(),
  presentSha256: hash.nullable(),
  kubelet: z
    .strictObject({
      active: z.boolean().nullable(),
      startedAtBefore: text.nullable(),
      startedAtAfter: text.nullable(),
      healthz: said.nullable(),
    })
    .nullable(),
  steps: z.array(said).max(200),
})
const printedForm = answerForm.extend({
  schema: z.literal(applySchema),
  run: answerForm.shape.run.nullable(),
  action: answerForm.shape.action.nullable(),
})

const always = ['unchanged', 'refused', 'failed', 'broken'] as const
const outcomes: Readonly<Record<ApplyAction, readonly ApplyAnswer['outcome'][]>> = {
  check: ['ready', ...always],
  apply: ['applied', 'restored', ...always],
  rollback: ['restored', ...always],
}

/** @param run the plan's id @param stdout as SSM keeps it: only the first part */
export function readApplyAnswer(
  stdout: string,
  step: PlanStep,
  run: string,
  action: ApplyAction,
): ReadAnswer {
  const found = printedForm.safeParse(parsedJson(stdout))
  if (!found.success)
    return unknownAnswer(
      stdout.trim() === ''
        ? 'the node has printed nothing'
        : 'what the node has printed is no whole answer',
    )
  const { schema: _schema, run: saidRun, action: saidAction, ...rest } = found.data
  if (rest.instanceId !== step.instanceId)
    return unknownAnswer(`the answer is of another node, ${oneLine(rest.instanceId, 60)}`)
  // A script that fails early names neither its run nor its action.
  if (saidRun === null || saidAction === null)
    return unknownAnswer(
      `the node says: ${rest.reason ?? rest.outcome}`,
      rest.outcome === 'refused',
    )
  if (saidRun !== run || saidAction !== action)
    return unknownAnswer(
      `the answer is of another command, ${saidAction} of run ${oneLine(saidRun, 64)}`,
    )
  if (rest.oldSha256 !== step.oldSha256 || rest.newSha256 !== step.newSha256)
    return unknownAnswer('the answer is about another file')
  if (!outcomes[action].includes(rest.outcome))
    return unknownAnswer(`the node says ${rest.outcome} to ${action}`)
  const isThere = action === 'apply' && ['applied', 'unchanged'].includes(rest.outcome)
  if (
    (isThere && rest.presentSha256 !== step.newSha256) ||
    (rest.outcome === 'restored' &&
      ![step.oldSha256, step.backSha256].includes(rest.presentSha256 ?? ''))
  )
    return unknownAnswer(`the node says ${rest.outcome}, and what is there now is something else`)
  return { isKnown: true, answer: { run, action, ...rest } }
}

const unknownAnswer = (why: string, isRefused = false): ReadAnswer => ({
  isKnown: false,
  why,
  isRefused,
})
