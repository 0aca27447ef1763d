/** How plans are made and applied, and when nodes may be changed: `remediation`. */
import * as z from 'zod'
import { type DeletionKind, deletionKinds } from '#model/plan.ts'
import { defaults, remediationModes, weekdays } from './defaults.ts'
import { clusterName, percent, withDefaults } from './values.ts'

const deletion = z.strictObject({ olderThanHours: z.number().min(1).max(100_000) }).optional()
const clock = (pattern: RegExp) => z.string().regex(pattern, 'a time of day as HH:MM')
const changeWindow = z
  .strictObject({
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .default([...weekdays])
      .describe('on which it begins'),
    from: clock(/^([01]\d|2[0-3]):[0-5]\d$/),
    to: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/).describe('before `from`: on the next day'),
    timezone: z.string().refine(isTimeZone, 'a time zone as Europe/Berlin or UTC'),
  })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    message: 'a window ends later than it begins: 00:00 to 24:00 is the whole day',
  })

const when = {
  wavePercents: z
    .array(percent)
    .max(10)
    .refine(
      percents => percents.every((one, index) => one > (percents[index - 1] ?? 0)),
      'percentages that grow',
    )
    .describe(
      'how much of a cohort is changed after the second wave, the third, …; first goes one node of each, last the rest',
    ),
  deletions: z
    .strictObject(
      Object.fromEntries(deletionKinds.map(kind => [kind, deletion])) as Record<
        DeletionKind,
        typeof deletion
      >,
    )
    .describe(
      'objects that highwater plan --deletions may name, from this age on: leases of nodes that are gone, failed pods, Jobs that have finished and nothing else collects, volumes that are Released and Retain',
    ),
  windows: z
    .array(changeWindow)
    .max(50)
    .describe('when nodes may be changed; by default at any time'),
  alarms: z
    .array(z.string().min(1).max(255))
    .max(100)
    .describe(
      'CloudWatch alarms: while one of them is in ALARM, or cannot be read, no node is changed',
    ),
  requireEksStatus: z
    .boolean()
    .describe(
      'whether nothing is changed where EKS does not say whether it is changing the cluster or its nodegroups, as with a kubeconfig alone',
    ),
}

const limits = {
  maxUnreadyPercent: z
    .number()
    .min(0)
    .max(100)
    .describe(
      'while more of a cluster’s planned nodes than this are NotReady, none of them is changed',
    ),
  maxConcurrency: z
    .int()
    .min(1)
    .max(50)
    .describe('nodes of one cluster that are under way at once: sent to, and not yet verified'),
  maxErrors: z
    .int()
    .min(0)
    .max(1000)
    .describe('nodes of a run that may fail before it stops and takes the wave back'),
}

const times = {
  pauseMs: z.int().min(0).max(86_400_000).describe('between two waves'),
  timeoutSeconds: z
    .int()
    .min(60)
    .max(900)
    .describe('what a node gives itself for the way there and the way back together'),
  answerTimeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .describe(
      'how long to wait for the answer of a node; then the command is sent again, which changes nothing twice',
    ),
  verifyTimeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .describe('how long a node may take until what is read of it anew shows that it is well'),
  leaseTtlMs: z
    .int()
    .min(15_000)
    .max(3_600_000)
    .describe('who applies to a cluster and is not heard for longer has lost it to the next'),
}

const autoOf = (plannableFields: readonly string[]) =>
  z
    .strictObject({
      fields: z
        .array(z.enum(plannableFields))
        .min(1)
        .describe(
          'KubeletConfiguration fields; a plan that changes another one waits for a person',
        ),
      clusters: z.array(clusterName.min(1)).min(1),
      nodesPerDay: z
        .int()
        .min(1)
        .max(100_000)
        .describe(
          'how many nodes may be begun on one day (UTC) by the policy’s word; a plan of more goes on the next day',
        ),
      windows: z
        .array(changeWindow)
        .max(50)
        .default([])
        .describe('when plans are approved so; by default at any time'),
    })
    .nullable()
    .describe(
      'plans that are approved without a person; by default none. Never one that makes a kubelet evict at once',
    )

/** @param plannableFields  KubeletConfiguration fields that a plan may change */
export const remediationKeys = (plannableFields: readonly string[]) => ({
  remediation: z
    .strictObject(
      withDefaults(defaults.remediation, {
        ...when,
        ...limits,
        ...times,
        mode: z
          .enum(remediationModes)
          .describe(
            'plan: each audit of the service makes a plan of what it found, beside the report; nothing is changed by that',
          ),
        auto: autoOf(plannableFields),
      }),
    )
    .describe('how plans are made and applied, and when nodes may be changed'),
})

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false // a RangeError, for what is no zone
  }
}
