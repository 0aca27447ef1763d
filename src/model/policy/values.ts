/** Values that several sections of highwater.yaml take. */
import * as z from 'zod'
import { addressPattern } from './defaults.ts'

export const percent = z.number().min(1).max(100)
export const address = z.string().regex(addressPattern, 'an e-mail address')
/** Source: IAM user guide, IAM ARNs. */
export const roleArn = z
  .string()
  .regex(/^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'an IAM role ARN')

/** `matchesCluster` defines how the pattern matches. */
export const clusterName = z
  .string()
  .describe(
    'a cluster as the report names it; in a fleet of several places account/region/name, or the name alone; * matches any characters',
  )

/** Gives each key of a section its default. */
export const withDefaults = <Shape extends Record<string, z.ZodType>>(
  defaults: { [Key in keyof Shape]: z.core.util.NoUndefined<z.output<Shape[Key]>> },
  shape: Shape,
) =>
  Object.fromEntries(
    Object.entries(shape).map(([key, type]) => [key, type.default(defaults[key])]),
  ) as { [Key in keyof Shape]: z.ZodDefault<Shape[Key]> }
