/** Keys that define which clusters are enumerated and how they are read: `accounts` to `kubelet`. */
import * as z from 'zod'
import { readModes } from '#model/input/record.ts'
import { clusterName, regionPattern, roleArn } from './defaults.ts'

const contextKeys = ['name', 'region', 'account', 'arn']

export const fleetKeys = {
  accounts: z
    .array(
      z.strictObject({
        roleArn: roleArn.nullable().default(null),
        remediateRoleArn: roleArn
          .nullable()
          .optional()
          .describe('the role that changes nodes; default: roleArn'),
        // Source: STS API reference, AssumeRole ExternalId.
        externalId: z
          .string()
          .regex(/^[\w+=,.@:/-]{2,1224}$/, '2 to 1,224 characters of letters, digits and +=,.@:/-')
          .nullable()
          .default(null),
        regions: z
          .array(z.string().regex(regionPattern, 'an AWS region'))
          .min(1)
          .refine(regions => new Set(regions).size === regions.length, 'each region once')
          .nullable()
          .default(null),
      }),
    )
    .min(1)
    .superRefine((accounts, { addIssue }) => {
      const seen = new Map<string, number>()
      for (const [index, { roleArn: role, regions }] of accounts.entries())
        for (const region of new Set(regions ?? [null])) {
          const key = JSON.stringify([role, region])
          const first = seen.get(key)
          if (first === undefined) seen.set(key, index)
          else
            addIssue({
              code: 'custom',
              path: [index],
              message: `accounts.${first} is the same role in ${region ?? 'the caller’s own region'}: name it once`,
            })
        }
    })
    .describe('AWS accounts and regions to enumerate; default: those of the caller'),
  clusters: z.strictObject({
    names: z.array(clusterName).default([]).describe('only these clusters; empty means all'),
    tags: z
      .record(z.string(), z.string())
      .default({})
      .describe('only clusters with these EKS tags'),
  }),
  modes: z
    .array(
      z.strictObject({
        match: z.strictObject({ cluster: clusterName.optional() }).default({}),
        mode: z.enum(readModes),
      }),
    )
    .describe(
      'how clusters are read: proxy (through the API server), ssm (a fixed script on the node), both, or kubelet (its own port); the first match wins',
    ),
  contextNames: z
    .string()
    .regex(
      /^[\w{}.:/@-]{1,200}$/,
      'a kubectl context, with {name}, {region}, {account} or {arn} in it',
    )
    .refine(
      text => [...text.matchAll(/\{(\w*)\}/g)].every(([, key = '']) => contextKeys.includes(key)),
      `only {${contextKeys.join('}, {')}} can stand for something of the cluster`,
    )
    .describe(
      'kubectl context in the commands of a report; {name}, {region}, {account} and {arn} are replaced by those of the EKS cluster',
    ),
  inspectOutput: z
    .strictObject({
      // Source: SSM API reference, SendCommand OutputS3BucketName and OutputS3KeyPrefix.
      bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'an S3 bucket name'),
      prefix: z
        .string()
        .regex(/^([\w.!*'()-]+(\/[\w.!*'()-]+)*\/?)?$/, 'a key prefix without a leading slash')
        .max(400)
        .default(''),
    })
    .nullable()
    .describe(
      'S3 bucket into which nodes write their whole answer by their own role (modes ssm and both); default: SSM carries a shorter answer',
    ),
  kubelet: z
    .strictObject({
      roleArn: roleArn
        .nullable()
        .default(null)
        .describe(
          'the role whose token kubelets receive; it needs only get nodes/configz and get nodes/stats',
        ),
      useOwnToken: z
        .boolean()
        .default(false)
        .describe(
          'true: every kubelet receives the token of the run itself; the owner of a node could use it',
        ),
    })
    .refine(
      ({ roleArn: role, useOwnToken }) => role === null || !useOwnToken,
      'a role or the run’s own token, not both',
    )
    .describe('the identity that requests use in mode kubelet'),
}
