/** The report of the service, for `audit` and `publish`: to the places and recipients of stack and policy. */

import * as z from 'zod'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { isRawObject, parsedJson } from '#base/raw-object.ts'
import { linesOf } from '#base/text.ts'
import { type Store, update } from '#clients/store/store.ts'
import { isListBroken } from '#judge/compare/delta/run-knowledge.ts'
import { rules } from '#judge/rules/index.ts'
import { plural, shorten } from '#judge/text.ts'
import { type FindingsDocument, type Severity, severities } from '#model/finding.ts'
import { errorsText, selectsEverything } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { AuditReport, RemediationNotices, RenderedFile } from '#model/report.ts'
import {
  type AuditRequest,
  type RunAnswer,
  type RunSummary,
  type Settings,
  unauditedAnswer,
} from '#model/run.ts'
import type { AuditResult, ConclusionContext } from '#pipeline/audit/audit.ts'
import { type Audience, audiencesOf } from '#pipeline/audit/publication.ts'
import { openHistory, scopeOf } from '#pipeline/history/history.ts'
import { type PlanBesideOptions, planBeside } from '#pipeline/remediation/plan/plan.ts'
import type { Audited, RunLimits, ServiceRuntime } from '#pipeline/runtime/runtime.ts'
import { s3 } from '#publish/channels/into-store.ts'
import { markDone, readDone } from '#publish/publish.ts'
import { keepPlan } from '#remediate/plan/store.ts'
import { renderIndex } from '#report/compiled-templates.js'
import { formatsWith } from '#report/formats/index.ts'
import { type Language, languages } from '#report/languages/language.ts'
import { openCommandOf, reportLink } from '#report/mail/mail.ts'
import { causesAndOutlook, causeView } from '#report/parts/causes.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import { type ListedRun, listedRun, runsIndexView } from '#report/parts/trends.ts'
import { verdictView } from '#report/parts/verdict.ts'
import { runChannels } from './run-channels.ts'

/** A run whose policy is known. */
export interface ServiceRun {
  runId: string
  request: AuditRequest
  settings: Settings
  region: string
  /** Null: the stack names no bucket. */
  store: Store | null
  policy: Policy
  /** Errors before reading: part of the report, and the run fails. */
  mistakes: readonly string[]
  /** Runs and refusals of `remediate` for the report. */
  notices: RemediationNotices | undefined
}

export interface ServiceReport {
  /** The context for `conclude`. */
  conclusion: ConclusionContext
  /** Errors of the input, for the report. */
  inputErrors: string[]
  /**
   * Does the last steps, and returns the answer.
   * @throws IncompleteRun if the report exists but a delivery failed, or nothing was read
   */
  end(result: AuditResult): Promise<RunAnswer>
}

/** A channel failed, a rule threw or nothing was read; everything else was done. */
class IncompleteRun extends Error {}

/** @throws OperatorError if the report has no recipient */
export function openServiceReport(
  run: ServiceRun,
  runtime: ServiceRuntime,
  limits: RunLimits,
): ServiceReport {
  const { runId, request, settings, region, store, policy, mistakes } = run
  const { isDryRun } = request
  const ways = runChannels(request, settings, policy.report, {
    region,
    runId,
    store,
    now: runtime.now,
    signal: limits.end,
  })
  const audiences = isDryRun ? [] : audiencesOf(policy.report, ways.readersOf)
  if (!isDryRun && !store && audiences.every(({ channels }) => channels.length === 0))
    throw new OperatorError(
      'The report has no recipient: set HIGHWATER_BUCKET, or HIGHWATER_SENDER and HIGHWATER_RECIPIENTS, or HIGHWATER_TOPIC_ARN',
    )
  const wrong = [...mistakes, ...ways.mistakes]
  return {
    inputErrors: wrong,
    conclusion: conclusionOf(run, audiences, runtime, limits),
    async end(result) {
      const state = isDryRun ? 'dry-run' : 'published'
      const answer = answerOf(runId, state, result, {
        language: languages[policy.report.language],
        isPart: !selectsEverything(request.selection),
      })
      runtime.watch.audited({ ...answer, reasons: reasonsOf(result.document) })
      const failures = linesOf(wrong, failuresOf(result), whyNothingRead(result))
      if (failures.length === 0 && store && !isDryRun)
        failures.push(...(await markPublished(run, store, runtime.now(), result)))
      if (failures.length > 0)
        throw new IncompleteRun(`Run ${runId} is incomplete. ${failures.join('. ')}`)
      return answer
    },
  }
}

