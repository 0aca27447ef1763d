/** The run before, read back. It may be of another version, or broken, so it is parsed. */
import * as z from 'zod'
import type { Store } from '#clients/store.ts'
import { evidenceKinds, notAuditedCauses, severities } from '#model/finding.ts'
import type { RememberedRun } from '#model/history.ts'
import { subjectKinds } from '#model/subject.ts'
import { runKey, runsPrefix, unpacked } from './keys.ts'

const day = z.iso.date()
const subject = z.object({
  kind: z.enum(subjectKinds),
  namespace: z.string().nullable(),
  name: z.string(),
})
const nodes = z.object({ count: z.int().min(0), sample: z.array(z.string()) })
const count = z.int().min(0)
const coverage = z.object({ nodes: count, read: count, partlyRead: count, notRead: count })
const finding = z.object({
  id: z.string(),
  rule: z.string(),
  severity: z.enum(severities),
  confidence: z.enum(['certain', 'likely', 'possible']),
  cluster: z.string(),
  subject,
  nodes,
  places: z.int().min(1).optional(),
  title: z.string(),
  evidence: z.array(z.object({ kind: z.enum(evidenceKinds), what: z.string(), value: z.string() })),
  waived: z.object({ until: z.string(), reason: z.string() }).nullable(),
  since: day,
  lastSeen: day,
  isCarried: z.boolean().optional(),
})

const remembered: z.ZodType<RememberedRun> = z.object({
  schema: z.literal('highwater.history/1'),
  runId: z.string(),
  document: z.object({
    run: z.object({
      version: z.string(),
      source: z.enum(['live', 'snapshot']),
      takenAt: z.string(),
      account: z.string().nullable(),
      region: z.string().nullable(),
      rules: z.array(z.string()),
      inputErrors: z.array(z.string()),
      lostLines: z.int().optional(),
    }),
    clusters: z.array(
      z.object({
        name: z.string(),
        grade: z.enum(['A', 'B', 'C', 'D', 'F']).nullable(),
        coverage,
        outcomes: z.object({
          pass: count,
          fail: count,
          unknown: count,
          notApplicable: count,
          error: count,
        }),
      }),
    ),
    findings: z.array(finding),
    waived: z.array(finding),
    unknowns: z.array(
      z.object({ rule: z.string(), cluster: z.string(), subject, nodes, reason: z.string() }),
    ),
    notAudited: z.array(
      z.object({
        cluster: z.string(),
        node: z.string().nullable(),
        cause: z.enum(notAuditedCauses),
        reason: z.string(),
      }),
    ),
  }),
  nodes: z.array(
    z.object({
      cluster: z.string(),
      name: z.string(),
      group: subject,
      coverage: z.enum(['read', 'partlyRead', 'notRead']),
      isFargate: z.boolean(),
      missed: z.string(),
    }),
  ),
  ruleErrors: z.array(z.object({ rule: z.string(), cluster: z.string(), node: z.string() })),
  past: z.array(
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
      .extend({ ended: z.enum(['fixed', 'replaced', 'gone', 'moved']), on: day }),
  ),
  readings: z
    .array(
      z.object({
        cluster: z.string(),
        scope: z.string().nullable(),
        on: day,
        isCarried: z.boolean(),
      }),
    )
    .default([]),
})

export interface FoundRun {
  run: RememberedRun | null
  /** Keys of later runs that cannot be parsed. */
  broken: string[]
}

/**
 * The last run that is remembered of those before `runId`; the last of all without one.
 * @throws Error with a message for people when the store cannot be read
 */
export async function runBefore(store: Store, runId: string | null): Promise<FoundRun> {
  const keys: string[] = []
  const own = runId === null ? null : runKey(runId)
  for await (const key of store.list(runsPrefix)) if (own === null || key < own) keys.push(key)
  const broken: string[] = []
  for (const key of keys.reverse()) {
    const found = await store.read(key)
    const run = found === null ? null : parsed(found.body)
    if (run !== null) return { run, broken }
    broken.push(key)
    if (broken.length === mostBroken) break
  }
  return { run: null, broken }
}

/** After so many, history begins anew. */
const mostBroken = 3

function parsed(body: Buffer): RememberedRun | null {
  try {
    return remembered.parse(JSON.parse(unpacked(body)))
  } catch {
    // Of another version, or cut off: named among the broken.
    return null
  }
}
