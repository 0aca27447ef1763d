/** Recipients, forms and languages of reports, and how long history is kept: `report`, `history`. */
import * as z from 'zod'
import { moreFormats } from '#model/format-id.ts'
import { languageIds } from '#model/language.ts'
import { attachments, defaults, mostOwners, mostRecipients } from './defaults.ts'
import { address, clusterName, withDefaults } from './values.ts'

const owner = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/,
      'up to 40 lower-case letters, digits and hyphens',
    )
    .describe('stands in the mail’s subject and in the names of its files'),
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
        .describe('Kubernetes labels of an EKS nodegroup, * as above in their values'),
      namespace: z
        .string()
        .optional()
        .describe('findings on objects of this namespace, * as above; of nodes none is theirs'),
    })
    .describe('what is theirs: all that is given has to match'),
  fallback: z
    .boolean()
    .optional()
    .describe('theirs is what matches and no other owner has: the list of what has no owner'),
  recipients: z.array(address).min(1).max(mostRecipients),
  language: z
    .enum(languageIds)
    .nullable()
    .default(null)
    .describe('of their page and mail; by default the report’s'),
  onlyOnChange: z
    .boolean()
    .default(false)
    .describe('no mail where nothing of theirs has changed since the run before'),
})

const report = z
  .strictObject(
    withDefaults(defaults.report, {
      sender: address.nullable(),
      recipients: z.array(address).min(1).max(mostRecipients).nullable(),
      onlyOnChange: z
        .boolean()
        .describe('only the owners get the report of a run without a change since the run before'),
      attach: z
        .enum(attachments)
        .describe(
          'report attaches the page to a mail that has no link to it; none keeps nodes and pods out of mailboxes',
        ),
      owners: z
        .array(owner)
        .max(mostOwners)
        .refine(
          owners => new Set(owners.map(({ name }) => name)).size === owners.length,
          'each owner has a name of its own',
        )
        .describe('who gets a mail on their own part of the fleet, and of nothing else'),
      unsubscribe: z
        .strictObject({
          mailto: address.nullable().default(null),
          url: z
            .string()
            // What else an address may hold would end the header's.
            .regex(/^https:\/\/[\w.-]+(:\d+)?(\/[\w.~%+=&?/@:!$'*-]*)?$/, 'an https:// address')
            .max(400)
            .nullable()
            .default(null),
          oneClick: z
            .boolean()
            .default(false)
            .describe('url takes a POST and asks nothing back (RFC 8058)'),
        })
        .refine(({ url, oneClick }) => url !== null || !oneClick, {
          path: ['oneClick'],
          message: 'one click needs a url',
        })
        .describe(
          'where a reader asks not to get the mail any more: stands in its header List-Unsubscribe and at its end',
        ),
      bouncesTo: address
        .nullable()
        .describe('who hears of mails that came back, a verified identity; by default the sender'),
      formats: z.array(z.enum(moreFormats)).describe('written beside page and findings'),
      language: z
        .enum(languageIds)
        .describe('of page, mail and summary: English, Korean, Japanese or Simplified Chinese'),
      languages: z
        .record(address, z.enum(languageIds))
        .describe(
          'of single recipients, by their address: they get a mail of their own, and a page that it leads to',
        ),
    }),
  )
  .describe(
    'who gets the service’s mail, instead of what the stack’s parameters say, and in which more forms the report is written',
  )

export const reportKeys = {
  report,
  history: z
    .strictObject(withDefaults(defaults.history, { retentionDays: z.int().min(1).max(3650) }))
    .describe(
      'how many days what is remembered of nodes and of findings that ended is kept; a bucket’s lifecycle may forget sooner',
    ),
}
