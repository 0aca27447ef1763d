/**
 * The contract `highwater.findings/1` as a JSON Schema, for programs that read `findings.json`. The
 * compiler checks it against the document's type.
 */
import * as z from 'zod'
import {
  type DurableFix,
  evidenceKinds,
  type FindingsDocument,
  families,
  notAuditedCauses,
  severities,
} from '#model/finding.ts'
import { readModes, sources } from '#model/read-mode.ts'
import { subjectKinds } from '#model/subject.ts'

const count = z.int().min(0)
const sample = z.strictObject({
  count,
  sample: z.array(z.string()).describe('sorted; the first 20, or every one with --all-nodes'),
})
const subject = z.strictObject({
  kind: z.enum(subjectKinds),
  namespace: z.string().nullable(),
  name: z.string(),
})
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)

const durableTargets = [
  'nodeadm',
  'launch-template',
  'bottlerocket',
  'karpenter',
  'eksctl',
  'terraform',
  'auto-mode',
] as const satisfies DurableFix['target'][]

const finding = z.strictObject({
  id: z.string().describe('stable hash of rule, cluster and subject'),
  rule: z.string(),
  family: z.enum(families),
  severity: z.enum(severities),
  confidence: z.enum(['certain', 'likely', 'possible']),
  cluster: z.string(),
  subject,
  nodes: sample,
  places: z
    .int()
    .min(1)
    .optional()
    .describe('a finding on a cluster that stands for this many namespaces or other subjects'),
  title: z.string(),
  consequence: z.string(),
  evidence: z.array(
    z.strictObject({
      kind: z.enum(evidenceKinds).describe('where it comes from'),
      what: z.string(),
      value: z.string(),
    }),
  ),
  fix: z.strictObject({
    config: z.record(z.string(), z.unknown()).describe('KubeletConfiguration fields to set'),
    durable: z.array(z.strictObject({ target: z.enum(durableTargets), snippet: z.string() })),
    commands: z.array(z.string()),
  }),
  since: day.nullable().describe('the first run that saw it; null without history'),
  waived: z.strictObject({ until: day, reason: z.string() }).nullable(),
  docs: z.strictObject({
    title: z.string(),
    why: z.string(),
    fix: z.string(),
    sources: z.array(z.string()),
  }),
})

const coverage = z
  .strictObject({
    nodes: count,
    read: count,
    partlyRead: count,
    notRead: count,
    clusterGc: z
      .strictObject({ lists: count, read: count })
      .optional()
      .describe(
        'lists that were to be looked through for garbage, and how many were read to their end; absent: none was asked for',
      ),
  })
  .describe(
    'read: every source that the mode promises; partlyRead: the Node object and one more; notRead: less',
  )

const reading = z
  .strictObject({
    mode: z.enum(readModes),
    sources: z.array(z.enum(sources)).describe('what is asked of each node'),
    rights: z.array(z.string()).describe('what that needs, of Kubernetes and of AWS'),
    nodes: z.strictObject({
      count,
      names: z
        .array(z.string())
        .nullable()
        .describe('null: every node of the cluster that no other reading names'),
    }),
  })
  .describe('one way in which nodes of the cluster were read')

const findingsSchema: z.ZodType<FindingsDocument> = z
  .strictObject({
    schema: z.literal('highwater.findings/1'),
    run: z.strictObject({
      version: z.string(),
      source: z.enum(['live', 'snapshot']),
      takenAt: z.string(),
      account: z.string().nullable(),
      region: z.string().nullable(),
      rules: z.array(z.string()).describe('rules that ran'),
      inputErrors: z.array(z.string()).describe('what of the input itself was broken'),
      lostLines: count.optional().describe('snapshot lines that are no records'),
    }),
    clusters: z.array(
      z.strictObject({
        name: z.string(),
        grade: z.enum(['A', 'B', 'C', 'D', 'F']).nullable().describe('null where nothing was read'),
        coverage,
        outcomes: z.strictObject({
          pass: count,
          fail: count,
          unknown: count,
          notApplicable: count,
          error: count,
        }),
        readings: z.array(reading).optional(),
      }),
    ),
    findings: z.array(finding),
    waived: z.array(finding),
    unknowns: z
      .array(
        z.strictObject({
          rule: z.string(),
          cluster: z.string(),
          subject,
          nodes: sample,
          reason: z.string(),
        }),
      )
      .describe('what a rule could not decide, and why'),
    notAudited: z.array(
      z.strictObject({
        cluster: z.string(),
        node: z.string().nullable().describe('null: the whole cluster'),
        cause: z.enum(notAuditedCauses),
        reason: z.string(),
      }),
    ),
    idleWaivers: z
      .array(
        z.strictObject({
          rule: z.string(),
          match: z.strictObject({
            cluster: z.string().optional(),
            kind: z.string().optional(),
            namespace: z.string().optional(),
            name: z.string().optional(),
          }),
          until: z.string().describe('its last day, YYYY-MM-DD'),
        }),
      )
      .optional()
      .describe('waivers of the policy that cover nothing that was found'),
    delta: z
      .strictObject({
        new: z.array(z.string()),
        resolved: z
          .array(z.string())
          .describe('fixed, or its nodes were replaced by others without it'),
        worse: z.array(z.string()).optional(),
        regressed: z.array(z.string()).optional().describe('new, and resolved before'),
      })
      .describe('ids of findings, against the run before; empty without history'),
  })
  .meta({ title: 'highwater.findings/1' })

/** @param more whether unnamed fields are allowed: the contract may grow, so readers allow them */
export const findingsJsonSchema = (more: 'allowed' | 'refused') =>
  z.toJSONSchema(findingsSchema, {
    override({ jsonSchema }) {
      if (more === 'allowed' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties
    },
  })
