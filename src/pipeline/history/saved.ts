/** Parses the recorded days of nodes, points of clusters, and runs. Foreign lines and other versions are skipped. */

import * as z from 'zod'
import { listOf } from '#base/list-of.ts'
import type { Store } from '#clients/store/store.ts'
import { fillLimits } from '#judge/compare/history/fill.ts'
import { mostImages, mostPastReleases } from '#judge/compare/history/happenings.ts'
import { nodeFactsMaxBytes } from '#judge/compare/history/node-facts.ts'
import { endings } from '#model/delta.ts'
import { evidenceKinds, notAuditedCauses, severities } from '#model/finding.ts'
import type { ClusterTrend, NodeFacts, RememberedRun } from '#model/history.ts'
import { amiFamilies, readModes, subjectKinds } from '#model/input/record.ts'
import { jsonIn, readText, runKey, runsPrefix } from './keys.ts'

/* Schema of a findings document that is read back, from a file or from the history. */

type DocumentText = z.ZodType<string>

const whole = z.int().min(0)

const gradeShape = z.enum(['A', 'B', 'C', 'D', 'F']).nullable()
const coverageShape = z.object({ nodes: whole, read: whole, partlyRead: whole, notRead: whole })

const subjectShape = (name: DocumentText) =>
  z.object({ kind: z.enum(subjectKinds), namespace: name.nullable(), name })

/** @param text schema of sentences; @param name schema of ids and names, bounded or not */
export function findingShape(text: DocumentText, name: DocumentText) {
  return z.object({
    id: name,
    rule: name,
    severity: z.enum(severities),
    confidence: z.enum(['certain', 'likely', 'possible']),
    cluster: text,
    subject: subjectShape(name),
    nodes: z.object({ count: whole, sample: listOf(name) }),
    places: z.int().min(1).optional(),
    title: text,
    evidence: listOf(z.object({ kind: z.enum(evidenceKinds), what: text, value: text })),
    waived: z.object({ until: text, reason: text }).nullable(),
  })
}

/** @param time schema of the run's time; @param finding `findingShape` of the same schemas, or an extension of it */
export function documentShape<Finding extends z.ZodType>(
  text: DocumentText,
  name: DocumentText,
  time: DocumentText,
  finding: Finding,
) {
  return z.object({
    run: z.object({
      version: text,
      source: z.enum(['live', 'snapshot']),
      takenAt: time,
      account: text.nullable(),
      region: text.nullable(),
      rules: listOf(name),
      inputErrors: listOf(text),
      lostLines: whole.optional(),
    }),
    clusters: listOf(
      z.object({
        name: text,
        grade: gradeShape,
        coverage: coverageShape,
        outcomes: z.object({
          pass: whole,
          fail: whole,
          unknown: whole,
          notApplicable: whole,
          error: whole,
        }),
      }),
    ),
    findings: listOf(finding),
    waived: listOf(finding),
    unknowns: listOf(
      z.object({
        rule: name,
        cluster: text,
        subject: subjectShape(name),
        nodes: z.object({ count: whole, sample: listOf(name) }),
        reason: text,
      }),
    ),
    notAudited: listOf(
      z.object({
        cluster: text,
        node: name.nullable(),
        cause: z.enum(notAuditedCauses),
        reason: text,
      }),
    ),
  })
}

const number = z.number().nullable()
const day = z.iso.date()
const text = z.string()
const subject = subjectShape(text)
const coverageState = z.enum(['read', 'partlyRead', 'notRead'])
const layout = z.enum(['shared', 'imagefs', 'split'])
const filesystem = z
  .object({ capacityBytes: number, availableBytes: number, inodes: number, inodesFree: number })
  .nullable()

const basis = {
  at: text,
  thresholds: z
    .array(z.object({ signal: text, value: text, hard: z.boolean(), margin: number }))
    .nullable(),
  held: z.array(z.object({ filesystem: text, holder: text, bytes: whole })),
  firstVictims: z.array(z.object({ signal: text, pods: z.array(text) })),
}