function conclusionOf(
  { runId, request: { selection, isDryRun }, settings, store: place, policy, notices }: ServiceRun,
  audiences: Audience[],
  { version, watch }: ServiceRuntime,
  { acting: signal, keep }: RunLimits,
): ConclusionContext {
  const store = isDryRun ? null : place
  const isWhole = selectsEverything(selection)
  const isPlanned = !isDryRun && policy.remediation.mode !== 'off'
  return {
    notices,
    source: 'live',
    version,
    policy,
    rules,
    formats: formatsWith(policy.report.formats, languages[policy.report.language]),
    channels: store ? [s3({ store, runId, reportBaseUrl: settings.reportBaseUrl })] : [],
    audiences,
    isPart: !isWhole,
    history: store
      ? openHistory({ store, runId, isWhole, scope: scopeOf(policy), ...policy.history })
      : null,
    options: { keep },
    onStage: watch.enterStage,
    plan: isPlanned ? planInto(place, { policy, selection, version, signal }) : undefined,
  }
}

/** Also stores the plan by its digest, where `remediate` reads it. */
const planInto = (store: Store | null, options: PlanBesideOptions) => (snapshot: string | null) =>
  planBeside(
    snapshot,
    store
      ? {
          ...options,
          approveOptions: ` --store ${store.location}`,
          keep: plan => keepPlan(store, plan),
        }
      : options,
  )

/** The answer of an earlier, complete delivery of the same tick; null: none is known. */
export async function earlierAnswer(store: Store, runId: string): Promise<RunAnswer | null> {
  try {
    const deliveries = await readDone(store, runId)
    if (!deliveries) return null
    const link = reportLink(deliveries)
    return { runId, state: 'published-before', ...unauditedAnswer, deliveries, link }
  } catch {
    // If the store does not answer, the channel fails later in the same way, and the mail reports it.
    return null
  }
}

/** Links a whole run as the latest, then writes the mark that the run is done. */
async function markPublished(
  { runId, request, policy }: ServiceRun,
  store: Store,
  at: Date,
  { deliveries, report, files }: AuditResult,
) {
  try {
    if (selectsEverything(request.selection))
      await writeLatest(store, { runId, report, files }, languages[policy.report.language])
    await markDone(store, { runId, finishedAt: at.toISOString(), deliveries })
    return []
  } catch (error) {
    return [
      `everything was delivered, but the latest report or the mark of the run could not be written: ${messageOf(error)}`,
    ]
  }
}

function failuresOf({ deliveries, ruleErrors }: AuditResult) {
  const channels = deliveries.flatMap(delivery => {
    // The delivery that is sending the mail might have been killed: a retry finds the mail sent, or takes over.
    const isHeldByAnother = 'state' in delivery && delivery.state === 'being-sent'
    return delivery.error === null && !isHeldByAnother
      ? []
      : `${delivery.channel}: ${delivery.error ?? delivery.location}`
  })
  const broken = [
    ...new Set(ruleErrors.map(({ rule, message }) => `rule ${rule} broke: ${message}`)),
  ]
  return [...channels, ...broken]
}

const mostReasons = 10

/** Fargate nodes are listed, but are no problem. */
function reasonsOf({ notAudited }: FindingsDocument): Audited['reasons'] {
  const unread = notAudited.filter(({ cause }) => cause !== 'fargate')
  const groups = Map.groupBy(unread, ({ reason }) => reason)
  return [...groups.values()]
    .slice(0, mostReasons)
    .map(places => ({ ...places[0]!, places: places.length }))
}

/** A place to link to: `latest/` has the newest whole report, `index.html` the list of runs. Each whole run rewrites them. */
const runsKey = 'latest/runs.json'
const shownFiles = new Set(['report.html', 'findings.json'])
const listedRuns = 60
const tries = 3

interface Published {
  runId: string
  report: AuditReport
  files: readonly RenderedFile[]
}

/**
 * A run that is older than the newest listed run changes the list only.
 * @throws Error with a message for people if the store cannot be read or written
 */
export async function writeLatest(
  store: Store,
  { runId, report, files }: Published,
  language: Language,
) {
  const run = listedRun(runId, report, language)
  const runs = await listRun(store, run)
  if (runs[0]?.runId === runId)
    for (const { name, body, contentType } of files.filter(file => shownFiles.has(file.name)))
      await store.write(`latest/${name}`, body, contentType)
  const page = renderIndex(runsIndexView(runs, language))
  await store.write('index.html', page, 'text/html; charset=utf-8')
}

