/** A plan and an approval as files: written in one way only, and read back with every part checked, since a step runs as root. */
import * as z from 'zod'
import { isPlace } from '#facts/eks/kubelet-places.ts'
import { subjectKinds } from '#model/finding.ts'
import { amiFamilies } from '#model/node-identity.ts'
import { OperatorError } from '#model/operator-error.ts'
import { type Approval, approvalSchema, type Plan, planMethods, planSchema } from '#model/plan.ts'
import { deletionKinds } from '#model/policy.ts'
import { isMoment } from '#model/what-if.ts'
import { isPlainName } from './approve.ts'
import { byPolicy } from './auto-approve.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import { deletables, mostDeletions } from './deletions.ts'
import { digestOf } from './plan.ts'
import { longestPruneMs } from './prune.ts'
import { isImageChange, sourceIn } from './remedies/pull-image.ts'
import { whyUntrue } from './step-truth.ts'

export const planText = (plan: Plan): string => `${canonicalJson(plan, 1)}\n`
export const approvalText = (approval: Approval): string => `${canonicalJson(approval, 1)}\n`

const text = z.string().max(100_000)
const name = z.string().min(1).max(253)
const hash = z.string().regex(/^[a-f0-9]{64}$/)
const time = z.string().refine(isMoment, 'a time as RFC 3339')
const count = z.int().min(0)
const counts = z.strictObject({
  evictFirst: count,
  imageGcDue: count,
  freedBytesAtMost: z.number().min(0),
  evictNow: count,
  unknown: count,
})
const sample = z.strictObject({ count, sample: z.array(text) })
const leftAlone = z.array(z.strictObject({ cluster: name, node: name, why: text }))
const state = z.strictObject({
  evictsBeforeImageGc: z.boolean().nullable(),
  imageGcDue: z.boolean().nullable(),
  freedBytesAtMost: z.number().nullable(),
  evictsNow: z.array(name).nullable(),
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
  findings: z.array(name),
  nodes: count,
  planned: count,
  effect: z.strictObject({
    before: counts,
    after: counts,
    pulls: z.array(z.strictObject({ registry: text, images: count, limit: z.strictObject({ pulls: count, hours: count }).nullable() })),
    text,
  }),
  durable: z.array(
    z.strictObject({
      target: z.enum(['nodeadm', 'launch-template', 'bottlerocket', 'karpenter', 'eksctl', 'terraform', 'auto-mode']),
      snippet: text,
    }),
  ),
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

const settings = z.array(z.strictObject({ field: name, value: z.unknown() }))

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
  .refine(({ method, path }) => isPlace(method, path), 'not a path that a plan may write by this method')
  .refine(
    ({ method, content, newSha256 }) => method === 'bottlerocket' || method === 'pull-image' || sha256(content) === newSha256,
    'the content does not have its newSha256',
  )
  .refine(
    ({ method, path, oldSha256, newSha256, content }) =>
      method !== 'pull-image' || (isImageChange(path, oldSha256, newSha256) && sourceIn(content, path) !== null),
    'not an image that a plan may pull, and pin',
  )

const deletion = z
  .strictObject({
    cluster: name,
    kind: z.enum(deletionKinds),
    resource: name,
    namespace: name.nullable(),
    name,
    uid: name,
    resourceVersion: name.nullable(),
    why: text,
    ageSeconds: count,
  })
  .refine(({ kind, resource }) => deletables[kind].resource === resource, 'not an object that a plan may delete')

const planForm = z.strictObject({
  schema: z.literal(planSchema),
  id: name,
  digest: hash,
  createdAt: time,
  snapshot: z.strictObject({ takenAt: time, account: text.nullable(), region: text.nullable() }),
  cohorts: z.array(cohort),
  steps: z.array(step),
  never: leftAlone,
  refused: leftAlone,
  later: leftAlone.optional(),
  manual: z
    .array(
      z.strictObject({
        cluster: name,
        group,
        amiFamily: z.enum(amiFamilies),
        findings: z.array(name),
        title: text,
        nodes: z.array(name),
        steps: z.array(text),
        durable: text,
      }),
    )
    .optional(),
  deletions: z.array(deletion).max(mostDeletions).optional(),
  notDeleted: z.array(z.strictObject({ cluster: name, resource: name, why: text })).optional(),
  unchanged: count,
  waves: z.array(z.array(text).min(1)),
})

const approvalForm = z.strictObject({
  schema: z.literal(approvalSchema),
  plan: hash,
  by: z.string().min(1).max(200).refine(isPlainName, 'a name without control characters'),
  at: time,
  until: time,
  options: z.strictObject({ allowActAtOnce: z.boolean() }),
})

/**
 * Its digest says that nobody has changed it by accident, and nothing more: who writes another one counts it anew. So each step has to be what its
 * cohort says.
 * @param from its name, for the messages
 * @throws OperatorError when it is no plan, or not as it was made
 */
export function parsePlan(written: string, from: string): Plan {
  const plan = parseBegunPlan(written, from)
  const cohorts = new Map(plan.cohorts.map(cohort => [cohort.id, cohort]))
  if (cohorts.size !== plan.cohorts.length) throw new OperatorError(`${from} has two cohorts of one id. Make the plan anew`)
  const untrue = plan.steps.flatMap(step => {
    const why = whyUntrue(step, cohorts.get(step.cohort))
    return why === null ? [] : [`${step.cluster}/${step.node}: ${why}`]
  })
  if (untrue.length > 0)
    throw new OperatorError(
      `${from} would do something else than it says, on ${untrue.length} of its ${plan.steps.length} nodes: ${untrue[0]}. Nobody should approve it: make the plan anew`,
    )
  return plan
}

/** Of a run that was begun: whatever it has written, it has to be possible to take it back. @throws OperatorError likewise */
export function parseBegunPlan(written: string, from: string): Plan {
  const plan = parsed(planForm, written, from, planSchema)
  const digest = digestOf(plan)
  if (plan.digest !== digest || plan.id !== digest.slice(0, 16))
    throw new OperatorError(
      `${from} was changed after it was made: its digest would be ${digest}, and it says ${plan.digest}. Make the plan anew`,
    )
  const steps = plan.steps.map(({ cluster, node }) => `${cluster}/${node}`)
  const waved = plan.waves.flat()
  if (new Set(steps).size !== steps.length || canonicalJson(waved.toSorted()) !== canonicalJson(steps.toSorted()))
    throw new OperatorError(`${from} does not name every node of its steps once in its waves. Make the plan anew`)
  if (plan.deletions !== undefined && steps.length > 0)
    throw new OperatorError(`${from} changes nodes and deletes objects, and a plan does one of them. Make the plan anew`)
  return plan
}

/** @throws OperatorError */
export const parseApproval = (written: string, from: string): Approval => parsed(approvalForm, written, from, approvalSchema)

/** Of a file that somebody gives: the policy's word counts only where the policy is asked. @throws OperatorError */
export function parsePersonsApproval(written: string, from: string): Approval {
  const approval = parseApproval(written, from)
  if (approval.by.trim().toLowerCase() === byPolicy)
    throw new OperatorError(
      `${from} is an approval by the policy, and that counts only in the function remediate: approve the plan as a person, by highwater approve`,
    )
  return approval
}

function parsed<Form>(form: z.ZodType<Form>, written: string, from: string, schema: string): Form {
  const found = form.safeParse(json(written, from))
  if (found.success) return found.data
  const [first] = found.error.issues
  throw new OperatorError(`${from} is no ${schema}: ${first?.path.join('.') || 'it'}: ${first?.message}`)
}

function json(written: string, from: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    throw new OperatorError(`${from} is no JSON`)
  }
}
