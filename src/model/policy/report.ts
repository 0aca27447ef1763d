/** Recipients, forms and languages of reports, and how long history is kept: `report`, `history`. */
import * as z from 'zod'
import { moreFormats } from '#model/format-id.ts'
import { languageIds } from '#model/language.ts'
import {
  address,
  attachments,
  clusterName,
  defaults,
  mostOwners,
  mostRecipients,
  withDefaults,
} from './defaults.ts'

const owner = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/,
      'up to 40 lower-case letters, digits and hyphens',
    )
    .describe('appears in the mail’s subject and in file names'),
  match: z
    .strictObject({
      cluster: clusterName.optional(),
      nodegroup: z.string().optional().describe('name of the nodegroup or nodepool, * as above'),
      tags: z
        .record(z.string(), z.string())
        .optional()
        .describe('EKS tags of the cluster or the nodegroup, * as above in their values'),
      labels: z
        .record(z.string(), z.string())
        .optional()
        .describe(
          'Kubernetes labels of an EKS nodegroup, of all nodes of a Karpenter nodepool, or of a node in neither; * as above in their values',
        ),
      namespace: z
        .string()
        .optional()
        .describe('findings on objects of this namespace, * as above; no findings on nodes'),
    })
    .describe('the owner’s part of the fleet: every given key must match'),
  fallback: z
    .boolean()
    .optional()
    .describe('true: the owner gets only findings that match and belong to no other owner'),
  recipients: z.array(address).min(1).max(mostRecipients),
  language: z
    .enum(languageIds)
    .nullable()
    .default(null)
    .describe('language of page and mail; default: language of the report'),
  onlyOnChange: z
    .boolean()
    .default(false)
    .describe('true: no mail if nothing in the owner’s part has changed since the run before'),
})

const report = z
  .strictObject(
    withDefaults(defaults.report, {
      sender: address.nullable(),
      recipients: z.array(address).min(1).max(mostRecipients).nullable(),
      onlyOnChange: z
        .boolean()
        .describe('true: recipients get no mail of a run without a change since the run before'),
      attach: z
        .enum(attachments)
        .describe(
          'report: a mail without a link has the page attached; none: no report leaves the bucket, so no node or pod names are in mailboxes',
        ),
      owners: z
        .array(owner)
        .max(mostOwners)
        .refine(
          owners => new Set(owners.map(({ name }) => name)).size === owners.length,
          'each owner has a name of its own',
        )
        .describe('owners who get a mail on their own part of the fleet only'),
      unsubscribe: z
        .strictObject({
          mailto: address.nullable().default(null),
          url: z
            .string()
            // Other characters of a URL would end the URL in the mail header.
            .regex(/^https:\/\/[\w.-]+(:\d+)?(\/[\w.~%+=&?/@:!$'*-]*)?$/, 'an https:// address')
            .max(400)
            .nullable()
            .default(null),
          oneClick: z
            .boolean()
            .default(false)
            .describe('url accepts a POST and asks no further question (RFC 8058)'),
        })
        .refine(({ url, oneClick }) => url !== null || !oneClick, {
          path: ['oneClick'],
          message: 'one click needs a url',
        })
        .describe(
          'address at which readers unsubscribe: in the header List-Unsubscribe and at the end of the mail',
        ),
      bouncesTo: address
        .nullable()
        .describe('verified identity that receives bounces; default: the sender'),
      formats: z
        .array(z.enum(moreFormats))
        .describe('formats that are written beside page and findings'),
      language: z.enum(languageIds).describe('language of page, mail and summary'),
      languages: z
        .record(address, z.enum(languageIds))
        .describe(
          'languages of single recipients, by address: each gets a separate mail, with a page in that language',
        ),
    }),
  )
  .describe(
    'recipients of the service’s mail, in place of the stack’s parameters, and further formats of the report',
  )

export const reportKeys = {
  report,
  history: z
    .strictObject(withDefaults(defaults.history, { retentionDays: z.int().min(1).max(3650) }))
    .describe(
      'days for which history of nodes and of ended findings is kept; a bucket’s lifecycle may delete it sooner',
    ),
}
