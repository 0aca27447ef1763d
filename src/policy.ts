/** highwater.yaml → Policy: every key has a default, and all mistakes are named at once, with their place in the file. */
import { createHash } from 'node:crypto'
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import * as z from 'zod'
import { severities, subjectKinds } from '#model/finding.ts'
import { isImageRepository, isImageSource } from '#model/image-reference.ts'
import { languageIds } from '#model/language.ts'
import { amiFamilies } from '#model/node-identity.ts'
import { OperatorError } from '#model/operator-error.ts'
import {
  addressPattern,
  type DeletionKind,
  defaultPolicy,
  deletionKinds,
  garbageKinds,
  mostOwners,
  mostRecipients,
  type Policy,
  regionPattern,
  remediationModes,
  weekdays,
} from '#model/policy.ts'
import { readModes } from '#model/read-mode.ts'
import { moreFormats } from '#model/report.ts'

const percent = z.number().min(1).max(100)
const address = z.string().regex(addressPattern, 'an e-mail address')
const roleArn = z.string().regex(/^arn:[\w-]+:iam::\d{12}:role\/.+$/, 'an IAM role ARN')
/** A resource of an API group, all of one, or all of all. */
const sweepForm = /^(\*|(\*|[a-z][a-z0-9-]*)(\.[a-z0-9-]+)+|[a-z][a-z0-9-]*)$/
const timeoutMs = z.int().min(100).max(600_000)
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const day = z.iso.date('a day as YYYY-MM-DD')

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
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'a window ends later than it begins: 00:00 to 24:00 is the whole day' })

const owner = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/, 'up to 40 lower-case letters, digits and hyphens')
    .describe('stands in the mail’s subject and in the names of its files'),
  match: z
    .strictObject({
      cluster: z.string().optional().describe('as the report names it, * stands for any run of characters'),
      nodegroup: z.string().optional().describe('name of the nodegroup or nodepool, * as above'),
      tags: z.record(z.string(), z.string()).optional().describe('EKS tags of the cluster or the nodegroup, * as above in their values'),
    })
    .describe('what is theirs: all that is given has to match'),
  recipients: z.array(address).min(1).max(mostRecipients),
  language: z.enum(languageIds).nullable().default(null).describe('of their page and mail; by default the report’s'),
  onlyOnChange: z.boolean().default(false).describe('no mail where nothing of theirs has changed since the run before'),
})

const reportPolicy = z
  .strictObject({
    sender: address.nullable().default(null),
    recipients: z.array(address).min(1).max(mostRecipients).nullable().default(null),
    onlyOnChange: z
      .boolean()
      .default(defaultPolicy.report.onlyOnChange)
      .describe('nobody but the owners is told of a run without a change since the run before'),
    owners: z
      .array(owner)
      .max(mostOwners)
      .refine(owners => new Set(owners.map(({ name }) => name)).size === owners.length, 'each owner has a name of its own')
      .default(defaultPolicy.report.owners)
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
        oneClick: z.boolean().default(false).describe('url takes a POST and asks nothing back (RFC 8058)'),
      })
      .refine(({ url, oneClick }) => url !== null || !oneClick, { path: ['oneClick'], message: 'one click needs a url' })
      .default(defaultPolicy.report.unsubscribe)
      .describe('where a reader asks not to get the mail any more: stands in its header List-Unsubscribe and at its end'),
    bouncesTo: address.nullable().default(null).describe('who hears of mails that came back, a verified identity; by default the sender'),
    webhookHosts: z
      .array(z.string().regex(/^[a-z0-9*]([a-z0-9.*-]{0,251}[a-z0-9*])?$/, 'a host name in lower case'))
      .default(defaultPolicy.report.webhookHosts)
      .describe('hosts that the stack’s webhook may be on, * stands for any run of characters'),
    formats: z.array(z.enum(moreFormats)).default(defaultPolicy.report.formats).describe('written beside page and findings'),
    language: z
      .enum(languageIds)
      .default(defaultPolicy.report.language)
      .describe('of page, mail and summary: English, Korean, Japanese or Simplified Chinese'),
    languages: z
      .record(address, z.enum(languageIds))
      .default(defaultPolicy.report.languages)
      .describe('of single recipients, by their address: they get a mail of their own, and a page that it leads to'),
  })
  .default(defaultPolicy.report)
  .describe('who gets the service’s mail, instead of what the stack’s parameters say, and in which more forms the report is written')

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false // a RangeError, for what is no zone
  }
}

