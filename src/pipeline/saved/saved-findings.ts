/** The findings document of an earlier audit, read back. It may come from anywhere and from another version, so it is parsed, and its texts are bounded. */
import * as z from 'zod'
import { bounded, nameLength } from '#judge/text.ts'
import type { ComparedRun } from '#model/delta.ts'
import { evidenceKinds, notAuditedCauses, severities } from '#model/finding.ts'
import { OperatorError } from '#model/operator-error.ts'
import { snapshotSchema } from '#model/record.ts'
import { subjectKinds } from '#model/subject.ts'
import { chunksOf } from '#snapshot/read.ts'

const findingsSchema = 'highwater.findings/1'
/** The findings of tens of thousands of nodes, every node named, come to some tens of MB. */
const longestDocument = 256 * 1024 * 1024

const text = z.string().transform(written => bounded(written))
const name = z.string().transform(written => bounded(written, nameLength))
const count = z.int().min(0)
const nodes = z.object({ count, sample: z.array(name) })
const subject = z.object({ kind: z.enum(subjectKinds), namespace: name.nullable(), name })
const finding = z.object({
  id: name,
  rule: name,
  severity: z.enum(severities),
  confidence: z.enum(['certain', 'likely', 'possible']),
  cluster: text,
  subject,
  nodes,
  places: z.int().min(1).optional(),
  title: text,
  evidence: z.array(z.object({ kind: z.enum(evidenceKinds), what: text, value: text })),
  waived: z.object({ until: text, reason: text }).nullable(),
})
const time = z.string().refine(written => !Number.isNaN(Date.parse(written)), 'a time as RFC 3339')

const document = z.object({
  schema: z.literal(findingsSchema),
  run: z.object({
    version: text,
    source: z.enum(['live', 'snapshot']),
    takenAt: time,
    account: text.nullable(),
    region: text.nullable(),
    rules: z.array(name),
    inputErrors: z.array(text),
    lostLines: count.optional(),
  }),
  clusters: z.array(
    z.object({
      name: text,
      grade: z.enum(['A', 'B', 'C', 'D', 'F']).nullable(),
      coverage: z.object({ nodes: count, read: count, partlyRead: count, notRead: count }),
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
  unknowns: z.array(z.object({ rule: name, cluster: text, subject, nodes, reason: text })),
  notAudited: z.array(
    z.object({
      cluster: text,
      node: name.nullable(),
      cause: z.enum(notAuditedCauses),
      reason: text,
    }),
  ),
})

/**
 * What the file holds, by its content: the findings document, or null where it is no such thing (a snapshot, a broken one included).
 * @throws OperatorError when it cannot be read, or is a document of another kind or broken
 */
export async function savedFindings(path: string): Promise<ComparedRun['document'] | null> {
  const written = await textOf(path)
  if (written === null) return null
  const value = parsed(written)
  const { data } = z.object({ schema: z.string() }).safeParse(value)
  if (data === undefined) return null
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

/** Null as soon as the first line is a record of a snapshot, and where there is no whole text: the reader of snapshots then says what is wrong with it. */
async function textOf(path: string): Promise<string | null> {
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

function isSnapshotLine(written: string): boolean {
  const line = parsed(written.slice(0, written.indexOf('\n')))
  return z.object({ kind: z.string() }).safeParse(line).success
}

function parsed(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return null
  }
}
