/** Reads the findings document of an earlier audit. It is untrusted and may be of another version: it is parsed and its texts are bounded. */
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { rules } from '#judge/rules/index.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { ComparedRun } from '#model/delta.ts'
import { type Selection, snapshotSchema } from '#model/input/record.ts'
import { isMoment } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { type AuditResult, documentOf } from '#pipeline/audit/audit.ts'
import { savedFleet } from '#pipeline/audit/fleet.ts'
import { type JudgingContext, judgeRecords } from '#pipeline/audit/judge-records.ts'
import { documentShape, findingShape } from '#pipeline/history/saved.ts'
import { chunksOf } from '#snapshot/read.ts'
import { keepRecords } from './kept-records.ts'

const findingsSchema = 'highwater.findings/1'
/** Findings of tens of thousands of nodes, every node named, are some tens of MB. */
const longestDocument = 256 * 1024 * 1024

const text = z.string().transform(written => shorten(written))
const name = z.string().transform(written => shorten(written, nameLength))
const time = z.string().refine(isMoment, 'a time as RFC 3339')

const document = documentShape(text, name, time, findingShape(text, name)).extend({
  schema: z.literal(findingsSchema),
})

/**
 * The findings document, recognised by its content; null: something else, such as a snapshot.
 * @throws OperatorError if it cannot be read, has another schema, or is broken
 */
export async function savedFindings(path: string): Promise<ComparedRun['document'] | null> {
  const written = await textOf(path)
  if (written === null) return null
  const value = parseLine(written)
  const { data } = z.object({ schema: z.string() }).safeParse(value)
  if (!data) return null
  if (data.schema !== findingsSchema)
    throw new OperatorError(
      `${path} is of schema ${JSON.stringify(data.schema.slice(0, 60))}; compared are ${snapshotSchema} (snapshot.ndjson.gz) and ${findingsSchema} (findings.json)`,
    )
  const read = document.safeParse(value)
  if (read.success) return read.data
  const [first] = read.error.issues
  throw new OperatorError(
    `${path} says that it is ${findingsSchema}, but ${first?.path.join('.') || 'it'} is not as it should be: ${first?.message}`,
  )
}

/** Null if the first line is a record of a snapshot or the text is incomplete: the snapshot reader then reports the error. */
async function textOf(path: string) {
  const decoder = new TextDecoder()
  const parts: string[] = []
  let length = 0
  let isFirstLine = true
  try {
    for await (const chunk of await chunksOf(path)) {
      const part = decoder.decode(chunk, { stream: true })
      parts.push(part)
      length += part.length
      if (length > longestDocument) return null
      if (!isFirstLine || !part.includes('\n')) continue
      isFirstLine = false
      if (isSnapshotLine(parts.join(''))) return null
    }
  } catch {
    return null
  }
  return parts.join('')
}

function isSnapshotLine(written: string) {
  const line = parseLine(written.slice(0, written.indexOf('\n')))
  return z.object({ kind: z.string() }).safeParse(line).success
}

function parseLine(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return null
  }
}

export interface SavedAuditOptions extends Pick<JudgingContext, 'refusalsOf' | 'onFound'> {
  policy: Policy
  selection: Selection
  version: string
  signal?: AbortSignal
}

/** Judges a snapshot without a report. Its findings name every node, and none is left out. @throws OperatorError */
export async function savedAudit(
  path: string,
  { policy, selection, version, signal, ...hooks }: SavedAuditOptions,
): Promise<Pick<AuditResult, 'document' | 'nodes' | 'ruleErrors'>> {
  const judged = await judgeRecords(savedFleet(path, selection, signal), {
    ...hooks,
    policy,
    rules,
    snapshot: keepRecords(null),
    isEveryNodeNamed: true,
  })
  const { ruleErrors, garbage: _, ...result } = judged.result
  const document = documentOf({ ...judged, result }, { policy, rules, version, source: 'snapshot' })
  return { document, nodes: judged.nodes, ruleErrors }
}