/** Adds the run to the list, unless another run writes the list at each try. Returns the list, newest first. */
async function listRun(store: Store, run: ListedRun) {
  let runs: ListedRun[] = []
  const isWritten = await update(store, runsKey, tries, async () => {
    const found = await store.read(runsKey)
    const earlier = found ? listedRunsIn(found.body) : []
    runs = [run, ...earlier.filter(({ runId }) => runId !== run.runId)]
      .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, listedRuns)
    const body = `${JSON.stringify({ schema: 'highwater.runs/1', runs })}\n`
    return { version: found?.version ?? null, body }
  })
  if (!isWritten) throw new Error(`${store.location}/${runsKey}: other runs write it`)
  return runs
}

/** The well-formed runs of the list: the bucket may be forged. */
function listedRunsIn(body: Buffer) {
  const parsed = parsedJson(body)
  if (!isRawObject(parsed) || !Array.isArray(parsed.runs)) return []
  return parsed.runs.slice(0, listedRuns).flatMap(run => listedRunForm.safeParse(run).data ?? [])
}

const count = z.number().min(0)
const listedRunForm: z.ZodType<ListedRun> = z.object({
  runId: z.string().regex(/^(?!\.+$)[\w.-]{1,100}$/),
  at: z
    .string()
    .max(40)
    .refine(at => Number.isFinite(Date.parse(at))),
  verdict: z.string().max(1000),
  severity: z.enum(['none', ...severities]),
  severe: count,
  fullestPercent: count.nullable(),
})

/* The answer of a run: the verdict, the worst causes, and the nodes that evict first. */

const shown = { causes: 5, next: 5 }

function answerOf(
  runId: string,
  state: RunAnswer['state'],
  { document, deliveries, report }: AuditResult,
  { language, isPart }: { language: Language; isPart: boolean },
): RunAnswer {
  const findings: Partial<Record<Severity, number>> = {}
  for (const { severity } of document.findings) findings[severity] = (findings[severity] ?? 0) + 1
  const link = reportLink(deliveries)
  const open = openCommandOf(deliveries, document.run.region, isPart)
  const clusters = document.clusters.map(({ name, grade, coverage }) => ({ name, grade, coverage }))
  return {
    runId,
    state,
    findings,
    clusters,
    deliveries,
    notAudited: document.notAudited.length,
    summary: summaryOf(report, language),
    link,
    ...(link === null && open !== null && { open }),
  }
}

function summaryOf(report: AuditResult['report'], language: Language): RunSummary {
  const { causes, outlook } = causesAndOutlook(report, language)
  const titleOf = titlesOf(report, language)
  const { headline } = verdictView(report, { outlook, causeCount: causes.length, language })
  return {
    verdict: headline,
    causes: causes.slice(0, shown.causes).map((cause, index) => {
      const { severity, title, where, step, commands } = causeView(cause, index, {
        titleOf,
        language,
      })
      return { severity, title, where, step, command: commands[0]?.command ?? null }
    }),
    next: outlook.rows
      .slice(0, shown.next)
      .map(({ name: node, where, state, victims }) => ({ node, where, state, victims })),
  }
}

/**
 * Why no node was read, for people; null: a node was read, or nothing can be read. A cluster may have no nodes, and a Fargate node
 * cannot be read.
 */
export function whyNothingRead({
  document: { notAudited },
  nodes,
}: Pick<AuditResult, 'document' | 'nodes'>): string | null {
  if (
    !nodes.every(
      ({ coverage, prediction: { eviction, imageGC, filesystems } }) =>
        // A node is silent if its settings and disks are unknown. Pods from the API server do not count as read.
        coverage === 'notRead' ||
        (coverage === 'partlyRead' &&
          eviction === null &&
          imageGC === null &&
          filesystems.nodefs === null),
    )
  )
    return null
  const unread = nodes.filter(({ identity }) => identity.owner !== 'fargate')
  const unlisted = notAudited.filter(isListBroken)
  if (unread.length === 0 && unlisted.length === 0) return null
  const clusters = new Set(unlisted.map(({ cluster }) => cluster)).size
  const what = linesOf(
    unread.length > 0 && `${plural(unread.length, 'node')} could not be read`,
    clusters > 0 && `of ${plural(clusters, 'cluster')} it is not known which nodes there are`,
  )
  const [first] = [
    ...unlisted.map(({ cluster, reason }) => `cluster ${cluster}: ${reason}`),
    ...unread.map(({ cluster, identity, errors }) =>
      shorten(`node ${identity.name} of cluster ${cluster}: ${errorsText(errors)}`),
    ),
  ]
  return `no node was read: ${what.join(', and ')}. The report names each with its reason, as that of ${first}`
}
