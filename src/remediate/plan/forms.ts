/** The file forms of a plan and an approval, part by part. */
import * as z from 'zod'
import { listOf } from '#base/text/list-of.ts'
import { isPlace } from '#facts/eks/kubelet-places.ts'
import { subjectKinds } from '#model/finding/subject.ts'
import { digestIn } from '#model/input/image-reference.ts'
import { amiFamilies } from '#model/input/node-identity.ts'
import { readModes } from '#model/input/read-mode.ts'
import { approvalSchema, planMethods, planSchema } from '#model/plan/plan.ts'
import { isMoment } from '#model/plan/what-if.ts'
import { isImageChange, sourceIn } from '#remediate/remedies/pull-image.ts'
import { isPlainName } from './approve.ts'
import { sha256 } from './canonical.ts'
import { longestPruneMs } from './step-truth.ts'

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
    ({ method, path }) => isPlace(method, path),
    'not a path that a plan may write by this method',
  )
  .refine(
    ({ method, content, newSha256 }) =>
      method === 'bottlerocket' || method === 'pull-image' || sha256(content) === newSha256,
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

export const planForm = z.strictObject({
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
  manual: z
    .array(
      z.strictObject({
        cluster: name,
        group,
        amiFamily: z.enum(amiFamilies),
        findings: listOf(name),
        title: text,
        nodes: listOf(name),
        steps: listOf(text),
        durable: text,
      }),
    )
    .optional(),
  unchanged: count,
  waves: listOf(z.array(text).min(1)),
})

export const approvalForm = z.strictObject({
  schema: z.literal(approvalSchema),
  plan: hash,
  by: z.string().min(1).max(200).refine(isPlainName, 'a name of visible characters, of one script'),
  identity: z
    .string()
    .min(1)
    .max(2100)
    .refine(isPlainName, 'a name of visible characters, of one script'),
  at: time,
  until: time,
  options: z.strictObject({ allowActAtOnce: z.boolean() }),
})