const nodeFacts: z.ZodType<NodeFacts> = z.object({
  ...basis,
  node: text,
  runId: text,
  group: subject,
  coverage: coverageState,
  mode: z.enum(readModes),
  kubeletVersion: text.nullable(),
  instanceType: text.nullable(),
  amiFamily: z.enum(amiFamilies),
  layout: layout.nullable(),
  nodefs: filesystem,
  imagefs: filesystem,
  imageGC: z
    .object({
      enabled: z.boolean(),
      highThresholdPercent: z.number(),
      lowThresholdPercent: z.number(),
      usagePercent: number,
      bytesUntilTrigger: number,
      predictedBytes: number,
    })
    .nullable(),
  fill: z
    .object({
      bootId: text,
      layout,
      nodefsCapacityBytes: number,
      imagefsCapacityBytes: number,
      readings: z.array(
        z.object({
          at: z.iso.datetime({ offset: true }),
          nodefsUsedBytes: number,
          imagefsUsedBytes: number,
        }),
      ),
      evictedAt: z.array(z.iso.datetime({ offset: true })).max(fillLimits.readings),
    })
    .nullable(),
  happened: z.array(
    z.object({
      at: text,
      what: z.enum([
        'evicted',
        'refused',
        'image-gc-failed',
        'image-deleted',
        'condition',
        'reboot',
      ]),
      subject: text,
      message: text,
      status: z.enum(['True', 'False', 'Unknown']).optional(),
      resource: text.optional(),
    }),
  ),
  rounds: z.array(
    z.object({
      at: text,
      wantedBytes: number,
      countedBytes: number,
      freedBytes: number,
      predictedBytes: number,
    }),
  ),
  images: z.array(z.tuple([text, whole, day.nullable().optional()])).max(mostImages),
  pastReleases: z
    .array(z.tuple([text, whole]))
    .max(mostPastReleases)
    .optional(),
  imagesSince: day.nullable(),
  beforeEvictions: z.array(z.object(basis)),
  rules: z.array(text),
  missed: text,
  leftOut: whole,
})

const trend: z.ZodType<ClusterTrend> = z.object({
  schema: z.literal('highwater.trend/1'),
  cluster: text,
  points: listOf(
    z.object({
      day,
      runId: text,
      grade: gradeShape,
      coverage: coverageShape,
      findings: z.record(z.enum(severities), whole),
      groups: listOf(
        z.object({
          kind: z.enum(subjectKinds),
          name: text,
          nodes: whole,
          known: whole,
          usedPercent: z
            .object({ min: z.number(), median: z.number(), max: z.number() })
            .nullable(),
          nearImageGc: whole.nullable(),
          imageGcHeadroomBytes: number,
        }),
      ),
      imageGc: z
        .object({ rounds: whole, countedBytes: whole, freedBytes: whole, errorPercent: number })
        .nullable(),
      groupsLeftOut: whole,
    }),
  ),
})

/** A longer line was not written by highwater: it is foreign. */
const longestLine = 2 * nodeFactsMaxBytes
/** After this many foreign lines the rest is skipped: parsing each line takes time. */
const mostForeign = 1000

export function* factsIn(text: string): Generator<NodeFacts> {
  let foreign = 0
  let end = 0
  for (let start = 0; start < text.length && foreign < mostForeign; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end < 0) end = text.length
    if (end === start) continue
    const line = end - start > longestLine ? '' : text.slice(start, end)
    const parsed = nodeFacts.safeParse(jsonIn(line))
    if (parsed.success) yield parsed.data
    else foreign++
  }
}

/** Null: not a trend. */
export function parsedTrend(text: string) {
  const parsed = trend.safeParse(jsonIn(text))
  return parsed.success ? parsed.data : null
}

/* The last run. */

const finding = findingShape(text, text).extend({
  since: day,
  lastSeen: day,
  isCarried: z.boolean().optional(),
})

const remembered: z.ZodType<RememberedRun> = z.object({
  schema: z.literal('highwater.history/1'),
  runId: text,
  document: documentShape(text, text, text, finding),
  nodes: listOf(
    z.object({
      cluster: text,
      name: text,
      group: subject,
      coverage: coverageState,
      isFargate: z.boolean(),
      missed: text,
    }),
  ),
  ruleErrors: listOf(z.object({ rule: text, cluster: text, node: text })),
  past: listOf(
    finding
      .pick({
        id: true,
        rule: true,
        cluster: true,
        subject: true,
        title: true,
        severity: true,
        since: true,
        lastSeen: true,
      })
      .extend({ ended: z.enum(endings), on: day }),
  ),
  readings: listOf(
    z.object({ cluster: text, scope: text.nullable(), on: day, isCarried: z.boolean() }),
  ),
})

export interface FoundRun {
  run: RememberedRun | null
  /** Keys of later runs that cannot be parsed. */
  broken: string[]
}

/**
 * The last recorded run before `runId`; null: the last run of all.
 * @throws Error with a message for people when the store cannot be read
 */
export async function runBefore(store: Store, runId: string | null): Promise<FoundRun> {
  const own = runId === null ? null : runKey(runId)
  const keys = await Array.fromAsync(store.list(runsPrefix))
  const broken: string[] = []
  for (const key of keys.filter(one => own === null || one < own).reverse()) {
    const run = parseRun((await readText(store, key)).text)
    if (run) return { run, broken }
    broken.push(key)
    if (broken.length === mostBroken) break
  }
  return { run: null, broken }
}

/** After this many broken runs, history starts again. */
const mostBroken = 3

/** Null: of another version, cut off, or too long. */
const parseRun = (written: string) => remembered.safeParse(jsonIn(written)).data ?? null
