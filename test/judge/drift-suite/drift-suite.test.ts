/** The drift rules, judged by fleets that were written before them. */
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import type { DriftKind } from './kind.ts'
import { cleanKinds, driftKinds } from './kinds.ts'
import { driftFindings, type Verdict, verdictOf } from './verdict.ts'

interface Judged {
  title: string
  kind: DriftKind
  records: readonly SnapshotRecord[]
  verdict: Verdict
}

/** Judged once; the tests below only compare. */
const judgedKinds = (kinds: readonly DriftKind[]): Judged[] =>
  kinds.map(kind => {
    const records = kind.records()
    const verdict = verdictOf(kind, driftFindings(rules, kind, records))
    return { title: `${kind.family}: ${kind.name}`, kind, records, verdict }
  })
const drifted = judgedKinds(driftKinds)
const clean = judgedKinds(cleanKinds)

it.each(drifted)('$title: found on its nodes, with the right layer', ({ kind, verdict }) => {
  expect(verdict).toEqual({
    isFound: true,
    falsePositives: [],
    layers: kind.expect?.layers.toSorted(),
    hasRightLayers: true,
    hasRightConfidence: true,
  })
})

it.each(clean)('$title: no finding without drift', ({ verdict }) => {
  expect(verdict.falsePositives).toEqual([])
})

const withObjects = [...drifted, ...clean].filter(({ records }) =>
  records.some(record => record.kind === 'Objects'),
)

it.each(withObjects)('$title: the same if objects come after the nodes', ({ kind, verdict }) => {
  const records = kind
    .records()
    .toSorted((a, b) => Number(a.kind === 'Objects') - Number(b.kind === 'Objects'))
  expect(verdictOf(kind, driftFindings(rules, kind, records))).toEqual(verdict)
})
