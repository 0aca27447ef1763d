/** The shape of highwater.yaml, section by section: every key has a default. */
import * as z from 'zod'
import { severities } from '#model/finding.ts'
import { subjectKinds } from '#model/subject.ts'
import { defaults } from './defaults.ts'
import { expectationKeys } from './expectations.ts'
import { fleetKeys } from './fleet.ts'
import { paceKeys } from './pace.ts'
import { remediationKeys } from './remediation.ts'
import { reportKeys } from './report.ts'
import { clusterName, withDefaults } from './values.ts'

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
