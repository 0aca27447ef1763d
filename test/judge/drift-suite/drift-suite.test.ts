/** The drift rules, judged by fleets that were written before them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import type { DriftKind } from './kind.ts'
import { cleanKinds, driftKinds } from './kinds.ts'
import { driftFindings, type Verdict, verdictOf } from './verdict.ts'

const titled = (kinds: readonly DriftKind[]) =>
  kinds.map(kind => [`${kind.family}: ${kind.name}`, kind] as const)
const judged = (kind: DriftKind, records = kind.records()) =>
  verdictOf(kind, driftFindings(rules, kind, records))

describe('a kind of drift is found where it is, and called by its layer', () => {
  it.each(titled(driftKinds))('%s', (_, kind) => {
    expect(judged(kind)).toEqual({
      isFound: true,
      falsePositives: [],
      layers: kind.expect?.layers.toSorted(),
      hasRightLayers: true,
      hasRightConfidence: true,
    })
  })
})

describe('a fleet without drift is left alone', () => {
  it.each(titled(cleanKinds))('%s', (_, kind) => {
    expect(judged(kind).falsePositives).toEqual([])
  })
})

describe('objects may come after the nodes', () => {
  const withObjects = [...driftKinds, ...cleanKinds].filter(kind =>
    kind.records().some(record => record.kind === 'Objects'),
  )

  it.each(titled(withObjects))('%s', (_, kind) => {
    const records = kind
      .records()
      .toSorted((a, b) => Number(a.kind === 'Objects') - Number(b.kind === 'Objects'))
    expect(judged(kind, records)).toEqual(judged(kind))
  })
})

describe('the suite as a whole', () => {
  let verdicts: { title: string; kind: DriftKind; verdict: Verdict }[] = []
  const drifted = () => verdicts.filter(({ kind }) => kind.expect !== null)

  beforeAll(() => {
    verdicts = titled([...driftKinds, ...cleanKinds]).map(([title, kind]) => ({
      title,
      kind,
      verdict: judged(kind),
    }))
  }, 120_000)

  it('is found without a miss', () => {
    expect(
      drifted()
        .filter(({ verdict }) => !verdict.isFound)
        .map(({ title }) => title),
    ).toEqual([])
  })

  it('leads to no finding that is not meant', () => {
    expect(
      verdicts.flatMap(({ title, verdict }) =>
        verdict.falsePositives.map(found => `${title}: ${found}`),
      ),
    ).toEqual([])
  })

  it('is given the right layers, in 95 of 100', () => {
    const right = drifted().filter(({ verdict }) => verdict.hasRightLayers)
    expect(right.length / drifted().length).toBeGreaterThanOrEqual(0.95)
  })
})
