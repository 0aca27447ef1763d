/** A plan and an approval as files: written in one form only. Every part is checked when a file is read, because a step runs as root. */

import * as z from 'zod'
import { listOf } from '#base/list-of.ts'
import { OperatorError } from '#base/operator-error.ts'
import { parsedJson } from '#base/raw-object.ts'
import type { MacKey } from '#clients/store/store.ts'
import { isAllowedPath } from '#facts/eks/kubelet-places.ts'
import { digestIn } from '#model/input/image-reference.ts'
import { amiFamilies, readModes, subjectKinds } from '#model/input/record.ts'
import {
  type Approval,
  approvalSchema,
  isMoment,
  methodFacts,
  type OpenedApproval,
  type Plan,
  type PlanCohort,
  type PlanStep,
  planMethods,
  planSchema,
  stepKey,
} from '#model/plan.ts'
import { isImageChange, sourceIn } from '#remediate/remedies/pull-image.ts'
import { checkSeal, type SealKeys, sealedText, unsealedText } from '#remediate/seal.ts'
import { byPolicy, isPlainName } from './approve.ts'
import { canonicalJson, digestOf, sha256 } from './canonical.ts'
import { longestPruneMs, untrueSteps } from './step-truth.ts'

export const planText = (plan: Plan) => `${canonicalJson(withSharedSettings(plan), 1)}\n`
export const approvalText = (approval: Approval) => `${canonicalJson(approval, 1)}\n`

/**
 * The digest detects accidental changes only, because an attacker can compute it anew. So each step must match its
 * cohort.
 * @param from the file's name, for the messages
 * @throws OperatorError if the text is no plan, or was changed since it was made
 */
export function parsePlan(written: string, from: string): Plan {
  const plan = parseBegunPlan(written, from)
  const ids = new Set(plan.cohorts.map(({ id }) => id))
  if (ids.size !== plan.cohorts.length) throw unfitPlan(from, 'has two cohorts of one id')
  const untrue = untrueSteps(plan)
  if (untrue.length > 0)
    throw new OperatorError(
      `${from} would do something else than it says, on ${untrue.length} of its ${plan.steps.length} nodes: ${untrue[0]}. Do not approve it: make the plan anew`,
    )
  return plan
}

/** For a run that has begun: its rollback must stay possible for each step that a run wrote. @throws OperatorError likewise */
export function parseBegunPlan(written: string, from: string): Plan {
  const plan = withOwnSettings(parseForm(planForm, written, from, planSchema))
  const digest = digestOf(plan)
  if (plan.digest !== digest || plan.id !== digest.slice(0, 16))
    throw unfitPlan(
      from,
      `was changed after it was made: its digest would be ${digest}, and it says ${plan.digest}`,
    )
  const steps = plan.steps.map(stepKey)
  const waved = plan.waves.flat()
  if (
    new Set(steps).size !== steps.length ||
    canonicalJson(waved.toSorted()) !== canonicalJson(steps.toSorted())
  )
    throw unfitPlan(from, 'does not name every node of its steps once in its waves')
  if (written !== planText(plan))
    throw unfitPlan(
      from,
      'is not written as highwater writes a plan, so a reader may see another text than what would be done',
    )
  return plan
}

const unfitPlan = (from: string, why: string) =>
  new OperatorError(`${from} ${why}. Make the plan anew`)

/** @throws OperatorError */
export const parseApproval = (written: string, from: string): Approval =>
  parseForm(approvalForm, written, from, approvalSchema)

const sealName = ({ plan }: Approval) => `approval of plan ${plan}`

/**
 * The sealed text of an approval. It is valid wherever it lies, because it names its plan.
 * @param key of approvals; for an approval by policy, the key of runs, since the identity that changes nodes cannot approve as a person
 * @throws what the key throws
 */
export const sealedApproval = (approval: Approval, key: MacKey) =>
  sealedText(approvalText(approval), sealName(approval), key)

/** @throws Unsealed, or OperatorError if the text is no approval */
export async function openedApproval(
  written: string,
  from: string,
  keys: SealKeys,
): Promise<OpenedApproval> {
  const opened = unsealedText(written, from)
  const approval = parseApproval(opened.text, from)
  const key = approval.by === byPolicy ? keys.runs : keys.approvals
  await checkSeal(opened, sealName(approval), key, from)
  return { ...approval, sealed: written }
}

