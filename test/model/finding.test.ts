import { expect, it } from 'vitest'
import { gradeOf, type OpenFinding, type Severity } from '#model/finding.ts'

const judged = { pass: 1, fail: 1, unknown: 0, error: 0 }

const coverage = { nodes: 100, read: 90, partlyRead: 0, notRead: 10 }
const finding = (severity: Severity, count: number, from = 0) => ({
  severity,
  nodes: Array.from({ length: count }, (_, index) => `node-${from + index}`),
})

it.each<[string, OpenFinding[]]>([
  ['A', []],
  ['A', [finding('info', 100)]],
  ['B', [finding('low', 100)]],
  ['B', [finding('low', 1)]],
  ['C', [finding('medium', 10)]],
  ['B', [finding('medium', 9)]],
  ['D', [finding('high', 10)]],
  ['C', [finding('high', 9)]],
  ['F', [finding('critical', 10)]],
  ['D', [finding('critical', 9)]],
  // No nodes: it concerns the cluster itself.
  ['F', [finding('critical', 0)]],
  ['D', [finding('critical', 1), finding('low', 100), finding('medium', 50)]],
  // Many small findings are no small one: it is their nodes together that count, and each node once.
  ['F', Array.from({ length: 20 }, (_, index) => finding('critical', 1, index))],
  ['D', Array.from({ length: 20 }, () => finding('critical', 1))],
  ['D', [finding('critical', 5), finding('critical', 4, 5)]],
  ['F', [finding('critical', 5), finding('critical', 5, 5)]],
  ['C', [finding('medium', 6), finding('high', 6, 6)]],
  ['D', [finding('high', 6), finding('critical', 6, 6)]],
])('is %s for the open findings %# in a cluster of 100 nodes', (grade, findings) => {
  expect(gradeOf([...findings], coverage, judged)).toBe(grade)
})

it('is none where nothing was read, whatever is known to be wrong', () => {
  expect(
    gradeOf(
      [finding('critical', 100)],
      { nodes: 100, read: 0, partlyRead: 0, notRead: 100 },
      judged,
    ),
  ).toBeNull()
})

it('is given where nodes were read in part', () => {
  expect(gradeOf([], { nodes: 1, read: 0, partlyRead: 1, notRead: 0 }, judged)).toBe('A')
})

it('gives no grade where no rule applied: a cluster of Fargate nodes', () => {
  expect(
    gradeOf(
      [],
      { nodes: 1, read: 0, partlyRead: 1, notRead: 0 },
      { pass: 0, fail: 0, unknown: 0, error: 0 },
    ),
  ).toBeNull()
})

it.each<[string | null, Severity, number, number]>([
  ['C', 'medium', 20, 0],
  [null, 'medium', 21, 0],
  [null, 'medium', 20, 1],
  ['D', 'high', 1000, 0],
])(
  'is %s for a %s finding with 10 outcomes decided, %d unknown and %d in error',
  (grade, severity, unknown, error) => {
    expect(gradeOf([finding(severity, 100)], coverage, { pass: 8, fail: 2, unknown, error })).toBe(
      grade,
    )
  },
)

it('gives no good grade where the list of nodes broke off', () => {
  expect(gradeOf([], coverage, judged, true)).toBeNull()
  expect(gradeOf([finding('high', 100)], coverage, judged, true)).toBe('D')
})
