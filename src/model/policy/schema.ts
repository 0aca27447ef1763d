/** The shape of highwater.yaml, section by section: every key has a default. */
import * as z from 'zod'
import { severities } from '#model/finding.ts'
import { subjectKinds } from '#model/input/record.ts'
import { clusterName, defaults, withDefaults } from './defaults.ts'
import { expectationKeys } from './expectations.ts'
import { fleetKeys } from './fleet.ts'
import { remediationKeys } from './remediation.ts'
import { reportKeys } from './report.ts'

/** Names that a policy may use. Without this check, a misspelt name would have no effect and no error. */
export interface PolicyTerms {
  ruleIds: readonly string[]
  /** KubeletConfiguration fields that a plan may change. */
  plannableFields: readonly string[]
  /** Mistakes in the value of a KubeletConfiguration field, by their path within the value. */
  valueMistakes(field: string, value: unknown): Iterable<{ path: string[]; wanted: string }>
}

const day = z.iso.date('a day as YYYY-MM-DD')

export const policySchema = ({ ruleIds, plannableFields, valueMistakes }: PolicyTerms) =>
  z
    .strictObject(
      withDefaults(defaults, {
        ...fleetKeys,
        ...expectationKeys(valueMistakes),
        ...reportKeys,
        severities: z
          .partialRecord(z.enum(ruleIds), z.enum(severities))
          .describe('severity by rule id, in place of the rule’s own'),
        waivers: z.array(
          z.strictObject({
            rule: z.enum(ruleIds),
            match: z
              .strictObject({
                cluster: clusterName.optional(),
                kind: z.enum(subjectKinds).optional(),
                namespace: z.string().optional(),
                name: z.string().optional(),
              })
              .default({}),
            until: day.describe('last day of the waiver (UTC)'),
            reason: z.string().regex(/\S/, 'a reason in words'),
          }),
        ),
        ...paceKeys,
        ...remediationKeys(plannableFields),
      }),
    )
    .refine(
      ({ modes, kubelet: { roleArn: role, useOwnToken } }) =>
        role !== null || useOwnToken || modes.every(({ mode }) => mode !== 'kubelet'),
      {
        path: ['modes'],
        message:
          'mode kubelet shows every kubelet a token: say whose by kubelet.roleArn, or kubelet.useOwnToken: true',
      },
    )
    .meta({ title: 'highwater policy' })

/** The JSON Schema of highwater.yaml, for editors. */
export const policyJsonSchema = (terms: PolicyTerms) =>
  z.toJSONSchema(policySchema(terms), { io: 'input' })

/** Speed of reading, number of functions, and timeouts: `pace`, `fanOut`, `timeoutsMs`. */
const timeoutMs = z.int().min(100).max(600_000)

const paceKeys = {
  pace: z
    .strictObject(
      withDefaults(defaults.pace, {
        requestsPerSecond: z.number().min(0.1).max(10_000),
        concurrency: z.int().min(1).max(200),
        clusters: z.int().min(1).max(50),
        ssmRequestsPerSecond: z.number().min(0.1).max(100),
      }),
    )
    .describe(
      'upper bounds for one Kubernetes API server, and for SSM in one account and region; clusters: how many are read at once',
    ),
  fanOut: z
    .strictObject(
      withDefaults(defaults.fanOut, {
        aboveNodes: z.int().min(1).nullable(),
        acrossPlaces: z.boolean().describe('also if there are several accounts or regions'),
        nodesPerShard: z.int().min(10).max(1000),
        clustersAtOnce: z.int().min(1).max(500),
      }),
    )
    .describe(
      'when the service reads a fleet by many functions: above aboveNodes nodes (null: no limit), or above what one function can read by SSM',
    ),
  timeoutsMs: z
    .strictObject(
      withDefaults(defaults.timeoutsMs, {
        list: timeoutMs,
        configz: timeoutMs,
        summary: timeoutMs,
        inspect: timeoutMs,
      }),
    )
    .describe(
      'how long one answer may take; inspect: how long the inspect document may take on a node',
    ),
}