/** For an approval file of a user: approvals by policy are refused. @throws OperatorError */
export async function openedPersonsApproval(
  written: string,
  from: string,
  key: MacKey,
): Promise<OpenedApproval> {
  const approval = await openedApproval(written, from, { runs: key, approvals: key })
  if (approval.by.trim().toLowerCase() === byPolicy)
    throw new OperatorError(
      `${from} is an approval by the policy, and that counts only in the function remediate: approve the plan as a person, by highwater approve`,
    )
  return approval
}

function parseForm<Form>(form: z.ZodType<Form>, written: string, from: string, schema: string) {
  const json = parsedJson(written)
  if (json === undefined) throw new OperatorError(`${from} is no JSON`)
  const found = form.safeParse(json)
  if (found.success) return found.data
  const [first] = found.error.issues
  throw new OperatorError(
    `${from} is no ${schema}: ${first?.path.join('.') || 'it'}: ${first?.message}`,
  )
}

/**
 * How a plan's file stays small: fields of `others` that all steps of a cohort share are written once, at the cohort. Only the file has
 * this form. The digest covers the whole steps.
 */
type RunningSettings = Record<string, string>

/** The form of a plan in its file. */
interface WrittenPlan extends Omit<Plan, 'cohorts'> {
  cohorts: (PlanCohort & { others?: RunningSettings | undefined })[]
}

function withSharedSettings(plan: Plan): WrittenPlan {
  const steps = Map.groupBy(plan.steps, ({ cohort }) => cohort)
  const shared = new Map(plan.cohorts.map(({ id }) => [id, sharedSettings(steps.get(id) ?? [])]))
  return {
    ...plan,
    cohorts: plan.cohorts.map(cohort => {
      const others = shared.get(cohort.id) ?? {}
      return Object.keys(others).length === 0 ? cohort : { ...cohort, others }
    }),
    steps: plan.steps.map(step => withoutShared(step, shared.get(step.cohort) ?? {})),
  }
}

function withOwnSettings({ cohorts, ...plan }: WrittenPlan): Plan {
  const shared = new Map(cohorts.map(({ id, others }) => [id, others]))
  return {
    ...plan,
    cohorts: cohorts.map(({ others: _, ...cohort }) => cohort),
    steps: plan.steps.map(step =>
      step.others ? { ...step, others: { ...shared.get(step.cohort), ...step.others } } : step,
    ),
  }
}

/** Fields that each of these steps has, with the same digest. */
function sharedSettings(steps: readonly PlanStep[]): RunningSettings {
  const [first, ...rest] = steps.flatMap(({ others }) => (others ? [others] : []))
  return Object.fromEntries(
    Object.entries(first ?? {}).filter(([field, digest]) =>
      rest.every(others => Object.hasOwn(others, field) && others[field] === digest),
    ),
  )
}

function withoutShared(step: PlanStep, shared: RunningSettings) {
  if (!step.others) return step
  const own = Object.entries(step.others).filter(([field]) => !Object.hasOwn(shared, field))
  return { ...step, others: Object.fromEntries(own) }
}

/* The file forms of a plan and an approval, part by part. */

const text = z.string().max(100_000)
const name = z.string().min(1).max(253)
const hash = z.string().regex(/^[a-f0-9]{64}$/)
const time = z.string().refine(isMoment, 'a time as RFC 3339')
const count = z.int().min(0)
const digests = z.record(name, z.string().regex(/^[0-9a-f]{16}$/))
const counts = z.strictObject({
  evictFirst: count,
  imageGcDue: count,
  freedBytesAtMost: z.number().min(0),
  evictNow: count,
  unknown: count,
})
const sample = z.strictObject({ count, sample: listOf(text) })
const leftAlone = listOf(z.strictObject({ cluster: name, node: name, why: text }))
const state = z.strictObject({
  evictsBeforeImageGc: z.boolean().nullable(),
  imageGcDue: z.boolean().nullable(),
  freedBytesAtMost: z.number().nullable(),
  evictsNow: listOf(name).nullable(),
})

