/** How plans are made and applied, and when nodes may be changed: `remediation`. */
import * as z from 'zod'
import {
  clusterName,
  defaults,
  percent,
  remediationModes,
  weekdays,
  withDefaults,
} from './defaults.ts'

const clock = (pattern: RegExp) => z.string().regex(pattern, 'a time of day as HH:MM')
const changeWindow = z
  .strictObject({
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .default([...weekdays])
      .describe('days on which the window begins'),
    from: clock(/^([01]\d|2[0-3]):[0-5]\d$/),
    to: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/).describe(
      'a time before `from` is on the next day',
    ),
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
      'percent of a cohort that is changed after the second wave, the third, …; the first wave is one node of each cohort, the last wave the rest',
    ),
  windows: z
    .array(changeWindow)
    .max(50)
    .describe('when nodes may be changed; default: at any time'),
  alarms: z
    .array(z.string().min(1).max(255))
    .max(100)
    .describe(
      'CloudWatch alarms: no node is changed while one of them is in ALARM or cannot be read',
    ),
  requireEksStatus: z
    .boolean()
    .describe(
      'true: nothing is changed if EKS does not report the status of the cluster and its nodegroups, as with a kubeconfig alone',
    ),
}

const limits = {
  maxUnreadyPercent: z
    .number()
    .min(0)
    .max(100)
    .describe(
      'if more of a cluster’s planned nodes than this are NotReady, none of them is changed',
    ),
  maxConcurrency: z
    .int()
    .min(1)
    .max(50)
    .describe(
      'nodes of one cluster that are changed at once: a command was sent, and the node is not yet verified',
    ),
  maxErrors: z
    .int()
    .min(0)
    .max(1000)
    .describe('nodes of a run that may fail before the run stops and rolls back the wave'),
}

const times = {
  pauseMs: z.int().min(0).max(86_400_000).describe('pause between two waves'),
  timeoutSeconds: z
    .int()
    .min(60)
    .max(900)
    .describe('time limit on the node for change and rollback together'),
  answerTimeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .describe(
      'how long to wait for the answer of a node; then the command is sent again, and a node never changes twice',
    ),
  verifyTimeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .describe('how long a node may take until a new reading shows that it is healthy'),
  leaseTtlMs: z
    .int()
    .min(15_000)
    .max(3_600_000)
    .describe(
      'another run may take over a cluster if the run that holds its lease does not renew it for this long',
    ),
}

const autoSchema = (plannableFields: readonly string[]) =>
  z
    .strictObject({
      fields: z
        .array(z.enum(plannableFields))
        .min(1)
        .describe(
          'KubeletConfiguration fields; a plan that changes any other field needs the approval of a person',
        ),
      clusters: z.array(clusterName.min(1)).min(1),
      nodesPerDay: z
        .int()
        .min(1)
        .max(100_000)
        .describe(
          'how many nodes the policy may approve on one day (UTC); a larger plan continues on the next day',
        ),
      windows: z
        .array(changeWindow)
        .max(50)
        .default([])
        .describe('when the policy approves plans; default: at any time'),
    })
    .nullable()
    .describe(
      'plans that the policy approves without a person; default: none. It never approves a plan that makes a kubelet evict at once. A stack with applierArns refuses it',
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
            'plan: each audit of the service writes a plan of all fixes beside the report; no node is changed',
          ),
        auto: autoSchema(plannableFields),
      }),
    )
    .describe('how plans are made and applied, and when nodes may be changed'),
})

function isTimeZone(name: string) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false // a RangeError: the text is not a time zone
  }
}
