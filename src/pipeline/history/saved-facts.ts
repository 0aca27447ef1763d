/** Parses the recorded days of nodes and points of clusters. Foreign lines and other versions are skipped. */
import * as z from 'zod'
import { listOf } from '#base/text/list-of.ts'
import { fillLimits } from '#judge/compare/history/fill.ts'
import { nodeFactsMaxBytes } from '#judge/compare/history/node-facts.ts'
import { mostImages, mostPastReleases } from '#judge/compare/history/reclaim.ts'
import { severities } from '#model/finding/finding.ts'
import type { ClusterTrend, NodeFacts } from '#model/history.ts'
import { amiFamilies, readModes, subjectKinds } from '#model/input/record.ts'
import { jsonIn } from './keys.ts'

const count = z.int().min(0)
const number = z.number().nullable()
const filesystem = z
  .object({ capacityBytes: number, availableBytes: number, inodes: number, inodesFree: number })
  .nullable()

const basis = {
  at: z.string(),
  thresholds: z
    .array(z.object({ signal: z.string(), value: z.string(), hard: z.boolean(), margin: number }))
    .nullable(),
  held: z.array(z.object({ filesystem: z.string(), holder: z.string(), bytes: count })),
  firstVictims: z.array(z.object({ signal: z.string(), pods: z.array(z.string()) })),
}

const nodeFacts: z.ZodType<NodeFacts> = z.object({
  ...basis,
  node: z.string(),
  runId: z.string(),
  group: z.object({
    kind: z.enum(subjectKinds),
    namespace: z.string().nullable(),
    name: z.string(),
  }),
  coverage: z.enum(['read', 'partlyRead', 'notRead']),
  mode: z.enum(readModes),
  kubeletVersion: z.string().nullable(),
  instanceType: z.string().nullable(),
  amiFamily: z.enum(amiFamilies),
  layout: z.enum(['shared', 'imagefs', 'split']).nullable(),
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
      bootId: z.string(),
      layout: z.enum(['shared', 'imagefs', 'split']),
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
      at: z.string(),
      what: z.enum([
        'evicted',
        'refused',
        'image-gc-failed',
        'image-deleted',
        'condition',
        'reboot',
      ]),
      subject: z.string(),
      message: z.string(),
      status: z.enum(['True', 'False', 'Unknown']).optional(),
      resource: z.string().optional(),
    }),
  ),
  rounds: z.array(
    z.object({
      at: z.string(),
      wantedBytes: number,
      countedBytes: number,
      freedBytes: number,
      predictedBytes: number,
    }),
  ),
  images: z.array(z.tuple([z.string(), count, z.iso.date().nullable().optional()])).max(mostImages),
  pastReleases: z
    .array(z.tuple([z.string(), count]))
    .max(mostPastReleases)
    .optional(),
  imagesSince: z.iso.date().nullable(),
  beforeEvictions: z.array(z.object(basis)),
  rules: z.array(z.string()),
  missed: z.string(),
  leftOut: count,
})

const trend: z.ZodType<ClusterTrend> = z.object({
  schema: z.literal('highwater.trend/1'),
  cluster: z.string(),
  points: listOf(
    z.object({
      day: z.iso.date(),
      runId: z.string(),
      grade: z.enum(['A', 'B', 'C', 'D', 'F']).nullable(),
      coverage: z.object({ nodes: count, read: count, partlyRead: count, notRead: count }),
      findings: z.record(z.enum(severities), count),
      groups: listOf(
        z.object({
          kind: z.enum(subjectKinds),
          name: z.string(),
          nodes: count,
          known: count,
          usedPercent: z
            .object({ min: z.number(), median: z.number(), max: z.number() })
            .nullable(),
          nearImageGc: count.nullable(),
          imageGcHeadroomBytes: number,
        }),
      ),
      imageGc: z
        .object({ rounds: count, countedBytes: count, freedBytes: count, errorPercent: number })
        .nullable(),
      groupsLeftOut: count,
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
export function parsedTrend(text: string): ClusterTrend | null {
  const parsed = trend.safeParse(jsonIn(text))
  return parsed.success ? parsed.data : null
}
