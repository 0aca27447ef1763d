/** Schema of a findings document that is read back, from a file or from the history. */
import * as z from 'zod'
import { listOf } from '#base/list-of.ts'
import { evidenceKinds, notAuditedCauses, severities } from '#model/finding.ts'
import { subjectKinds } from '#model/input/record.ts'

type DocumentText = z.ZodType<string>

const count = z.int().min(0)

export const gradeShape = z.enum(['A', 'B', 'C', 'D', 'F']).nullable()
export const coverageShape = z.object({
  nodes: count,
  read: count,
  partlyRead: count,
  notRead: count,
})

export const subjectShape = (name: DocumentText) =>
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
    nodes: z.object({ count, sample: listOf(name) }),
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
      lostLines: count.optional(),
    }),
    clusters: listOf(
      z.object({
        name: text,
        grade: gradeShape,
        coverage: coverageShape,
        outcomes: z.object({
          pass: count,
          fail: count,
          unknown: count,
          notApplicable: count,
          error: count,
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
        nodes: z.object({ count, sample: listOf(name) }),
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