const group = z.strictObject({ kind: z.enum(subjectKinds), namespace: name.nullable(), name })

const cohort = z.strictObject({
  id: name,
  cluster: name,
  group,
  amiFamily: z.enum(amiFamilies),
  kubeletVersion: name,
  fields: z.record(name, z.unknown()),
  file: z.strictObject({ path: name, sha256: hash }).optional(),
  image: z.strictObject({ name, source: name }).optional(),
  findings: listOf(name),
  nodes: count,
  planned: count,
  effect: z.strictObject({
    before: counts,
    after: counts,
    pulls: listOf(
      z.strictObject({
        registry: text,
        images: count,
        limit: z.strictObject({ pulls: count, hours: count }).nullable(),
      }),
    ),
    text,
  }),
  durable: listOf(
    z.strictObject({
      target: z.enum([
        'nodeadm',
        'launch-template',
        'bottlerocket',
        'karpenter',
        'eksctl',
        'terraform',
        'kops',
        'auto-mode',
      ]),
      snippet: text,
    }),
  ),
  /** Settings that all steps of the cohort share; only in the file. */
  others: digests.optional(),
  blast: z.strictObject({
    pods: count,
    notReadyPods: count,
    singletons: sample,
    budgetsAtLimit: sample.nullable(),
    startupProbes: count,
    imagesForgotten: count,
    unreadNodes: count,
    text,
  }),
})

const settings = listOf(z.strictObject({ field: name, value: z.unknown() }))

const step = z
  .strictObject({
    cluster: name,
    node: name,
    instanceId: z.string().regex(/^m?i-[0-9a-f]{8,17}$/),
    cohort: name,
    method: z.enum(planMethods),
    path: name,
    oldSha256: z.union([hash, z.literal('absent')]),
    newSha256: hash,
    backSha256: hash.optional(),
    content: text,
    lastsUntil: z.enum(['reboot', 'replacement']),
    expect: settings,
    expectBack: settings,
    others: digests.optional(),
    othersOn: z.literal('disk').optional(),
    kubeletStartedAt: time.nullable(),
    before: state,
    after: state,
    until: z
      .strictObject({
        kind: z.literal('image-gc'),
        usedPercentAtMost: z.int().min(1).max(99),
        atMostMs: z.int().min(1).max(longestPruneMs),
        imagesAtMost: count,
        bytesAtMost: z.number().min(0),
      })
      .optional(),
  })
  .refine(
    ({ method, path }) => isAllowedPath(method, path),
    'not a path that a plan may write by this method',
  )
  .refine(
    ({ method, content, newSha256 }) =>
      !methodFacts[method].isFile || sha256(content) === newSha256,
    'the content does not have its newSha256',
  )
  .refine(
    ({ method, path, oldSha256, newSha256, content }) =>
      method !== 'pull-image' ||
      (isImageChange(path, oldSha256, newSha256) && sourceIn(content, path) !== null),
    'not an image that a plan may pull, and pin',
  )
  .refine(
    ({ method, path, oldSha256, content }) =>
      method !== 'pull-image' ||
      oldSha256 !== 'absent' ||
      digestIn(sourceIn(content, path) ?? '') !== null,
    'an image that is pulled without a digest',
  )

const planForm = z.strictObject({
  schema: z.literal(planSchema),
  id: name,
  digest: hash,
  createdAt: time,
  snapshot: z.strictObject({
    takenAt: time,
    account: text.nullable(),
    region: text.nullable(),
    modes: z.record(name, z.enum(readModes)).optional(),
  }),
  cohorts: listOf(cohort),
  steps: listOf(step),
  never: leftAlone,
  refused: leftAlone,
  later: leftAlone.optional(),
  unchanged: count,
  waves: listOf(z.array(text).min(1)),
})

const approvalForm = z.strictObject({
  schema: z.literal(approvalSchema),
  plan: hash,
  by: z.string().min(1).max(200).refine(isPlainName, 'a name in Latin letters'),
  identity: z.string().min(1).max(2100).refine(isPlainName, 'a name in Latin letters'),
  at: time,
  until: time,
  options: z.strictObject({ allowActAtOnce: z.boolean() }),
})
