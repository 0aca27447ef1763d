import { describe, expect, it } from 'vitest'
import { allocatableMismatch } from '#judge/rules/reservations/allocatable-mismatch.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const predicted = { cpu: '3920m', memory: '15Gi', matchesNode: false }

itJudgesExamples(allocatableMismatch, {
  bad: { allocatable: predicted, node: { status: { allocatable: { cpu: '4', memory: '15Gi' } } } },
  good: {
    allocatable: { ...predicted, matchesNode: true },
    node: { status: { allocatable: { cpu: '3920m', memory: '15Gi' } } },
  },
})

describe('allocatable-mismatch', () => {
  const example = (
    matchesNode: boolean | null,
    allocatable: Record<string, string>,
  ): NodeExample => ({
    allocatable: { cpu: '1930m', memory: '23993908Ki', matchesNode },
    node: { status: { allocatable } },
  })

  it('says what differs, and only that', () => {
    const { evidence } = failingOf(
      allocatableMismatch,
      example(false, { cpu: '1.93', memory: '24Gi' }),
    )
    expect(evidence).toEqual([
      { kind: 'node', what: 'node allocatable memory', value: '24Gi' },
      { kind: 'computed', what: 'allocatable memory by configuration', value: '23993908Ki' },
    ])
  })

  it('passes a difference of a few pages', () => {
    expect(state(allocatableMismatch, example(false, { cpu: '1930m', memory: '23993668Ki' }))).toBe(
      'pass',
    )
    expect(state(allocatableMismatch, example(false, { cpu: '1930m', memory: '23900000Ki' }))).toBe(
      'fail',
    )
  })

  it('is unknown where the node does not tell, or nothing was computed', () => {
    expect(state(allocatableMismatch, example(null, {}))).toBe('unknown')
    expect(state(allocatableMismatch, {})).toBe('unknown')
  })
})