/** What a policy may speak of: a slip would otherwise do nothing, without a word. */
interface PolicyTerms {
  ruleIds: readonly string[]
  /** KubeletConfiguration fields that a plan may change. */
  plannableFields: readonly string[]
  /** What is wrong with a KubeletConfiguration field's value, by the place from the field down. */
  valueMistakes(field: string, value: unknown): Iterable<{ path: string[]; wanted: string }>
}

const policySchema = ({ ruleIds, plannableFields, valueMistakes }: PolicyTerms) =>
  z
    .strictObject({
      accounts: z
        .array(
          z.strictObject({
            roleArn: roleArn.nullable().default(null),
            // Source: STS API reference, AssumeRole ExternalId.
            externalId: z
              .string()
              .regex(/^[\w+=,.@:/-]{2,1224}$/, '2 to 1,224 characters of letters, digits and +=,.@:/-')
              .nullable()
              .default(null),
            regions: z.array(z.string().regex(regionPattern, 'an AWS region')).min(1).nullable().default(null),
          }),
        )
        .min(1)
        .default(defaultPolicy.accounts)
        .describe('AWS accounts and regions to enumerate; by default the caller’s own'),
      clusters: z
        .strictObject({
          names: z.array(z.string()).default([]).describe('EKS cluster names, * stands for any run of characters; empty means all'),
          tags: z.record(z.string(), z.string()).default({}).describe('only clusters with these EKS tags'),
        })
        .default(defaultPolicy.clusters),
      modes: z
        .array(
          z.strictObject({
            match: z
              .strictObject({ cluster: z.string().optional().describe('as the report names it, * stands for any run of characters') })
              .default({}),
            mode: z.enum(readModes),
          }),
        )
        .default(defaultPolicy.modes)
        .describe(
          'how clusters are read: proxy through their API server, ssm by a fixed script on the node, both, or kubelet on its own port; the first match wins',
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
        .default(defaultPolicy.inspectOutput)
        .describe(
          'an S3 bucket into which nodes of the modes ssm and both write their whole answer, by their own role; by default SSM carries a shorter one',
        ),
      kubelet: z
        .strictObject({
          roleArn: roleArn
            .nullable()
            .default(null)
            .describe('the role whose token kubelets see; it needs get nodes/configz and get nodes/stats and nothing else'),
          useOwnToken: z.boolean().default(false).describe('show every kubelet the token of the run itself; who owns a node could use it'),
        })
        .refine(({ roleArn: role, useOwnToken }) => role === null || !useOwnToken, 'a role or the run’s own token, not both')
        .default(defaultPolicy.kubelet)
        .describe('with which identity kubelets are asked in mode kubelet'),
      alertPercent: percent.default(defaultPolicy.alertPercent).describe('disk usage at which the team’s own alert fires'),
      assumedGrowthPercent: percent
        .default(defaultPolicy.assumedGrowthPercent)
        .describe('growth within one image-GC period, in percent of the capacity, where no rate was observed'),
      strandedPercent: percent
        .default(defaultPolicy.strandedPercent)
        .describe('disk kept free by thresholds counts as stranded from this percentage on'),
      strandedGiB: z.number().min(0).default(defaultPolicy.strandedGiB).describe('and from this size on'),
      deadContainers: z.int().min(1).default(defaultPolicy.deadContainers).describe('dead containers on one node that are a pile'),
      criticalPods: z
        .array(z.string().min(1))
        .default(defaultPolicy.criticalPods)
        .describe('namespace/name of pods that must not be evicted, * stands for any run of characters'),
      requiredImages: z
        .array(z.string().min(1))
        .default(defaultPolicy.requiredImages)
        .describe('images that must never be missing on a node, beside those of kube-system and of DaemonSets; * as above'),
      requiredImageSources: z
        .record(
          z.string().min(1),
          z
            .string()
            .refine(
              source => isImageSource(source) || isImageRepository(source),
              'a whole reference, host/repository:tag or host/repository@sha256:…, or host/repository',
            ),
        )
        .superRefine((sources, context) => {
          for (const [pattern, source] of Object.entries(sources))
            if (pattern.includes('*') && !isImageRepository(source))
              context.addIssue({
                code: 'custom',
                path: [pattern],
                message: 'a name with * takes host/repository without a tag: it keeps its own',
              })
        })
        .default(defaultPolicy.requiredImageSources)
        .describe(
          'from where a plan pulls an image that nodes must have, by the name that pods use, * as above: a whole reference, or a repository, which takes the name’s own tag',
        ),
      reachableRegistries: z
        .array(z.string().min(1))
        .nullable()
        .default(defaultPolicy.reachableRegistries)
        .describe('registry hosts that the nodes can pull from, * as above; by default every one'),
      logRetentionMinutes: z
        .number()
        .min(1)
        .default(defaultPolicy.logRetentionMinutes)
        .describe('container logs that are gone sooner are kept too short'),
      logRotation: z
        .record(
          z.string().regex(/^\/./, 'the path of a file of logrotate'),
          z
            .strictObject({
              sha256: z
                .string()
                .regex(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hexadecimal')
                .nullable()
                .default(null)
                .describe('of the file as it is wanted, byte by byte'),
              content: z
                .string()
                .max(50_000)
                .nullable()
                .default(null)
                .describe('the whole file as it is wanted: what a plan writes where it is otherwise'),
              directives: z
                .record(z.string().regex(/^[a-z]+$/, 'a directive of logrotate'), z.union([z.string(), z.number(), z.boolean()]))
                .default({})
                .describe('in force in each of its blocks, as rotate: 5, size: 100M, copytruncate: true; false: not set'),
            })
            .refine(({ sha256, content }) => sha256 === null || content === null || sha256 === hashOf(content), {
              path: ['sha256'],
              message: 'the content has another SHA-256',
            }),
        )
        .default(defaultPolicy.logRotation)
        .describe(
          'files of logrotate that every node must have, and what they must say; of other files the majority of a group is the norm',
        ),
      baseline: z
        .array(
          z.strictObject({
            match: z
              .strictObject({
                cluster: z.string().optional(),
                group: z.string().optional().describe('name of the nodegroup or nodepool'),
                amiFamily: z.enum(amiFamilies).optional(),
                instanceType: z.string().optional(),
              })
              .default({}),
            configuration: z
              .record(z.string(), z.unknown())
              .superRefine((fields, context) => {
                for (const [field, value] of Object.entries(fields)) {
                  for (const { path, wanted } of valueMistakes(field, value))
                    context.addIssue({ code: 'custom', path, message: `expected ${wanted}` })
                }
              })
              .describe(
                'KubeletConfiguration fields that the node is meant to run with, of maps only the keys that matter; null: what the image, or else the kubelet, takes where nobody sets it; in a map: no such key',
              ),
          }),
        )
        .default(defaultPolicy.baseline)
        .describe('what nodes are meant to run with; of several that match, a later one’s fields win'),
      clusterGarbage: z
        .strictObject({
          enabled: z.boolean().default(defaultPolicy.clusterGarbage.enabled),
          kinds: z
            .array(z.enum(garbageKinds))
            .default(defaultPolicy.clusterGarbage.kinds)
            .describe(
              'what is looked through; each costs the lists that docs/permissions.md names; configs needs list of ConfigMaps and Secrets, which lets their content be read',
            ),
          sweep: z
            .array(z.string().regex(sweepForm, 'expected plural.group, *.group or *'))
            .default(defaultPolicy.clusterGarbage.sweep)
            .describe(
              'what else is looked through for what finalizers hold, with the kind finalizers: plural.group, *.group, or * for all that is served but ConfigMaps and Secrets; only metadata is asked for, but each needs list, which lets the whole object be read: * those of Secrets, too',
            ),
          minAgeHours: z
            .number()
            .min(0)
            .default(defaultPolicy.clusterGarbage.minAgeHours)
            .describe('what finished, was deleted or was last renewed later than that is not called garbage'),
        })
        .default(defaultPolicy.clusterGarbage)
        .describe('what of a cluster’s own objects is looked through for what nobody has collected'),
      report: reportPolicy,
      history: z
        .strictObject({ retentionDays: z.int().min(1).max(3650).default(defaultPolicy.history.retentionDays) })
        .default(defaultPolicy.history)
        .describe('how many days what is remembered of nodes and of findings that ended is kept; a bucket’s lifecycle may forget sooner'),
      severities: z
        .partialRecord(z.enum(ruleIds), z.enum(severities))
        .default({})
        .describe('severity by rule id, instead of the rule’s own'),
      waivers: z
        .array(
          z.strictObject({
            rule: z.enum(ruleIds),
            match: z
              .strictObject({
                cluster: z.string().optional(),
                kind: z.enum(subjectKinds).optional(),
                namespace: z.string().optional(),
                name: z.string().optional(),
              })
              .default({}),
            until: day.describe('the last day on which it holds (UTC)'),
            reason: z.string().regex(/\S/, 'a reason in words'),
          }),
        )
        .default([]),
      pace: z
        .strictObject({
          requestsPerSecond: z.number().min(0.1).max(1000).default(defaultPolicy.pace.requestsPerSecond),
          concurrency: z.int().min(1).max(200).default(defaultPolicy.pace.concurrency),
          clusters: z.int().min(1).max(50).default(defaultPolicy.pace.clusters),
          ssmRequestsPerSecond: z.number().min(0.1).max(100).default(defaultPolicy.pace.ssmRequestsPerSecond),
        })
        .default(defaultPolicy.pace)
        .describe(
          'upper bounds for one Kubernetes API server, and for the SSM of one account and region; clusters: how many are read at once',
        ),
      fanOut: z
        .strictObject({
          aboveNodes: z.int().min(1).nullable().default(defaultPolicy.fanOut.aboveNodes),
          acrossPlaces: z
            .boolean()
            .default(defaultPolicy.fanOut.acrossPlaces)
            .describe('whenever there are several accounts or regions, too'),
          nodesPerShard: z.int().min(10).max(1000).default(defaultPolicy.fanOut.nodesPerShard),
          clustersAtOnce: z.int().min(1).max(500).default(defaultPolicy.fanOut.clustersAtOnce),
        })
        .default(defaultPolicy.fanOut)
        .describe(
          'from how many nodes on the service reads a fleet by many functions instead of one; null in aboveNodes: never for its size',
        ),
      remediation: z
        .strictObject({
          wavePercents: z
            .array(percent)
            .max(10)
            .refine(percents => percents.every((one, index) => one > (percents[index - 1] ?? 0)), 'percentages that grow')
            .default(defaultPolicy.remediation.wavePercents)
            .describe('how much of a cohort is changed after the second wave, the third, …; first goes one node of each, last the rest'),
          deletions: z
            .strictObject(Object.fromEntries(deletionKinds.map(kind => [kind, deletion])) as Record<DeletionKind, typeof deletion>)
            .default(defaultPolicy.remediation.deletions)
            .describe(
              'objects that highwater plan --deletions may name, from this age on: leases of nodes that are gone, failed pods, Jobs that have finished and nothing else collects, volumes that are Released and Retain',
            ),
          windows: z
            .array(changeWindow)
            .max(50)
            .default(defaultPolicy.remediation.windows)
            .describe('when nodes may be changed; by default at any time'),
          alarms: z
            .array(z.string().min(1).max(255))
            .max(100)
            .default(defaultPolicy.remediation.alarms)
            .describe('CloudWatch alarms: while one of them is in ALARM, or cannot be read, no node is changed'),
          requireEksStatus: z
            .boolean()
            .default(defaultPolicy.remediation.requireEksStatus)
            .describe(
              'whether nothing is changed where EKS does not say whether it is changing the cluster or its nodegroups, as with a kubeconfig alone',
            ),
          maxUnreadyPercent: z
            .number()
            .min(0)
            .max(100)
            .default(defaultPolicy.remediation.maxUnreadyPercent)
            .describe('while more of a cluster’s planned nodes than this are NotReady, none of them is changed'),
          maxConcurrency: z
            .int()
            .min(1)
            .max(50)
            .default(defaultPolicy.remediation.maxConcurrency)
            .describe('nodes of one cluster that are under way at once: sent to, and not yet verified'),
          maxErrors: z
            .int()
            .min(0)
            .max(1000)
            .default(defaultPolicy.remediation.maxErrors)
            .describe('nodes of a run that may fail before it stops and takes the wave back'),
          pauseMs: z.int().min(0).max(86_400_000).default(defaultPolicy.remediation.pauseMs).describe('between two waves'),
          timeoutSeconds: z
            .int()
            .min(60)
            .max(900)
            .default(defaultPolicy.remediation.timeoutSeconds)
            .describe('what a node gives itself for the way there and the way back together'),
          answerTimeoutMs: z
            .int()
            .min(1000)
            .max(3_600_000)
            .default(defaultPolicy.remediation.answerTimeoutMs)
            .describe('until a node that was told to change has answered; then it is asked again, which changes nothing twice'),
          verifyTimeoutMs: z
            .int()
            .min(1000)
            .max(3_600_000)
            .default(defaultPolicy.remediation.verifyTimeoutMs)
            .describe('how long a node may take until what is read of it anew shows that it is well'),
          leaseTtlMs: z
            .int()
            .min(15_000)
            .max(3_600_000)
            .default(defaultPolicy.remediation.leaseTtlMs)
            .describe('who applies to a cluster and is not heard for longer has lost it to the next'),
          mode: z
            .enum(remediationModes)
            .default(defaultPolicy.remediation.mode)
            .describe('plan: each audit of the service makes a plan of what it found, beside the report; nothing is changed by that'),
          auto: z
            .strictObject({
              fields: z
                .array(z.enum(plannableFields))
                .min(1)
                .describe('KubeletConfiguration fields; a plan that changes another one waits for a person'),
              clusters: z.array(z.string().min(1)).min(1).describe('names, * stands for any run of characters'),
              nodesPerDay: z
                .int()
                .min(1)
                .max(100_000)
                .describe('how many nodes may be begun on one day (UTC) by the policy’s word; a plan of more goes on the next day'),
              windows: z.array(changeWindow).max(50).default([]).describe('when plans are approved so; by default at any time'),
            })
            .nullable()
            .default(defaultPolicy.remediation.auto)
            .describe('plans that are approved without a person; by default none. Never one that makes a kubelet evict at once'),
        })
        .default(defaultPolicy.remediation)
        .describe('how plans are made and applied, and when nodes may be changed'),
      timeoutsMs: z
        .strictObject({
          list: timeoutMs.default(defaultPolicy.timeoutsMs.list),
          configz: timeoutMs.default(defaultPolicy.timeoutsMs.configz),
          summary: timeoutMs.default(defaultPolicy.timeoutsMs.summary),
          inspect: timeoutMs.default(defaultPolicy.timeoutsMs.inspect),
        })
        .default(defaultPolicy.timeoutsMs)
        .describe('how long one answer may take; inspect: until a node that SSM was asked to inspect has done so'),
    })
    .refine(
      ({ modes, kubelet: { roleArn: role, useOwnToken } }) => role !== null || useOwnToken || modes.every(({ mode }) => mode !== 'kubelet'),
      { path: ['modes'], message: 'mode kubelet shows every kubelet a token: say whose by kubelet.roleArn, or kubelet.useOwnToken: true' },
    )
    .meta({ title: 'highwater policy' })

/**
 * @param text  YAML (or JSON, which is YAML)
 * @param file  its name, for the messages
 * @throws OperatorError
 */
export function parsePolicy(text: string, file: string, terms: PolicyTerms): Policy {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const place = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${file}:${line}:${col}`
  }
  if (document.errors.length > 0)
    throw new OperatorError(document.errors.map(error => `${place(error.pos[0])}: ${error.message}`).join('\n'))
  const strange = [...prototypeKeys(document.contents, [])]
  if (strange.length > 0) {
    throw new OperatorError(
      strange.map(({ key, path }) => `${place(key.range?.[0] ?? 0)}: ${path.join('.')}: Unrecognized key: "${prototypeKey}"`).join('\n'),
    )
  }
  const parsed = policySchema(terms).safeParse(plain(document, file) ?? {})
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map(issue => {
    const node = document.getIn(issue.path, true)
    const at =
      typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range) ? place(Number(node.range[0])) : file
    return `${at}: ${issue.path.join('.') || 'the file'}: ${issue.message}`
  })
  throw new OperatorError(mistakes.join('\n'))
}

const prototypeKey = '__proto__'

/** A key that objects have of their own: whoever reads the file would drop it without a word. */
function* prototypeKeys(value: unknown, path: readonly (string | number)[]): Iterable<{ key: Node; path: readonly (string | number)[] }> {
  if (isSeq(value)) for (const [index, item] of value.items.entries()) yield* prototypeKeys(item, [...path, index])
  if (!isMap(value)) return
  for (const { key, value: inner } of value.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const inside = [...path, name]
    if (name === prototypeKey && isNode(key)) yield { key, path: inside }
    yield* prototypeKeys(inner, inside)
  }
}

/** @throws OperatorError for aliases that multiply without end */
function plain(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new OperatorError(`${file}: ${error instanceof Error ? error.message : error}`)
  }
}

/** The JSON Schema of highwater.yaml, for editors. */
export const policyJsonSchema = (terms: PolicyTerms) => z.toJSONSchema(policySchema(terms), { io: 'input' })
